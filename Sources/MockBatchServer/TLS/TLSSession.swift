/// The TLS half of one connection, working on bytes only: no descriptor, no system call.
/// Belongs to the loop's thread.
protocol TLSSession: AnyObject {
  /// Takes bytes from the wire, calls back with each piece of plain text.
  func receive(
    _ bytes: UnsafeRawBufferPointer, _ plain: (UnsafeRawBufferPointer) -> Void
  ) -> TLSProgress
  /// Encrypts; the result comes out of `drain`.
  func send(_ plain: UnsafeRawBufferPointer)
  /// Announces the end of what we send.
  func sendClose()
  /// Appends what has to go to the wire.
  func drain(to out: inout [UInt8])
}

/// How a TLS session stands after it took bytes.
enum TLSProgress: Equatable {
  case open
  /// The peer announced its end.
  case ended
  /// The session is broken: what OpenSSL says.
  case failed(String)
}

/// Makes sessions for accepted connections; thread safe.
protocol TLSAcceptor: Sendable {
  /// Whether connections are to be reset once the client has said hello: a fault.
  var resetsHandshake: Bool { get }
  func makeSession() -> (any TLSSession)?
}
