import Foundation
import JSONText
import XCTest

@testable import MockBatchServer
@testable import TelemetrySDK

/// Client and server know nothing of each other's code: these bytes join them.
final class GoldenBatchTests: XCTestCase {
  private func golden() throws -> [UInt8] {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    return Array(
      try Data(contentsOf: tests.appendingPathComponent("Vectors/wire/golden-batch.json")))
  }

  private func event(
    _ id: String, _ wallMs: Int64, _ type: String, _ payload: JSONObject
  ) throws -> StoredEvent {
    let head = EventEncoder.head(
      id: try XCTUnwrap(EventID(id)), wallMs: wallMs, type: type, payload: payload)
    let row = RowReference(sequence: 1, id: try XCTUnwrap(EventID(id)))
    return StoredEvent(row: row, json: EventEncoder.finish(head, session: "6f1d"))
  }

  func testBody_whenTheSDKBuildsIt_isTheGoldenOneAndTheServerTakesIt() throws {
    let payload: JSONObject = [
      "text": "é\u{1F354}\u{0}\u{2028}", "big": .number(JSONNumber(UInt64.max)),
      "low": .number(JSONNumber(Int64.min)), "half": -0.5, "t": true, "f": false, "one": 1,
      "none": nil, "list": [[], [:]],
    ]
    let events = [
      try event(
        "b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11", 1_777_886_102_114, "navigation",
        ["screen": "Orders", "ms": 128]),
      try event("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", 1_777_886_102_115, "error", payload),
    ]
    let builder = BatchBuilder(envelope: .object(key: "events"), gzipLevel: 6)
    let body = try builder.build(events)
    let golden = try golden()
    XCTAssertEqual(body.jsonBytes, golden.count)
    let contract = BatchContract(rules: ContractRules())
    let request = HTTPRequest(
      method: "POST", target: "/v1/telemetry/batch", headers: ["Content-Encoding": "gzip"],
      body: body.gzip)
    XCTAssertEqual(
      String(decoding: try contract.text(of: request), as: UTF8.self),
      String(decoding: golden, as: UTF8.self))
    XCTAssertEqual(try contract.decode(request, account: nil).events.count, 2)
  }

  func testPayload_whenAsDeepAsAConfigurationMaySay_isTakenByTheServerAndOneMoreIsNot() throws {
    var configuration = TelemetryConfiguration(endpoint: "https://x.test/b", directory: "/x")
    for (levels, isTaken) in [(125, true), (126, false)] {
      configuration.maxPayloadDepth = levels
      XCTAssertEqual(configuration.problems().isEmpty, isTaken, "\(levels)")
      var payload = JSONObject()
      for _ in 1..<levels { payload = ["n": .object(payload)] }
      let event = try event("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", 0, "deep", payload)
      let body = try BatchBuilder(envelope: .object(key: "events"), gzipLevel: 6).build([event])
      let request = HTTPRequest(
        method: "POST", target: "/v1/telemetry/batch", headers: ["Content-Encoding": "gzip"],
        body: body.gzip)
      let contract = BatchContract(rules: ContractRules())
      // try? because whether it throws is the question.
      let batch = try? contract.decode(request, account: nil)
      XCTAssertEqual(batch != nil, isTaken, "\(levels)")
    }
  }
}
