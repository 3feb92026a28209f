/// What a sealed record is for. The domain is authenticated, so that a record of one kind is
/// never taken for another.
package enum SealDomain: UInt8, Sendable, CaseIterable {
  case telemetry = 1
  case cache = 2
  case note = 3
  case quarantineDetail = 4
}

/// Where a record belongs. All of it is authenticated and none of it encrypted: a record that
/// was moved, swapped or brought in from elsewhere does not open.
package struct SealPlace: Sendable, Equatable {
  package var domain: SealDomain
  /// The store's random id.
  package var store: SIMD16<UInt8>
  /// A keyed hash of the account's name.
  package var account: Int64
  package var keyID: UInt64
  /// The row's random id.
  package var row: SIMD16<UInt8>

  package init(
    domain: SealDomain, store: SIMD16<UInt8>, account: Int64, keyID: UInt64, row: SIMD16<UInt8>
  ) {
    self.domain = domain
    self.store = store
    self.account = account
    self.keyID = keyID
    self.row = row
  }
}

/// The sealed form of a record, and the only place that knows it:
/// `version (1) ‖ nonce (12) ‖ ciphertext ‖ tag (16)`, AES-256-GCM, with additional data of fixed
/// width: `version (1) ‖ domain (1) ‖ 0 (2) ‖ key id (8) ‖ account (8) ‖ store (16) ‖ row (16)`,
/// integers big-endian.
package enum RecordSealer {
  package static let version: UInt8 = 1
  package static let aadBytes = 52
  /// What sealing adds to a plaintext.
  package static let overheadBytes = 1 + AESGCM.nonceBytes + AESGCM.tagBytes

  /// Appends the sealed form of `head ‖ body` to `output`, with a nonce of the system's. False
  /// where randomness or the cipher fails; nothing is appended then.
  package static func seal(
    head: [UInt8], body: [UInt8], place: SealPlace, cipher: AESGCM,
    random: SystemRandom = .shared, into output: inout [UInt8]
  ) -> Bool {
    var nonce: (UInt64, UInt32) = (0, 0)
    return withUnsafeMutableBytes(of: &nonce) { nonce in
      let nonce = UnsafeMutableRawBufferPointer(rebasing: nonce[..<AESGCM.nonceBytes])
      guard random.fill(nonce) else { return false }
      return seal(
        head: head, body: body, place: place, cipher: cipher,
        nonce: UnsafeRawBufferPointer(nonce), into: &output)
    }
  }

  /// The same with a given nonce: for golden vectors. A nonce is never used twice with a key.
  static func seal(
    head: [UInt8], body: [UInt8], place: SealPlace, cipher: AESGCM,
    nonce: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) -> Bool {
    let start = output.count
    output.append(version)
    output.append(contentsOf: nonce)
    let isSealed = withAAD(place) { aad in
      head.withUnsafeBytes { head in
        body.withUnsafeBytes { body in
          cipher.seal(nonce: nonce, aad: aad, head: head, body: body, into: &output)
        }
      }
    }
    if !isSealed { output.removeSubrange(start...) }
    return isSealed
  }

  /// The plaintext, or nil where the record is torn, altered, of another place or version.
  package static func open(
    _ sealed: UnsafeRawBufferPointer, place: SealPlace, cipher: AESGCM
  ) -> [UInt8]? {
    guard sealed.count >= overheadBytes, sealed[0] == version else { return nil }
    let nonce = UnsafeRawBufferPointer(rebasing: sealed[1..<1 + AESGCM.nonceBytes])
    let rest = UnsafeRawBufferPointer(rebasing: sealed[(1 + AESGCM.nonceBytes)...])
    return withAAD(place) { cipher.open(nonce: nonce, aad: $0, sealed: rest) }
  }

  /// The additional data on the stack: sealing allocates nothing for it.
  static func withAAD<Result>(
    _ place: SealPlace, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var space = SIMD64<UInt8>()
    return withUnsafeMutableBytes(of: &space) { space in
      space[0] = version
      space[1] = place.domain.rawValue
      store(place.keyID, at: 4, in: space)
      store(UInt64(bitPattern: place.account), at: 12, in: space)
      for index in 0..<16 {
        space[20 + index] = place.store[index]
        space[36 + index] = place.row[index]
      }
      return body(UnsafeRawBufferPointer(rebasing: space[..<aadBytes]))
    }
  }

  private static func store(
    _ value: UInt64, at offset: Int, in space: UnsafeMutableRawBufferPointer
  ) {
    space.storeBytes(of: value.bigEndian, toByteOffset: offset, as: UInt64.self)
  }
}
