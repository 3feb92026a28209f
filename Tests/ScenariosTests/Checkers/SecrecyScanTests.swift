import Foundation
import JSONText
import XCTest

@testable import Scenarios

final class SecrecyScanTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "secrecy-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: folder + "/sub/deeper", withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func write(_ bytes: [UInt8], _ name: String = "sub/deeper/queue.db-wal") throws {
    let noise = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 3)) }
    try Data(noise + bytes + noise).write(to: URL(fileURLWithPath: folder + "/" + name))
  }

  private func scan(_ needles: SecrecyNeedles, excluding: Set<String> = []) -> SecrecyFindings {
    SecrecyScan.run(folder: folder, needles: needles, excluding: excluding)
  }

  private let event: JSONValue = [
    "id": "b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11", "ts": "2026-05-04T09:15:02.114Z",
    "type": "navigation",
    "payload": [
      "screenName": "Orders", "line\n": "first\nsecond", "serial": 1_234_567_890_123,
      "latitude": 48.137154, "flags": [true, nil, 1],
    ], "sessionId": "6f1d2492-2492-4d23-8e3a-6c1f5a0f7e11",
  ]

  private func bigEndian(_ bits: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - $0 * 8)) }
  }

  func testScan_whenContentStandsInAnyForm_findsIt() throws {
    var needles = SecrecyNeedles()
    needles.add(event: event)
    needles.add(timeMs: 1_777_886_102_114)
    let time = bigEndian(UInt64(1_777_886_102_114))
    let forms: [(String, [UInt8])] = [
      ("time in a column", Array("2026-05-04 09:15:02".utf8)),
      ("time in a log", Array("2026-05-04T09:15".utf8)),
      ("milliseconds as text", Array("1777886102114".utf8)),
      ("payload text", Array("Orders".utf8)), ("payload key", Array("screenName".utf8)),
      ("type", Array("navigation".utf8)), ("time text", Array("2026-05-04T09:15:02.114Z".utf8)),
      ("session", Array("6f1d2492-2492-4d23-8e3a-6c1f5a0f7e11".utf8)),
      ("raw line break", Array("first\nsecond".utf8)), ("escaped", Array("first\\nsecond".utf8)),
      ("UTF-16", Array("O\0r\0d\0e\0r\0s\0".utf8)),
      (
        "session bytes",
        [
          0x6f, 0x1d, 0x24, 0x92, 0x24, 0x92, 0x4d, 0x23, 0x8e, 0x3a, 0x6c, 0x1f, 0x5a, 0x0f, 0x7e,
          0x11,
        ]
      ),
      ("integer text", Array("1234567890123".utf8)),
      ("big-endian integer", bigEndian(1_234_567_890_123)),
      ("little-endian integer", bigEndian(1_234_567_890_123).reversed()),
      ("integer in six bytes", Array(bigEndian(1_234_567_890_123).suffix(6))),
      ("big-endian double", bigEndian(48.137154.bitPattern)),
      ("little-endian double", bigEndian(48.137154.bitPattern).reversed()),
      ("time", time), ("time in six bytes", Array(time.suffix(6))),
      ("time in seconds", bigEndian(1_777_886_102.114.bitPattern)),
    ]
    for (name, bytes) in forms {
      try write(bytes)
      let findings = scan(needles)
      XCTAssertFalse(findings.found.isEmpty, name)
      XCTAssertEqual(findings.found.first?.file, "sub/deeper/queue.db-wal", name)
      // A number is found without the leading bytes that only carry its sign.
      XCTAssertTrue((10_000...10_002).contains(findings.found.first?.offset ?? 0), name)
    }
  }

  func testScan_whenNothingIsReadable_findsNothing() throws {
    var needles = SecrecyNeedles()
    needles.add(event: event)
    try write(Array("b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11 Order navigatio".utf8))
    let findings = scan(needles)
    XCTAssertEqual(findings.found, [], "an id is no secret, and a part is no finding")
    XCTAssertEqual(findings.files, 1)
    XCTAssertGreaterThan(findings.bytes, 20_000)
    XCTAssertGreaterThan(findings.needles, 10)
  }

  func testScan_whenContentStandsAtTheEdges_findsIt() throws {
    var needles = SecrecyNeedles()
    needles.add(text: "Orders")
    for text in ["Orders", "Ordersx", "xOrders", "OrdeOrders", "OrdersOrders"] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/edge"))
      XCTAssertEqual(scan(needles).found.count, 1, text)
    }
    try Data("Order".utf8).write(to: URL(fileURLWithPath: folder + "/edge"))
    XCTAssertEqual(scan(needles).found.count, 0)
  }

  func testScan_whenFilesAreExcludedOrKnown_leavesThemAlone() throws {
    var needles = SecrecyNeedles()
    needles.add(text: "Orders")
    needles.add(text: "CREATE TABLE")
    try write(Array("Orders".utf8), "sub/keys")
    XCTAssertEqual(scan(needles, excluding: ["keys"]).found, [])
    XCTAssertEqual(scan(needles, excluding: ["keys"]).files, 0)
    let schema = "page 1: CREATE TABLE events(seq)"
    func withBaseline() -> SecrecyFindings {
      SecrecyScan.run(
        folder: folder, needles: needles, excluding: ["keys"], baseline: [Array(schema.utf8)])
    }
    try write(Array((schema + " and rows").utf8), "db")
    XCTAssertEqual(withBaseline().found, [])
    XCTAssertEqual(withBaseline().files, 1)
    XCTAssertEqual(scan(needles, excluding: ["keys"]).found.count, 1)
    try write(Array((schema + "row: CREATE TABLE in clear").utf8), "db")
    XCTAssertEqual(
      withBaseline().found.map(\.offset), [10_000 + Int64(schema.utf8.count) + 5],
      "the word in a row")
  }

  func testNeedles_whenShortOrFullOfZeros_areNotLookedFor() {
    var needles = SecrecyNeedles()
    for value: JSONValue in ["abcd", 1, 128, 0.5, -1, true, nil, 1024] { needles.add(value) }
    XCTAssertEqual(needles.count, 0)
    needles.add("abcde")
    let once = needles.count
    needles.add("abcde")
    XCTAssertEqual(needles.count, once, "the same content is looked for once")
    XCTAssertGreaterThan(once, 0)
  }

  func testScan_whenFolderIsMissing_saysSo() {
    let findings = SecrecyScan.run(folder: folder + "/missing", needles: SecrecyNeedles())
    XCTAssertEqual(findings.files, 0)
    XCTAssertEqual(findings.unreadable.count, 1)
  }
}
