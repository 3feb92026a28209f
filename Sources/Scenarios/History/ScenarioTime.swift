/// Scenario time for readers: `7d02h`, `9h00m`, `9h00m27s`, `1m30s`, `2.114s`, `0.3ms`.
package enum ScenarioTime {
  private static let secondNs: Int64 = 1_000_000_000

  package static func text(_ nanoseconds: Int64) -> String {
    guard nanoseconds >= 0 else { return "-" + text(nanoseconds == .min ? .max : -nanoseconds) }
    let seconds = nanoseconds / secondNs
    let milliseconds = nanoseconds % secondNs / 1_000_000
    if seconds >= 86_400 {
      let minutes = seconds % 3_600 / 60
      let rest = minutes > 0 ? "\(two(minutes))m" : ""
      return "\(seconds / 86_400)d\(two(seconds % 86_400 / 3_600))h\(rest)"
    }
    if seconds >= 3_600 {
      let rest = seconds % 60 > 0 ? "\(two(seconds % 60))s" : ""
      return "\(seconds / 3_600)h\(two(seconds % 3_600 / 60))m\(rest)"
    }
    if seconds >= 60 { return "\(seconds / 60)m\(two(seconds % 60))s" }
    if milliseconds == 0 { return "\(seconds)s" }
    let fraction = String(1_000 + milliseconds).dropFirst()
    return "\(seconds).\(fraction)s"
  }

  private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
