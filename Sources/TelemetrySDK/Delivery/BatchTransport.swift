/// One request, ready to go: the body is gzip already.
package struct BatchRequest: Sendable {
  /// Counts up within the process; late answers of an older one are ignored.
  package var generation: UInt64
  package var url: String
  /// Without `Content-Length`, which the transport adds.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(
    generation: UInt64, url: String, headers: [(name: String, value: String)], body: [UInt8]
  ) {
    self.generation = generation
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// What came back, as far as delivery decides on it.
package struct BatchAnswer: Sendable {
  package var status: Int
  /// As received; look-ups ignore case.
  package var headers: [(name: String, value: String)]
  /// At most 4 MB; what is beyond is cut off.
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// Why no answer came.
package struct TransportFailure: Error, Sendable, Equatable {
  /// `URLError.Code.rawValue`, or a negative code of the transport's own.
  package var code: Int
  /// The connection had carried an earlier request and was lost before any answer byte: the one
  /// case in which a quick retry is allowed.
  package var lostReusedConnection: Bool
  package var description: String

  package init(code: Int, lostReusedConnection: Bool = false, description: String) {
    self.code = code
    self.lostReusedConnection = lostReusedConnection
    self.description = description
  }
}

/// Sends one request. Redirects are never followed; no cache, no cookies.
package protocol BatchTransport: Sendable {
  /// Calls back exactly once, on any thread, also after `cancel`.
  func send(
    _ request: BatchRequest,
    completion: @escaping @Sendable (Result<BatchAnswer, TransportFailure>) -> Void
  ) -> TransportTask
}

/// A request under way.
package protocol TransportTask: Sendable {
  /// Ends the request; its completion comes with a failure. Harmless when it is over.
  func cancel()
}
