import XCTest

@testable import MockBatchServer

final class RequestParserTests: XCTestCase {
  enum Outcome: Equatable {
    case requests([String])
    case failed(Int, after: [String])
    case incomplete([String])
  }

  /// Feeds `text` in pieces of `size` bytes, keeping what is not consumed, as a connection does.
  func parse(_ text: String, size: Int = .max, limits: HTTPLimits = HTTPLimits()) -> Outcome {
    parse(Array(text.utf8), size: size, limits: limits)
  }

  func parse(_ bytes: [UInt8], size: Int, limits: HTTPLimits = HTTPLimits()) -> Outcome {
    var parser = RequestParser(limits: limits)
    var window = InputWindow()
    var seen: [String] = []
    var index = 0
    var method = ""
    while index < bytes.count {
      let end = size == .max ? bytes.count : min(bytes.count, index + size)
      let piece = Array(bytes[index..<end])
      index = end
      let outcome: Outcome? = piece.withUnsafeBytes { raw in
        window.lend(raw)
        defer { window.settle() }
        while true {
          switch window.parse(&parser) {
          case .needMore: return nil
          case .head(let head): method = "\(head.method) \(head.target)"
          case .body(let body, let trailers):
            let tail = trailers.map { " \($0.name)=\($0.value)" }.joined()
            seen.append("\(method) [\(String(decoding: body, as: UTF8.self))]\(tail)")
          case .bodyTooLarge: return .failed(413, after: seen)
          case .failed(let failure): return .failed(failure.status, after: seen)
          }
        }
      }
      if let outcome { return outcome }
    }
    return parser.isInsideHead || parser.isInsideBody ? .incomplete(seen) : .requests(seen)
  }

  static let accepted: [(String, [String])] = [
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / []"]),
    ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / []"]),
    ("GET / HTTP/1.0\r\n\r\n", ["GET / []"]),
    ("OPTIONS * HTTP/1.1\r\nhost:a\r\n\r\n", ["OPTIONS * []"]),
    ("GET http://a:80/x?y HTTP/1.1\r\nHost: a\r\n\r\n", ["GET http://a:80/x?y []"]),
    ("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", ["GET / []"]),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", ["GET / []"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["POST / [abc]"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc", ["POST / [abc]"]),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "3;a=b;c=\"d\\\"\"\r\nabc\r\n0A\r\n0123456789\r\n000\r\nX: y\r\n\r\n",
      ["POST / [abc0123456789] X=y"]
    ),
    (
      "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nxGET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
      ["POST /1 [x]", "GET /2 []"]
    ),
  ]

  func testRequests_whenTheyComeInPiecesOfAnySize_areReadAlike() {
    for (text, expected) in RequestParserTests.accepted {
      for size in [1, 2, 3, 5, 7, 16, 61, .max] {
        XCTAssertEqual(parse(text, size: size), .requests(expected), "\(size): \(text)")
      }
    }
  }

  static let refused: [(String, Int)] = [
    ("GET / HTTP/1.1\nHost: a\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
    (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /\r\nHost: a\r\n\r\n", 400),
    ("GET / http/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{0}\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 4\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999999\r\n\r\n", 413),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400
    ),
    ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nContent-Length: 1\r\n\r\nx", 417),
    ("\u{16}\u{3}\u{1}", 400),
  ]

  func testRequests_whenTheFramingIsDoubtful_areRefused() {
    for (text, status) in RequestParserTests.refused {
      for size in [1, 3, .max] {
        XCTAssertEqual(parse(text, size: size), .failed(status, after: []), "\(size): \(text)")
      }
    }
  }

  func testChunks_whenMalformed_areRefused() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    for tail in [
      "x\r\n", "\r\n", "-1\r\n", "0x1\r\na\r\n", "1 \r\na\r\n", "1\na\r\n", "1\r\nab\r\n",
      "1\r\na\n0\r\n\r\n", "1;\r\na\r\n", "1;a=\r\na\r\n", "1;a=\"\r\na\r\n", "1;a b\r\na\r\n",
      "11111111111111111\r\n", "0\r\n X: y\r\n\r\n", "0\r\nX y\r\n\r\n",
    ] {
      for size in [1, 4, .max] {
        XCTAssertEqual(parse(head + tail, size: size), .failed(400, after: []), tail)
      }
    }
    XCTAssertEqual(parse(head + "ffffffffffffffff\r\n"), .failed(413, after: []))
  }

  func testLimits_whenExceeded_areAnsweredWithTheirStatus() {
    var limits = HTTPLimits()
    limits.maxRequestLineBytes = 40
    limits.maxHeadBytes = 200
    limits.maxFields = 3
    limits.maxBodyBytes = 5
    limits.maxChunkExtensionBytes = 32
    let long = String(repeating: "a", count: 300)
    let host = "GET / HTTP/1.1\r\nHost: a\r\n"
    let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    let extended = "1;x=aaaaaaaaaaaaaaaaaaaaaaa\r\na\r\n"
    for (text, status) in [
      ("GET /\(long) HTTP/1.1\r\n", 414), ("GET /\(long)", 414), ("\(host)X: \(long)", 431),
      ("\(host)A: 1\r\nB: 2\r\nC: 3\r\n\r\n", 431),
      ("\(host)Content-Length: 6\r\n\r\n", 413),
      (chunked + "3\r\nabc\r\n3\r\nabc\r\n", 413),
      (chunked + "1;x=\(long)\r\na\r\n", 431),
      (chunked + extended + extended + extended + extended, 400),
      ("\r\n\r\n\r\n\r\n\r\n\(host)\r\n", 400),
    ] {
      for size in [1, .max] {
        XCTAssertEqual(
          parse(Array(text.utf8), size: size, limits: limits), .failed(status, after: []), text)
      }
    }
  }

  func testPipelining_whenTheSecondRequestIsBad_keepsTheFirst() {
    let good = "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"
    XCTAssertEqual(parse(good + "BAD\r\n\r\n"), .failed(400, after: ["GET /1 []"]))
  }

  func testKeepAlive_whenVersionAndConnectionVary_followsTheRules() {
    for (text, keeps) in [
      ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", false),
      ("GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", true),
      ("GET / HTTP/1.0\r\n\r\n", false),
      ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
      ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false),
    ] {
      var parser = RequestParser(limits: HTTPLimits())
      var consumed = 0
      let event = Array(text.utf8).withUnsafeBytes { parser.parse($0, consumed: &consumed) }
      guard case .head = event else { return XCTFail(text) }
      XCTAssertEqual(parser.keepsConnection, keeps, text)
    }
  }

  func testTokens_whenTested_areExactlyTheGrammars() {
    let tokens = Set(
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    for byte in UInt8.min...UInt8.max {
      XCTAssertEqual(ASCII.isToken(byte), tokens.contains(byte), "\(byte)")
    }
  }
}
