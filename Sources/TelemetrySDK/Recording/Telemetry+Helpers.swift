import Foundation
import JSONText

/// Events that every app has, so that they look the same everywhere.
extension Telemetry {
  /// Bytes of an error's message; what is longer is cut off.
  public static let maxErrorMessageBytes = 1_000
  /// Errors behind an error that are named.
  public static let maxUnderlyingErrors = 3

  /// Records an error as an event of type `error`: its `domain`, `code` and `message` (at most
  /// `maxErrorMessageBytes`), and under `underlying` domain and code of up to
  /// `maxUnderlyingErrors` errors behind it. Nothing else of the error's user info is recorded.
  ///
  /// - Parameters:
  ///   - error: A Swift error or an `NSError`.
  ///   - attributes: Further members; those named above win.
  @discardableResult
  public func recordError(_ error: any Error, attributes: JSONObject = [:]) -> RecordReceipt {
    record("error", .object(ErrorPayload.members(of: error, attributes)))
  }

  /// Records that a screen came up, as an event of type `navigation`.
  ///
  /// - Parameters:
  ///   - screen: The screen's name, under `screen`.
  ///   - previous: The screen before, under `from`; nil leaves it out.
  ///   - attributes: Further members; those named above win.
  @discardableResult
  public func recordNavigation(
    to screen: String, from previous: String? = nil, attributes: JSONObject = [:]
  ) -> RecordReceipt {
    var payload = attributes
    payload["screen"] = .string(screen)
    if let previous { payload["from"] = .string(previous) }
    return record("navigation", .object(payload))
  }

  /// Records how long something took, as an event of type `timing` with `name` and `ms`.
  ///
  /// - Parameters:
  ///   - name: What took so long.
  ///   - milliseconds: Written with three decimals at most; NaN and the infinities become null,
  ///     and `.valueReplaced` says so.
  ///   - attributes: Further members; those named above win.
  @discardableResult
  public func recordTiming(
    _ name: String, milliseconds: Double, attributes: JSONObject = [:]
  ) -> RecordReceipt {
    var payload = attributes
    payload["name"] = .string(name)
    let rounded = Telemetry.thousandths(milliseconds)
    if !milliseconds.isFinite { recorder.diagnostics.emit(.valueReplaced(path: "ms")) }
    payload["ms"] = JSONNumber(rounded).map(JSONValue.number) ?? .null
    return record("timing", .object(payload))
  }

  /// Runs the body and records how long it took, also where it throws: then with
  /// `"failed":true`.
  public func time<Result>(
    _ name: String, attributes: JSONObject = [:], _ body: () throws -> Result
  ) rethrows -> Result {
    let watch = stopwatch()
    do {
      let result = try body()
      recordTiming(name, milliseconds: watch.elapsedMs, attributes: attributes)
      return result
    } catch {
      recordFailure(name, watch, attributes)
      throw error
    }
  }

  /// The same for a body that waits.
  public func time<Result>(
    _ name: String, attributes: JSONObject = [:], _ body: () async throws -> Result
  ) async rethrows -> Result {
    let watch = stopwatch()
    do {
      let result = try await body()
      recordTiming(name, milliseconds: watch.elapsedMs, attributes: attributes)
      return result
    } catch {
      recordFailure(name, watch, attributes)
      throw error
    }
  }

  private func recordFailure(_ name: String, _ watch: Stopwatch, _ attributes: JSONObject) {
    var attributes = attributes
    attributes["failed"] = true
    recordTiming(name, milliseconds: watch.elapsedMs, attributes: attributes)
  }

  /// A running stopwatch on a clock that also runs while the device sleeps, and that no change of
  /// the wall clock disturbs.
  public func stopwatch() -> Stopwatch {
    let clock = recorder.environment.clock
    return Stopwatch { clock.now() }
  }

  /// Microseconds are more than any timing here means; a number beyond their reach stays as it is.
  static func thousandths(_ milliseconds: Double) -> Double {
    guard abs(milliseconds) < 1e12 else { return milliseconds }
    return (milliseconds * 1_000).rounded() / 1_000
  }
}

/// What an event says about an error.
enum ErrorPayload {
  static func members(of error: any Error, _ attributes: JSONObject) -> JSONObject {
    let bridged = error as NSError
    var payload = attributes
    payload["domain"] = .string(bounded(bridged.domain))
    payload["code"] = .number(JSONNumber(bridged.code))
    payload["message"] = .string(bounded(bridged.localizedDescription))
    let chain = underlying(bridged)
    if !chain.isEmpty { payload["underlying"] = .array(chain) }
    return payload
  }

  private static func underlying(_ error: NSError) -> [JSONValue] {
    var chain: [JSONValue] = []
    var current = error
    while chain.count < Telemetry.maxUnderlyingErrors,
      let next = current.userInfo[NSUnderlyingErrorKey] as? any Error
    {
      current = next as NSError
      chain.append([
        "domain": .string(bounded(current.domain)), "code": .number(JSONNumber(current.code)),
      ])
    }
    return chain
  }

  private static func bounded(_ text: String) -> String {
    BoundedText.prefix(text, maxBytes: Telemetry.maxErrorMessageBytes)
  }
}
