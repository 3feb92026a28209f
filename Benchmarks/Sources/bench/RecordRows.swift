import CLimits
import Dispatch
import Foundation
import JSONText
import TelemetrySDK

/// `record`: sealed, durable, next to a raw insert and a raw seal of the same bytes.
enum RecordRows {
  /// About 250 bytes of JSON.
  static let payload: JSONValue = [
    "screen": "OrderDetails", "previous": "Orders", "durationMs": 1_284, "itemCount": 17,
    "orderId": "A-2026-118804", "offline": true, "battery": 0.64, "retry": 2,
    "note": "customer not at home, parcel left with the neighbour at number 14",
  ]

  static func configuration(_ folder: String, endpoint: String = "http://127.0.0.1:9/")
    -> TelemetryConfiguration
  {
    TelemetryConfiguration(endpoint: endpoint, directory: folder)
  }

  /// Starts without a token, so that nothing is sent, and waits until the queue is open.
  static func started(_ configuration: TelemetryConfiguration, token: AccessToken? = nil) throws
    -> Telemetry
  {
    let telemetry = Telemetry.start(configuration, tokenProvider: StaticTokenProvider(token))
    let open = DispatchSemaphore(value: 0)
    telemetry.recordDurably("warm", [:], id: nil) { _ in open.signal() }
    guard open.wait(timeout: .now() + 30) == .success else {
      throw RowFailure("the queue did not open")
    }
    return telemetry
  }

  static func stop(_ telemetry: Telemetry) {
    let done = DispatchSemaphore(value: 0)
    telemetry.shutdown { done.signal() }
    _ = done.wait(timeout: .now() + 30)
  }

  static func oneThread() throws -> [Row] {
    let count = 20_000
    // Of the three runs the one with the fewest slow calls: others' work on the machine only adds.
    var calls: CallTimes?
    let ours = try best {
      try withFolder { folder in
        let telemetry = try started(configuration(folder))
        defer { stop(telemetry) }
        var times = CallTimes(log: folder + "/queue/queue.sqlite-wal")
        // Where the disk is slower than a caller may wait, an event goes by way of the memory.
        var buffered = 0
        for _ in 0..<count {
          try times.measure {
            switch telemetry.record("navigation", payload) {
            case .durable: break
            case .buffered: buffered += 1
            case .rejected(let reason): throw RowFailure("an event was refused: \(reason)")
            }
          }
        }
        guard buffered <= count / 100 else {
          throw RowFailure("the disk is too slow: \(buffered) of \(count) events were buffered")
        }
        if times.p999 < calls?.p999 ?? .infinity { calls = times }
        return times.total
      }
    }
    var limitP999 = Double.infinity
    let limit = try best {
      try withFolder { folder in
        var p999 = Double.infinity
        let took = limit_record(folder, Int32(count), sealedSize, &p999)
        limitP999 = min(limitP999, p999)
        return took
      }
    }
    guard limit > 0 else { throw RowFailure("the limit did not run") }
    return [
      .ratio(
        "record, one thread", ours: ours, limit: limit, atMost: 1.3,
        detail: "\(format(ours / Double(count) * 1e6)) µs against "
          + "\(format(limit / Double(count) * 1e6)) µs")
    ] + (calls?.rows(limitP999: limitP999) ?? [])
  }

  static func eightThreads() throws -> Row {
    let count = 40_000
    let ours = try best {
      try withFolder { folder in
        let telemetry = try started(configuration(folder))
        let start = seconds()
        onThreads(8) {
          for _ in 0..<(count / 8) {
            // A full memory buffer behind a full log refuses: tried again, as a patient caller does.
            while case .rejected(.bufferFull) = telemetry.record("navigation", payload) {}
          }
        }
        // What a full log sent to the memory buffer counts once it is written.
        while telemetry.status().ledger.recorded < count {
          guard seconds() - start < 60 else { throw RowFailure("not all became durable") }
          usleep(200)
        }
        let took = seconds() - start
        stop(telemetry)
        return took
      }
    }
    let limit = try best {
      try withFolder { limit_record_threads($0, Int32(count), sealedSize, 8) }
    }
    return .share("record, 8 threads", ours: ours, limit: limit, atLeast: 0.7)
  }

  static func powerLoss() throws -> Row {
    let count = 8_192
    // Of each caller's, so that the next 64 gather while 64 are on their way to the medium; and one
    // wake-up for all of them, or semaphores would be what is measured.
    let waiting = 16
    let ours = try best {
      try withFolder { folder in
        var settings = configuration(folder)
        settings.durability = .powerLoss
        let telemetry = try started(settings)
        let start = seconds()
        onThreads(8) {
          for _ in 0..<(count / 8 / waiting) {
            let group = DispatchGroup()
            for _ in 0..<waiting {
              group.enter()
              telemetry.recordDurably("navigation", payload, id: nil) { _ in group.leave() }
            }
            group.wait()
          }
        }
        let took = seconds() - start
        stop(telemetry)
        return took
      }
    }
    let limit = try best { try withFolder { limit_power_loss($0, Int32(count), sealedSize, 64) } }
    return .share(
      "powerLoss, async, 8 callers", ours: ours, limit: limit, atLeast: 0.7,
      detail: "\(format(ours / Double(count) * 1e6)) µs an event against "
        + "\(format(limit / Double(count) * 1e6)) µs")
  }

  /// What goes over the wire: the payload with the envelope of an event around it.
  static let wireSize = JSONWriter.bytes(payload).count + 159
  /// What is sealed: 19 bytes of times and account, and the event in its compact form, whose length
  /// `Tests/Vectors/make_compact.py` tells as well.
  static let sealedSize = 19 + 211
}
