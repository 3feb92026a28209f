import XCTest

@testable import MockBatchServer

final class HTTPDateTests: XCTestCase {
  func testDate_whenWritten_hasTheThreeFormsOfTheStandard() {
    XCTAssertEqual(HTTPDate.text(seconds: 784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT")
    XCTAssertEqual(HTTPDate.text(seconds: 784_111_777, .rfc850), "Sunday, 06-Nov-94 08:49:37 GMT")
    XCTAssertEqual(HTTPDate.text(seconds: 784_111_777, .asctime), "Sun Nov  6 08:49:37 1994")
    XCTAssertEqual(HTTPDate.text(seconds: 0), "Thu, 01 Jan 1970 00:00:00 GMT")
    XCTAssertEqual(HTTPDate.text(seconds: 951_827_696), "Tue, 29 Feb 2000 12:34:56 GMT")
    XCTAssertEqual(HTTPDate.text(seconds: -5), "Thu, 01 Jan 1970 00:00:00 GMT")
    XCTAssertEqual(HTTPDate.text(seconds: .max), "Fri, 31 Dec 9999 23:59:59 GMT")
  }

  func testRetryAfter_whenTimesAreFractions_isRoundedUp() {
    let wallMs: Int64 = 784_111_757_001
    XCTAssertEqual(RetryAfterSpec.seconds(19_000_000_001).value(wallMs: wallMs), "20")
    XCTAssertEqual(RetryAfterSpec.seconds(20_000_000_000).value(wallMs: wallMs), "20")
    XCTAssertEqual(
      RetryAfterSpec.date(20_000_000_000, .imf).value(wallMs: wallMs),
      "Sun, 06 Nov 1994 08:49:38 GMT")
    XCTAssertEqual(
      RetryAfterSpec.date(20_000_000_000, .imf).value(wallMs: wallMs - 1),
      "Sun, 06 Nov 1994 08:49:37 GMT")
    XCTAssertEqual(
      RetryAfterSpec.date(.max, .asctime).value(wallMs: .max), "Fri Dec 31 23:59:59 9999")
    XCTAssertEqual(RetryAfterSpec.raw("-7").value(wallMs: 0), "-7")
  }
}
