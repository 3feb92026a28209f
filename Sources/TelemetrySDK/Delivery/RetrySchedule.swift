/// The own backoff: base × 2ⁿ up to a cap, with full jitter between base and that ceiling.
package struct RetrySchedule: Sendable, Equatable {
  package var baseMs: Int64
  package var capMs: Int64

  package init(baseMs: Int64, capMs: Int64) {
    self.baseMs = max(1, baseMs)
    self.capMs = max(self.baseMs, capMs)
  }

  /// The longest delay after so many failures in a row. The exponent is bounded before anything
  /// is multiplied, so no count overflows.
  package func ceilingMs(failures: Int) -> Int64 {
    let doublings = min(max(0, failures), RetrySchedule.maxDoublings)
    return baseMs > capMs >> doublings ? capMs : baseMs << doublings
  }

  /// The delay after so many failures in a row (at least 1): never below the base, so that no
  /// draw makes a retry immediate. `draw` is uniform in 0 ..< 2⁶⁴.
  package func delayMs(failures: Int, draw: UInt64) -> Int64 {
    RetrySchedule.spread(from: baseMs, through: ceilingMs(failures: failures), draw: draw)
  }

  /// Maps a uniform draw to lower...upper.
  package static func spread(from lower: Int64, through upper: Int64, draw: UInt64) -> Int64 {
    guard upper > lower else { return lower }
    let width = UInt64(upper - lower) + 1
    return lower + Int64(draw.multipliedFullWidth(by: width).high)
  }

  /// Enough to reach any cap from any base.
  private static let maxDoublings = 62
}
