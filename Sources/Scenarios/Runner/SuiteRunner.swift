import Foundation

/// Runs planned cases, several at a time, and keeps what failed ones leave behind.
final class SuiteRunner: Sendable {
  struct Options: Sendable {
    var jobs = 1
    var timeoutSeconds = 60.0
    /// Where failed cases leave their folder; nil keeps nothing.
    var outFolder: String?
    var executable: String
    /// Where every case leaves its history; nil keeps none.
    var historyFolder: String?
    /// The server of the `remote` lane, and the words of the command line that name it.
    var remote: RemoteSite?
    var remoteWords: [String] = []
  }

  private struct State {
    var next = 0
    var results: [CaseResult?]
    var running: Int
  }

  private let cases: [PlannedCase]
  private let options: Options
  private let workFolder: String
  private let state: Guarded<State>
  private let onResult: @Sendable (CaseResult, _ done: Int, _ total: Int) -> Void

  /// `onResult` is called after each case, one call at a time.
  init(
    _ cases: [PlannedCase], options: Options,
    onResult: @escaping @Sendable (CaseResult, _ done: Int, _ total: Int) -> Void
  ) {
    self.cases = cases
    self.options = options
    self.onResult = onResult
    workFolder = NSTemporaryDirectory() + "/workbench-\(UUID().uuidString)"
    state = Guarded(
      State(results: Array(repeating: nil, count: cases.count), running: options.jobs))
  }

  /// Results in the order of the cases.
  func run() throws -> [CaseResult] {
    do {
      try FileManager.default.createDirectory(
        atPath: workFolder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    } catch {
      throw RunnerFailure("the run's folder \(workFolder): \(SystemWords.text(error))")
    }
    defer {
      // Left over files lie in a folder of our own below the system's temporary one.
      try? FileManager.default.removeItem(atPath: workFolder)
    }
    for _ in 0..<options.jobs {
      let thread = Thread { [self] in
        while let index = take() { finish(index, result(of: cases[index], index)) }
        state.withLock { $0.running -= 1 }
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    return state.wait(seconds: nil) { $0.running == 0 ? $0.results.compactMap { $0 } : nil } ?? []
  }

  /// No further case is begun; `run` returns when those under way are over.
  func stop() { state.withLock { $0.next = cases.count } }

  private func take() -> Int? {
    state.withLock { state in
      guard state.next < cases.count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  private func finish(_ index: Int, _ result: CaseResult) {
    let done = state.withLock { state -> Int in
      state.results[index] = result
      return state.results.reduce(0) { $0 + ($1 == nil ? 0 : 1) }
    }
    onResult(result, done, cases.count)
  }

  private func result(of planned: PlannedCase, _ index: Int) -> CaseResult {
    var result = CaseResult(
      title: planned.scenario.title, lane: planned.lane, file: planned.scenario.file,
      skipped: planned.skipped)
    guard planned.skipped == nil else { return result }
    let folder = workFolder + "/\(index)"
    let runner = CaseRunner(planned.scenario, settings(of: planned, folder))
    let outcome = runner.run()
    result.history = outcome.history
    result.failure = outcome.failure
    result.unavailable = outcome.unavailable
    result.realSeconds = outcome.realSeconds
    if outcome.failure == nil && outcome.unavailable == nil {
      let (evidence, checks) = Checkers.sort(outcome.history)
      result.figures = CaseFigures(evidence)
      result.checks = checks
    } else {
      result.figures = CaseFigures(Evidence(outcome.history))
    }
    if result.exitCode != .pass, let out = options.outFolder {
      do { result.kept = try keep(folder, planned, out, outcome) } catch {
        result.failure =
          result.failure ?? "what the case left cannot be kept: \(SystemWords.text(error))"
      }
    }
    if let folder = options.historyFolder {
      do { try write(outcome.history, to: folder + "/" + name(of: planned) + ".jsonl") } catch {
        result.failure =
          result.failure ?? "the history cannot be written: \(SystemWords.text(error))"
      }
    }
    // What was to be kept has been moved; the rest is of no use.
    try? FileManager.default.removeItem(atPath: folder)
    return result
  }

  private func settings(of planned: PlannedCase, _ folder: String) -> CaseSettings {
    var settings = CaseSettings(
      lane: planned.lane, seed: planned.seed, folder: folder, executable: options.executable,
      timeoutSeconds: options.timeoutSeconds,
      replay: ReplayCommand.line(planned, options.remoteWords))
    if planned.lane == .remote, let site = options.remote {
      settings.remote = site
      // What the script itself takes is no reason to give up.
      settings.timeoutSeconds += Double(planned.scenario.spanNs + site.maxRealNs) / 1_000_000_000
    }
    return settings
  }

  private func keep(
    _ folder: String, _ planned: PlannedCase, _ out: String, _ outcome: CaseOutcome
  ) throws -> String {
    let target = out + "/" + name(of: planned)
    let manager = FileManager.default
    // What an earlier run kept for the same case is replaced.
    try? manager.removeItem(atPath: target)
    do {
      try manager.moveItem(atPath: folder, toPath: target)
      try write(outcome.history, to: target + "/" + KeptCase.historyName)
      try Data(outcome.journal()).write(
        to: URL(fileURLWithPath: target + "/" + KeptCase.journalName))
      if manager.fileExists(atPath: planned.scenario.file) {
        try manager.copyItem(
          atPath: planned.scenario.file, toPath: target + "/" + KeptCase.scriptName)
      }
      return target
    } catch {
      // Half of it would look like all of it.
      try? manager.removeItem(atPath: target)
      throw error
    }
  }

  private func write(_ history: History, to file: String) throws {
    try Data(HistoryText.bytes(history)).write(to: URL(fileURLWithPath: file))
  }

  private func name(of planned: PlannedCase) -> String {
    CaseFile.name(title: planned.scenario.title, lane: planned.lane.rawValue)
  }
}
