import XCTest

import JSONText

final class JSONValueTests: XCTestCase {
  func testValue_whenReadAndWritten_keepsEveryNumberAsWritten() throws {
    let text = "[18446744073709551616,-0.0,1e-7,-9223372036854775808,1E+2,0.10,-0]"
    XCTAssertEqual(try JSONValue.parse(text).description, text)
  }

  func testValue_whenTrueOrOne_areNeverEqual() throws {
    XCTAssertNotEqual(try JSONValue.parse("true"), try JSONValue.parse("1"))
    XCTAssertNil(try JSONValue.parse("1").boolValue)
    XCTAssertNil(try JSONValue.parse("true").numberValue)
    XCTAssertNotEqual(JSONValue.bool(false), JSONValue.number(0))
  }

  func testValue_whenStringsOnlyLookTheSame_areNotEqual() {
    XCTAssertNotEqual(JSONValue.string("\u{e9}"), JSONValue.string("e\u{301}"))
    let object: JSONObject = ["\u{e9}": 1, "e\u{301}": 2]
    XCTAssertEqual(object.count, 2)
    XCTAssertEqual(object["e\u{301}"], 2)
  }

  func testValue_whenBuiltByLiterals_readsBackByAccessors() {
    let value: JSONValue = ["a": [1, 2.5, "x", nil, true], "b": ["c": -3]]
    XCTAssertEqual(value["a"]?[0]?.intValue, 1)
    XCTAssertEqual(value["a"]?[1]?.doubleValue, 2.5)
    XCTAssertEqual(value["a"]?[2]?.stringValue, "x")
    XCTAssertEqual(value["a"]?[3]?.isNull, true)
    XCTAssertEqual(value["a"]?[4]?.boolValue, true)
    XCTAssertEqual(value["b"]?["c"]?.int64Value, -3)
    XCTAssertNil(value["a"]?[5])
    XCTAssertNil(value["a"]?[-1])
    XCTAssertNil(value["missing"])
  }

  func testObject_whenMembersAreSet_keepsOrderAndRemovesWithNil() {
    var object: JSONObject = ["one": 1, "two": 2, "three": 3]
    object["two"] = "zwei"
    object["one"] = nil
    object["four"] = 4
    XCTAssertEqual(object.keys, ["two", "three", "four"])
    XCTAssertEqual(object["two"], "zwei")
    XCTAssertEqual(JSONObject([("a", 1), ("a", 2)]), ["a": 2])
  }
}
