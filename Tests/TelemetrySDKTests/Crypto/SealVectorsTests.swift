import Foundation
import XCTest

@testable import TelemetrySDK

/// Golden bytes made by another implementation join this platform's cipher to all others'.
final class SealVectorsTests: XCTestCase {
  private struct Vector: Decodable {
    let name: String
    let domain: String
    let key: String
    let nonce: String
    let store: String
    let row: String
    let keyID: String
    let account: String
    let head: String
    let body: String
    let sealed: String
  }

  private func load() throws -> [Vector] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Vectors/sealed-records.json")
    return try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
  }

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).map { offset in
      let start = hex.index(hex.startIndex, offsetBy: offset)
      return UInt8(hex[start...].prefix(2), radix: 16) ?? 0
    }
  }

  private func place(_ vector: Vector) throws -> SealPlace {
    let domains: [String: SealDomain] = [
      "telemetry": .telemetry, "cache": .cache, "note": .note,
      "quarantineDetail": .quarantineDetail,
    ]
    return SealPlace(
      domain: try XCTUnwrap(domains[vector.domain]), store: SIMD16(bytes(vector.store)),
      account: Int64(bitPattern: try XCTUnwrap(UInt64(vector.account, radix: 16))),
      keyID: try XCTUnwrap(UInt64(vector.keyID, radix: 16)), row: SIMD16(bytes(vector.row)))
  }

  func testSeal_whenGivenTheVectors_makesTheirBytes() throws {
    let vectors = try load()
    XCTAssertEqual(vectors.count, 6)
    for vector in vectors {
      let cipher = try XCTUnwrap(AESGCM(key: bytes(vector.key)))
      var sealed: [UInt8] = []
      let isSealed = try bytes(vector.nonce).withUnsafeBytes { nonce in
        RecordSealer.seal(
          head: bytes(vector.head), body: bytes(vector.body), place: try place(vector),
          cipher: cipher, nonce: nonce, into: &sealed)
      }
      XCTAssertTrue(isSealed, vector.name)
      XCTAssertEqual(sealed, bytes(vector.sealed), vector.name)
    }
  }

  func testOpen_whenAnyBitOfPlaceOrBytesDiffers_refuses() throws {
    for vector in try load() {
      let cipher = try XCTUnwrap(AESGCM(key: bytes(vector.key)))
      let sealed = bytes(vector.sealed)
      let right = try place(vector)
      func open(_ sealed: [UInt8], _ place: SealPlace) -> [UInt8]? {
        sealed.withUnsafeBytes { RecordSealer.open($0, place: place, cipher: cipher) }
      }
      XCTAssertEqual(open(sealed, right), bytes(vector.head) + bytes(vector.body))
      for change in changes {
        var wrong = right
        change(&wrong)
        XCTAssertNil(open(sealed, wrong), vector.name)
      }
      for index in [0, 1, 12, sealed.count / 2, sealed.count - 1] {
        var wrong = sealed
        wrong[index] ^= 1
        XCTAssertNil(open(wrong, right), "\(vector.name), byte \(index)")
      }
      for count in [0, 1, 28, sealed.count - 1] where count < sealed.count {
        XCTAssertNil(open(Array(sealed[..<count]), right), "\(vector.name), \(count) bytes")
      }
    }
  }

  private var changes: [(inout SealPlace) -> Void] {
    [
      { $0.domain = $0.domain == .cache ? .telemetry : .cache }, { $0.store[3] ^= 1 },
      { $0.account ^= 1 }, { $0.keyID ^= 1 }, { $0.row[15] ^= 1 },
    ]
  }

  func testSeal_whenCalledTwice_usesAnotherNonce() throws {
    let cipher = try XCTUnwrap(AESGCM(key: [UInt8](repeating: 3, count: 32)))
    let place = SealPlace(
      domain: .telemetry, store: SIMD16(), account: 0, keyID: 1, row: SIMD16())
    var nonces: Set<[UInt8]> = []
    for _ in 0..<1_000 {
      var sealed: [UInt8] = []
      XCTAssertTrue(
        RecordSealer.seal(head: [], body: [1], place: place, cipher: cipher, into: &sealed))
      nonces.insert(Array(sealed[1..<13]))
    }
    XCTAssertEqual(nonces.count, 1_000)
  }

  func testRecord_whenEncodedAndDecoded_keepsEveryField() throws {
    let id = SIMD16<UInt8>(repeating: 0xab)
    for (account, callerID) in [
      ("", nil), ("Zoë 🍔", id), (String(repeating: "a", count: 300), nil),
    ]
      as [(String, SIMD16<UInt8>?)]
    {
      var head: [UInt8] = []
      let time = RecordedTime(wallMs: 1_767_600_000_123, sinceBootMs: 77, boot: 0xdead_beef)
      EventRecord.encodeHead(time: time, account: account, callerID: callerID, into: &head)
      let record = try XCTUnwrap(EventRecord(head + [1, 2, 3]))
      XCTAssertEqual(record.time, time)
      XCTAssertEqual(record.account, account)
      XCTAssertEqual(record.callerID, callerID)
      XCTAssertEqual(record.content, [1, 2, 3])
      for count in 0..<head.count where count < 19 || callerID != nil {
        XCTAssertNil(EventRecord(Array(head[..<count])))
      }
    }
  }
}
