/// Performs the engine's effects: the only place where delivery touches store, network and time.
///
/// Everything runs on the environment's serial executor; other threads only post.
package final class DeliveryShell: Sendable {
  let configuration: TelemetryConfiguration
  let environment: TelemetryEnvironment
  let store: any EventStore
  let recorder: Recorder
  let tokenProvider: any TokenProvider
  let diagnostics: DiagnosticsHub
  let isDisabled: Bool

  init(
    configuration: TelemetryConfiguration, environment: TelemetryEnvironment,
    store: any EventStore, recorder: Recorder, tokenProvider: any TokenProvider,
    diagnostics: DiagnosticsHub, disabled: Bool = false
  ) {
    self.configuration = configuration
    self.environment = environment
    self.store = store
    self.recorder = recorder
    self.tokenProvider = tokenProvider
    self.diagnostics = diagnostics
    isDisabled = disabled
  }

  func start() {}

  /// Hands an input to the engine, on the executor.
  func post(_ input: DeliveryInput) {}

  /// Runs work with the shell on the executor.
  func perform(_ work: @escaping @Sendable (DeliveryShell) -> Void) {
    environment.executor.async { work(self) }
  }

  func flush(timeoutMs: Int64, completion: @escaping @Sendable (FlushReport) -> Void) {
    perform { _ in completion(FlushReport(ending: .disabled)) }
  }

  func deliverInBackground(
    deadlineMs: Int64, completion: @escaping @Sendable (FlushReport) -> Void
  ) {
    perform { _ in completion(FlushReport(ending: .disabled)) }
  }

  func status() -> TelemetryStatus { TelemetryStatus() }
  func rotateKey() {}
  func purge(_ completion: (@Sendable () -> Void)?) { completion?() }
  func shutDown(_ completion: (@Sendable () -> Void)?) { completion?() }
}
