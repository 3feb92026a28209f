/// Where a request comes from, as its performer knows it.
package struct RequestContext: Sendable, Hashable {
  /// Number of the connection, from 1, unique for the life of the server.
  package var connection: Int
  /// Which request of its connection this is, from 0. Above 0 the connection was reused.
  package var indexOnConnection: Int
  /// The peer, for the journal: `127.0.0.1:50312`, or the name of an in-process performer.
  package var peer: String
  /// Whether the request came through TLS.
  package var isTLS: Bool

  package init(connection: Int, indexOnConnection: Int, peer: String = "", isTLS: Bool = false) {
    self.connection = connection
    self.indexOnConnection = indexOnConnection
    self.peer = peer
    self.isTLS = isTLS
  }
}

/// One thing a performer does next for a request. All times are the engine's: a performer never
/// measures a delay itself, it parks.
package enum ExchangeStep: Sendable {
  /// Read the request's body, at most `limit` bytes after the transfer coding is removed (send
  /// `100 Continue` first if the client waits for it), then call `supply`. A longer body: stop
  /// reading and call `supply(.tooLarge)`.
  case readBody(limit: Int)
  /// From now on read from the connection's client within these limits. A performer that cannot
  /// read slowly leaves `bytesPerSecond` out: the engine then delays by the time the body would
  /// have taken.
  case limitReading(StreamLimits)
  /// Do nothing until the park calls back, then ask for the next step again. Other connections go
  /// on meanwhile.
  case park(Park)
  /// Send the whole answer, head and body in one write. The performer adds `Content-Length` and
  /// `Connection`; every other header is there already, `Date` included.
  case send(HTTPResponse)
  /// Send the head only (`body` is ignored), framed as told; the body follows in pieces.
  case sendHead(HTTPResponse, BodyFraming)
  /// Send this piece of the body, as a chunk where the framing is `.chunked`.
  case sendBody([UInt8])
  /// Send these bytes as they are.
  case sendRaw([UInt8])
  /// The body is complete: the last chunk where the framing is `.chunked`, else nothing.
  case endBody
  /// The exchange is over; there is no further step. Do this to the connection and then call
  /// `ended`.
  case finish(ExchangeFinish)
}

/// How the body of a piecewise answer is framed.
package enum BodyFraming: Sendable, Hashable {
  /// A `Content-Length` that may be a lie: the plan says so.
  case length(Int)
  /// `Transfer-Encoding: chunked`.
  case chunked
  /// Neither; the body ends with the connection (`Connection: close`).
  case untilClose
}

/// What becomes of the connection after an exchange.
package enum ExchangeFinish: Sendable {
  /// Next request, if the request and HTTP's rules allow it; else close.
  case keepAlive
  /// Flush what was sent, then close in the ordinary way.
  case close
  /// Drop what is unsent and reset (a true RST: linger 0).
  case reset
  /// Shut down our sending side, go on reading (and discarding) until the client closes.
  case halfClose
  /// Send nothing more and read nothing more; hold the connection until the client goes, the
  /// server stops, or the park ends, if there is one (then close).
  case stall(Park?)
}

/// The body as the performer found it.
package enum SuppliedBody: Sendable {
  /// The complete body with its transfer coding removed, and the trailers of a chunked one.
  case complete([UInt8], trailers: HTTPHeaders)
  /// More than the step's limit; what came so far does not matter. The connection cannot be used
  /// again.
  case tooLarge
}

/// How an exchange ended on the wire.
package enum ExchangeEnding: Sendable, Hashable {
  /// All steps performed.
  case completed
  /// The client closed or reset before the last step.
  case clientWentAway
  /// The client took nothing of the answer for too long.
  case clientDidNotRead
  /// The request never became complete; says why (`body deadline`, `bad chunk`, …).
  case incompleteRequest(String)
  /// The server stopped meanwhile.
  case serverStopped
}

/// One request's way through the engine (or through the admin endpoints), pulled step by step by
/// the performer that owns the connection: call `next`, perform, call `next` again, until
/// `.finish`. One caller at a time; any thread.
package protocol Exchange: AnyObject, Sendable {
  /// Number of the journal entry; also the request's number in `onEvent`.
  var id: Int { get }
  /// The next thing to do. Commits, journal entries and events happen in here.
  func next() -> ExchangeStep
  /// Answers `.readBody`.
  func supply(_ body: SuppliedBody)
  /// Reports the end, once: bytes of the answer handed to the kernel, and how it ended. Cancels
  /// whatever the exchange still waits for.
  func ended(bytesSent: Int, _ ending: ExchangeEnding)
}

/// What a listener's requests are answered by: the engine, or the admin endpoints.
package protocol ExchangeHandler: Sendable {
  /// A connection was accepted, before anything is read from it.
  func connectionOpened(_ connection: Int, peer: String)
  /// The connection is gone.
  func connectionClosed(_ connection: Int)
  /// A head is complete (`head.body` is empty). Every request begins here.
  func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange
  /// Bytes that are no HTTP request were answered with `status` (400, 408, 431, …) by the performer
  /// itself; for the journal.
  func refused(_ bytes: [UInt8], status: Int, reason: String, context: RequestContext)
  /// The connection's limit on reading was reached between two requests, or inside the head of the
  /// next: `bytes` are what had come of that. The performer closes the connection.
  func cut(_ bytes: [UInt8], reason: String, context: RequestContext)
}

/// Limits of one direction of a connection. The engine shapes answers itself (with `.sendBody` and
/// `.park`); performers only shape reading.
package struct StreamLimits: Sendable, Hashable {
  /// Bytes per second of the engine's clock; nil: as fast as it goes.
  package var bytesPerSecond: Int?
  /// Close the connection after this many bytes were read.
  package var closeAfterBytes: Int?
  package init(bytesPerSecond: Int? = nil, closeAfterBytes: Int? = nil) {
    self.bytesPerSecond = bytesPerSecond
    self.closeAfterBytes = closeAfterBytes
  }

  /// Why a request stays incomplete whose connection was closed after so many bytes.
  package static func closingReason(bytes: Int) -> String { "the plan closes after \(bytes) bytes" }
}
