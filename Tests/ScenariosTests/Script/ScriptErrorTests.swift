import Foundation
import XCTest

@testable import Scenarios

/// Every kind of mistake with its whole text, as somebody at a terminal reads it.
final class ScriptErrorTests: XCTestCase {
  private func message(
    _ text: String, file: StaticString = #filePath, line: UInt = #line
  ) -> String {
    do {
      _ = try ScenarioParser.parse(file: "s.json", bytes: Array(text.utf8))
      XCTFail("accepted", file: file, line: line)
      return ""
    } catch let errors as ScriptErrors {
      return errors.rendered
    } catch {
      XCTFail("\(error)", file: file, line: line)
      return ""
    }
  }

  private func step(_ step: String) -> String {
    """
    {"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"r"}},
    \(step)],
    "expect":[{"lost":0}]}
    """
  }

  func testUnknownKey_whenAStepIsMistyped_namesTheNearest() {
    XCTAssertEqual(
      message(step(#"{"at":"1s","recrod":{"as":"x"}}"#)),
      """
      s.json:2:12: unknown key "recrod" in a step
          {"at":"1s","recrod":{"as":"x"}}],
                     ^^^^^^^^
        hint: did you mean "record"?

      """)
  }

  func testRecord_whenItsFileMakesItTooLong_saysSo() throws {
    let folder = try Fixture.folder(self)
    func place(_ events: Int) -> String {
      let file = folder + "/\(events).jsonl"
      let lines = String(repeating: "{\"a\":1}\n", count: events)
      XCTAssert(FileManager.default.createFile(atPath: file, contents: Data(lines.utf8)))
      return step(#"{"at":"1s","record":{"as":"x","file":"\#(file)","every":"3650d"}}"#)
    }
    let short = message(place(30))
    XCTAssert(short.contains("the record step runs longer than 3650d"), short)
    XCTAssert(message(place(0)).contains("holds no events"))
  }

  func testUnknownKey_whenDeepInside_namesTheObject() {
    XCTAssertEqual(
      message(step(#"{"at":"1s","record":{"as":"x","evry":"1s"}}"#)),
      """
      s.json:2:31: unknown key "evry" in record
          {"at":"1s","record":{"as":"x","evry":"1s"}}],
                                        ^^^^^^
        hint: did you mean "every"?

      """)
  }

  func testWrongType_whenADurationIsANumber_saysWhatIsExpected() {
    XCTAssertEqual(
      message(step(#"{"at":90,"lowPower":true}"#)),
      """
      s.json:2:7: "at" is a number, expected a duration, e.g. "90s"
          {"at":90,"lowPower":true}],
                ^

      """)
  }

  func testWrongUnit_whenUnknown_listsTheUnits() {
    XCTAssertEqual(
      message(step(#"{"at":"5min","lowPower":true}"#)),
      """
      s.json:2:7: "at" has the unknown unit "min" (one of d, h, m, s, ms)
          {"at":"5min","lowPower":true}],
                ^^^^^^

      """)
  }

  func testNegativeTime_whenAtIsNegative_isRefused() {
    XCTAssertEqual(
      message(step(#"{"at":"-5s","lowPower":true}"#)),
      """
      s.json:2:7: "at" is negative
          {"at":"-5s","lowPower":true}],
                ^^^^^

      """)
  }

  func testHugeDuration_whenItWouldOverflow_isRefused() {
    XCTAssertEqual(
      message(step(#"{"at":"99999999d","lowPower":true}"#)),
      """
      s.json:2:7: "at" is too large (at most 3650d)
          {"at":"99999999d","lowPower":true}],
                ^^^^^^^^^^^

      """)
  }

  func testOrder_whenStepsRunBackwards_isRefused() {
    XCTAssertEqual(
      message(step("{\"at\":\"2m\",\"lowPower\":true},\n{\"at\":\"90s\",\"lowPower\":false}")),
      """
      s.json:3:1: the step at 1m30s comes after one at 2m: steps stand in the order of time
          {"at":"90s","lowPower":false}],
          ^

      """)
  }

  func testReference_whenNothingHasThatName_namesTheNearest() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"shift"}}],"#
          + "\n" + #""expect":[{"delivered":"shit"}]}"#),
      """
      s.json:2:12: no record step is named "shit"
          "expect":[{"delivered":"shit"}]}
                     ^^^^^^^^^^^
        hint: did you mean "shift"?

      """)
  }

  func testGate_whenThePlanHasNone_isRefused() {
    XCTAssertEqual(
      message(step(#"{"when":{"gate":"nowhere"},"kill":"SIGKILL"}"#)),
      """
      s.json:2:1: the fault plan has no gate named "nowhere"
          {"when":{"gate":"nowhere"},"kill":"SIGKILL"}],
          ^

      """)
  }

  func testLane_whenUnknown_namesTheNearest() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","lanes":["sockets"],"timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}"#
      ),
      """
      s.json:1:34: an element of "lanes" has the unknown value "sockets"
          …"name":"n","about":"a","lanes":["sockets"],"timeline":[{"at":"0s","record":{"as":"r"}}],"expect"…
                                           ^^^^^^^^^
        hint: did you mean "socket"?

      """)
  }

  func testLane_whenNoneCanDoTheStep_isRefused() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","lanes":["remote"],"timeline":[{"at":"0s","record":{"as":"r"}},"#
          + "\n" + #"{"at":"1s","server":"restart"}],"expect":[{"lost":0}]}"#),
      """
      s.json:2:1: no listed lane can do this step: a remote server is not steered
          {"at":"1s","server":"restart"}],"expect":[{"lost":0}]}
          ^

      """)
  }

  func testDuplicateName_whenTwoStepsShareIt_isRefused() {
    XCTAssertEqual(
      message(step(#"{"at":"1s","record":{"as":"r"}}"#)),
      """
      s.json:2:1: the name "r" is taken by the record step in line 1
          {"at":"1s","record":{"as":"r"}}],
          ^

      """)
  }

  func testDuplicateKey_whenAKeyStandsTwice_isRefused() {
    XCTAssertEqual(
      message("{\"name\":\"n\",\n\"name\":\"m\"}"),
      """
      s.json:2:1: the key "name" stands here a second time, first in line 1
          "name":"m"}
          ^^^^^^

      """)
  }

  func testNotJSON_whenABraceIsMissing_showsWhere() {
    XCTAssertEqual(
      message(#"{"name":"n","about":"a","timeline":[{"at":"0s","lowPower":true],"expect":[]}"#),
      """
      s.json:1:63: not JSON: found ']', expected ',' or '}'
          {"name":"n","about":"a","timeline":[{"at":"0s","lowPower":true],"expect":[]}
                                                                        ^

      """)
  }

  func testEmpty_whenNothingIsThere_saysSo() {
    XCTAssertEqual(message(" \n"), "s.json:1:1: the script is empty\n")
  }

  func testHuge_whenOverTheBound_saysSo() {
    XCTAssertEqual(
      message(String(repeating: " ", count: 4_000_001)),
      "s.json:1:1: the script has 4000001 bytes, at most 4000000 are read\n")
  }

  func testMissing_whenRequiredKeysAreAbsent_namesEach() {
    XCTAssertEqual(
      message(#"{"name":"n"}"#),
      """
      s.json:1:1: a scenario lacks "about"
          {"name":"n"}
          ^
      s.json:1:1: a scenario lacks "timeline"
          {"name":"n"}
          ^
      s.json:1:1: a scenario lacks "expect"
          {"name":"n"}
          ^

      """)
  }

  func testDatabase_whenPowerIsLostToo_isRefused() {
    XCTAssertEqual(
      message(
        step("{\"at\":\"1s\",\"database\":\"bitFlip\"},\n{\"at\":\"2s\",\"reboot\":\"powerLoss\"}")),
      """
      s.json:2:1: "database" and "reboot" cannot stand in one script
          {"at":"1s","database":"bitFlip"},
          ^

      """)
  }

  func testDatabase_whenAChangeHasNoSense_isRefusedWhereItStands() {
    let kill = #"{"at":"1s","kill":"SIGKILL"},"#
    func change(_ name: String, at time: String) -> String {
      "{\"at\":\"\(time)\",\"database\":\"\(name)\"}"
    }
    func changes(_ names: String...) -> String {
      names.enumerated().map { change($0.element, at: "\($0.offset + 2)s") }.joined(
        separator: ",")
    }
    let cases = [
      (change("bitFlip", at: "1s"), "the app lives: its database can be changed while it is dead"),
      (
        #"{"at":"1s","kill":"SIGKILL","restartAfter":"1s"},"# + change("bitFlip", at: "2s"),
        "the app lives: its database can be changed while it is dead"
      ),
      (
        kill + #"{"at":"1s","disk":"locked"},"# + changes("olderVersion"),
        "the database is locked, nobody can change it"
      ),
      (kill + changes("ownVersion"), "the database was not made of a newer version before"),
      (
        kill + changes("newerVersion", "newerVersion"),
        "the database is of a newer version already"
      ),
      (
        kill + changes("newerVersion", "olderVersion"),
        "the database is of a newer version, \"ownVersion\" comes first"
      ),
      (
        kill + changes("olderVersion", "olderVersion"),
        "the database is of the older version already"
      ),
    ]
    for (steps, text) in cases {
      XCTAssert(message(step(steps)).contains(": \(text)\n"), message(step(steps)))
    }
    let nothing = """
      {"name":"n","about":"a","timeline":[{"at":"0s","kill":"SIGKILL"},
      {"at":"1s","database":"bitFlip"}],"expect":[{"lost":0}]}
      """
    XCTAssertEqual(
      message(nothing),
      """
      s.json:2:1: nothing is recorded before, there is no bit to flip
          {"at":"1s","database":"bitFlip"}],"expect":[{"lost":0}]}
          ^

      """)
    let good = step(
      kill + changes("newerVersion", "ownVersion", "olderVersion")
        + #",{"at":"6s","restart":"app"},{"at":"7s","kill":"SIGKILL"},"#
        + change("olderVersion", at: "8s"))
    XCTAssertNoThrow(try ScenarioParser.parse(file: "s.json", bytes: Array(good.utf8)))
  }

  func testPayload_whenNobodyCouldRecordIt_isRefused() {
    XCTAssertEqual(
      message(step(#"{"at":"1s","record":{"as":"x","payloadSize":"100GB"}}"#)),
      """
      s.json:2:1: "payloadSize" is more than 16MB
          {"at":"1s","record":{"as":"x","payloadSize":"100GB"}}],
          ^

      """)
  }

  func testFile_whenItHoldsNoEvents_isRefusedBeforeAnythingRuns() throws {
    let folder = try Fixture.folder(self)
    try Data("hello".utf8).write(to: URL(fileURLWithPath: folder + "/hello"))
    func refusal(_ file: String) -> String {
      let text =
        #"{"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"r","file":"F"}}],"#
        + #""expect":[{"lost":0}]}"#
      return message(text.replacingOccurrences(of: "\"F\"", with: "\"\(file)\""))
    }
    for (file, reason) in [
      (folder, "\(folder): is a folder"),
      (folder + "/hello", "1:1: unknown word \"hello\", expected true, false or null"),
    ] {
      let text = refusal(file)
      XCTAssert(text.contains("the file \(file) holds no events: \(reason)\n"), text)
    }
  }

  func testTwoActions_whenOneStepHasBoth_isRefused() {
    XCTAssertEqual(
      message(step(#"{"at":"1s","lowPower":true,"session":"new"}"#)),
      """
      s.json:2:28: a step has two actions, "lowPower" and "session"
          {"at":"1s","lowPower":true,"session":"new"}],
                                     ^^^^^^^^^

      """)
  }

  func testVariable_whenNotInTheMatrix_isRefused() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","matrix":{"cap":["4MB"]},"device":{"queueCap":"${kap}"},"#
          + "\n" + #""timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}]}"#
      ).split(separator: "\n").first.map(String.init),
      #"s.json:1:71: the variable "kap" is not in the matrix"#)
  }

  func testLongLine_whenCut_keepsTheCaretUnderItsCharacter() throws {
    let padding = String(repeating: #"{"at":"0s","lowPower":true},"#, count: 40)
    let text = message(step(padding + #"{"at":"1s","lowPowr":true}"#))
    let lines = text.split(separator: "\n").map(Array.init)
    let caret = try XCTUnwrap(lines[2].firstIndex(of: "^"))
    XCTAssertEqual(String(lines[1][caret..<(caret + 9)]), "\"lowPowr\"")
    XCTAssertLessThan(lines[1].count, 110)
  }

  func testPlan_whenAKeyIsMistyped_pointsIntoTheScript() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}],"#
          + "\n" + #""server":{"rulez":[]}}"#),
      """
      s.json:2:11: unknown key "rulez" in plan
          "server":{"rulez":[]}}
                    ^
        hint: did you mean "rules"?

      """)
  }

  func testDevice_whenTheSDKRefusesItsSettings_saysWhy() {
    XCTAssertEqual(
      message(
        #"{"name":"n","about":"a","timeline":[{"at":"0s","record":{"as":"r"}}],"expect":[{"lost":0}],"#
          + "\n" + #""device":{"queueCap":"1MB"}}"#
      ).split(separator: "\n").first.map(String.init),
      "s.json:2:10: the SDK refuses these settings: queueCapBytes is 1000000, must be at least"
        + " 4000000")
  }
}
