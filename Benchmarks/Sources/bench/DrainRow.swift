import CLimits
import Dispatch
import Foundation
import JSONText
import MockBatchServer
import TelemetrySDK

/// A backlog of 200,000 events, drained to the real server on loopback, while one event is
/// recorded every few milliseconds.
enum DrainRow {
  static let count = 200_000

  static func rows() throws -> [Row] {
    try withFolder { folder in
      let server = try BatchServer().start()
      defer { server.stop() }
      var settings = RecordRows.configuration(
        folder, endpoint: server.url.absoluteString + "/v1/telemetry/batch")
      settings.queueCapBytes = 200_000_000
      let filler = try RecordRows.started(settings)
      DispatchQueue.concurrentPerform(iterations: 2) { _ in
        for _ in 0..<(count / 2) { filler.record("navigation", RecordRows.payload) }
      }
      RecordRows.stop(filler)

      let memoryBefore = residentBytes()
      let start = seconds()
      let telemetry = Telemetry.start(
        settings, tokenProvider: StaticTokenProvider(AccessToken(value: "bench")))
      let done = DispatchSemaphore(value: 0)
      let began = CPU.seconds()
      telemetry.flush(timeout: 600) { _ in done.signal() }
      var slowest = 0.0
      var recorded = 0
      var peak = memoryBefore
      while done.wait(timeout: .now() + .milliseconds(5)) == .timedOut {
        let before = seconds()
        telemetry.record("meanwhile", RecordRows.payload)
        slowest = max(slowest, seconds() - before)
        recorded += 1
        peak = max(peak, residentBytes())
      }
      let took = seconds() - start
      let cpu = CPU.seconds() - began
      let left = telemetry.status().ledger.queued
      RecordRows.stop(telemetry)
      guard left <= Int64(recorded) else { throw RowFailure("\(left) events were not delivered") }

      let limit = best { limit_drain(Int32(count), RecordRows.sealedSize, 256_000) }
      let grown = Double(peak - memoryBefore) / 1e6
      return [
        .ratio(
          "drain 200,000 events", ours: took, limit: limit, atMost: 1.5,
          detail: "\(format(took)) s against \(format(limit)) s; client and server together used "
            + "\(format(cpu)) s of processor time"),
        .bound("  memory growth meanwhile (server included)", grown, unit: "MB", atMost: 30),
        .bound(
          "  worst record meanwhile", slowest * 1e3, unit: "ms", atMost: 50,
          detail: "\(recorded) calls"),
      ]
    }
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
