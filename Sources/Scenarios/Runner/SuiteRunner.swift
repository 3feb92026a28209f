import Foundation

/// Runs planned cases, several at a time, and keeps what failed ones leave behind.
final class SuiteRunner: Sendable {
  struct Options: Sendable {
    var jobs = 1
    var timeoutSeconds = 60.0
    /// Where failed cases leave their folder; nil keeps nothing.
    var outFolder: String?
    var executable: String
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
      if let out = options.outFolder {
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: true)
        guard FileManager.default.isWritableFile(atPath: out) else {
          throw RunnerFailure("\(out): cannot be written to")
        }
      }
    } catch let failure as RunnerFailure {
      throw failure
    } catch {
      throw RunnerFailure("cannot make the folders of the run: \(error.localizedDescription)")
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
    let runner = CaseRunner(
      planned.scenario,
      CaseSettings(
        lane: planned.lane, seed: planned.seed, folder: folder, executable: options.executable,
        timeoutSeconds: options.timeoutSeconds, replay: SuiteRunner.replay(planned)))
    let outcome = runner.run()
    result.history = outcome.history
    result.failure = outcome.failure
    result.realSeconds = outcome.realSeconds
    result.checks = outcome.checks
    if outcome.failure == nil { result.checks += Checkers.judge(outcome.history) }
    if result.exitCode != .pass, let out = options.outFolder {
      result.kept = keep(folder, planned, out, outcome.history)
    }
    // What was to be kept has been moved; the rest is of no use.
    try? FileManager.default.removeItem(atPath: folder)
    return result
  }

  private func keep(
    _ folder: String, _ planned: PlannedCase, _ out: String, _ history: History
  ) -> String? {
    let name = "\(planned.scenario.title)-\(planned.lane.rawValue)"
    let target = out + "/" + name.map { "/\\:".contains($0) ? "_" : String($0) }.joined()
    let manager = FileManager.default
    // What an earlier run kept for the same case is replaced.
    try? manager.removeItem(atPath: target)
    do {
      try manager.moveItem(atPath: folder, toPath: target)
      try Data(HistoryText.bytes(history)).write(
        to: URL(fileURLWithPath: target + "/history.jsonl"))
      return target
    } catch { return nil }
  }

  private static func replay(_ planned: PlannedCase) -> String {
    "workbench run \(planned.scenario.file) --lane \(planned.lane.rawValue)"
      + " --seed \(planned.seed)"
      + (planned.scenario.variant.isEmpty ? "" : " --filter '\(planned.scenario.title)'")
  }
}
