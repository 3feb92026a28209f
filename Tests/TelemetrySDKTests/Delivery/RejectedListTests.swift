import XCTest

@testable import TelemetrySDK

final class RejectedListTests: XCTestCase {
  private let first = "b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11"
  private let second = "0f8fad5b-d9cb-469f-a165-70867728950e"

  private func ids(_ text: String) -> [String] {
    RejectedList(Array(text.utf8)).events.map(\.id.description)
  }

  private var body: String {
    #"{"accepted":1,"rejected":[{"id":"\#(first)","reason":"a } \" ] b"}, {"id":"\#(second)"}]}"#
  }

  func testBody_whenWhole_namesAll() {
    XCTAssertEqual(ids(body), [first, second])
    XCTAssertTrue(RejectedList(Array(body.utf8)).isWhole)
  }

  func testBody_whenCutAnywhere_namesWhatIsThereAndSaysSo() {
    let bytes = Array(body.utf8)
    var seen: Set<Int> = []
    for end in 1..<bytes.count {
      let list = RejectedList(Array(bytes[..<end]))
      XCTAssertFalse(list.isWhole, "\(end)")
      XCTAssertEqual(
        list.events.map(\.id.description), Array([first, second].prefix(list.events.count)))
      seen.insert(list.events.count)
    }
    XCTAssertEqual(seen, [0, 1, 2])
  }

  func testBody_whenAKeyStandsTwice_isStillHeard() {
    XCTAssertEqual(ids(#"{"a":1,"a":2,"rejected":[{"id":"\#(first)"}]}"#), [first])
  }

  func testBody_whenNoJSON_isAnAcknowledgement() {
    for text in ["", "OK", "accepted", "  "] {
      XCTAssertTrue(RejectedList(Array(text.utf8)).isWhole, text)
      XCTAssertEqual(ids(text), [])
    }
  }

  func testEntries_whenMalformed_nameNobody() {
    for entry in ["1", "null", "[]", "{}", #"{"id":1}"#, #"{"id":"x"}"#] {
      XCTAssertEqual(ids(#"{"rejected":[\#(entry)]}"#), [], entry)
    }
    XCTAssertEqual(ids(#"{"rejected":"all"}"#), [])
  }
}
