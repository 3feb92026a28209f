import Foundation
import XCTest

@testable import TelemetrySDK

/// docs/reference/limits.md says what the code says.
final class LimitsPageTests: XCTestCase {
  private struct Declaration: Equatable {
    let name: String
    /// As written in the source; nil where there is none.
    let value: String?
  }

  private func read(_ path: String) throws -> String {
    let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
      url.deletingLastPathComponent()
    }
    return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  private func declarations() throws -> [Declaration] {
    let source = try read("Sources/TelemetrySDK/TelemetryConfiguration.swift")
    let body = source.components(separatedBy: "public struct TelemetryConfiguration")[1]
    return body.split(separator: "\n").compactMap { line in
      guard let rest = line.range(of: "  public var ").map({ line[$0.upperBound...] }) else {
        return nil
      }
      let name = rest.prefix { $0.isLetter }
      let value = rest.components(separatedBy: " = ").dropFirst().first
      return Declaration(name: String(name), value: value)
    }
  }

  /// The page's rows: name, unit, default, range, reason.
  private func rows() throws -> [[String]] {
    try read("docs/reference/limits.md").split(separator: "\n")
      .filter { $0.hasPrefix("| `") }
      .map { line in
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      }
  }

  /// Products and shifts of integers, as the declarations have them.
  private func number(_ source: String) -> Int64? {
    if let shift = source.range(of: " << ") {
      guard let one = Int64(source[..<shift.lowerBound]),
        let by = Int64(source[shift.upperBound...])
      else { return nil }
      return one << by
    }
    var product: Int64 = 1
    for factor in source.components(separatedBy: " * ") {
      guard let value = Int64(factor.replacingOccurrences(of: "_", with: "")) else { return nil }
      product *= value
    }
    return product
  }

  func testPage_whenComparedWithTheDeclarations_hasEachValueOnceAndItsDefault() throws {
    let declared = try declarations()
    let rows = try rows()
    XCTAssertGreaterThan(declared.count, 35)
    XCTAssertEqual(rows.map { $0[0] }, declared.map { "`\($0.name)`" })
    for (row, declaration) in zip(rows, declared) {
      XCTAssertEqual(row.count, 5, row[0])
      guard let value = declaration.value else { continue }
      let shown = row[2].replacingOccurrences(of: ",", with: "")
      if let number = number(value) {
        XCTAssertEqual(Int64(shown), number, row[0])
        XCTAssert(
          ["bytes", "ms", "seals", "events", "level", "levels", "bytes/s", "bodies"]
            .contains(row[1]), row[1])
      } else if value == "true" || value == "false" {
        XCTAssertEqual(shown, value, row[0])
      } else {
        // `Choice.case` is shown as `.case`.
        let name = value.drop { $0 != "." }
        XCTAssertEqual(shown, "`\(name)`", row[0])
      }
    }
  }

  func testUnits_whenANameEndsInOne_areThatUnit() throws {
    for row in try rows() {
      if row[0].hasSuffix("Ms`") { XCTAssertEqual(row[1], "ms", row[0]) }
      if row[0].hasSuffix("Bytes`") { XCTAssertEqual(row[1], "bytes", row[0]) }
    }
  }

  func testDefaults_whenChecked_haveNoProblem() {
    let good = TelemetryConfiguration(endpoint: "https://example.test/b", directory: "/x")
    XCTAssertEqual(good.problems(), [])
  }

  func testRanges_whenLeftByOne_nameTheValue() {
    typealias Change = (inout TelemetryConfiguration) -> Void
    let changes: [(String, Change)] = [
      ("endpoint", { $0.endpoint = "ftp://x" }), ("endpoint", { $0.endpoint = "/relative" }),
      ("endpoint", { $0.endpoint = "https://u:p@x.test" }), ("directory", { $0.directory = "" }),
      ("queueCapBytes", { $0.queueCapBytes = 3_999_999 }),
      ("quarantineCapBytes", { $0.quarantineCapBytes = -1 }),
      ("quarantineCapBytes", { $0.quarantineCapBytes = 10_000_001 }),
      ("walBudgetBytes", { $0.walBudgetBytes = 199_999 }),
      ("walBudgetBytes", { $0.walBudgetBytes = 5_000_001 }), ("maxAgeMs", { $0.maxAgeMs = 59_999 }),
      ("memoryBufferBytes", { $0.memoryBufferBytes = -1 }),
      ("recordWaitMs", { $0.recordWaitMs = -1 }), ("syncIntervalMs", { $0.syncIntervalMs = 0 }),
      ("keyMaxSeals", { $0.keyMaxSeals = 0 }), ("keyMaxSeals", { $0.keyMaxSeals = 1 << 33 }),
      ("keyMaxAgeMs", { $0.keyMaxAgeMs = 59_999 }),
      ("batchLimitBytes", { $0.batchLimitBytes = 999 }),
      ("batchLimitBytes", { $0.batchLimitBytes = 10_000_001 }),
      ("batchMaxEvents", { $0.batchMaxEvents = 0 }),
      ("batchMaxEvents", { $0.batchMaxEvents = 10_001 }), ("gzipLevel", { $0.gzipLevel = 0 }),
      ("gzipLevel", { $0.gzipLevel = 10 }), ("maxPayloadDepth", { $0.maxPayloadDepth = 0 }),
      ("maxPayloadDepth", { $0.maxPayloadDepth = 126 }),
      ("flushIntervalMs", { $0.flushIntervalMs = 0 }),
      ("lowPowerIntervalMs", { $0.lowPowerIntervalMs = .max }),
      ("probeIntervalMs", { $0.probeIntervalMs = -1 }),
      ("requestTimeoutMs", { $0.requestTimeoutMs = 120_001 }),
      ("resourceTimeoutMs", { $0.resourceTimeoutMs = 0 }),
      ("slowLinkBytesPerSecond", { $0.slowLinkBytesPerSecond = 0 }),
      ("tokenTimeoutMs", { $0.tokenTimeoutMs = 0 }),
      ("backoffBaseMs", { $0.backoffBaseMs = 300_001 }),
      ("backoffCapMs", { $0.backoffCapMs = .min }),
      ("retryAfterCapMs", { $0.retryAfterCapMs = 0 }),
      ("refusalsBeforePause", { $0.refusalsBeforePause = 0 }),
      ("refusalPauseMs", { $0.refusalPauseMs = 0 }),
      ("refusalPauseCapMs", { $0.refusalPauseCapMs = 299_999 }),
      ("restoreThrottleMs", { $0.restoreThrottleMs = -1 }),
      ("restoreJitterMs", { $0.restoreJitterMs = -1 }),
      ("sessionTimeoutMs", { $0.sessionTimeoutMs = 0 }),
    ]
    for (name, change) in changes {
      var configuration = TelemetryConfiguration(
        endpoint: "https://example.test/b", directory: "/x")
      change(&configuration)
      let problems = configuration.problems()
      XCTAssert(problems.contains { $0.contains(name) }, "\(name): \(problems)")
    }
  }
}
