import Foundation
import JSONText

/// Makes the events of a record step: the same for the same seed, step and position.
enum EventSource {
  /// Real events read from files, by path: a file is read once in a run.
  private static let files = Guarded<[String: [JSONValue]]>([:])
  private static let maxFileBytes = 1_000_000_000
  /// Events one file may hold.
  private static let maxFileEvents = 1_000_000

  /// They may have been saved since.
  static func forgetFiles() { files.withLock { $0 = [:] } }

  /// How many events the step makes: the file's, where it names one and no smaller count.
  static func count(of record: RecordStep) throws -> Int64 {
    guard let file = record.file else { return record.count }
    let inFile = Int64(try events(in: file).count)
    return record.count > 1 ? min(record.count, inFile) : inFile
  }

  /// `{"type":…,"payload":…,"id":…}` as the device takes it.
  static func event(of record: RecordStep, position: Int64, seed: UInt64) throws -> JSONValue {
    var type = record.type
    var payload = record.payload ?? [:]
    if let file = record.file {
      let raw = try events(in: file)[Int(position)]
      if let own = raw["payload"]?.objectValue, let ownType = raw["type"]?.stringValue {
        payload = own
        type = ownType
      } else {
        payload = raw.objectValue ?? ["value": raw]
        type = raw["metadata"]?["key"]?.stringValue ?? type
      }
    } else {
      payload["n"] = .number(JSONNumber(position))
    }
    if let bytes = record.payloadBytes {
      payload["filler"] = .string(filler(bytes: Int(clamping: bytes), seed: seed, position))
    }
    var event: JSONObject = ["type": .string(type), "payload": .object(payload)]
    if let id = record.id { event["id"] = .string(id) }
    return .object(event)
  }

  /// Letters that do not compress much.
  private static func filler(bytes: Int, seed: UInt64, _ position: Int64) -> String {
    let random = ScriptedRandom(seed: seed ^ UInt64(bitPattern: position), incarnation: 0)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes)
    for draw in random.first((bytes + 9) / 10, purpose: "filler") {
      var word = draw
      for _ in 0..<10 where text.count < bytes {
        text.append(alphabet[Int(word & 63)])
        word >>= 6
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Events of a JSON array, or of a file with one JSON object a line.
  static func events(in file: String) throws -> [JSONValue] {
    if let known = files.withLock({ $0[file] }) { return known }
    let bytes = try UserFile.readWhole(file, atMost: maxFileBytes)
    var events: [JSONValue] = []
    if bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "[") {
      events = try JSONValue.parse(bytes).arrayValue ?? []
    } else {
      for line in bytes.split(separator: 0x0a) where line.contains(where: { $0 > 0x20 }) {
        events.append(try JSONValue.parse(Array(line)))
      }
    }
    guard !events.isEmpty, events.count <= maxFileEvents else {
      throw RunnerFailure("\(file) holds \(events.count) events, expected 1 to \(maxFileEvents)")
    }
    files.withLock { $0[file] = events }
    return events
  }
}
