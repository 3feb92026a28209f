import XCTest

@testable import MockBatchServer

/// A mock that unzips quietly lets tests pass that a real service would fail.
final class GzipStrictnessTests: XCTestCase {
  private func kind(_ body: [UInt8], maxBytes: Int = 256_000) -> ProblemKind? {
    do {
      _ = try Inflater().gunzip(body, maxBytes: maxBytes, maxRatio: 1_000)
      return nil
    } catch let problem as Problem {
      return problem.kind
    } catch {
      XCTFail("\(error)")
      return nil
    }
  }

  func testGunzip_whenBodyIsGood_givesItsContent() throws {
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let inflater = Inflater()
    for size in [0, 1, 2, 1_000, 65_535, 65_536, 200_000] {
      let part = Array(content.prefix(size))
      let output = try inflater.gunzip(GzipBuilder.make(part), maxBytes: 200_000, maxRatio: 1_000)
      XCTAssertEqual(output, part)
    }
  }

  func testGunzip_whenBodyIsBroken_namesTheFault() {
    let good = GzipBuilder.make("{\"events\":[]}")
    var wrongCRC = good
    wrongCRC[good.count - 8] ^= 1
    var wrongLength = good
    wrongLength[good.count - 4] ^= 1
    var damaged = good
    damaged[10] = 7
    XCTAssertEqual(kind(Array("{\"events\":[]}".utf8)), .notGzip)
    XCTAssertEqual(kind([]), .notGzip)
    XCTAssertEqual(kind([0x1f, 0x8b]), .truncatedGzip)
    XCTAssertEqual(kind(Array(good.dropLast())), .truncatedGzip)
    XCTAssertEqual(kind(wrongCRC), .gzipChecksum)
    XCTAssertEqual(kind(wrongLength), .gzipLength)
    XCTAssertEqual(kind(damaged), .corruptGzip)
    XCTAssertEqual(kind(good + good), .concatenatedMembers)
    XCTAssertEqual(kind(good + [0]), .trailingBytes)
    XCTAssertEqual(kind([0x1f, 0x8b, 9] + good.dropFirst(3)), .notGzip)
  }

  func testGunzip_whenBodyIsABomb_stopsAtTheLimit() {
    let bomb = GzipBuilder.bomb(zeros: 50_000_000)
    XCTAssertLessThan(bomb.count, 350_000)
    XCTAssertEqual(kind(bomb), .bodyTooLarge)
    let small = GzipBuilder.bomb(zeros: 100_000)
    XCTAssertNil(kind(small))
    XCTAssertThrowsError(try Inflater().gunzip(small, maxBytes: 256_000, maxRatio: 100)) {
      XCTAssertEqual(($0 as? Problem)?.kind, .bomb)
    }
  }

  func testGunzip_whenTrailerLiesAboutLength_takesTheLimitSeriously() {
    var lying = GzipBuilder.make([UInt8](repeating: 65, count: 1_000))
    for index in 1...4 { lying[lying.count - index] = 0xff }
    XCTAssertEqual(kind(lying), .gzipLength)
    XCTAssertEqual(
      kind(GzipBuilder.make([UInt8](repeating: 65, count: 1_001)), maxBytes: 1_000), .bodyTooLarge)
    XCTAssertNil(kind(GzipBuilder.make([UInt8](repeating: 65, count: 1_000)), maxBytes: 1_000))
  }

  func testGunzip_whenNoLimitIsSet_inflatesAsUsual() throws {
    let output = try Inflater().gunzip(
      GzipBuilder.make([UInt8](repeating: 65, count: 1_000)), maxBytes: .max, maxRatio: .max)
    XCTAssertEqual(output.count, 1_000)
  }

  func testGunzip_whenAnyPrefixIsSent_refusesIt() {
    let good = GzipBuilder.make(EventBuilder.batch([1]))
    for length in 0..<good.count { XCTAssertNotNil(kind(Array(good.prefix(length)))) }
  }

  func testGunzip_whenAnyBitIsFlipped_neverGivesOtherContent() throws {
    let content = Array(EventBuilder.batch([1]).utf8)
    let good = GzipBuilder.make(content)
    for index in good.indices {
      for bit in 0..<8 {
        var flipped = good
        flipped[index] ^= 1 << bit
        // Time, flags for text and the system's number in the header say nothing of the content.
        let output = try? Inflater().gunzip(flipped, maxBytes: 256_000, maxRatio: 1_000)
        if let output { XCTAssertEqual(output, content, "byte \(index) bit \(bit)") }
      }
    }
  }

  func testInflater_whenABodyFailed_servesTheNext() throws {
    let inflater = Inflater()
    let good = GzipBuilder.make("x")
    for _ in 0..<3 {
      XCTAssertThrowsError(
        try inflater.gunzip(Array(good.dropLast(9)), maxBytes: 10, maxRatio: 1_000))
      XCTAssertEqual(try inflater.gunzip(good, maxBytes: 10, maxRatio: 1_000), [0x78])
    }
  }

  func testEngine_whenGzipIsBroken_countsInvalidAndStoresNothing() throws {
    let driver = try EngineDriver()
    let text = EventBuilder.batch([1])
    let good = GzipBuilder.make(text)
    var wrongCRC = good
    wrongCRC[good.count - 8] ^= 1
    var wrongLength = good
    wrongLength[good.count - 4] ^= 1
    let cases: [(HTTPRequest, Int)] = [
      (RequestBuilder.make(body: good, encoding: nil), 415),
      (RequestBuilder.make(body: Array(text.utf8)), 400),
      (RequestBuilder.make(body: Array(good.dropLast())), 400),
      (RequestBuilder.make(body: wrongCRC), 400),
      (RequestBuilder.make(body: wrongLength), 400),
      (RequestBuilder.make(body: good + good), 400),
      (RequestBuilder.make(body: GzipBuilder.bomb(zeros: 50_000_000)), 413),
    ]
    for (request, status) in cases { XCTAssertEqual(driver.send(request).status, status) }
    XCTAssertEqual(driver.engine.ledger.counts.invalid, cases.count)
    XCTAssertEqual(driver.engine.ledger.counts.received, 0)
    XCTAssertEqual(driver.engine.ledger.entries().count, 0)
  }

  func testEngine_whenPlanRefusesGzip_answers415() throws {
    let driver = try EngineDriver(#"{"version":1,"contract":{"gzipBody":415}}"#)
    let refused = driver.send()
    XCTAssertEqual(refused.status, 415)
    XCTAssertEqual(refused.response.headers["accept-encoding"], "identity")
  }
}
