import JSONText

/// The way of an event from `record` to the store or the memory buffer, on the caller's thread.
package final class Recorder: Sendable {
  struct State {
    var buffer: MemoryBuffer
    /// Nil: straight to the store. Else everything is buffered, for that reason.
    var detour: BufferReason? = .notOpen
    /// During a detour: the store takes writes again, and the buffer is being written.
    var isRecovering = false
    var session: SessionKeeper
    /// Whose events are recorded; nil until the store has told, `""` where the app names none.
    var account: String?
    var attributes = JSONObject()
    var consent: Bool
    var isShutDown = false
    var rejected: [RejectReason: Int] = [:]
    /// Committed since the shell last asked, and the highest sequence number ever.
    var news = RecordedNews()
    /// How the shell was told that there are news; nil since it took the last.
    var announced: NewsUrgency?
    var lastSequence: Int64 = 0
    var waiters: [EventID: @Sendable (RecordReceipt) -> Void] = [:]
    /// Events whose callers waited no longer although they were being written; may be one behind
    /// zero for the moment in which the answer overtakes the call.
    var late = 0
    var lateBytes = 0
    /// Committed and awaited, but not known to be on the medium.
    var unsynced: Set<EventID> = []
    /// The medium did not take them when it was tried.
    var owesSync = false
    /// Whose the events are that were recorded before the store had told.
    var earlierAccount: String?
    /// Nobody writes the buffer any more.
    var isAbandoned = false
  }

  let configuration: TelemetryConfiguration
  let environment: TelemetryEnvironment
  let store: any EventStore
  let diagnostics: DiagnosticsHub
  let isDisabled: Bool
  let state: Guarded<State>
  /// Held while a chunk of the buffer is written, so that chunks keep their order.
  ///
  /// The value says nothing but has a size: one without shares its address with the lock's own
  /// fields, where ThreadSanitizer sees a race that is none.
  let drain = Guarded(false, waitsAreBounded: true)
  /// Bytes that one event may have, so that it fits a batch alone, and the write-ahead log.
  let maxEventBytes: Int
  /// Called, outside locks, when `takeNews` has something; set by the shell before `start`.
  let onNews = Guarded<Callback<NewsUrgency>?>(nil)

  init(
    configuration: TelemetryConfiguration, environment: TelemetryEnvironment,
    store: any EventStore, diagnostics: DiagnosticsHub, disabled: Bool = false
  ) {
    self.configuration = configuration
    self.environment = environment
    self.store = store
    self.diagnostics = diagnostics
    isDisabled = disabled
    maxEventBytes = min(
      configuration.batchLimitBytes - configuration.envelope.bytes,
      StoreCore.largestEventBytes(logBudget: Int64(configuration.walBudgetBytes)))
    state = Guarded(
      State(
        buffer: MemoryBuffer(limitBytes: configuration.memoryBufferBytes),
        session: SessionKeeper(timeoutMs: configuration.sessionTimeoutMs),
        consent: configuration.consent))
  }

  func record(type: String, payload: JSONValue, id: EventID?) -> RecordReceipt {
    let identity = Identity(id: id ?? environment.random.eventID(), isFromCaller: id != nil)
    return record(type: type, payload: payload, identity: identity)
  }

  func record(type: String, payload: JSONValue, identity: Identity) -> RecordReceipt {
    switch prepare(type: type, payload: payload, identity: identity) {
    case .failure(let reason): return reject(reason)
    case .success(let event): return store(event)
    }
  }

  /// What an event is recorded under, read at once.
  private struct Admission {
    var attributes: JSONObject
    var session: String?
    var account: String?
    var sessionIsNew: Bool
  }

  /// Everything before the store: consent, hook, limits, encoding.
  func prepare(
    type: String, payload: JSONValue, identity: Identity
  ) -> Result<PendingEvent, RejectReason> {
    let admission: Admission
    switch admit() {
    case .failure(let reason): return .failure(reason)
    case .success(let admitted): admission = admitted
    }
    if admission.sessionIsNew { sessionStarted(admission.session) }
    guard case .object(let members) = payload else { return .failure(.payloadNotObject) }
    var event = TelemetryEvent(id: identity.id, type: type, payload: members)
    event.payload = EventEncoder.merging(members, admission.attributes)
    if let hook = configuration.beforeSend {
      guard let changed = hook(event) else { return .failure(.filtered) }
      event.type = changed.type
      event.payload = changed.payload
    }
    // A server refuses a batch for it, and good events with it.
    guard !event.type.isEmpty else { return .failure(.emptyType) }
    let wallMs = environment.clock.wallMs()
    guard
      let content = EventContent(
        id: identity.id, wallMs: wallMs, type: event.type, payload: event.payload,
        maxDepth: configuration.maxPayloadDepth)
    else { return .failure(.tooDeep) }
    let pending = PendingEvent(
      id: identity.id, idIsFromCaller: identity.isFromCaller, content: content,
      recordedAtMs: wallMs, session: admission.session, account: admission.account)
    return pending.bytes <= maxEventBytes ? .success(pending) : .failure(.tooLarge)
  }

  private func admit() -> Result<Admission, RejectReason> {
    if isDisabled { return .failure(.disabled) }
    return state.withLock { state in
      if state.isShutDown { return .failure(.shutDown) }
      guard state.consent else { return .failure(.noConsent) }
      let session = state.session.current(
        now: { environment.clock.now() }, fresh: { environment.random.eventID().description })
      return .success(
        Admission(
          attributes: state.attributes, session: session.id, account: state.account,
          sessionIsNew: session.started))
    }
  }

  func refusal() -> RejectReason? {
    if isDisabled { return .disabled }
    return state.withLock { state in
      if state.isShutDown { return .shutDown }
      return state.consent ? nil : .noConsent
    }
  }

  func reject(_ reason: RejectReason) -> RecordReceipt {
    state.withLock { $0.rejected[reason, default: 0] += 1 }
    diagnostics.emit(.rejected(reason))
    return .rejected(reason)
  }
}

/// Who records, and in which session.
struct RecordingIdentity: Sendable, Equatable {
  var session: String?
  var account: String?
}

/// An event's id, and who chose it.
struct Identity: Sendable {
  let id: EventID
  let isFromCaller: Bool
}

/// When the shell is to take the news.
enum NewsUrgency: Sendable {
  /// Something in memory is to be written.
  case now
  /// Everything is in the store: a few milliseconds do not matter.
  case soon
}

/// What was recorded since the shell last asked.
struct RecordedNews: Sendable, Equatable {
  /// Committed events and their bytes.
  var events = 0
  var bytes = 0
  /// Events that went to the memory buffer.
  var buffered = 0
  /// The highest sequence number of this process.
  var lastSequence: Int64 = 0
}

extension BufferReason {
  init(_ block: StoreBlock) {
    switch block {
    case .notOpen: self = .notOpen
    case .busy: self = .busy
    case .diskFull: self = .diskFull
    case .keyUnavailable: self = .keyUnavailable
    case .locked: self = .locked
    case .ioError: self = .ioError
    case .suspended: self = .suspended
    case .walBudget: self = .walBudget
    }
  }
}

extension BatchEnvelope {
  /// What stands before and after the events.
  package var text: (open: [UInt8], close: [UInt8]) {
    switch self {
    case .array: return ([0x5b], [0x5d])
    case .object(let key):
      var open: [UInt8] = [0x7b]
      JSONWriter.appendString(key, to: &open)
      open.append(contentsOf: ":[".utf8)
      return (open, Array("]}".utf8))
    }
  }

  /// Bytes around the events.
  package var bytes: Int { text.open.count + text.close.count }
}

extension RandomSource {
  /// A random version-4 id.
  package func eventID() -> EventID {
    let words = SIMD2<UInt64>(next(purpose: "id"), next(purpose: "id"))
    return EventID(random: unsafeBitCast(words, to: SIMD16<UInt8>.self))
  }
}
