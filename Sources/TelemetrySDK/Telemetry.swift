import JSONText

/// Records events so that they survive kills, and delivers them in batches.
///
/// Everything is thread safe, never throws, and never crashes or blocks the host. Every method
/// may be called from callbacks of the SDK: the token provider, the `beforeSend` hook, readers of
/// `diagnostics`.
///
/// ```swift
/// let telemetry = Telemetry.start(configuration, tokenProvider: provider)
/// telemetry.record("navigation", ["screen": "Orders"])
/// ```
public final class Telemetry: Sendable {
  package let recorder: Recorder
  package let shell: DeliveryShell

  init(recorder: Recorder, shell: DeliveryShell) {
    self.recorder = recorder
    self.shell = shell
  }

  /// Starts the SDK. Returns at once: files, keys and network are touched on a thread of the
  /// SDK's own; events recorded meanwhile are `.buffered(_, .notOpen)`.
  ///
  /// An invalid configuration disables the SDK: every `record` answers `.rejected(.disabled)`,
  /// and `diagnostics` says which values are wrong.
  public static func start(
    _ configuration: TelemetryConfiguration, tokenProvider: any TokenProvider
  ) -> Telemetry {
    start(
      configuration, tokenProvider: tokenProvider,
      environment: .live(configuration: configuration))
  }

  /// Starts the SDK in an environment of the caller's: scripted hosts and tests.
  package static func start(
    _ configuration: TelemetryConfiguration, tokenProvider: any TokenProvider,
    environment: TelemetryEnvironment, store: (any EventStore)? = nil,
    onDiagnostic: (@Sendable (DiagnosticEvent) -> Void)? = nil
  ) -> Telemetry {
    let diagnostics = DiagnosticsHub(hook: onDiagnostic)
    let problems = configuration.problems()
    guard problems.isEmpty else {
      diagnostics.emit(.invalidConfiguration(problems))
      return disabled(configuration, tokenProvider, environment, diagnostics)
    }
    let store = store ?? StoreFactory.make(configuration, environment)
    let recorder = Recorder(
      configuration: configuration, environment: environment, store: store,
      diagnostics: diagnostics)
    let shell = DeliveryShell(
      configuration: configuration, environment: environment, store: store, recorder: recorder,
      tokenProvider: tokenProvider, diagnostics: diagnostics)
    shell.start()
    return Telemetry(recorder: recorder, shell: shell)
  }

  private static func disabled(
    _ configuration: TelemetryConfiguration, _ tokenProvider: any TokenProvider,
    _ environment: TelemetryEnvironment, _ diagnostics: DiagnosticsHub
  ) -> Telemetry {
    let store = NoStore()
    let recorder = Recorder(
      configuration: configuration, environment: environment, store: store,
      diagnostics: diagnostics, disabled: true)
    let shell = DeliveryShell(
      configuration: configuration, environment: environment, store: store, recorder: recorder,
      tokenProvider: tokenProvider, diagnostics: diagnostics, disabled: true)
    return Telemetry(recorder: recorder, shell: shell)
  }

  // MARK: Recording

  /// Records one event with an id of the SDK's making.
  ///
  /// - Parameters:
  ///   - type: What kind of event it is, e.g. `navigation`; not empty.
  ///   - payload: An object; nested at most `maxPayloadDepth` levels.
  /// - Returns: Whether the event is durable, held in memory, or not taken.
  @discardableResult
  public func record(_ type: String, _ payload: JSONValue = .object([:])) -> RecordReceipt {
    recorder.record(type: type, payload: payload, id: nil)
  }

  /// Records one event with an id of the caller's: a second event with an id that is still in the
  /// queue is rejected as `.duplicateID`.
  @discardableResult
  public func record(_ type: String, _ payload: JSONValue, id: EventID) -> RecordReceipt {
    recorder.record(type: type, payload: payload, id: id)
  }

  /// Records one event and returns once it is durable: committed, and with
  /// `Durability.powerLoss` synced to the medium. Waits while the store is blocked.
  ///
  /// - Returns: `.durable` or `.rejected`.
  public func recordDurably(
    _ type: String, _ payload: JSONValue = .object([:]), id: EventID? = nil
  ) async -> RecordReceipt {
    await withCheckedContinuation { continuation in
      recordDurably(type, payload, id: id) { continuation.resume(returning: $0) }
    }
  }

  /// The same with a callback, which comes once, on any thread.
  public func recordDurably(
    _ type: String, _ payload: JSONValue, id: EventID?,
    completion: @escaping @Sendable (RecordReceipt) -> Void
  ) {
    recorder.recordDurably(type: type, payload: payload, id: id, completion: completion)
  }

  /// Sets an attribute that every later payload carries, unless the payload has a member of the
  /// same name. Nil removes it. Not kept across starts.
  public func setAttribute(_ name: String, _ value: JSONValue?) {
    recorder.setAttribute(name, value)
  }

  /// Begins a new session: later events carry a new `sessionId`.
  public func newSession() { recorder.newSession() }

  /// Allows or forbids recording and delivery. What is queued stays; see `purge()`.
  public func setConsent(_ given: Bool) {
    recorder.setConsent(given)
    shell.post(.consent(given))
  }

  // MARK: Delivery

  /// Delivers what was recorded before the call, passing own delays but never a pause that the
  /// server asked for, and reports. Returns early where nothing more can go within the time.
  ///
  /// In the background it has the time that the system grants, which may be none; a host that was
  /// granted time of its own calls `deliverInBackground`.
  ///
  /// - Parameter timeout: Seconds, 0 to 86,400; what is no number counts as 0.
  public func flush(timeout: Double) async -> FlushReport {
    await withCheckedContinuation { continuation in
      flush(timeout: timeout) { continuation.resume(returning: $0) }
    }
  }

  /// The same with a callback, which comes once, on the SDK's executor.
  public func flush(timeout: Double, completion: @escaping @Sendable (FlushReport) -> Void) {
    shell.flush(timeoutMs: Telemetry.milliseconds(timeout), completion: completion)
  }

  /// Delivers within time that the host was granted: its own background task, a push. Ends by the
  /// deadline: the request is cancelled, rows are kept, and everything is synced.
  ///
  /// - Parameter seconds: From now; 0 to 86,400.
  public func deliverInBackground(deadline seconds: Double) async -> FlushReport {
    await withCheckedContinuation { continuation in
      deliverInBackground(deadline: seconds) { continuation.resume(returning: $0) }
    }
  }

  /// The same with a callback, which comes once, on the SDK's executor.
  public func deliverInBackground(
    deadline seconds: Double, completion: @escaping @Sendable (FlushReport) -> Void
  ) {
    shell.deliverInBackground(
      deadlineMs: Telemetry.milliseconds(seconds), completion: completion)
  }

  /// Tells that the provider has another token, or none: it is asked at once.
  ///
  /// - Parameter account: Whose events are recorded from now on, where the app knows it already;
  ///   nil waits for the provider's answer. At most `AccessToken.maxAccountBytes` bytes; a longer
  ///   name is treated as nil, and `.accountTooLong` says so.
  public func tokenDidChange(account: String? = nil) {
    if let account {
      if account.utf8.count <= AccessToken.maxAccountBytes {
        recorder.setAccount(account)
      } else {
        shell.diagnostics.emit(.accountTooLong(bytes: account.utf8.count))
      }
    }
    shell.post(.tokenChanged)
  }

  /// The app came to the foreground.
  public func enterForeground() {
    recorder.enterForeground()
    shell.post(.foreground)
  }

  /// The app went to the background. What `record` acknowledged is on disk already; delivery goes
  /// on for as long as the system grants.
  public func enterBackground() {
    recorder.enterBackground()
    shell.post(.background)
  }

  // MARK: Looking in

  /// A picture of queue and delivery; see `TelemetryStatus`.
  public func status() -> TelemetryStatus { shell.status() }

  /// What happens inside, from now on (and up to 100 earlier events for the first reader). Each
  /// access makes a stream of its own; one that is read too slowly loses its oldest events, which
  /// is said by `.diagnosticsDropped`.
  public var diagnostics: AsyncStream<DiagnosticEvent> { shell.diagnostics.stream() }

  // MARK: Data

  /// Uses a new key from now on. Nothing is lost, also in the middle of a delivery.
  public func rotateKey() { shell.perform { $0.rotateKey() } }

  /// Deletes everything stored: keys first, then rows. Survives a kill half-way: the next start
  /// finishes it. Events in the memory buffer go too.
  ///
  /// - Parameter completion: Called once, on the SDK's executor, when it is done or durable
  ///   enough to be finished by the next start.
  public func purge(completion: (@Sendable () -> Void)? = nil) {
    shell.perform { $0.purge(completion) }
  }

  /// Writes what is in memory, ends the request under way, resumes every waiter and closes the
  /// files. Later events are `.rejected(.shutDown)`.
  ///
  /// - Parameter completion: Called once, on the SDK's executor, when the files are closed.
  public func shutdown(completion: (@Sendable () -> Void)? = nil) {
    recorder.shutDown()
    shell.perform { $0.shutDown(completion) }
  }

  // MARK: Hosts that bring platform signals

  /// The network path changed. A hint: see the docs on probing.
  package func setNetwork(_ path: NetworkPath) { shell.post(.pathChanged(path)) }

  /// Low Power Mode was switched.
  package func setLowPower(_ on: Bool) { shell.post(.lowPowerChanged(on)) }

  /// Seconds to whole milliseconds; NaN and negative count as 0, huge as a day.
  static func milliseconds(_ seconds: Double) -> Int64 {
    guard seconds > 0 else { return 0 }
    return Int64((min(seconds, 86_400) * 1_000).rounded(.up))
  }
}
