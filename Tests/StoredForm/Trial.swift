import Foundation
import JSONText
import TelemetrySDK
import TelemetryTestSupport

/// One form in a real store: filled to its cap, and timed.
struct Trial {
  private static let capBytes: Int64 = 20_000_000
  private static let timed = 4_000

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  var name: String
  /// Under the seal, on average.
  var bytes: Double
  var eventsInCap: Int64
  var formMicroseconds: Double
  /// The JSON from what is stored; nil where the form does not give it back exactly.
  var readMicroseconds: Double?
  var storeMicroseconds: Double

  static func run(_ form: any StoredForm, on events: Recordings) throws -> Trial {
    let stored = events.measured.map { form.bytes(of: $0) }
    for (event, bytes) in zip(events.measured, stored) {
      guard let back = form.json(from: bytes, of: event) else { continue }
      guard back == event.json else {
        throw Failure(description: "\(form.name) does not give the same bytes back")
      }
    }
    let total = stored.reduce(0) { $0 + $1.count }
    return Trial(
      name: form.name, bytes: Double(total) / Double(max(1, stored.count)),
      eventsInCap: try fill(stored), formMicroseconds: shortest { time(form, events) },
      readMicroseconds: readTime(form, stored, events),
      storeMicroseconds: try shortest { try time(stored) })
  }

  /// How many events a store of 20 MB holds, by filling it until old ones go.
  private static func fill(_ stored: [[UInt8]]) throws -> Int64 {
    try withStore { store in
      var number = 0
      while (store.snapshot().ledger.dropped["queueFull"] ?? 0) == 0 {
        let batch = (0..<100).map { offset in event(stored[(number + offset) % stored.count]) }
        guard store.append(batch: batch).count == batch.count else {
          throw Failure(description: "the store took no more after \(number) events")
        }
        number += batch.count
      }
      return store.snapshot().ledger.queued
    }
  }

  private static func time(_ form: any StoredForm, _ events: Recordings) -> Double {
    let began = DispatchTime.now().uptimeNanoseconds
    var bytes = 0
    for number in 0..<timed {
      bytes += form.bytes(of: events.measured[number % events.measured.count]).count
    }
    return bytes > 0 ? microseconds(since: began) : 0
  }

  private static func readTime(
    _ form: any StoredForm, _ stored: [[UInt8]], _ events: Recordings
  ) -> Double? {
    guard form.json(from: stored[0], of: events.measured[0]) != nil else { return nil }
    return shortest {
      let began = DispatchTime.now().uptimeNanoseconds
      var bytes = 0
      for number in 0..<timed {
        let index = number % stored.count
        bytes += form.json(from: stored[index], of: events.measured[index])?.count ?? 0
      }
      return bytes > 0 ? microseconds(since: began) : 0
    }
  }

  private static func time(_ stored: [[UInt8]]) throws -> Double {
    try withStore { store in
      let batch = (0..<timed).map { event(stored[$0 % stored.count]) }
      let began = DispatchTime.now().uptimeNanoseconds
      for event in batch {
        // Where the log is full, the store's own thread is behind: a batch waits for it.
        guard
          store.append(event).sequence ?? store.append(batch: [event]).first?.sequence != nil
        else {
          throw Failure(description: "an event was not stored")
        }
      }
      return microseconds(since: began)
    }
  }

  private static func microseconds(since began: UInt64) -> Double {
    Double(DispatchTime.now().uptimeNanoseconds - began) / 1_000 / Double(timed)
  }

  private static func event(_ bytes: [UInt8]) -> NewEvent {
    NewEvent(
      id: EventID(random: SystemRandom.shared.sixteen() ?? SIMD16(repeating: 1)), account: "",
      json: bytes, recordedAtMs: 1_767_600_000_000)
  }

  private static func shortest(_ body: () throws -> Double) rethrows -> Double {
    var shortest = Double.infinity
    for _ in 0..<5 { shortest = min(shortest, try body()) }
    return shortest
  }

  private static func withStore<Value>(_ body: (SQLiteEventStore) throws -> Value) throws -> Value {
    let folder = NSTemporaryDirectory() + "storedform-" + UUID().uuidString
    // try? because what is left behind in the temporary folder harms nobody.
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var configuration = StoreConfiguration(directory: folder)
    configuration.maxBytesOnDisk = capBytes
    let store = SQLiteEventStore(
      configuration: configuration, keyStore: FakeKeyStore(), clock: SettableClock())
    guard store.open() == nil else { throw Failure(description: "the store does not open") }
    defer { store.close() }
    return try body(store)
  }

  func line(against plain: Trial?) -> String {
    func pad(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    func digits(_ value: Double) -> String { String(format: "%.2f", value) }
    let gain = plain.map {
      String(format: "  %+.0f %%", 100 * (Double(eventsInCap) / Double($0.eventsInCap) - 1))
    }
    return name + pad(digits(bytes), 40 - name.count) + pad("\(eventsInCap)", 10)
      + pad(digits(formMicroseconds), 13) + pad(digits(storeMicroseconds), 14)
      + pad(digits(formMicroseconds + storeMicroseconds), 11)
      + pad(readMicroseconds.map(digits) ?? "-", 11) + (gain ?? "")
  }
}
