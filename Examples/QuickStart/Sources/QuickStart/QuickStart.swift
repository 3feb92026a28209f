import Foundation
import JSONText
import TelemetrySDK

/// Records a few events, delivers them, and says what became of them.
///
///     workbench serve --port 8080
///     swift run --package-path Examples/QuickStart QuickStart http://127.0.0.1:8080
@main
enum QuickStart {
  static func main() async {
    let server = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"
    let telemetry = start(server: server)
    let watching = watch(telemetry)

    recordSomeEvents(with: telemetry)
    let receipt = await telemetry.recordDurably("order.submit", encoding: Order.sample)
    print("order: \(receipt)")

    let report = await telemetry.flush(timeout: 20)
    print(
      "\(report.ending): \(report.sent) sent, \(report.remaining) left, "
        + "\(report.quarantined) refused, \(report.dropped) dropped")
    await withCheckedContinuation { done in telemetry.shutdown { done.resume() } }
    watching.cancel()
    exit(report.ending == .drained ? 0 : 1)
  }

  /// One call starts the SDK; where it sends to and where it keeps its queue is all it must know.
  private static func start(server: String) -> Telemetry {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("QuickStart").path
    var configuration = TelemetryConfiguration(
      endpoint: server + "/v1/telemetry/batch", directory: folder)
    configuration.flushIntervalMs = 10_000
    // The last word before anything is stored.
    configuration.beforeSend = { event in
      var event = event
      if event.payload["password"] != nil { event.payload["password"] = "(removed)" }
      return event
    }
    let telemetry = Telemetry.start(configuration, tokenProvider: SignedInUser())
    telemetry.setAttribute("appVersion", "2.3.1")
    return telemetry
  }

  private static func recordSomeEvents(with telemetry: Telemetry) {
    telemetry.recordNavigation(to: "Orders")
    telemetry.record("session", ["plan": "field", "seats": 3, "tags": ["a", "b"]])
    telemetry.record("login", ["user": "u1", "password": "secret"])

    var watch = telemetry.stopwatch()
    telemetry.time("orders.sort") { _ = (0..<10_000).sorted(by: >) }
    telemetry.recordTiming("orders.all", milliseconds: watch.lap())

    do {
      try loadMissingFile()
    } catch {
      telemetry.recordError(error, attributes: ["screen": "Orders"])
    }
  }

  private static func loadMissingFile() throws {
    _ = try Data(contentsOf: URL(fileURLWithPath: "/nonexistent/orders.json"))
  }

  /// What happens inside is no secret: losses, pauses and refusals all say so.
  private static func watch(_ telemetry: Telemetry) -> Task<Void, Never> {
    Task {
      for await event in telemetry.diagnostics { print("  · \(event)") }
    }
  }
}

/// The app knows who is signed in; the SDK asks when it needs a token, and again after a 401.
struct SignedInUser: TokenProvider {
  func token(_ completion: @escaping @Sendable (AccessToken?) -> Void) {
    completion(AccessToken(value: "demo-token", account: "u1"))
  }
}

/// Any `Encodable` is a payload.
struct Order: Encodable {
  var number: Int64
  var due: Date
  var total: Decimal
  var lines: [Line]

  struct Line: Encodable {
    var article: UUID
    var amount: Double
  }

  static let sample = Order(
    number: 9_007_199_254_740_993, due: Date(timeIntervalSince1970: 1_777_886_102.114),
    total: Decimal(string: "1234.56") ?? 0, lines: [Line(article: UUID(), amount: 0.1)])
}
