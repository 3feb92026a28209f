import XCTest

@testable import Scenarios

/// `run --watch` without a file system's clock and without waiting: what is seen and when it is
/// over comes from the test.
final class WatchTests: XCTestCase {
  /// What `look` sees, one after the other; the last one for ever.
  private final class Sights {
    var rest: [[String: FileStamp]]
    var pauses = 0
    init(_ rest: [[String: FileStamp]]) { self.rest = rest }
    func look() -> [String: FileStamp] { rest.count > 1 ? rest.removeFirst() : rest[0] }
    /// Over once everything was seen.
    func pause() -> Bool {
      pauses += 1
      return rest.count > 1
    }
  }

  private func stamp(_ changedNs: Int64, bytes: Int64 = 10, number: UInt64 = 1) -> FileStamp {
    FileStamp(changedNs: changedNs, bytes: bytes, number: number)
  }

  private func changes(_ sights: [[String: FileStamp]]) -> [[String]] {
    let all = Sights(sights)
    var watch = ScriptWatch(look: all.look, pause: all.pause)
    var found: [[String]] = []
    while let changed = watch.next() { found.append(changed) }
    return found
  }

  func testWatch_whenAFileIsSaved_namesItOnce() {
    let before = ["a": stamp(1), "b": stamp(1)]
    let after = ["a": stamp(1), "b": stamp(2)]
    XCTAssertEqual(changes([before, before, after, after, after]), [["b"]])
  }

  func testWatch_whenSizeOrFileNumberChanges_isAChangeToo() {
    let before = ["a": stamp(1)]
    XCTAssertEqual(
      changes([
        before, ["a": stamp(1, bytes: 11)], ["a": stamp(1, bytes: 11)], before, before, before,
      ]),
      [["a"], ["a"]])
    let replaced = ["a": stamp(1, number: 2)]
    XCTAssertEqual(changes([before, replaced, replaced, replaced]), [["a"]])
  }

  func testWatch_whenAnEditorWritesInSteps_waitsUntilTheFileKeepsStill() {
    let before = ["a": stamp(1)]
    let steps = (2...5).map { ["a": stamp($0)] }
    XCTAssertEqual(changes([before] + steps + [["a": stamp(5)], ["a": stamp(5)]]), [["a"]])
  }

  func testWatch_whenAFileComesOrGoes_namesOnlyTheNewOne() {
    let before = ["a": stamp(1)]
    let more = ["a": stamp(1), "new": stamp(1)]
    XCTAssertEqual(changes([before, more, more, before, before, before]), [["new"]])
  }

  func testWatch_whenItIsOver_endsAtOnce() {
    var watch = ScriptWatch(look: { ["a": self.stamp(1)] }, pause: { false })
    XCTAssertNil(watch.next())
  }

  func testInterrupt_whenAsked_tellsTheRunAndEndsTheWait() {
    let interrupt = Interrupt()
    XCTAssertFalse(interrupt.isAsked)
    XCTAssertTrue(interrupt.pause(seconds: 0))
    let told = expectation(description: "told")
    interrupt.onSignal { told.fulfill() }
    interrupt.ask()
    wait(for: [told], timeout: 60)
    // A wait of an hour is over at once.
    XCTAssertFalse(interrupt.pause(seconds: 3_600))
  }

  /// The whole command in a process: runs, is told of a save, runs that script alone, ends.
  func testWatchCommand_whenAScriptIsSaved_runsItAgainAndEndsWithTheSignal() throws {
    let folder = try Fixture.folder(self)
    for name in ["one", "two"] { try write(name, count: 3, to: folder) }
    let out = folder + "/out.txt"
    let wait = { (text: String, count: Int) in
      "i=0; while [ $(grep -c '\(text)' '\(out)') -lt \(count) ]; do i=$((i+1));"
        + " [ $i -lt 2400 ] || exit 9; sleep 0.05; done"
    }
    let changed = folder + "/two.new"
    try write("two", count: 5, to: folder, as: "two.new")
    // There before the first look: no count of nothing would end the wait at once.
    let command = """
      : > '\(out)'
      '\(Fixture.executable)' run '\(folder)' --lane virtual --watch >> '\(out)' 2>&1 &
      pid=$!
      \(wait("watching; Ctrl-C ends", 1))
      mv '\(changed)' '\(folder)/two.json'
      \(wait("watching; Ctrl-C ends", 2))
      kill -INT $pid
      wait $pid
      """
    let outcome = ShellCommand.run(command, by: Deadline.after(ns: 240_000_000_000))
    let text = try String(contentsOfFile: out, encoding: .utf8)
    XCTAssert(outcome.succeeded, "\(outcome.text)\n\(text)")
    XCTAssert(text.contains("2 cases: 2 pass"), text)
    XCTAssert(text.contains("changed: \(folder)/two.json"), text)
    XCTAssert(text.contains("1 case: 1 pass"), text)
    XCTAssert(text.hasSuffix("ended\n"), text)
  }

  private func write(
    _ name: String, count: Int, to folder: String, as file: String? = nil
  ) throws {
    try """
    {"name":"\(name)","about":"a","timeline":[{"at":"0s","record":{"as":"a","count":\(count)}}],
     "expect":[{"lost":0},{"stored":\(count)}]}
    """.write(
      toFile: "\(folder)/\(file ?? name + ".json")", atomically: true, encoding: .utf8)
  }
}
