import JSONText

/// What the server does, and does wrong: contract, rules, toxics and the listener's timeline.
///
/// A plan is a value; an engine counts its rules from the moment it is activated.
public struct FaultPlan: Sendable {
  /// Seeds every random draw.
  public var seed: UInt64 = 0
  /// What the batch endpoint asks of its clients.
  public var contract = ContractRules()
  /// In the order they are tried: priority, then file order.
  package var rules: [Rule] = []
  package var toxics: [Toxic] = []
  package var timeline: [ListenerChange] = []
  /// The plan as it was given, for `GET /__admin/plan`.
  package var source: JSONValue = ["version": 1]

  /// A plan without faults: any token that is not empty, the default limits.
  public init() {}

  /// Reads a plan, strictly: unknown keys, wrong units and impossible combinations are errors with
  /// their place and, where something is near, with what was probably meant.
  ///
  /// - Parameter bytes: the plan's JSON text.
  /// - Throws: `FaultPlanError`.
  public init(parsing bytes: [UInt8]) throws {
    let document: JSONDocument
    do {
      document = try JSONDocument(parsing: bytes, limits: FaultPlan.limits)
    } catch let error as JSONError {
      throw FaultPlanError(error.reason, at: error.position, pointer: "")
    }
    try self.init(reading: document.root)
  }

  /// Reads a plan from text; see `init(parsing:)`.
  public init(_ text: String) throws { try self.init(parsing: Array(text.utf8)) }

  /// Reads a plan that is part of a larger document, such as a scenario; places in errors are
  /// those of that document.
  ///
  /// - Parameters:
  ///   - node: the plan's object. `version` may be absent where `isEmbedded`.
  ///   - pointer: the JSON pointer of the node in its document.
  package init(reading node: JSONNode, pointer: String = "", isEmbedded: Bool = false) throws {
    var shape = PlanObjects.plan
    if isEmbedded {
      shape = PlanObject(name: shape.name, about: shape.about, keys: shape.keys.map(\.optional))
    }
    try PlanReader.check(node, .object(shape), pointer: pointer)
    self = try FaultPlanDecoder(pointer: pointer).plan(node)
  }

  private static let limits = JSONLimits(maxDepth: 64, maxBytes: 4_000_000)
}

extension PlanKey {
  /// The same key, not required.
  fileprivate var optional: PlanKey {
    PlanKey(name, shape, required: false, default: standard, about)
  }
}

/// What the batch endpoint asks of its clients.
public struct ContractRules: Sendable, Hashable {
  /// Accept something, or refuse it with a status.
  public enum Policy: Sendable, Hashable {
    /// Taken.
    case accept
    /// Refused with this status.
    case refuse(Int)
  }
  /// One accepted bearer token.
  public struct Token: Sendable, Hashable {
    /// The token itself.
    public var value: String
    /// Whose it is.
    public var account: String?
    /// Refused from here on, in nanoseconds after the plan's activation.
    public var expiresAtNs: Int64?
    /// A token.
    public init(value: String, account: String? = nil, expiresAtNs: Int64? = nil) {
      self.value = value
      self.account = account
      self.expiresAtNs = expiresAtNs
    }
  }

  /// Accepted tokens; empty: any token that is not empty.
  public var tokens: [Token] = []
  /// The key of the array of events; nil: the body is the array.
  public var envelopeKey: String? = "events"
  /// The largest size that a plan may allow: a body is held in memory as a whole.
  static let largestLimit: Int64 = 1_000_000_000
  /// Bytes of JSON.
  public var maxBodyBytes = 256_000
  /// Bytes of the body as sent.
  public var maxWireBytes = 1_000_000
  /// Events of a batch.
  public var maxEvents = 1_000
  /// Decompressed bytes per compressed byte.
  public var maxRatio = 1_000
  /// Nested arrays and objects.
  public var maxDepth = 128
  /// Bodies without `Content-Encoding`.
  public var identityBody = Policy.refuse(415)
  /// Bodies with `Content-Encoding: gzip`.
  public var gzipBody = Policy.accept
  /// Batches without events.
  public var emptyBatch = Policy.refuse(400)
  /// A malformed event is listed under `rejected` instead of refusing its batch.
  public var rejectsInvalidEvents = false
  /// A known id with other content is listed under `rejected` instead of counting as a duplicate.
  public var rejectsConflicts = false
  /// How long an id is remembered for deduplication, in nanoseconds.
  public var dedupWindowNs: Int64 = 30 * 86_400_000_000_000
  /// Events of these types are listed under `rejected`.
  public var rejectTypes: [String] = []

  /// The defaults.
  public init() {}
}

/// From a time on, the listener does this.
package struct ListenerChange: Sendable, Hashable {
  package var atNs: Int64
  package var listener: ListenerState
}

/// Answers in place of the contract, for the requests it matches.
package struct Rule: Sendable {
  package enum OnExhausted: String, Sendable { case nextRule, `repeat`, last }
  package var id: String
  package var priority = 5
  package var pattern = RequestPattern()
  package var skip = 0
  package var times: Int?
  package var probability = 1.0
  package var fromNs: Int64 = 0
  package var untilNs: Int64?
  package var responses: [ResponseSpec] = []
  package var onExhausted = OnExhausted.nextRule

  /// The earliest phase at which one of its responses does something.
  package var earliestPhase: Phase {
    responses.flatMap(\.effects).map(\.at).min().map { min($0, .requestBody) } ?? .requestBody
  }
}

/// What the ledger takes before an answer.
package enum CommitSpec: Sendable, Hashable {
  case none
  case all
  case first(Int)
}

/// One answer of a rule.
package struct ResponseSpec: Sendable {
  package var status: Int?
  package var headers: [(name: String, value: String)] = []
  package var body: [UInt8]?
  package var bodyType: String?
  package var retryAfter: RetryAfterSpec?
  package var delay: DelaySpec?
  package var dribble: Dribble?
  package var fault: Fault?
  package var commit: CommitSpec?
  package var contentLength: Int?
  package var truncateAfter: Int?
  package var effects: [Effect] = []
  package var redirect: String?
  package var isCaptivePortal = false

  /// Whether the contract's own answer is given.
  package var isNatural: Bool {
    status == nil && fault == nil && redirect == nil && !isCaptivePortal
  }
}

/// The body in pieces, evenly over a time.
package struct Dribble: Sendable, Hashable {
  package var chunks: Int
  package var durationNs: Int64
}

/// Something is wrong with the answer itself. WireMock's names where it has the fault.
public enum Fault: String, Sendable, Hashable, CaseIterable {
  /// Closes before a byte of the answer.
  case emptyResponse = "EMPTY_RESPONSE"
  /// A good head, then a chunk that is none, then close.
  case malformedResponseChunk = "MALFORMED_RESPONSE_CHUNK"
  /// Bytes that are no HTTP, then close.
  case randomDataThenClose = "RANDOM_DATA_THEN_CLOSE"
  /// A TCP reset before a byte of the answer.
  case connectionResetByPeer = "CONNECTION_RESET_BY_PEER"
  /// The head and half of the body, then our sending side is shut down; reading goes on.
  case halfClose = "HALF_CLOSE"
  /// No byte of the answer; the connection stays open.
  case stall = "STALL"
}

/// What an effect does.
public enum EffectType: String, Sendable, Hashable, CaseIterable {
  /// Waits until the gate is opened.
  case gate
  /// Waits for a time.
  case delay
  /// TCP reset.
  case reset
  /// Ordinary close.
  case close
  /// Shuts down our sending side and reads on.
  case halfClose
  /// Does nothing more until the client goes.
  case stall
  /// Sends bytes that do not belong there, then closes.
  case garbage
  /// Sends the body at this rate.
  case bandwidth
  /// Closes after this much of the body.
  case limitData
  /// Closes late: after the answer and a time.
  case slowClose
}

/// Something that happens at a phase.
package struct Effect: Sendable {
  package var at: Phase
  package var type: EffectType
  package var name = ""
  package var timeoutNs: Int64?
  package var delay: DelaySpec?
  package var rate = 0
  package var bytes = 0
  package var afterBytes: Int?
}

/// What a toxic does, by Toxiproxy's names.
public enum ToxicType: String, Sendable, Hashable, CaseIterable {
  /// Every piece later.
  case latency
  /// So many bytes per second.
  case bandwidth
  /// The connection is closed late.
  case slowClose = "slow_close"
  /// No data passes; closed after the timeout.
  case timeout
  /// Reset after the timeout.
  case resetPeer = "reset_peer"
  /// Sent in small pieces.
  case slicer
  /// Closed after so many bytes.
  case limitData = "limit_data"
}

/// A property of poor connections.
package struct Toxic: Sendable {
  package var name: String
  package var type: ToxicType
  package var isUpstream = false
  package var toxicity = 1.0
  package var attributes: [String: Int] = [:]
}
