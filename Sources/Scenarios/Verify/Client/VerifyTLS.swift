#if os(Linux)
  import COpenSSL
  import Foundation

  /// TLS over a raw socket: the sole file of this module that calls OpenSSL.
  ///
  /// The certificate is checked against the system's authorities, or against the given file alone.
  final class VerifyTLS: ByteStream {
    // Macros of OpenSSL that Swift does not see.
    private static let setHostName: Int32 = 55
    private static let hostNameType: Int = 0

    private let socket: RawSocket
    private let context: OpaquePointer
    private let session: OpaquePointer

    init(over socket: RawSocket, host: String, caFile: String?, by deadline: Deadline) throws {
      guard let context = SSL_CTX_new(TLS_client_method()) else {
        throw SocketFault.tls(VerifyTLS.lastError())
      }
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
      let trusted =
        caFile.map { SSL_CTX_load_verify_locations(context, $0, nil) }
        ?? SSL_CTX_set_default_verify_paths(context)
      guard trusted == 1, let session = SSL_new(context) else {
        SSL_CTX_free(context)
        let file = caFile.map { "the authorities in \($0) cannot be read: " } ?? ""
        throw SocketFault.tls(file + VerifyTLS.lastError())
      }
      self.socket = socket
      self.context = context
      self.session = session
      try setName(host)
      SSL_set_fd(session, socket.descriptor)
      try handshake(by: deadline)
    }

    deinit {
      SSL_free(session)
      SSL_CTX_free(context)
    }

    private func setName(_ host: String) throws {
      let parameters = SSL_get0_param(session)
      if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
      var name = Array(host.utf8CString)
      SSL_ctrl(session, VerifyTLS.setHostName, VerifyTLS.hostNameType, &name)
      guard SSL_set1_host(session, host) == 1 else {
        throw SocketFault.tls(VerifyTLS.lastError())
      }
    }

    private func handshake(by deadline: Deadline) throws {
      do { try repeating(by: deadline) { SSL_connect(session) } } catch SocketFault.tls(let why) {
        let verdict = SSL_get_verify_result(session)
        guard verdict != Int(X509_V_OK) else { throw SocketFault.tls(why) }
        let reason = String(cString: X509_verify_cert_error_string(verdict))
        throw SocketFault.tls("the certificate is not trusted (\(reason))")
      }
    }

    /// Calls until it succeeds, waiting for the socket as OpenSSL asks.
    @discardableResult
    private func repeating(by deadline: Deadline, _ call: () -> Int32) throws -> Int32 {
      while true {
        ERR_clear_error()
        let result = call()
        if result > 0 { return result }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: try socket.wait(Int16(POLLIN), by: deadline)
        case SSL_ERROR_WANT_WRITE: try socket.wait(Int16(POLLOUT), by: deadline)
        case SSL_ERROR_ZERO_RETURN: return 0
        case SSL_ERROR_SYSCALL: throw SocketFault.reset
        default: throw SocketFault.tls(VerifyTLS.lastError())
        }
      }
    }

    func send(_ bytes: ArraySlice<UInt8>, by deadline: Deadline) throws {
      var rest = bytes
      while !rest.isEmpty {
        let sent = try repeating(by: deadline) {
          rest.withUnsafeBytes {
            SSL_write(session, $0.baseAddress, Int32(min($0.count, RawSocket.chunk)))
          }
        }
        guard sent > 0 else { throw SocketFault.reset }
        rest = rest.dropFirst(Int(sent))
      }
    }

    func receive(by deadline: Deadline) throws -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: RawSocket.chunk)
      do {
        let got = try repeating(by: deadline) {
          SSL_read(session, &bytes, Int32(RawSocket.chunk))
        }
        return Array(bytes.prefix(Int(got)))
      } catch SocketFault.tls(let why) where why.contains("unexpected eof") {
        // Many servers end without a close_notify; the framing says whether the answer is whole.
        return []
      }
    }

    func close() {
      SSL_shutdown(session)
      socket.close()
    }

    func reset() { socket.reset() }

    private static func lastError() -> String {
      let code = ERR_get_error()
      guard code != 0 else { return "no reason given" }
      return String(cString: ERR_reason_error_string(code) ?? ERR_lib_error_string(code))
    }
  }
#endif
