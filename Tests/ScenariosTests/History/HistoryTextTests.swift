import Foundation
import JSONText
import ThreadsSupport
import XCTest

@testable import Scenarios

final class HistoryTextTests: XCTestCase {
  /// One entry of every kind.
  static let everyKind: [HistoryEvent] = {
    var books = DeviceBooks()
    books.incarnation = 2
    books.recorded = 9_007_199_254_740_993
    books.dropped = [DeviceBooks.Drop(reason: "queueFull", count: 3)]
    books.state = "idle"
    return [
      .step(index: 1, what: "record \"shift\"\n"), .triggerFired(step: 2),
      .condition(name: "network", value: "offline"), .notOffered(label: "shift", count: 3),
      .started(incarnation: 1), .died(incarnation: 1, how: "SIGKILL"),
      .offered(serial: 1, label: "shift", account: ""),
      .offered(serial: 2, label: "shift", account: "", content: "00ff"),
      .receipt(serial: 1, .durable(id: "a")),
      .receipt(serial: 2, .buffered(id: "b", reason: "diskFull")),
      .receipt(serial: 3, .rejected(reason: "tooLarge")), .becameDurable(id: "b"),
      .sending(incarnation: 1, number: 4), .sent(incarnation: 1, number: 4, outcome: "timeout"),
      .acknowledged(ids: ["a"]), .erased(ids: ["a", "b"]),
      .quarantined(count: 2, reason: "refused 400", ids: ["c"]),
      .dropped(count: 2, reason: "tooOld", ids: []), .books(books),
      .arrived(
        request: 1, Arrival(connection: 2, incarnation: 1, number: 4, token: 2, account: "x")),
      .missed(step: 3, what: "purge"),
      .asked([ExpectedLine(key: "lost", value: "0", line: 3, column: 9, source: "{\"lost\":0}")]),
      .arrived(request: 2, Arrival(method: "GET", path: "/é", connection: 2, incarnation: 0)),
      .identified(request: 1, attempt: 2, ids: ["a", "b"]),
      .identified(request: 2, attempt: 1, ids: ["a"], contents: ["00ff"]),
      .committed(request: 1, Commit(stored: ["a"], duplicates: ["b"], conflicting: ["c"])),
      .answered(
        request: 1,
        Answer(status: 429, retryAfter: "5", date: "d", contentType: "text/html", rejected: ["r"])),
      .answered(request: 2, Answer(status: 200)), .ended(request: 1, how: "reset"),
      .faultApplied(rule: "busy", response: 0, what: "429", request: 1),
      .held([Holding(id: "a", stored: 1, seen: 2)]),
      .scanned(
        SecrecyFindings(
          files: 3, bytes: 4_096, needles: 12,
          found: [SecrecyFindings.Finding(file: "q.db-wal", offset: 77, what: "\"Orders\"")],
          unreadable: ["x: gone"], leftOut: 2)),
      .measured(bytes: 20_000_000),
      .seals([SealSighting(key: "k", nonce: "n", digest: "d")], unreadable: ["q: no table"]),
      .drained(true), .note("done"), .full(refused: 7),
    ]
  }()

  func testHistory_whenWrittenAndRead_isItself() throws {
    var header = HistoryHeader(
      scenario: "s[cap=1]", about: "é", file: "f.json", lane: "socket", seed: .max, replay: "r",
      acceptsNone: true, hasStorageTriggers: true, plannedRules: ["busy"], plannedTriggers: [3],
      dedupWindowNs: 5, retryAfterCapNs: 6,
      expectations: [
        ExpectedLine(key: "lost", value: "0", line: 3, column: 9, source: "{\"lost\":0}")
      ])
    for window in [nil, 5] as [Int64?] {
      header.dedupWindowNs = window
      var history = History(header: header)
      for (index, event) in Self.everyKind.enumerated() {
        history.append(event, atNs: Int64(index) * 3_600_000_000_000)
      }
      for interruption in [nil, .failure("f"), .unavailable("u")] as [History.Interruption?] {
        history.interruption = interruption
        let bytes = HistoryText.bytes(history)
        XCTAssertEqual(try HistoryReader.read(bytes), history)
        XCTAssertEqual(HistoryText.bytes(try HistoryReader.read(bytes)), bytes)
      }
    }
  }

  func testReader_whenFileIsDamaged_namesTheLine() {
    let good = HistoryText.bytes(
      History(
        header: HistoryHeader(scenario: "s", lane: "virtual"),
        entries: [HistoryEntry(atNs: 1, event: .note("x"))]))
    let whole = String(decoding: good, as: UTF8.self)
    let text = String(whole.dropLast("{\"end\":1}\n".count))
    let cases: [(String, String)] = [
      ("", "line 1: the file is empty"),
      (String(text.dropLast()), "line 2: the last line has no end: the file was cut off"),
      (text, "line 2: no end follows: the file was cut off"),
      (text + "{\"end\":2}\n", "line 3: 1 entries stand before the end, 2 were written"),
      (whole + "{\"at\":1}\n", "line 4: the history ended in the line before"),
      (text + "{}\n", "line 3: \"at\" must be an integer"),
      (text + "{\"at\":1,\"event\":\"dance\"}\n", "line 3: unknown event \"dance\""),
      (text + "[]\n", "line 3: expected an object"),
      (text + "{\"at\":1\n", "line 3: not JSON: 1:8: the text ends, expected ',' or '}'"),
      (
        text + "{\"at\":\"1\",\"event\":\"drained\",\"done\":true}\n",
        "line 3: \"at\" must be an integer"
      ),
      (
        text + "{\"at\":1,\"event\":\"drained\",\"done\":1}\n",
        "line 3: \"done\" must be true or false"
      ),
      (
        text.replacingOccurrences(of: "\"history\":2", with: "\"history\":1"),
        "line 1: history version 1, this reads 2"
      ),
    ]
    for (damaged, expected) in cases {
      XCTAssertThrowsError(try HistoryReader.read(Array(damaged.utf8)), expected) { error in
        XCTAssertEqual("\(error)", expected)
      }
    }
  }

  func testReference_whenRead_namesEveryEventAndField() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appendingPathComponent("docs/reference/history.md"), encoding: .utf8)
    for event in Self.everyKind {
      let line = HistoryText.line(HistoryEntry(atNs: 0, event: event))
      let name = try XCTUnwrap(line["event"]?.stringValue)
      let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(name)` |") }
      XCTAssertNotNil(row, "\(name) is not described")
      for field in line.keys where field != "at" && field != "event" {
        XCTAssertEqual(row?.contains("`\(field)`"), true, "\(name).\(field) is not described")
      }
    }
    let empty = HistoryText.bytes(History(header: HistoryHeader(scenario: "", lane: "")))
    let header = try JSONValue.parse(Array(empty.prefix { $0 != 0x0a }))
    for field in try XCTUnwrap(header.objectValue).keys {
      XCTAssertTrue(page.contains("`\(field)`"), "the header's \(field) is not described")
    }
  }

  func testRecorder_whenSeveralThreadsAppend_keepsEverything() {
    let recorder = HistoryRecorder(header: HistoryHeader(scenario: "s", lane: "socket")) { 5 }
    onThreads(8) { thread in
      for index in 0..<100 { recorder.append(.triggerFired(step: thread * 100 + index)) }
    }
    let steps = recorder.history.entries.map { entry -> Int in
      guard case .triggerFired(let step) = entry.event, entry.atNs == 5 else { return -1 }
      return step
    }
    XCTAssertEqual(steps.sorted(), Array(0..<800))
  }

  func testScenarioTime_whenShown_usesTheLargestUnits() {
    let cases: [(Int64, String)] = [
      (0, "0s"), (1_000_000, "0.001s"), (2_114_000_000, "2.114s"), (59_000_000_000, "59s"),
      (90_000_000_000, "1m30s"), (32_400_000_000_000, "9h00m"), (32_427_500_000_000, "9h00m27s"),
      (604_800_000_000_000, "7d00h"),
      (-1_000_000_000, "-1s"), (.max, "106751d23h47m"), (.min, "-106751d23h47m"),
    ]
    for (ns, text) in cases { XCTAssertEqual(ScenarioTime.text(ns), text) }
  }
}
