import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// The printed commands do what the checks did.
final class CurlCommandTests: VerifyTestCase {
  private func shell(_ command: String) throws -> String {
    let file = folder.appendingPathComponent("answer.txt").path
    let outcome = ShellCommand.run(
      "T=\(VerifyTestCase.token) EXPIRED=\(VerifyTestCase.expired); (\(command)\n) > '\(file)'",
      by: Deadline.after(ns: 60_000_000_000))
    XCTAssert(outcome.succeeded, "\(command.prefix(300))\n\(outcome.text)")
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  func testCurl_whenPasted_getsTheStatusOfTheCheck() throws {
    guard PythonServer.find("curl") != nil else { throw XCTSkip("curl is not installed") }
    let server = try PythonServer("batch_server.py")
    // One whose second request depends on the first, or whose framing curl mends, proves nothing.
    let replayable = [
      "answer.success", "auth.missing", "auth.wrong", "auth.empty", "auth.expired",
      "auth.scheme-case", "encoding.truncated", "encoding.identity", "encoding.unknown",
      "media.missing", "media.parameters", "size.at-limit", "size.over-limit", "count.over-limit",
      "json.utf8", "schema.id-missing", "method.get", "method.put", "path.unknown",
      "connection.chunked", "answer.unicode",
    ]
    let run = try verify(
      server.url,
      ["--expired-token-env", "EXPIRED", "--only", replayable.joined(separator: ",")])
    XCTAssertEqual(run.ids("pass").sorted(), replayable.sorted(), run.out)
    for id in replayable {
      let exchange = try XCTUnwrap(run.check(id)?["exchanges"]?[0], id)
      let command = try XCTUnwrap(exchange["curl"]?.stringValue)
      XCTAssertFalse(command.contains(VerifyTestCase.token))
      let answer = try shell(command)
      let status = answer.split(separator: "\r\n").last { $0.hasPrefix("HTTP/1.1 ") } ?? ""
      XCTAssertEqual(
        status.split(separator: " ").dropFirst().first.map(String.init),
        exchange["status"]?.intValue.map(String.init), "\(id): \(command.prefix(300))")
    }
  }

  func testCurl_whenTextNeedsQuoting_survivesTheShell() throws {
    let target = Target(secure: false, host: "h", port: 80, path: "/a'b$HOME`id`")
    let curl = CurlCommand(
      target: target, tokenVariable: "T", expiredVariable: "E", caFile: nil,
      redactor: Redactor(secrets: []))
    var request = ProbeRequest()
    request.method = "GET"
    let words = curl.text(for: request).substituting("curl ", with: "printf '%s\\n' ")
    XCTAssert(try shell(words).contains("http://h/a'b$HOME`id`\n"))
  }

  func testBase64_whenCompared_isFoundations() {
    for count in 0..<70 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
      XCTAssertEqual(Base64.text(bytes), Data(bytes).base64EncodedString())
    }
  }
}
