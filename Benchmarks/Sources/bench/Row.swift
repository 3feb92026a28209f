import Foundation

/// One line of the table: our time next to a limit measured in the same run.
struct Row {
  var name: String
  /// Ours divided by the limit, or events per second divided by the limit's.
  var figure: String
  var target: String
  /// Nil where the row has no target of its own.
  var met: Bool?
  var detail: String

  static func ratio(
    _ name: String, ours: Double, limit: Double, atMost target: Double, detail: String = ""
  ) -> Row {
    let ratio = ours / limit
    return Row(
      name: name, figure: format(ratio) + "× the limit's time", target: "≤ \(target)×",
      met: ratio <= target, detail: detail)
  }

  static func share(
    _ name: String, ours: Double, limit: Double, atLeast target: Double, detail: String = ""
  ) -> Row {
    let share = limit / ours
    return Row(
      name: name, figure: format(share) + " of the limit's rate", target: "≥ \(target)",
      met: share >= target, detail: detail)
  }

  static func bound(
    _ name: String, _ value: Double, unit: String, atMost target: Double, detail: String = ""
  ) -> Row {
    Row(
      name: name, figure: "\(format(value)) \(unit)", target: "≤ \(format(target)) \(unit)",
      met: value <= target, detail: detail)
  }
}

/// Two digits behind the point.
func format(_ value: Double) -> String { String(format: "%.2f", value) }

/// Runs `body` three times and returns the shortest, in seconds: on a shared machine the shortest
/// says most about the code.
func best(of times: Int = 3, _ body: () throws -> Double) rethrows -> Double {
  var shortest = Double.infinity
  for _ in 0..<times { shortest = min(shortest, try body()) }
  return shortest
}

/// Seconds on the monotonic clock.
func seconds() -> Double {
  Double(DispatchTime.now().uptimeNanoseconds) / 1e9
}

/// An error that a row reports in its place.
struct RowFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A folder that is gone afterwards.
func withFolder<T>(_ body: (String) throws -> T) throws -> T {
  let base = ProcessInfo.processInfo.environment["BENCH_DIR"] ?? NSTemporaryDirectory()
  let folder = base + "/bench-\(getpid())-\(UInt32.random(in: 0 ... .max))"
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  // A leftover folder in the temporary directory costs nothing but space.
  defer { try? FileManager.default.removeItem(atPath: folder) }
  return try body(folder)
}

/// The process's resident memory now, in bytes.
func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else {
    return 0
  }
  return (Int(text.split(separator: " ")[1]) ?? 0) * 4_096
}
