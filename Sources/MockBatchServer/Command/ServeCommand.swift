import Dispatch
import Foundation

/// `workbench serve`: a server until it is told to stop.
public enum ServeCommand {
  /// Exit statuses.
  private enum Status {
    static let stopped: Int32 = 0
    static let wrongArguments: Int32 = 3
    static let wrongPlan: Int32 = 3
    static let cannotStart: Int32 = 5
  }

  /// A start that failed: the line for the user, and the exit status.
  private struct Failure: Error {
    var text: String
    var status: Int32
  }

  /// Runs until SIGTERM, SIGINT or an admin's shutdown; returns the exit status.
  ///
  /// - Parameter arguments: what follows `serve`; see `--help`.
  public static func run(arguments: [String]) -> Int32 {
    StandardStreams.makeSafe()
    do {
      let options = try ServeOptions(arguments)
      if options.wantsHelp {
        StandardStreams.write(ServeOptions.help, to: StandardStreams.output)
        return Status.stopped
      }
      return try serve(options)
    } catch let mistake as ServeOptions.Mistake {
      return fail(mistake.text, Status.wrongArguments)
    } catch let failure as Failure {
      return fail(failure.text, failure.status)
    } catch {
      return fail("\(error)", Status.cannotStart)
    }
  }

  private static func fail(_ text: String, _ status: Int32) -> Int32 {
    StandardStreams.write("workbench serve: \(text)\n", to: StandardStreams.error)
    return status
  }

  private static func serve(_ options: ServeOptions) throws -> Int32 {
    StandardStreams.raiseDescriptorLimit()
    let ready = options.readyFile.map(ReadyFile.init)
    try ready?.prepare()
    let plan = try loadPlan(options)
    let ledger = try options.ledgerFile.map { try Ledger(path: $0) } ?? Ledger()
    let log = options.log == .json ? JSONLog(descriptor: StandardStreams.error) : nil
    let clock = LiveEngineClock()
    let engine = BatchEngine(
      plan: plan, ledger: ledger, clock: clock,
      tokens: options.tokens.map { ContractRules.Token(value: $0) },
      onEvent: log.map { log in { @Sendable event in log.note(event, wallMs: clock.wallMs) } })
    var configuration = BatchServer.Configuration(
      host: options.host, port: options.port, adminPort: options.adminPort, tls: options.tls)
    configuration.adminToken = options.adminToken
    configuration.adminHosts = options.adminHosts
    configuration.threads =
      options.threads ?? max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
    configuration.limits.idleTimeoutNs = UInt64(options.idleSeconds) * 1_000_000_000
    let over = StopSignal()
    configuration.onShutdown = { over.ask() }
    let server = try BatchServer(engine: engine, configuration: configuration).start()
    let line = ReadyFile.line(for: server)
    do {
      try ready?.write(line)
    } catch {
      server.stop()
      throw error
    }
    // A standard output that nobody reads is no reason to stop serving.
    StandardStreams.write(line, to: StandardStreams.output)
    over.wait()
    drain(server, seconds: options.drainSeconds, over)
    log?.writeQueued()
    return Status.stopped
  }

  private static func loadPlan(_ options: ServeOptions) throws -> FaultPlan {
    var plan = FaultPlan()
    if let file = options.planFile {
      let bytes: [UInt8]
      do {
        bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
      } catch {
        throw Failure(
          text: "plan \(file): cannot be read: \(PlainError.text(error))",
          status: Status.wrongPlan)
      }
      do {
        plan = try FaultPlan(parsing: bytes)
      } catch let error as FaultPlanError {
        throw Failure(text: error.rendered(file: file, source: bytes), status: Status.wrongPlan)
      }
    }
    return plan
  }

  /// Answers what is in progress, but not for longer than `seconds`, and not after a second
  /// request to stop.
  private static func drain(_ server: BatchServer, seconds: Int, _ over: StopSignal) {
    server.drain { over.ask() }
    over.wait(seconds: seconds)
    server.stop()
  }
}

/// What Foundation says about a file, in words for one line.
enum PlainError {
  static func text(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let underlying, underlying.domain == NSPOSIXErrorDomain else {
      return error.localizedDescription
    }
    return String(cString: strerror(Int32(truncatingIfNeeded: underlying.code)))
  }
}

/// SIGTERM, SIGINT, or somebody who asks.
///
/// Guard: `sources` is only kept alive, never touched again.
private final class StopSignal: @unchecked Sendable {
  private let asked = DispatchSemaphore(value: 0)
  private let sources: [any DispatchSourceSignal]

  init() {
    let asked = self.asked
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(
        signal: number, queue: DispatchQueue.global())
      source.setEventHandler { asked.signal() }
      source.resume()
      return source
    }
  }

  func ask() { asked.signal() }
  func wait() { asked.wait() }
  func wait(seconds: Int) { _ = asked.wait(timeout: .now() + .seconds(seconds)) }
}
