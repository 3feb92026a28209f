#if canImport(COpenSSL)
  import COpenSSL
  import Foundation

  /// The only file of this module that calls OpenSSL.
  enum TLS {
    /// Prepares certificate and key; writes the CA file if one is asked for.
    static func acceptor(_ options: TLSOptions) throws -> any TLSAcceptor {
      guard let context = SSL_CTX_new(TLS_server_method()) else { throw lastError("context") }
      let acceptor = OpenSSLAcceptor(
        context: context, resetsHandshake: options.fault == .handshakeReset)
      switch options.certificate {
      case .files(let certificate, let key):
        if let fault = options.fault, fault != .handshakeReset {
          throw TLSError(
            operation: fault.rawValue, cause: "only a generated certificate can have this fault")
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificate) == 1 else {
          throw lastError("certificate \(certificate)")
        }
        guard SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1 else {
          throw lastError("key \(key)")
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
          throw lastError("key \(key) for \(certificate)")
        }
      case .generated:
        let made = try CertificateMaker.make(fault: options.fault)
        defer { made.free() }
        guard SSL_CTX_use_certificate(context, made.certificate) == 1,
          SSL_CTX_use_PrivateKey(context, made.key) == 1
        else { throw lastError("use the generated certificate") }
        if let file = options.caFile { try write(made.authority, to: file) }
      }
      return acceptor
    }

    private static func write(_ certificate: OpaquePointer, to file: String) throws {
      guard let memory = BIO_new(BIO_s_mem()) else { throw lastError("memory") }
      defer { BIO_free(memory) }
      guard PEM_write_bio_X509(memory, certificate) == 1 else { throw lastError("write the CA") }
      var bytes = [UInt8](repeating: 0, count: 16_384)
      let count = BIO_read(memory, &bytes, Int32(bytes.count))
      do {
        try Data(bytes.prefix(Int(max(0, count)))).write(
          to: URL(fileURLWithPath: file), options: .atomic)
      } catch {
        throw TLSError(operation: "write the CA to \(file)", cause: error.localizedDescription)
      }
    }

    /// What OpenSSL says about the last failure of this thread.
    static func lastError(_ operation: String) -> TLSError {
      var text = [CChar](repeating: 0, count: 256)
      let code = ERR_get_error()
      ERR_clear_error()
      guard code != 0 else { return TLSError(operation: operation, cause: "failed") }
      ERR_error_string_n(code, &text, text.count)
      let cause = String(
        decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      return TLSError(operation: operation, cause: cause)
    }
  }

  /// Guard: OpenSSL counts the context's references itself; it does not change once made.
  private final class OpenSSLAcceptor: TLSAcceptor, @unchecked Sendable {
    let resetsHandshake: Bool
    private let context: OpaquePointer

    init(context: OpaquePointer, resetsHandshake: Bool) {
      self.context = context
      self.resetsHandshake = resetsHandshake
    }

    deinit { SSL_CTX_free(context) }

    func makeSession() -> (any TLSSession)? { OpenSSLSession(context) }
  }

  /// A session between two memory buffers.
  private final class OpenSSLSession: TLSSession {
    private let session: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var plain: [UInt8]

    private static let pieceBytes = 16_384

    init?(_ context: OpaquePointer) {
      guard let session = SSL_new(context) else { return nil }
      guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
        SSL_free(session)
        return nil
      }
      self.session = session
      self.incoming = incoming
      self.outgoing = outgoing
      plain = [UInt8](repeating: 0, count: OpenSSLSession.pieceBytes)
      SSL_set_bio(session, incoming, outgoing)
      SSL_set_accept_state(session)
    }

    deinit { SSL_free(session) }

    func receive(
      _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) -> TLSProgress {
      var rest = bytes
      while !rest.isEmpty {
        let count = BIO_write(incoming, rest.baseAddress, Int32(clamping: rest.count))
        guard count > 0 else { return .failed(TLS.lastError("buffer").cause) }
        rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
      }
      while true {
        ERR_clear_error()
        let count = SSL_read(session, &plain, Int32(plain.count))
        if count > 0 {
          plain.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
          continue
        }
        switch SSL_get_error(session, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .open
        case SSL_ERROR_ZERO_RETURN: return .ended
        default: return .failed(TLS.lastError("read").cause)
        }
      }
    }

    func send(_ plain: UnsafeRawBufferPointer) {
      var rest = plain
      while !rest.isEmpty {
        // A memory buffer takes everything; it only fails when the session is broken already, and
        // then the read side has reported it.
        let count = SSL_write(session, rest.baseAddress, Int32(clamping: rest.count))
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
      }
    }

    func sendClose() { SSL_shutdown(session) }

    func drain(to out: inout [UInt8]) {
      while BIO_ctrl_pending(outgoing) > 0 {
        let count = BIO_read(outgoing, &plain, Int32(plain.count))
        guard count > 0 else { return }
        out.append(contentsOf: plain[..<Int(count)])
      }
    }
  }

  /// A CA and a server certificate signed by it, both made on the spot.
  private struct CertificateMaker {
    let authority: OpaquePointer
    let certificate: OpaquePointer
    let key: OpaquePointer

    func free() {
      X509_free(authority)
      X509_free(certificate)
      EVP_PKEY_free(key)
    }

    private static let daySeconds = 86_400
    private static let asciiText: Int32 = 0x1001

    static func make(fault: TLSOptions.Fault?) throws -> CertificateMaker {
      let authorityKey = try makeKey()
      defer { EVP_PKEY_free(authorityKey) }
      let key = try makeKey()
      let authority = try certificate(
        name: "Telemetry Workbench Test CA", key: authorityKey, issuer: nil,
        issuerKey: authorityKey,
        from: -1, to: 365,
        extensions: [
          (NID_basic_constraints, "critical,CA:TRUE"),
          (NID_key_usage, "critical,keyCertSign,cRLSign"),
          (NID_subject_key_identifier, "hash"),
        ])
      let isOver = fault == .expired
      let hosts =
        fault == .wrongHost
        ? "DNS:wrong-host.invalid" : "DNS:localhost,IP:127.0.0.1,IP:::1"
      let leaf = try certificate(
        name: fault == .wrongHost ? "wrong-host.invalid" : "localhost", key: key, issuer: authority,
        issuerKey: authorityKey, from: isOver ? -30 : -1, to: isOver ? -1 : 365,
        extensions: [
          (NID_basic_constraints, "critical,CA:FALSE"), (NID_subject_alt_name, hosts),
          (NID_key_usage, "critical,digitalSignature"), (NID_ext_key_usage, "serverAuth"),
          (NID_authority_key_identifier, "keyid"),
        ])
      return CertificateMaker(authority: authority, certificate: leaf, key: key)
    }

    private static func makeKey() throws -> OpaquePointer {
      guard let context = EVP_PKEY_CTX_new_id(NID_X9_62_id_ecPublicKey, nil) else {
        throw TLS.lastError("key")
      }
      defer { EVP_PKEY_CTX_free(context) }
      var key: OpaquePointer?
      guard EVP_PKEY_keygen_init(context) == 1,
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
        EVP_PKEY_keygen(context, &key) == 1, let key
      else { throw TLS.lastError("key") }
      return key
    }

    private static func certificate(
      name: String, key: OpaquePointer, issuer: OpaquePointer?, issuerKey: OpaquePointer,
      from: Int, to: Int, extensions: [(nid: Int32, value: String)]
    ) throws -> OpaquePointer {
      guard let made = X509_new() else { throw TLS.lastError("certificate") }
      X509_set_version(made, 2)
      ASN1_INTEGER_set_uint64(
        X509_get_serialNumber(made), UInt64.random(in: 1...UInt64(Int64.max)))
      X509_gmtime_adj(X509_getm_notBefore(made), from * daySeconds)
      X509_gmtime_adj(X509_getm_notAfter(made), to * daySeconds)
      X509_set_pubkey(made, key)
      X509_NAME_add_entry_by_txt(
        X509_get_subject_name(made), "CN", asciiText, name, -1, -1, 0)
      X509_set_issuer_name(made, X509_get_subject_name(issuer ?? made))
      var context = X509V3_CTX()
      X509V3_set_ctx(&context, issuer ?? made, made, nil, nil, 0)
      for (nid, value) in extensions {
        guard let added = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
          throw TLS.lastError("certificate extension \(value)")
        }
        X509_add_ext(made, added, -1)
        X509_EXTENSION_free(added)
      }
      guard X509_sign(made, issuerKey, EVP_sha256()) > 0 else { throw TLS.lastError("sign") }
      return made
    }
  }
#endif
