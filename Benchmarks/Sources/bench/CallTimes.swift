import Foundation

/// How long each call of `record` took. Calls during which the write-ahead log was started over are
/// kept apart: a bounded log has to pause for that now and then.
struct CallTimes {
  private(set) var total = 0.0
  private var usual: [Double] = []
  private var atRestarts: [Double] = []
  private let log: FileHandle?
  private var generation: Data?

  init(log path: String = "/dev/null") {
    log = FileHandle(forReadingAtPath: path)
    generation = currentGeneration()
  }

  /// The log's header changes each time that it is started over.
  private func currentGeneration() -> Data? {
    guard let log else { return nil }
    var bytes = [UInt8](repeating: 0, count: 24)
    guard pread(log.fileDescriptor, &bytes, 24, 0) == 24 else { return nil }
    return Data(bytes)
  }

  mutating func measure(_ call: () throws -> Void) rethrows {
    let start = seconds()
    try call()
    let took = seconds() - start
    total += took
    let now = currentGeneration()
    if now == generation { usual.append(took) } else { atRestarts.append(took) }
    generation = now
  }

  /// What 99.9 % of the calls did not exceed, in seconds.
  var p999: Double {
    let sorted = usual.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count * 999 / 1_000]
  }

  func rows(limitP999: Double) -> [Row] {
    guard let worst = usual.max() else { return [] }
    let restart = atRestarts.max() ?? 0
    return [
      .bound(
        "  p99.9 of a call", p999 * 1e6, unit: "µs", atMost: 250,
        detail: "the limit's own: \(format(limitP999 * 1e6)) µs"),
      .bound(
        "  worst call", worst * 1e3, unit: "ms", atMost: 2,
        detail: "\(atRestarts.count) calls met a restart of the log, the worst of them "
          + "\(format(restart * 1e3)) ms"),
    ]
  }
}
