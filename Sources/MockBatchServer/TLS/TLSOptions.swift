/// How a server speaks TLS. Needs OpenSSL, that is Linux; elsewhere starting fails with a clear
/// error.
public struct TLSOptions: Sendable, Hashable {
  /// Where the certificate comes from.
  public enum Certificate: Sendable, Hashable {
    /// A fresh certificate for `localhost`, `127.0.0.1` and `::1`, signed by a fresh CA.
    case generated
    /// PEM files with the certificate (chain) and its key.
    case files(certificate: String, key: String)
  }

  /// What is wrong with it, on purpose.
  public enum Fault: String, Sendable, Hashable, CaseIterable {
    /// The certificate's time is over.
    case expired
    /// The certificate names another host.
    case wrongHost = "wrong-host"
    /// The connection is reset once the client has said hello.
    case handshakeReset = "handshake-reset"
  }

  /// Where the certificate comes from.
  public var certificate: Certificate
  /// What is wrong with it, if anything. `expired` and `wrongHost` need a generated certificate.
  public var fault: Fault?
  /// File that gets the generated CA as PEM, for `curl --cacert`; nil for none.
  public var caFile: String?

  /// Options.
  public init(
    certificate: Certificate = .generated, fault: Fault? = nil, caFile: String? = nil
  ) {
    self.certificate = certificate
    self.fault = fault
    self.caFile = caFile
  }
}

/// Why TLS cannot be offered.
public struct TLSError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was tried.
  public let operation: String
  /// What OpenSSL or the system says.
  public let cause: String
  /// One line for a person.
  public var description: String { "TLS: \(operation): \(cause)" }
}

#if !canImport(COpenSSL)
  enum TLS {
    static func acceptor(_ options: TLSOptions) throws -> any TLSAcceptor {
      throw TLSError(operation: "start", cause: "this build has no OpenSSL")
    }
  }
#endif
