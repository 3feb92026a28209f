import XCTest

import JSONText

/// Texts every strict reader must take, and what they mean.
final class AcceptedTextTests: XCTestCase {
  private struct Accepted {
    let text: String
    let value: JSONValue
    init(_ text: String, _ value: JSONValue) {
      self.text = text
      self.value = value
    }
  }

  private static func number(_ literal: String) -> JSONValue {
    .number(JSONNumber(literal: literal)!)
  }

  /// Swift's own literals refuse these.
  private static func nonCharacter(_ scalar: UInt32, _ rest: String = "") -> JSONValue {
    .string(String(Character(Unicode.Scalar(scalar)!)) + rest)
  }

  private static let structures: [Accepted] = [
    Accepted("[]", []), Accepted("[ ]", []), Accepted("{}", [:]), Accepted("{ }", [:]),
    Accepted("[[]]", [[]]), Accepted("[{}]", [[:]]), Accepted("[[] ]", [[]]),
    Accepted("[[],[[]]]", [[], [[]]]), Accepted("{\"a\":[]}", ["a": []]),
    Accepted("{\"a\":{}}", ["a": [:]]), Accepted("[null]", [nil]), Accepted("[true]", [true]),
    Accepted("[false]", [false]), Accepted("[1,null,\"x\",{}]", [1, nil, "x", [:]]),
    Accepted("{\"\":0}", ["": 0]), Accepted("{\"a\":1,\"b\":2}", ["a": 1, "b": 2]),
    Accepted("{\"a\":{\"b\":{\"c\":[1,[2]]}}}", ["a": ["b": ["c": [1, [2]]]]]),
    Accepted("{\"long key with spaces\":1}", ["long key with spaces": 1]),
    Accepted("{\"foo\\u0000bar\":42}", ["foo\u{0}bar": 42]),
    Accepted(
      "{\"min\":-1.0e+28,\"max\":1.0e+28}", ["min": number("-1.0e+28"), "max": number("1.0e+28")]),
  ]

  private static let scalars: [Accepted] = [
    Accepted("null", nil), Accepted("true", true), Accepted("false", false),
    Accepted("42", 42), Accepted("-0.1", number("-0.1")), Accepted("\"asd\"", "asd"),
    Accepted("\"\"", ""), Accepted(" 7 ", 7),
  ]

  private static let whitespace: [Accepted] = [
    Accepted(" [] ", []), Accepted("\n[\n]\n", []), Accepted("\r\n[\r\n]", []),
    Accepted("\t[1\t,\t2]\t", [1, 2]), Accepted("{ \"a\" : 1 , \"b\" : 2 }", ["a": 1, "b": 2]),
    Accepted("[1\n]", [1]), Accepted(" \t\r\n{\t}\r", [:]),
  ]

  private static let numbers: [String] = [
    "0", "-0", "-0.0", "1", "-1", "123", "0.5", "123.456789", "1e7", "1E7", "1e+7", "1E-7", "1e-7",
    "1.5e10", "0e0", "0e+1", "-1.5E+300", "1e400", "-1e-400", "0.1", "20e1", "123e45", "123.456e78",
    "18446744073709551616", "9223372036854775807", "-9223372036854775808", "0.000000000000000001",
    "-0.000000000000000000000000000000000000000000000000000000000000000000000000000001",
    "100000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "1e00", "1.10", "3.141592653589793238462643383279",
  ]

  private static let strings: [Accepted] = [
    Accepted(#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
    Accepted(#""\u0041""#, "A"), Accepted(#""\u00e9""#, "\u{e9}"), Accepted(#""\u00E9""#, "\u{e9}"),
    Accepted(#""\uD83D\uDE00""#, "\u{1F600}"), Accepted(#""\ud834\udd1e""#, "\u{1D11E}"),
    Accepted(#""\uDBFF\uDFFF""#, "\u{10FFFF}"), Accepted(#""\uD800\uDC00""#, "\u{10000}"),
    Accepted(#""\u0000""#, "\u{0}"), Accepted(#""\u001f""#, "\u{1f}"),
    Accepted(#""\uFFFF""#, "\u{ffff}"),
    Accepted(#""\uFFFE""#, nonCharacter(0xfffe)), Accepted(#""\uFDD0""#, nonCharacter(0xfdd0)),
    Accepted(#""\u2028\u2029""#, "\u{2028}\u{2029}"),
    Accepted("\"\u{2028}\u{2029}\"", "\u{2028}\u{2029}"),
    Accepted("\"\u{7f}\"", "\u{7f}"), Accepted("\"\u{80}\"", "\u{80}"), Accepted("\"€𝄞\"", "€𝄞"),
    Accepted("\"\u{feff}\"", "\u{feff}"), Accepted("\"\u{ffff}\"", "\u{ffff}"),
    Accepted("\"\u{10ffff}\"", "\u{10ffff}"), Accepted("\"\u{d7ff}\u{e000}\"", "\u{d7ff}\u{e000}"),
    Accepted(#""\\u0000""#, "\\u0000"), Accepted(#""\\n""#, "\\n"), Accepted(#""\\\\""#, "\\\\"),
    Accepted(#""a/b""#, "a/b"), Accepted("\"// no comment\"", "// no comment"),
    Accepted("\"e\u{301}\"", "e\u{301}"), Accepted(#""\u0022""#, "\""),
    Accepted(#""\u005C""#, "\\"),
    Accepted(#""1234567""#, "1234567"), Accepted(#""12345678""#, "12345678"),
    Accepted(#""123456789""#, "123456789"), Accepted(#""1234567é9abcdef\n""#, "1234567é9abcdef\n"),
    Accepted(#""\uFDD0new""#, nonCharacter(0xfdd0, "new")),
  ]

  func testParser_whenTextIsValid_givesItsValue() throws {
    for accepted in Self.structures + Self.scalars + Self.whitespace + Self.strings {
      XCTAssertEqual(try JSONValue.parse(accepted.text), accepted.value, accepted.text)
    }
  }

  func testParser_whenNumberIsValid_keepsItsLiteral() throws {
    for literal in Self.numbers {
      for text in [literal, "[\(literal)]", "{\"n\": \(literal) }"] {
        let document = try JSONDocument(parsing: Array(text.utf8))
        let node = document.root["n"] ?? document.root[0] ?? document.root
        XCTAssertEqual(node.number?.literal, literal, text)
      }
      XCTAssertEqual(JSONNumber(literal: literal)?.literal, literal)
    }
  }

  /// A quotation mark, an escape or a wide scalar at each place of a machine word.
  func testParser_whenSpecialByteStandsAnywhereInAWord_isSeen() throws {
    for length in 0..<24 {
      let plain = String(repeating: "x", count: length)
      for (written, meant) in [(#"\n"#, "\n"), ("é", "é"), (#"\""#, "\""), ("😀", "😀")] {
        let text = "\"\(plain)\(written)\(plain)\""
        XCTAssertEqual(try JSONValue.parse(text), .string(plain + meant + plain), text)
      }
    }
  }

  func testTable_whenCounted_holdsEnoughKinds() {
    let count =
      Self.structures.count + Self.scalars.count + Self.whitespace.count + Self.strings.count
      + Self.numbers.count
    XCTAssertGreaterThanOrEqual(count, 95)
  }
}
