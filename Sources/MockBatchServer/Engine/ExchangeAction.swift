/// One line of an exchange's script. Some become steps of the performer, the others are the
/// engine's own.
enum ExchangeAction: Sendable {
  /// Tells that a phase is reached.
  case phase(Phase)
  /// Tells that a fault, an effect or a toxic takes hold.
  case note(String)
  /// Tells the journal that something planned had nothing to act on.
  case remark(String)
  /// Waits so long.
  case wait(Int64)
  /// Waits until that moment of the clock; nothing when it is past.
  case waitUntil(Int64)
  case gate(String, timeoutNs: Int64?)
  /// The ledger takes what the response says.
  case commit
  /// The answer is made, and its wire steps follow.
  case answer
  case step(ExchangeStep)
  case stall(timeoutNs: Int64?)
}

extension Effect {
  /// What the effect does at its phase. Shaping effects (`bandwidth`, `limitData`) act on the body
  /// and give nothing here.
  func actions(_ draw: inout KeyedDraw) -> [ExchangeAction] {
    switch type {
    case .gate: return [.note("gate \(name)"), .gate(name, timeoutNs: timeoutNs)]
    case .delay: return [.note("delay"), .wait(delay?.nanoseconds(&draw) ?? 0)]
    case .reset: return [.note("reset"), .step(.finish(.reset))]
    case .close: return [.note("close"), .step(.finish(.close))]
    case .halfClose: return [.note("halfClose"), .step(.finish(.halfClose))]
    case .stall: return [.note("stall"), .stall(timeoutNs: timeoutNs)]
    case .garbage:
      return [
        .note("garbage"), .step(.sendRaw(Garbage.bytes(bytes, &draw))), .step(.finish(.close)),
      ]
    case .slowClose:
      return [
        .note("slowClose"), .wait(delay?.nanoseconds(&draw) ?? 0), .step(.finish(.close)),
      ]
    case .bandwidth, .limitData: return []
    }
  }
}

/// Bytes that are no HTTP.
enum Garbage {
  static func bytes(_ count: Int, _ draw: inout KeyedDraw) -> [UInt8] {
    // The first byte is never a letter, so that no parser takes it for a status line.
    (0..<max(1, min(count, longest))).map { index in
      let byte = UInt8(truncatingIfNeeded: draw.next())
      return index == 0 ? byte | 0x80 : byte
    }
  }
  private static let longest = 1_000_000
}
