/// Something a plan may ask of the performer that carries it out. What a performer cannot express
/// is refused by this name.
public enum Capability: String, Sendable, Hashable, CaseIterable {
  case malformedResponseChunk = "MALFORMED_RESPONSE_CHUNK"
  case halfClose
  case slowClose
  case garbage
  case contentLength
  case truncateAfter
  case reset
  case close
  case stall
  case listenerRefuse = "listener refuse"
  case listenerBlackhole = "listener blackhole"
  case upstreamBandwidth = "upstream bandwidth"
  case upstreamLimitData = "upstream limit_data"
  case tls
}

/// A carrier of exchanges, with what it can express.
public struct PerformerKind: Sendable, Hashable {
  /// Its name in refusals.
  public let name: String
  /// What it can express beyond answers, delays, gates and pieces, which all can.
  public let capabilities: Set<Capability>

  /// Plain sockets: everything.
  public static let socketServer = PerformerKind(
    name: "socket", capabilities: Set(Capability.allCases))
  /// Requests intercepted inside the client's process: no bytes, so no lies about framing; a
  /// connection for each request, so nothing behind an answer.
  public static let urlProtocol = PerformerKind(
    name: "urlprotocol",
    capabilities: [
      .reset, .close, .stall, .garbage, .truncateAfter, .listenerRefuse, .listenerBlackhole,
    ])

  /// A performer.
  public init(name: String, capabilities: Set<Capability>) {
    self.name = name
    self.capabilities = capabilities
  }
}

/// A plan that a performer cannot carry out.
public struct CapabilityRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The performer.
  public let performer: String
  /// What it lacks, and which part of the plan asks for it.
  public let missing: [Need]

  /// One thing the plan asks for.
  public struct Need: Sendable, Hashable {
    /// What is asked for.
    public let capability: Capability
    /// By which rule, toxic or timeline entry.
    public let place: String
  }

  /// `urlprotocol cannot express halfClose (rule "busy")`.
  public var description: String {
    let list = missing.map { "\($0.capability.rawValue) (\($0.place))" }
    return "\(performer) cannot express \(list.joined(separator: ", "))"
  }
}

extension FaultPlan {
  /// What a performer would have to be able to do, with the part of the plan that asks for it.
  public var needs: [CapabilityRefusal.Need] {
    var needs: [CapabilityRefusal.Need] = []
    for rule in rules {
      for response in rule.responses {
        for capability in response.needs {
          needs.append(.init(capability: capability, place: "rule \"\(rule.id)\""))
        }
      }
    }
    for toxic in toxics {
      for capability in toxic.needs {
        needs.append(.init(capability: capability, place: "toxic \"\(toxic.name)\""))
      }
    }
    for change in timeline where change.listener != .accept {
      let capability: Capability =
        change.listener == .refuse ? .listenerRefuse : .listenerBlackhole
      needs.append(.init(capability: capability, place: "timeline"))
    }
    return needs
  }

  /// Throws when the performer lacks something.
  ///
  /// - Throws: `CapabilityRefusal`.
  public func check(for performer: PerformerKind) throws {
    let missing = needs.filter { !performer.capabilities.contains($0.capability) }
    guard missing.isEmpty else {
      throw CapabilityRefusal(performer: performer.name, missing: missing)
    }
  }
}

extension ResponseSpec {
  fileprivate var needs: [Capability] {
    var needs: [Capability] = []
    switch fault {
    case .malformedResponseChunk: needs.append(.malformedResponseChunk)
    case .halfClose: needs.append(.halfClose)
    case .randomDataThenClose: needs.append(.garbage)
    case .connectionResetByPeer: needs.append(.reset)
    case .emptyResponse: needs.append(.close)
    case .stall: needs.append(.stall)
    case nil: break
    }
    if contentLength != nil { needs.append(.contentLength) }
    if truncateAfter != nil { needs.append(.truncateAfter) }
    for effect in effects {
      switch effect.type {
      case .reset: needs.append(.reset)
      case .close: needs.append(.close)
      case .halfClose: needs.append(.halfClose)
      case .stall: needs.append(.stall)
      case .garbage: needs.append(.garbage)
      case .limitData: needs.append(.truncateAfter)
      case .slowClose: needs.append(.slowClose)
      case .gate, .delay, .bandwidth: break
      }
    }
    return needs
  }
}

extension Toxic {
  fileprivate var needs: [Capability] {
    switch type {
    case .bandwidth where isUpstream: return [.upstreamBandwidth]
    case .limitData: return [isUpstream ? .upstreamLimitData : .truncateAfter]
    case .slowClose: return [.slowClose]
    case .resetPeer: return [.reset]
    case .timeout: return [.close]
    case .latency, .bandwidth, .slicer: return []
    }
  }
}
