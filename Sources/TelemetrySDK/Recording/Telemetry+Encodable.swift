import JSONText

extension Telemetry {
  /// Records one event whose payload is a value of the app's own type.
  ///
  /// The value must encode itself as an object. Mappings are fixed: `Date` becomes ISO 8601 in UTC
  /// with milliseconds, `URL` and `UUID` strings, `Decimal` a number, `Data` base64; integers keep
  /// every digit, `Double` and `Float` the shortest text that reads back as the same number.
  /// NaN and the infinities become null, and `.valueReplaced` says where. Members of dictionaries
  /// are sorted by key.
  ///
  /// Never crashes: a value that throws, or that encodes nothing or twice in one place, is
  /// `.rejected(.notEncodable)`, one that is nested deeper than `maxPayloadDepth`, or that
  /// would use more than 256 KB of stack, `.rejected(.tooDeep)`; `.notEncodable` among the
  /// diagnostics says where and why.
  ///
  /// - Parameters:
  ///   - type: What kind of event it is.
  ///   - payload: Encoded at once, on the caller's thread.
  ///   - id: An id of the caller's; nil lets the SDK make one.
  /// - Returns: Whether the event is durable, held in memory, or not taken.
  @discardableResult
  public func record(
    _ type: String, encoding payload: some Encodable, id: EventID? = nil
  ) -> RecordReceipt {
    switch recorder.encoded(payload) {
    case .failure(let reason): return recorder.reject(reason)
    case .success(let value): return recorder.record(type: type, payload: value, id: id)
    }
  }

  /// Records one event of the app's own type and returns once it is durable; see
  /// `record(_:encoding:id:)` for the mappings.
  ///
  /// - Returns: `.durable` or `.rejected`.
  public func recordDurably(
    _ type: String, encoding payload: some Encodable, id: EventID? = nil
  ) async -> RecordReceipt {
    switch recorder.encoded(payload) {
    case .failure(let reason): return recorder.reject(reason)
    case .success(let value): return await recordDurably(type, value, id: id)
    }
  }
}

extension Recorder {
  /// The payload as JSON. Foreign code is not run while nothing is recorded anyway.
  func encoded(_ payload: some Encodable) -> Result<JSONValue, RejectReason> {
    if let reason = refusal() { return .failure(reason) }
    switch ValueEncoder.encode(payload, maxDepth: configuration.maxPayloadDepth) {
    case .failure(let fault):
      diagnostics.emit(.notEncodable(path: fault.path, why: fault.why))
      return .failure(fault.reason)
    case .success(let output):
      for path in output.replaced { diagnostics.emit(.valueReplaced(path: path)) }
      let unnamed = output.replacedCount - output.replaced.count
      if unnamed > 0 { diagnostics.emit(.valueReplaced(path: "and \(unnamed) more")) }
      return .success(output.value)
    }
  }
}
