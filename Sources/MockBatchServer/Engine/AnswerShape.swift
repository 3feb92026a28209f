/// How an answer goes on the wire: whole, in pieces over time, cut off, or with a wrong length.
struct AnswerShape {
  let response: HTTPResponse
  let spec: ResponseSpec?
  let toxics: [Toxic]
  /// Bytes that answers on this connection have sent before, heads included.
  let sentBefore: Int
  /// How the head goes on the wire.
  let context: ResponseWriter.Context
  let hasNoBody: Bool
  let now: Int64
  var draw: KeyedDraw

  /// Bytes of the body to send, and why not all.
  private var limit: (bytes: Int, reason: String?) {
    var limit = (bytes: response.body.count, reason: String?.none)
    func lower(_ bytes: Int?, _ reason: String) {
      if let bytes, bytes < limit.bytes { limit = (max(0, bytes), reason) }
    }
    lower(spec?.truncateAfter, "truncateAfter")
    for effect in spec?.effects ?? [] where effect.type == .limitData {
      lower(effect.bytes, "limitData")
    }
    if let toxic = limitToxic, left(toxic) - head.count <= limit.bytes {
      limit = (left(toxic) - head.count, toxicName(toxic))
    }
    return limit
  }

  /// The tightest of the connection's limits on answers.
  private var limitToxic: Toxic? {
    toxics.filter { $0.type == .limitData && !$0.isUpstream }.min { left($0) < left($1) }
  }

  private func left(_ toxic: Toxic) -> Int { max(0, (toxic.attributes["bytes"] ?? 0) - sentBefore) }

  private func toxicName(_ toxic: Toxic) -> String { "toxic \(toxic.name)" }

  /// The head as it goes on the wire.
  private var head: [UInt8] {
    var bytes: [UInt8] = []
    let length = spec?.contentLength ?? response.body.count
    ResponseWriter.appendHead(response, .length(length), context, to: &bytes)
    return bytes
  }

  /// Bytes that the connection's `limit_data` toxics count for this answer; 0 without one.
  var countedBytes: Int {
    guard limitToxic != nil else { return 0 }
    return head.count + (hasNoBody ? 0 : max(0, limit.bytes))
  }

  /// The answer where a limit lies inside its head.
  private var cutHead: [ExchangeAction]? {
    guard let toxic = limitToxic else { return nil }
    let start = head.prefix(left(toxic))
    guard start.count < head.count else { return nil }
    return [.note(toxicName(toxic))] + (start.isEmpty ? [] : [.step(.sendRaw(Array(start)))])
      + [.step(.finish(.close))]
  }

  /// Cuts of the response that lie behind the end of this body.
  private var idleCuts: [ExchangeAction] {
    let length = hasNoBody ? 0 : response.body.count
    var idle: [ExchangeAction] = []
    func note(_ bytes: Int?, _ name: String) {
      guard let bytes, bytes >= length else { return }
      idle.append(.remark("\(name): nothing to cut off, the body has \(length) bytes"))
    }
    note(spec?.truncateAfter, "truncateAfter")
    for effect in spec?.effects ?? [] where effect.type == .limitData {
      note(effect.bytes, "limitData")
    }
    return idle
  }

  /// The wire steps of a faultless answer, shaped; ends with `.finish` where the connection cannot
  /// be used again.
  ///
  /// - Parameter inOnePiece: False where the body must not be on its way before the phase is told.
  mutating func actions(inOnePiece: Bool = true) -> [ExchangeAction] {
    if let cutHead { return cutHead }
    let limit = limit
    let inBody = (spec?.effects ?? []).filter {
      $0.at == .responseBody && $0.type != .bandwidth && $0.type != .limitData
    }
    let length = spec?.contentLength ?? response.body.count
    let pace = Pace(spec: spec, toxics: toxics)
    let isPlain =
      limit.reason == nil && inBody.isEmpty && length == response.body.count && pace == nil
    if hasNoBody || response.body.isEmpty && isPlain || isPlain && inOnePiece {
      return idleCuts + [.step(.send(response)), .phase(.responseBody)]
        + inBody.flatMap { $0.actions(&draw) }
    }
    var actions = idleCuts
    if let pace { actions.append(.note(pace.name)) }
    if length != response.body.count { actions.append(.note("contentLength")) }
    if let reason = limit.reason { actions.append(.note(reason)) }
    actions += [.step(.sendHead(response, .length(length))), .phase(.responseBody)]
    actions += body(limit.bytes, pace, inBody)
    if limit.reason != nil || length != response.body.count {
      actions.append(.step(.finish(.close)))
    }
    return actions
  }

  private mutating func body(
    _ count: Int, _ pace: Pace?, _ effects: [Effect]
  ) -> [ExchangeAction] {
    var actions: [ExchangeAction] = []
    var waiting = effects.sorted { ($0.afterBytes ?? 0) < ($1.afterBytes ?? 0) }[...]
    let pieces = pace?.pieces(of: count, &draw) ?? [Pace.Piece(end: count, atNs: 0)]
    var sent = 0
    for piece in pieces {
      if piece.atNs > 0 { actions.append(.waitUntil(BatchEngine.sum(now, piece.atNs))) }
      while let effect = waiting.first, (effect.afterBytes ?? 0) <= piece.end {
        waiting.removeFirst()
        let cut = max(sent, effect.afterBytes ?? 0)
        append(sent..<cut, to: &actions)
        sent = cut
        actions += effect.actions(&draw)
      }
      append(sent..<piece.end, to: &actions)
      sent = piece.end
    }
    // An effect beyond the end of the body acts at its end.
    for effect in waiting { actions += effect.actions(&draw) }
    actions.append(.step(.endBody))
    return actions
  }

  private func append(_ range: Range<Int>, to actions: inout [ExchangeAction]) {
    if !range.isEmpty { actions.append(.step(.sendBody(Array(response.body[range])))) }
  }
}

/// A body in pieces over time.
enum Pace: Sendable {
  case dribble(Dribble)
  case bandwidth(bytesPerSecond: Int, name: String)
  case slicer(average: Int, variation: Int, delayNs: Int64, name: String)

  struct Piece: Sendable {
    /// Past the last byte of the piece.
    var end: Int
    /// When it is sent, after the answer's start.
    var atNs: Int64
  }

  /// The plan's pace; nil for all at once. The response's own wish comes before the connection's.
  init?(spec: ResponseSpec?, toxics: [Toxic]) {
    if let dribble = spec?.dribble {
      self = .dribble(dribble)
      return
    }
    if let effect = spec?.effects.first(where: { $0.type == .bandwidth }) {
      self = .bandwidth(bytesPerSecond: Pace.bytes(effect.rate), name: "bandwidth")
      return
    }
    for toxic in toxics where !toxic.isUpstream {
      let name = "toxic \(toxic.name)"
      switch toxic.type {
      case .bandwidth:
        self = .bandwidth(bytesPerSecond: Pace.bytes(toxic.attributes["rate"] ?? 1), name: name)
        return
      case .slicer:
        self = .slicer(
          average: toxic.attributes["average_size"] ?? 1,
          variation: toxic.attributes["size_variation"] ?? 0,
          delayNs: Int64(toxic.attributes["delay"] ?? 0) * 1_000, name: name)
        return
      default: continue
      }
    }
    return nil
  }

  private static func bytes(_ kilobytes: Int) -> Int {
    max(1, kilobytes).multipliedReportingOverflow(by: 1_000).partialValue
  }

  var name: String {
    switch self {
    case .dribble: return "dribble"
    case .bandwidth(_, let name), .slicer(_, _, _, let name): return name
    }
  }

  /// More pieces than this are not worth their cost; they grow instead.
  private static let maxPieces = 100_000
  /// A steady rate is sent in pieces of about this length of time.
  private static let tickNs: Int64 = 20_000_000

  func pieces(of count: Int, _ draw: inout KeyedDraw) -> [Piece] {
    switch self {
    case .dribble(let dribble):
      let chunks = max(1, min(dribble.chunks, max(1, count)))
      return (1...chunks).map { index in
        let part = chunks > 1 ? Double(index - 1) / Double(chunks - 1) : 0
        let at = Double(dribble.durationNs) * part
        return Piece(end: count * index / chunks, atNs: at < 9e18 ? Int64(at) : .max)
      }
    case .bandwidth(let rate, _):
      let perTick = Int(Double(rate) * Double(Pace.tickNs) / 1e9)
      let size = max(1, perTick, count / Pace.maxPieces)
      return stride(from: size, to: count + size, by: size).map { end in
        let end = min(end, count)
        return Piece(end: end, atNs: Int64(Double(end) / Double(rate) * 1e9))
      }
    case .slicer(let average, let variation, let delayNs, _):
      var pieces: [Piece] = []
      var end = 0
      while end < count {
        let spread = Int(Double(variation) * (draw.fraction() * 2 - 1))
        end = min(count, end + max(1, average + spread, count / Pace.maxPieces))
        pieces.append(Piece(end: end, atNs: delayNs * Int64(pieces.count)))
      }
      return pieces
    }
  }
}
