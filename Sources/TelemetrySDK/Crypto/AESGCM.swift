/// AES-256-GCM under one key, with the key schedule prepared once.
///
/// The two implementations (CryptoKit, OpenSSL) make identical bytes; golden vectors join them.
/// Not thread safe: contexts are reused, so the owner serialises calls.
package final class AESGCM {
  package static let keyBytes = 32
  package static let nonceBytes = 12
  package static let tagBytes = 16

  let context: AESGCMContext

  /// Nil where the key has the wrong length or the library refuses.
  package init?(key: [UInt8]) {
    guard key.count == AESGCM.keyBytes, let context = AESGCMContext(key: key) else { return nil }
    self.context = context
  }

  /// Appends ciphertext and tag of `head ‖ body` to `output`. False where the library refuses;
  /// `output` is then as it was.
  package func seal(
    nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, head: UnsafeRawBufferPointer,
    body: UnsafeRawBufferPointer, into output: inout [UInt8]
  ) -> Bool {
    let start = output.count
    guard context.seal(nonce: nonce, aad: aad, head: head, body: body, into: &output) else {
      output.removeSubrange(start...)
      return false
    }
    return true
  }

  /// The plaintext of `ciphertext ‖ tag`, or nil where the tag does not fit: nothing of an
  /// unverified plaintext leaves this function.
  package func open(
    nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, sealed: UnsafeRawBufferPointer
  ) -> [UInt8]? {
    guard sealed.count >= AESGCM.tagBytes, nonce.count == AESGCM.nonceBytes else { return nil }
    return context.open(nonce: nonce, aad: aad, sealed: sealed)
  }
}
