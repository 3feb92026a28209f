import XCTest

import JSONText

final class JSONWriterTests: XCTestCase {
  private func text(_ value: JSONValue, pretty: Bool = false, sortedKeys: Bool = false) -> String {
    String(decoding: JSONWriter.bytes(value, pretty: pretty, sortedKeys: sortedKeys), as: UTF8.self)
  }

  func testWriter_whenStringHasSpecialCharacters_escapesOnlyWhatMustBe() {
    XCTAssertEqual(text("\"\\/\u{8}\u{c}\n\r\t"), #""\"\\/\b\f\n\r\t""#)
    XCTAssertEqual(text("\u{0}\u{1}\u{1f}\u{7f}"), "\"\\u0000\\u0001\\u001f\u{7f}\"")
    XCTAssertEqual(text("é😀\u{2028}\u{feff}\u{10ffff}"), "\"é😀\u{2028}\u{feff}\u{10ffff}\"")
  }

  func testWriter_whenControlCharacterStandsAnywhere_isEscapedAndReadsBack() throws {
    for scalar in 0..<0x20 {
      for length in 0..<10 {
        let string =
          String(repeating: "a", count: length) + String(Unicode.Scalar(UInt8(scalar))) + "é"
        let bytes = JSONWriter.bytes(.string(string))
        XCTAssertFalse(bytes.contains { $0 < 0x20 })
        XCTAssertEqual(try JSONValue.parse(bytes), .string(string))
      }
    }
  }

  func testWriter_whenPretty_indentsByTwoAndKeepsEmptyContainersShort() {
    let value: JSONValue = ["b": [1, [], ["x": nil]], "a": [:]]
    XCTAssertEqual(
      text(value, pretty: true),
      """
      {
        "b": [
          1,
          [],
          {
            "x": null
          }
        ],
        "a": {}
      }
      """)
    XCTAssertEqual(text(value, sortedKeys: true), #"{"a":{},"b":[1,[],{"x":null}]}"#)
    XCTAssertEqual(text(value), #"{"b":[1,[],{"x":null}],"a":{}}"#)
  }

  func testWriter_whenAppending_leavesWhatStandsThere() {
    var bytes = Array("x=".utf8)
    JSONWriter.append([1, "a"], to: &bytes)
    JSONWriter.appendString("k\"", to: &bytes)
    XCTAssertEqual(String(decoding: bytes, as: UTF8.self), #"x=[1,"a"]"k\"""#)
  }

  func testWriter_whenKeysSort_ordersThemByBytes() {
    let value: JSONValue = ["é": 1, "z": 2, "B": 3, "a": 4, "": 5, "aa": 6]
    XCTAssertEqual(text(value, sortedKeys: true), #"{"":5,"B":3,"a":4,"aa":6,"z":2,"é":1}"#)
  }
}
