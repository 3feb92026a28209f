import Foundation
import JSONText
import XCTest

@testable import Scenarios

/// Runs `workbench verify` in this process, as the command line does.
class VerifyTestCase: XCTestCase {
  static let token = "good-token-5f2c"
  static let expired = "expired-token-77aa"
  private(set) var folder = URL(fileURLWithPath: NSTemporaryDirectory())

  override func setUpWithError() throws {
    folder = URL(fileURLWithPath: NSTemporaryDirectory())
      .appendingPathComponent("verify-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(at: folder) }

  struct Run {
    var exit: Int32
    var out: String
    var complaint: String
    var report: JSONValue

    func ids(_ verdict: String) -> [String] {
      (report["checks"]?.arrayValue ?? []).filter { $0["verdict"]?.stringValue == verdict }
        .compactMap { $0["id"]?.stringValue }
    }
    func check(_ id: String) -> JSONValue? {
      report["checks"]?.arrayValue?.first { $0["id"]?.stringValue == id }
    }
    func sentence(_ id: String) -> String { check(id)?["sentence"]?.stringValue ?? "no such check" }
  }

  func file(_ name: String, _ text: String) throws -> String {
    let file = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  /// A run with a token and fast manners; the report is read back from its file.
  func verify(
    _ url: String, _ arguments: [String] = [], token: String = VerifyTestCase.token
  ) throws -> Run {
    let json = folder.appendingPathComponent("contract.json")
    var out = ""
    var complaint = ""
    let exit = VerifyCommand.run(
      ["--url", url, "--token-env", "T", "--rate", "10000", "--json", json.path] + arguments,
      variables: ["T": token, "EXPIRED": VerifyTestCase.expired],
      environment: VerifyEnvironment(
        wallMs: { 1_780_000_000_123 },
        random: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }),
      out: { out += $0 }, complain: { complaint += $0 })
    let report =
      FileManager.default.fileExists(atPath: json.path)
      ? try JSONValue.parse([UInt8](Data(contentsOf: json))) : .null
    return Run(exit: exit, out: out, complaint: complaint, report: report)
  }

  /// Every input that a check can need, for a server of `batch_server.py`.
  func everything(_ url: String) throws -> [String] {
    let post = "python3 \(PythonServer.fixtures.path)/send.py POST \(url)"
    return [
      "--observe", "admin", "--expired-token-env", "EXPIRED", "--destructive",
      "--restart-command", "\(post)/__test/restart", "--provoke-command", "\(post)/__test/busy",
      "--policy", try file("policy.json", #"{"answerWithin":"20s","storedWithin":"300ms"}"#),
    ]
  }
}
