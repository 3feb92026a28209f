#if canImport(CryptoKit)
  import CryptoKit
  import Foundation

  /// CryptoKit's AES-256-GCM.
  final class AESGCMContext {
    private let key: SymmetricKey

    init?(key: [UInt8]) {
      self.key = SymmetricKey(data: key)
    }

    func seal(
      nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, head: UnsafeRawBufferPointer,
      body: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) -> Bool {
      var plain = Data(capacity: head.count + body.count)
      plain.append(contentsOf: head)
      plain.append(contentsOf: body)
      do {
        let box = try AES.GCM.seal(
          plain, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: aad)
        output.append(contentsOf: box.ciphertext)
        output.append(contentsOf: box.tag)
        return true
      } catch {
        return false
      }
    }

    func open(
      nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, sealed: UnsafeRawBufferPointer
    ) -> [UInt8]? {
      let length = sealed.count - AESGCM.tagBytes
      do {
        let box = try AES.GCM.SealedBox(
          nonce: AES.GCM.Nonce(data: nonce), ciphertext: sealed[..<length],
          tag: sealed[length...])
        return [UInt8](try AES.GCM.open(box, using: key, authenticating: aad))
      } catch {
        return nil
      }
    }
  }

  /// HMAC-SHA-256 (RFC 2104). Nil where the library refuses.
  package func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8]? {
    [UInt8](HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key)))
  }
#endif
