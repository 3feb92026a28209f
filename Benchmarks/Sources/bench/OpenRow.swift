import Foundation
import TelemetrySDK

/// `start` with a full queue: what the caller's thread pays.
enum OpenRow {
  static func row() throws -> Row {
    try withFolder { folder in
      let filler = try RecordRows.started(RecordRows.configuration(folder))
      while filler.status().bytesOnDisk < 17_000_000 {
        for _ in 0..<1_000 { filler.record("navigation", RecordRows.payload) }
      }
      RecordRows.stop(filler)
      var slowest = 0.0
      for _ in 0..<5 {
        let start = seconds()
        let telemetry = Telemetry.start(
          RecordRows.configuration(folder), tokenProvider: StaticTokenProvider(nil))
        slowest = max(slowest, seconds() - start)
        RecordRows.stop(telemetry)
      }
      return .bound(
        "start with a full queue, caller's thread", slowest * 1e3, unit: "ms", atMost: 20)
    }
  }
}
