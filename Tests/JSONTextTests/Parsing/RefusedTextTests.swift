import XCTest

import JSONText

/// Texts every strict reader must refuse, why, and at which byte.
final class RefusedTextTests: XCTestCase {
  private enum Why {
    case end, character, word, number, control, escape, surrogate, utf8, mark, deep, trailing

    init(_ kind: JSONError.Kind) {
      switch kind {
      case .unexpectedEnd: self = .end
      case .unexpectedCharacter: self = .character
      case .unknownWord: self = .word
      case .invalidNumber: self = .number
      case .controlCharacter: self = .control
      case .invalidEscape: self = .escape
      case .loneSurrogate: self = .surrogate
      case .invalidUTF8: self = .utf8
      case .byteOrderMark: self = .mark
      case .tooDeep: self = .deep
      case .trailingContent: self = .trailing
      case .tooLarge, .duplicateKey: self = .deep
      }
    }
  }

  private typealias Refused = (text: String, why: Why, offset: Int)

  private static let structures: [Refused] = [
    ("", .end, 0), (" ", .end, 1), ("[", .end, 1), ("{", .end, 1), ("]", .character, 0),
    ("}", .character, 0), ("[1", .end, 2), ("[1,", .end, 3), ("[,]", .character, 1),
    ("[,1]", .character, 1), ("[1,]", .character, 3), ("[1,,2]", .character, 3),
    ("[1 2]", .character, 3), ("[1}", .character, 2), ("[\"a\":1]", .character, 4),
    ("[]]", .trailing, 2), ("[1]x", .trailing, 3), ("{}}", .trailing, 2), ("1 2", .trailing, 2),
    ("null null", .trailing, 5), ("[][]", .trailing, 2), ("{\"a\"", .end, 4), ("{\"a\":", .end, 5),
    ("{\"a\":1", .end, 6), ("{\"a\":1,", .end, 7), ("{\"a\":1,}", .character, 7),
    ("{,}", .character, 1), ("{\"a\" 1}", .character, 5), ("{\"a\",1}", .character, 4),
    ("{\"a\"::1}", .character, 5), ("{1:1}", .character, 1), ("{a:1}", .word, 1),
    ("{'a':1}", .character, 1), ("{\"a\":1 \"b\":2}", .character, 7),
    ("{\"a\":1,,\"b\":2}", .character, 7),
    ("{null:1}", .word, 1), ("{[]:1}", .character, 1), ("{\"a\":}", .character, 5),
    ("{\"a\":1]", .character, 6), ("{\"a\":[}", .character, 6), ("[{]", .character, 2),
    (":", .character, 0), (",", .character, 0), ("[:]", .character, 1), ("<html>", .character, 0),
    ("*", .character, 0), ("[*]", .character, 1), ("[\"x\"", .end, 4), ("{\"a\":\"b\"", .end, 8),
    ("[1,\n2\n", .end, 6), ("{\"a\":1}#", .trailing, 7), ("{\"a\":1}/**/", .trailing, 7),
    ("/**/[]", .character, 0), ("[1]//x", .trailing, 3), ("[1/*x*/]", .character, 2),
    ("&", .character, 0), ("(1)", .character, 0), ("[\u{a0}1]", .character, 1),
    ("[\u{c}1]", .character, 1), ("[\u{b}1]", .character, 1), ("\u{2060}[]", .character, 0),
    ("[\u{ff11}]", .character, 1), ("é", .character, 0), ("\u{7f}", .character, 0),
  ]

  private static let words: [Refused] = [
    ("nul", .word, 0), ("[nul]", .word, 1), ("tru", .word, 0), ("[fals]", .word, 1),
    ("True", .word, 0), ("NULL", .word, 0), ("[nulll]", .word, 1), ("truefalse", .word, 0),
    ("true1", .word, 0), ("NaN", .word, 0), ("[Infinity]", .word, 1), ("undefined", .word, 0),
    ("nan", .word, 0), ("[inf]", .word, 1), ("TRUE", .word, 0), ("n", .word, 0),
  ]

  private static let numbers: [Refused] = [
    ("01", .number, 1), ("-01", .number, 2), ("00", .number, 1), ("-", .number, 0),
    ("[-]", .number, 2),
    ("[-a]", .number, 2), ("+1", .character, 0), ("[+1]", .character, 1), (".5", .character, 0),
    ("-.5", .number, 1), ("1.", .number, 0), ("[1.]", .number, 3), ("[1.e1]", .number, 3),
    ("1e", .number, 0), ("[1e]", .number, 3), ("[1e+]", .number, 4), ("[1E-]", .number, 4),
    ("[1e1.5]", .number, 4), ("[1.2.3]", .number, 4), ("0x10", .number, 1), ("[1_000]", .number, 2),
    ("[1a]", .number, 2), ("[--1]", .number, 2), ("[1-2]", .number, 2), ("[1+2]", .number, 2),
    ("[0e]", .number, 3), ("[-Infinity]", .number, 2), ("[-NaN]", .number, 2),
    ("[1ee2]", .number, 3),
    ("[0.]", .number, 3), ("[2.e+3]", .number, 3), ("[1.0e]", .number, 5), ("[-2.]", .number, 4),
    ("[1 000.0]", .character, 3), ("1f", .number, 1), ("1l", .number, 1),
  ]

  private static let strings: [Refused] = [
    ("\"", .end, 1), ("\"abc", .end, 4), ("\"\\", .end, 2), ("\"\\\"", .end, 3), ("[\"a]", .end, 4),
    ("'a'", .character, 0), ("[a]", .word, 1), ("\"\\x41\"", .escape, 1), ("\"\\a\"", .escape, 1),
    ("\"\\0\"", .escape, 1), ("\"\\U0041\"", .escape, 1), ("\"\\u\"", .escape, 1),
    ("\"\\u1\"", .escape, 1), ("\"\\u12\"", .escape, 1), ("\"\\u123\"", .escape, 1),
    ("\"\\u00G0\"", .escape, 1), ("\"\\u 041\"", .escape, 1), ("\"\\u+041\"", .escape, 1),
    ("\"\\'\"", .escape, 1), ("\"\\é\"", .escape, 1), ("\"\\ \"", .escape, 1),
    ("\"\\\n\"", .escape, 1),
    ("\"a\nb\"", .control, 2), ("\"a\tb\"", .control, 2), ("\"\u{0}\"", .control, 1),
    ("\"12345678\u{1f}\"", .control, 9), ("\"\r\"", .control, 1), ("\"a\u{8}\"", .control, 2),
    ("\"\\uD800\"", .surrogate, 1), ("\"\\uDC00\"", .surrogate, 1), ("\"\\uD800x\"", .surrogate, 1),
    ("\"\\uD800\\n\"", .surrogate, 1), ("\"\\uD800\\u0041\"", .surrogate, 1),
    ("\"\\uD800\\uD800\\uDC00\"", .surrogate, 1), ("\"\\uDC00\\uD800\"", .surrogate, 1),
    ("\"ok\\uDBFF\"", .surrogate, 3), ("\"\\uD83D\\u\"", .surrogate, 1),
    ("{\"\\uD800\":1}", .surrogate, 2),
    ("\"\\uD83D\\uDE\"", .surrogate, 1), ("\"\\\\\"x\"", .trailing, 4),
  ]

  private static let bytes: [(bytes: [UInt8], why: Why, offset: Int)] = [
    ([0x22, 0x80, 0x22], .utf8, 1), ([0x22, 0xbf, 0x22], .utf8, 1),
    ([0x22, 0xc0, 0xaf, 0x22], .utf8, 1),
    ([0x22, 0xc1, 0xbf, 0x22], .utf8, 1), ([0x22, 0xc3, 0x22], .utf8, 1),
    ([0x22, 0xc3, 0x28, 0x22], .utf8, 1),
    ([0x22, 0xe0, 0x80, 0x80, 0x22], .utf8, 1), ([0x22, 0xe0, 0x9f, 0xbf, 0x22], .utf8, 1),
    ([0x22, 0xe2, 0x82, 0x22], .utf8, 1), ([0x22, 0xed, 0xa0, 0x80, 0x22], .utf8, 1),
    ([0x22, 0xed, 0xbf, 0xbf, 0x22], .utf8, 1), ([0x22, 0xf0, 0x80, 0x80, 0x80, 0x22], .utf8, 1),
    ([0x22, 0xf0, 0x8f, 0xbf, 0xbf, 0x22], .utf8, 1), ([0x22, 0xf0, 0x9f, 0x98, 0x22], .utf8, 1),
    ([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], .utf8, 1),
    ([0x22, 0xf5, 0x80, 0x80, 0x80, 0x22], .utf8, 1),
    ([0x22, 0xff, 0x22], .utf8, 1), ([0x22, 0xfe, 0x22], .utf8, 1),
    ([0x22, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22], .utf8, 1),
    ([0x5b, 0xff, 0x5d], .utf8, 1), ([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d], .utf8, 2),
    ([0x22, 0x61, 0xe9], .utf8, 2),
    ([0x22, 0x61, 0xe2, 0x82], .utf8, 2),
    ([0x22, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xf8, 0x22], .utf8, 10),
    ([0x31, 0xff], .trailing, 1), ([0x22, 0x5c, 0xff, 0x22], .escape, 1),
    ([0xef, 0xbb, 0xbf], .mark, 0), ([0xef, 0xbb, 0xbf, 0x7b, 0x7d], .mark, 0),
    ([0xff, 0xfe, 0x5b, 0, 0x5d, 0], .mark, 0),
    ([0xfe, 0xff, 0, 0x5b, 0, 0x5d], .mark, 0), ([0x5b, 0, 0x5d, 0], .mark, 0),
    ([0, 0x5b, 0, 0x5d], .mark, 0),
    ([0, 0, 0xfe, 0xff], .mark, 0), ([0xef, 0xbb], .utf8, 0), ([0x00], .character, 0),
    ([0x5b, 0x31, 0x00, 0x5d], .character, 2),
  ]

  func testParser_whenTextIsInvalid_saysWhyAndWhere() {
    for refused in Self.structures + Self.words + Self.numbers + Self.strings {
      check(Array(refused.text.utf8), refused.why, refused.offset, refused.text.debugDescription)
    }
    for refused in Self.bytes {
      check(refused.bytes, refused.why, refused.offset, "\(refused.bytes)")
    }
  }

  /// What is refused alone is refused inside a larger text too, at its place there.
  func testParser_whenFaultLiesDeepInAText_countsItsOffsetFromTheStart() throws {
    let prefix = Array("{\n \"é\": [".utf8)
    for refused in Self.bytes where refused.why == .utf8 {
      check(
        prefix + refused.bytes + Array("]}".utf8), .utf8, refused.offset + prefix.count,
        "\(refused)")
    }
  }

  /// Every proper prefix of a valid text is refused, and never at a place behind its end.
  func testParser_whenTextIsCutAnywhere_refusesIt() {
    let whole = Array(
      #"{"id":"b1é\n😀","n":-12.5e+3,"l":[true,false,null,{"x":[]}],"\u00e9":""}"#.utf8)
    XCTAssertNoThrow(try JSONDocument(parsing: whole))
    for length in 0..<whole.count {
      XCTAssertThrowsError(try JSONDocument(parsing: Array(whole[..<length])), "\(length)") {
        error in
        XCTAssertLessThanOrEqual((error as? JSONError)?.position.offset ?? .max, length)
      }
    }
  }

  func testTable_whenCounted_holdsEnoughKinds() {
    let texts = Self.structures.count + Self.words.count + Self.numbers.count + Self.strings.count
    XCTAssertGreaterThanOrEqual(texts + Self.bytes.count, 150)
  }

  private func check(_ bytes: [UInt8], _ why: Why, _ offset: Int, _ name: String) {
    XCTAssertThrowsError(try JSONDocument(parsing: bytes), name) { error in
      guard let error = error as? JSONError else { return XCTFail("\(error)") }
      XCTAssertEqual(Why(error.kind), why, "\(name): \(error)")
      XCTAssertEqual(error.position.offset, offset, "\(name): \(error)")
    }
  }
}
