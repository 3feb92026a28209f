/// Bounds of one connection. Sizes in bytes, times in nanoseconds on the engine's clock,
/// nil for no limit.
package struct HTTPLimits: Sendable {
  /// Longest request line; longer is 414.
  package var maxRequestLineBytes = 8_192
  /// Longest head, request line and fields together; longer is 431.
  package var maxHeadBytes = 32_768
  /// Most field lines in a head or in trailers; more is 431.
  package var maxFields = 100
  /// Largest body after transfer decoding; larger is 413. A plan's `maxBodyBytes` is a rule of the
  /// contract and lies below it.
  package var maxBodyBytes = 64 * 1_048_576
  /// Longest chunk-size line, and the sum of all chunk extensions of one request.
  package var maxChunkExtensionBytes = 16_384
  /// Empty lines in front of a request line that are skipped (RFC 9112 section 2.2 asks for one).
  package var maxBlankLines = 4
  /// Time for a whole head from its first byte.
  package var headTimeoutNs: UInt64? = 30_000_000_000
  /// Time for a whole body from the end of its head.
  package var bodyTimeoutNs: UInt64? = 120_000_000_000
  /// Time in which a client must take some of an answer that waits for it.
  package var sendTimeoutNs: UInt64? = 60_000_000_000
  /// Time a connection may wait for its next request.
  package var idleTimeoutNs: UInt64? = 75_000_000_000
  /// Time spent reading what a client still sends after an answer that closes.
  package var lingerTimeoutNs: UInt64? = 2_000_000_000
  /// Connections of one server at a time; more wait in the kernel's backlog.
  package var maxConnections = 20_000
  /// Connections of listeners that plans leave alone, beside the others: the admin can be reached
  /// while the contract is full.
  package var maxAdminConnections = 1_000

  /// The defaults.
  package init() {}
}

/// Why a request cannot be read; the connection closes behind the answer.
struct HTTPFailure: Error, Equatable {
  /// The status of the answer.
  var status: Int
  /// One sentence for the problem's detail.
  var reason: String

  init(_ status: Int, _ reason: String) {
    self.status = status
    self.reason = reason
  }
}
