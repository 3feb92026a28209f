import Foundation

/// How long something waits.
package enum DelaySpec: Sendable, Hashable {
  case fixed(Int64)
  case uniform(lower: Int64, upper: Int64)
  case lognormal(median: Int64, sigma: Double, max: Int64)

  /// The delay of one draw, in nanoseconds; never negative.
  ///
  /// Random delays are whole microseconds, because the last digits of `exp` and `log` differ
  /// between systems.
  package func nanoseconds(_ draw: inout KeyedDraw) -> Int64 {
    switch self {
    case .fixed(let duration): return duration
    case .uniform(let lower, let upper):
      let width = Double(upper - lower)
      return DelaySpec.microseconds(Double(lower) + draw.fraction() * width, max: upper)
    case .lognormal(let median, let sigma, let max):
      // Box–Muller; the first draw is kept off zero.
      let radius = (-2 * log(1 - draw.fraction())).squareRoot()
      let normal = radius * cos(2 * .pi * draw.fraction())
      return DelaySpec.microseconds(Double(median) * exp(sigma * normal), max: max)
    }
  }

  private static func microseconds(_ value: Double, max: Int64) -> Int64 {
    guard value < Double(max) else { return max }
    return Swift.max(0, Int64((value / 1000).rounded()) * 1000)
  }
}

/// A `Retry-After` header.
package enum RetryAfterSpec: Sendable, Hashable {
  case seconds(Int64)
  case date(Int64, HTTPDate.Form)
  case raw(String)

  /// The header's value. Times are rounded up, so that a client that obeys is never early.
  package func value(wallMs: Int64) -> String {
    switch self {
    case .seconds(let ns): return String(RetryAfterSpec.roundedUp(ns, by: 1_000_000_000))
    case .date(let ns, let form):
      let due = wallMs.addingReportingOverflow(RetryAfterSpec.roundedUp(ns, by: 1_000_000))
      let ms = due.overflow ? Int64.max : due.partialValue
      return HTTPDate.text(seconds: RetryAfterSpec.roundedUp(ms, by: 1000), form)
    case .raw(let text): return text
    }
  }

  private static func roundedUp(_ value: Int64, by step: Int64) -> Int64 {
    value / step + (value % step > 0 ? 1 : 0)
  }
}
