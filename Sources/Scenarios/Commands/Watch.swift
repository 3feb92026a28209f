import Dispatch
import Foundation

/// What tells one saved version of a file from another.
struct FileStamp: Hashable, Sendable {
  var changedNs: Int64
  var bytes: Int64
  var number: UInt64
}

/// Looks at files again and again and says which have changed.
///
/// Looking and waiting come from outside, so that tests neither sleep nor depend on the clock of a
/// file system.
struct ScriptWatch {
  /// The files of interest with their stamps, as they are now.
  let look: () -> [String: FileStamp]
  /// Waits a little. False: it is over.
  let pause: () -> Bool
  private var known: [String: FileStamp]

  init(look: @escaping () -> [String: FileStamp], pause: @escaping () -> Bool) {
    self.look = look
    self.pause = pause
    known = look()
  }

  /// Waits for a change; nil when it is over. A file counts once it has kept still for one look:
  /// editors write in several steps. A file that vanished is no change.
  mutating func next() -> [String]? {
    while pause() {
      var now = look()
      guard now != known else { continue }
      while true {
        guard pause() else { return nil }
        let again = look()
        if again == now { break }
        now = again
      }
      let changed = now.filter { known[$0.key] != $0.value }.map(\.key).sorted()
      known = now
      if !changed.isEmpty { return changed }
    }
    return nil
  }
}

/// SIGINT and SIGTERM as a wish to end: the first one is heard between two cases, the second ends
/// the process.
final class Interrupt: Sendable {
  private struct State {
    var isAsked = false
    var callback: (@Sendable () -> Void)?
    var sources: [any DispatchSourceSignal] = []
  }
  private let state = Guarded(State())

  var isAsked: Bool { state.withLock { $0.isAsked } }

  /// Takes the signals over. Once in a process.
  func listen() {
    for number in [SIGINT, SIGTERM] {
      SystemCalls.ignoreSignal(number)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { [weak self] in self?.ask() }
      source.resume()
      state.withLock { $0.sources.append(source) }
    }
  }

  func ask() {
    let (wasAsked, callback) = state.withLock { state in
      defer { state.isAsked = true }
      return (state.isAsked, state.callback)
    }
    if wasAsked { SystemCalls.exitNow(130) }
    callback?()
  }

  /// Called at the first signal.
  func onSignal(_ callback: @escaping @Sendable () -> Void) {
    state.withLock { $0.callback = callback }
  }

  /// False where it was asked to end meanwhile.
  func pause(seconds: Double) -> Bool {
    state.wait(seconds: seconds) { $0.isAsked ? true : nil } == nil
  }
}

/// `run --watch`: runs everything once, then each script again when it, or a file it names, is
/// saved.
final class WatchRun {
  private static let pauseSeconds = 0.3
  private let request: RunRequest
  private let site: RemoteSite?
  private let interrupt = Interrupt()
  /// Which scripts name a file.
  private var scripts: [String: Set<String>] = [:]

  init(_ request: RunRequest, _ site: RemoteSite?, _ outputs: OutputCheck.Prepared) {
    self.request = request
    self.site = site
  }

  /// The exit code is that of the last run that came to its end.
  func run() throws -> ExitCode {
    interrupt.listen()
    var watch = ScriptWatch(
      look: { [self] in stamps() },
      pause: { [interrupt] in interrupt.pause(seconds: WatchRun.pauseSeconds) })
    var last = try once(request.paths) ?? .invalid
    Console.out("watching; Ctrl-C ends")
    while let changed = watch.next() {
      EventSource.forgetFiles()
      let wanted = Set(changed.flatMap { Array(scripts[$0] ?? [$0]) }).sorted()
      Console.out("changed: \(changed.joined(separator: ", "))")
      if let code = try once(wanted) { last = code }
      if !interrupt.isAsked { Console.out("watching; Ctrl-C ends") }
    }
    Console.out("ended")
    return last
  }

  /// Nil where nothing was to be run, or the run was interrupted.
  private func once(_ paths: [String]) throws -> ExitCode? {
    let loaded: ScriptLoader.Loaded
    do { loaded = try ScriptLoader.load(paths) } catch let error as UsageError {
      // A script that was removed while it was looked at, or an empty folder for a while.
      Console.error("workbench run: \(error)")
      return .invalid
    }
    for scenario in loaded.scenarios { remember(scenario) }
    if loaded.complain() { return .invalid }
    let cases = CaseList.cases(loaded.scenarios, request.selection(site))
    guard !cases.isEmpty else { return nil }
    let code = try RunCommand.run(cases, request, site, interrupt)
    return interrupt.isAsked ? nil : code
  }

  private func remember(_ scenario: Scenario) {
    var files = scenario.needs
    for step in scenario.timeline {
      if case .record(let record) = step.action, let file = record.file { files.append(file) }
    }
    for file in files { scripts[file, default: []].insert(scenario.file) }
  }

  private func stamps() -> [String: FileStamp] {
    // A path that is gone for a moment is looked at again with the next pause.
    let files = (try? ScriptLoader.files(in: request.paths)) ?? []
    var stamps: [String: FileStamp] = [:]
    for file in files + Array(scripts.keys) { stamps[file] = SystemCalls.stamp(file) }
    return stamps
  }
}
