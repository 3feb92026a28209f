#if !canImport(CryptoKit)
  import COpenSSL

  /// OpenSSL's AES-256-GCM: one context per direction, both keyed once.
  final class AESGCMContext {
    private let sealing: OpaquePointer
    private let opening: OpaquePointer

    init?(key: [UInt8]) {
      guard let sealing = EVP_CIPHER_CTX_new() else { return nil }
      guard let opening = EVP_CIPHER_CTX_new() else {
        EVP_CIPHER_CTX_free(sealing)
        return nil
      }
      self.sealing = sealing
      self.opening = opening
      guard EVP_EncryptInit_ex(sealing, EVP_aes_256_gcm(), nil, key, nil) == 1,
        EVP_DecryptInit_ex(opening, EVP_aes_256_gcm(), nil, key, nil) == 1
      else { return nil }
    }

    deinit {
      EVP_CIPHER_CTX_free(sealing)
      EVP_CIPHER_CTX_free(opening)
    }

    func seal(
      nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, head: UnsafeRawBufferPointer,
      body: UnsafeRawBufferPointer, into output: inout [UInt8]
    ) -> Bool {
      guard nonce.count == AESGCM.nonceBytes, let length = Int32(exactly: head.count + body.count)
      else { return false }
      guard EVP_EncryptInit_ex(sealing, nil, nil, nil, nonce.bytes) == 1 else { return false }
      let start = output.count
      let total = Int(length) + AESGCM.tagBytes
      // An array of zeros is copied whole; `repeatElement` goes byte by byte where nothing inlines.
      output.append(contentsOf: [UInt8](repeating: 0, count: total))
      return output.withUnsafeMutableBytes { buffer in
        guard let base = buffer.baseAddress?.advanced(by: start) else { return false }
        let target = base.assumingMemoryBound(to: UInt8.self)
        var written: Int32 = 0
        guard EVP_EncryptUpdate(sealing, nil, &written, aad.bytes, Int32(aad.count)) == 1,
          EVP_EncryptUpdate(sealing, target, &written, head.bytes, Int32(head.count)) == 1,
          EVP_EncryptUpdate(
            sealing, target + head.count, &written, body.bytes, Int32(body.count)) == 1,
          EVP_EncryptFinal_ex(sealing, target + Int(length), &written) == 1
        else { return false }
        return EVP_CIPHER_CTX_ctrl(
          sealing, EVP_CTRL_AEAD_GET_TAG, Int32(AESGCM.tagBytes), target + Int(length)) == 1
      }
    }

    func open(
      nonce: UnsafeRawBufferPointer, aad: UnsafeRawBufferPointer, sealed: UnsafeRawBufferPointer
    ) -> [UInt8]? {
      let length = sealed.count - AESGCM.tagBytes
      guard let length32 = Int32(exactly: length), let source = sealed.bytes,
        EVP_DecryptInit_ex(opening, nil, nil, nil, nonce.bytes) == 1,
        EVP_CIPHER_CTX_ctrl(
          opening, EVP_CTRL_AEAD_SET_TAG, Int32(AESGCM.tagBytes),
          UnsafeMutableRawPointer(mutating: source + length)) == 1
      else { return nil }
      var isGenuine = false
      let plain = [UInt8](unsafeUninitializedCapacity: length + 1) { buffer, count in
        var written: Int32 = 0
        guard let target = buffer.baseAddress,
          EVP_DecryptUpdate(opening, nil, &written, aad.bytes, Int32(aad.count)) == 1,
          EVP_DecryptUpdate(opening, target, &written, source, length32) == 1,
          EVP_DecryptFinal_ex(opening, target + length, &written) == 1
        else { return }
        isGenuine = true
        count = length
      }
      return isGenuine ? plain : nil
    }
  }

  /// HMAC-SHA-256 (RFC 2104). Nil where the library refuses.
  package func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8]? {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let made = HMAC(
      EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length)
    return made != nil && length == 32 ? digest : nil
  }

  extension UnsafeRawBufferPointer {
    /// The bytes as OpenSSL takes them.
    fileprivate var bytes: UnsafePointer<UInt8>? {
      baseAddress?.assumingMemoryBound(to: UInt8.self)
    }
  }
#endif
