import CLimits
import Dispatch
import Foundation
import JSONText
import MockBatchServer
import TelemetrySDK

/// A backlog of 200,000 events, drained to the real server on loopback, while an event is recorded
/// every millisecond or so. The SDK drains in a process of its own, started for this: neither the
/// server's memory nor what the filling left behind counts as its. On a phone the server is another
/// machine and the app's own threads come before the SDK's; here nice values stand for both.
enum DrainRow {
  static let count = 200_000

  static func rows() throws -> [Row] {
    try withFolder { folder in
      let server = try BatchServer().start()
      defer { server.stop() }
      let endpoint = server.url.absoluteString + "/v1/telemetry/batch"
      let filler = try RecordRows.started(settings(folder, endpoint))
      onThreads(2) {
        for _ in 0..<(count / 2) { filler.record("navigation", RecordRows.payload) }
      }
      RecordRows.stop(filler)
      limit_nice_others(niceness.server)
      let drained = try Drained(
        ChildProcess.output(of: ["--drain", folder, endpoint]).split(separator: " "))
      guard drained.left <= Double(drained.calls) else {
        throw RowFailure("\(Int(drained.left)) events were not delivered")
      }
      let limit = best { limit_drain(Int32(count), RecordRows.wireSize, 256_000) }
      return [
        .ratio(
          "drain 200,000 events", ours: drained.took, limit: limit, atMost: 1.5,
          detail: "\(format(drained.took)) s against \(format(limit)) s; the SDK's process used "
            + "\(format(drained.cpu)) s of processor time"),
        .bound("  memory growth of the SDK's process", drained.grownMB, unit: "MB", atMost: 30),
        .bound(
          "  record meanwhile, p99.9", drained.p999 * 1e6, unit: "µs", atMost: 250,
          detail: "\(drained.calls) calls"),
        .bound("  record meanwhile, worst", drained.worst * 1e3, unit: "ms", atMost: 2),
        .bound(
          "  record during a restart of the log, worst", drained.worstRestart * 1e3, unit: "ms",
          atMost: 50, detail: "\(drained.restarts) restarts were met"),
      ]
    }
  }

  /// Behind the thread that records, which has 0.
  private static let niceness: (sdk: Int32, server: Int32) = (10, 19)

  private static func settings(_ folder: String, _ endpoint: String) -> TelemetryConfiguration {
    var settings = RecordRows.configuration(folder, endpoint: endpoint)
    settings.queueCapBytes = 200_000_000
    return settings
  }

  /// What the draining process tells.
  private struct Drained {
    let took, cpu, grownMB, p999, worst, worstRestart, left: Double
    let calls, restarts: Int

    init(_ fields: [Substring]) throws {
      let numbers = fields.compactMap { Double($0) }
      guard numbers.count == 9 else { throw RowFailure("the draining process said \(fields)") }
      (took, cpu, grownMB, p999) = (numbers[0], numbers[1], numbers[2], numbers[3])
      (worst, worstRestart, left) = (numbers[4], numbers[5], numbers[6])
      (calls, restarts) = (Int(numbers[7]), Int(numbers[8]))
    }
  }

  /// The draining process.
  static func drain(_ folder: String, _ endpoint: String) {
    let memoryBefore = residentBytes()
    let start = seconds()
    let began = CPU.seconds()
    let telemetry = Telemetry.start(
      settings(folder, endpoint),
      tokenProvider: StaticTokenProvider(AccessToken(value: "bench")))
    let done = DispatchSemaphore(value: 0)
    telemetry.flush(timeout: 600) { _ in done.signal() }
    let log = LogMark(folder + "/queue/queue.sqlite-wal")
    var times: [Double] = []
    var restartTimes: [Double] = []
    times.reserveCapacity(100_000)
    var peak = memoryBefore
    while done.wait(timeout: .now() + .milliseconds(1)) == .timedOut {
      // Again and again: threads of the SDK's come and go.
      if times.count % 64 == 0 { limit_nice_others(niceness.sdk) }
      let before = seconds()
      telemetry.record("meanwhile", RecordRows.payload)
      let took = seconds() - before
      if log.hasRestarted() { restartTimes.append(took) } else { times.append(took) }
      if times.count % 16 == 0 { peak = max(peak, residentBytes()) }
    }
    let took = seconds() - start
    let cpu = CPU.seconds() - began
    let left = telemetry.status().ledger.queued
    RecordRows.stop(telemetry)
    times.sort()
    let p999 = times.isEmpty ? 0 : times[times.count * 999 / 1_000]
    print(
      took, cpu, Double(peak - memoryBefore) / 1e6, p999, times.last ?? 0,
      restartTimes.max() ?? 0, left, times.count + restartTimes.count, restartTimes.count)
  }
}

/// Sees by the salt in its head that the write-ahead log started over.
final class LogMark {
  private let path: String
  private var descriptor: Int32 = -1
  private var salt = ""

  init(_ path: String) { self.path = path }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func hasRestarted() -> Bool {
    if descriptor < 0 { descriptor = open(path, O_RDONLY | O_CLOEXEC) }
    var bytes = [UInt8](repeating: 0, count: 8)
    guard descriptor >= 0, pread(descriptor, &bytes, 8, 16) == 8 else { return false }
    let now = "\(bytes)"
    defer { salt = now }
    return !salt.isEmpty && salt != now
  }
}

/// Runs this program once more.
enum ChildProcess {
  static func output(of arguments: [String]) throws -> String {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw RowFailure("no pipe") }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    let program = CommandLine.arguments[0]
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    let status = posix_spawn(&child, program, &actions, nil, words, environ)
    close(ends[1])
    defer { close(ends[0]) }
    guard status == 0 else { throw RowFailure("\(program) does not start: \(status)") }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(ends[0], &chunk, chunk.count)
      if count <= 0 { break }
      text += chunk.prefix(count)
    }
    var ending: Int32 = 0
    waitpid(child, &ending, 0)
    guard ending == 0 else { throw RowFailure("the child ended with \(ending)") }
    return String(decoding: text, as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

enum CPU {
  /// Processor time of this process so far.
  static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
