import XCTest

import JSONText

final class PositionTests: XCTestCase {
  private func error(_ text: String, limits: JSONLimits = .standard) -> JSONError? {
    do {
      _ = try JSONDocument(parsing: Array(text.utf8), limits: limits)
      return nil
    } catch { return error as? JSONError }
  }

  func testError_whenLinesEndInEveryStyle_countsLinesAndScalars() {
    let cases: [(String, Int, Int, Int)] = [
      ("[1,\n 2,\n x]", 3, 2, 9), ("[1,\r\n x]", 2, 2, 6), ("[1,\r x]", 2, 2, 5),
      ("[\"é😀\", x]", 1, 8, 11), ("\n\n\n", 4, 1, 3), ("[\"e\u{301}\"x]", 1, 6, 6),
      ("{\n\t\"a\" 1}", 2, 6, 7),
    ]
    for (text, line, column, offset) in cases {
      let expected = JSONPosition(line: line, column: column, offset: offset)
      XCTAssertEqual(error(text)?.position, expected, text.debugDescription)
    }
  }

  func testNodes_whenAsked_tellPlaceAndBytesOfEveryValueAndKey() throws {
    let text = "{\n  \"é\": [true,\n    \"x\"],\n  \"n\": -1.50\n}"
    let document = try JSONDocument(parsing: Array(text.utf8))
    let members = document.root.members
    XCTAssertEqual(members.map(\.key), ["é", "n"])
    XCTAssertEqual(members[0].keyPosition, JSONPosition(line: 2, column: 3, offset: 4))
    XCTAssertEqual(members[0].value.position, JSONPosition(line: 2, column: 8, offset: 10))
    XCTAssertEqual(members[0].value[1]?.position, JSONPosition(line: 3, column: 5, offset: 21))
    XCTAssertEqual(members[1].value.position, JSONPosition(line: 4, column: 8, offset: 34))
    let range = members[1].value.byteRange
    XCTAssertEqual(String(decoding: document.bytes[range], as: UTF8.self), "-1.50")
    XCTAssertEqual(document.root.byteRange, 0..<text.utf8.count)
    XCTAssertEqual(members[0].value.count, 2)
    XCTAssertEqual(document.root["n"]?.kind, .number)
    XCTAssertNil(document.root["x"])
    XCTAssertNil(document.root[0])
    XCTAssertNil(members[0].value[2])
  }

  func testError_whenShown_readsLikeACompilersMessage() {
    let cases = [
      ("[1,]", "1:4: found ']', expected a value"), ("{\"a\" 1}", "1:6: found '1', expected ':'"),
      ("[tru]", "1:2: unknown word \"tru\", expected true, false or null"),
      ("[01]", "1:3: invalid number: a leading zero"),
      ("[", "1:2: the text ends, expected a value"),
      ("\"\t\"", "1:2: control character U+0009 in a string must be escaped"),
      ("\u{feff}[]", "1:1: starts with a byte order mark; JSON is UTF-8 without it"),
      ("[] []", "1:4: something follows the end of the value"),
      ("\"\\uDEAD\"", "1:2: half a surrogate pair in a string"),
      ("[\u{1}]", "1:2: found U+0001, expected a value"),
    ]
    for (text, expected) in cases { XCTAssertEqual(error(text)?.description, expected) }
  }

  func testDuplicates_whenKeysRepeat_areReportedWithBothPlaces() throws {
    let text = "{\"a\":1,\n\"b\":{\"c\":1,\"\\u0063\":2},\n\"a\":3}"
    let document = try JSONDocument(parsing: Array(text.utf8))
    XCTAssertEqual(document.duplicateKeys.map(\.key), ["c", "a"])
    XCTAssertEqual(
      document.duplicateKeys[0].position, JSONPosition(line: 2, column: 12, offset: 19))
    XCTAssertEqual(
      document.duplicateKeys[0].firstPosition, JSONPosition(line: 2, column: 6, offset: 13))
    XCTAssertEqual(document.duplicateKeys[1].position.line, 3)
    XCTAssertEqual(document.root["a"]?.number?.literal, "3", "a look-up finds the last")
    XCTAssertEqual(document.root.value, ["a": 3, "b": ["c": 2]])
    XCTAssertThrowsError(try JSONValue.parse(text)) { error in
      XCTAssertEqual((error as? JSONError)?.kind, .duplicateKey("c"))
    }
  }

  func testDuplicates_whenObjectIsLarge_areFoundInOnePass() throws {
    var members = (0..<500).map { "\"k\($0)\":\($0)" }
    members += ["\"k7\":1", "\"k499\":2"]
    let document = try JSONDocument(parsing: Array("{\(members.joined(separator: ","))}".utf8))
    XCTAssertEqual(document.duplicateKeys.map(\.key), ["k7", "k499"])
    let same = "{" + repeatElement("\"a\":1", count: 5000).joined(separator: ",") + "}"
    let many = try JSONDocument(parsing: Array(same.utf8))
    XCTAssertEqual(many.duplicateKeyCount, 4999)
    XCTAssertEqual(many.duplicateKeys.count, 32)
  }

  func testKeys_whenTheyOnlyLookTheSame_areNoDuplicates() throws {
    let document = try JSONDocument(parsing: Array("{\"\u{e9}\":1,\"e\u{301}\":2}".utf8))
    XCTAssertEqual(document.duplicateKeyCount, 0)
    XCTAssertEqual(document.root["e\u{301}"]?.number?.literal, "2")
  }
}
