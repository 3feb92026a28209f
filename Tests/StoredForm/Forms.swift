import CZlib
import Foundation
import JSONText
import TelemetrySDK

/// A way to keep an event. Id and time lie in the record around it already; a form may use that.
protocol StoredForm: AnyObject {
  var name: String { get }
  /// What would lie under the seal.
  func bytes(of event: Recording) -> [UInt8]
  /// The event's JSON again, byte for byte; nil where this form cannot promise that.
  func json(from stored: [UInt8], of event: Recording) -> [UInt8]?
}

final class JSONForm: StoredForm {
  let name = "JSON as on the wire"
  func bytes(of event: Recording) -> [UInt8] { event.json }
  func json(from stored: [UInt8], of event: Recording) -> [UInt8]? { stored }
}

/// What the store does.
final class CompactEventForm: StoredForm {
  let name = "binary envelope and payload"

  func bytes(of event: Recording) -> [UInt8] {
    EventContent(
      id: event.id, wallMs: event.wallMs, type: event.type, payload: event.payload, maxDepth: 64
    )?.finished(session: event.session.description).bytes ?? []
  }

  func json(from stored: [UInt8], of event: Recording) -> [UInt8]? {
    EventContent.json(of: stored[...], id: event.id, wallMs: event.wallMs)
  }
}

/// Type and session in binary, id and time left out, the payload as JSON text.
final class EnvelopeForm: StoredForm {
  let name = "binary envelope, payload as JSON"

  func bytes(of event: Recording) -> [UInt8] {
    var bytes: [UInt8] = [0x80]
    bytes.reserveCapacity(384)
    bytes.append(UInt8(truncatingIfNeeded: event.type.utf8.count))
    bytes.append(contentsOf: event.type.utf8)
    JSONWriter.append(.object(event.payload), to: &bytes)
    for index in 0..<16 { bytes.append(event.session.bytes[index]) }
    return bytes
  }

  func json(from stored: [UInt8], of event: Recording) -> [UInt8]? {
    let payload = 2 + Int(stored[1])
    guard
      let value = try? JSONValue.parse(Array(stored[payload..<(stored.count - 16)])),
      let session = stored[(stored.count - 16)...].withUnsafeBytes({
        $0.count == 16 ? $0.loadUnaligned(as: SIMD16<UInt8>.self) : nil
      })
    else { return nil }
    return EventEncoder.json(
      id: event.id, wallMs: event.wallMs,
      type: String(decoding: stored[2..<payload], as: UTF8.self),
      payload: value.objectValue ?? [:], session: EventID(bytes: session).description)
  }
}

/// RFC 8949 in the same envelope: the smallest fair CBOR. A literal like `1.50` does not come back.
final class CBORForm: StoredForm {
  let name = "binary envelope, payload as CBOR"

  func bytes(of event: Recording) -> [UInt8] {
    var bytes: [UInt8] = [0x80]
    bytes.reserveCapacity(384)
    CBORForm.append(.string(event.type), to: &bytes)
    CBORForm.append(.object(event.payload), to: &bytes)
    for index in 0..<16 { bytes.append(event.session.bytes[index]) }
    return bytes
  }

  func json(from stored: [UInt8], of event: Recording) -> [UInt8]? { nil }

  private static func append(_ value: JSONValue, to bytes: inout [UInt8]) {
    switch value {
    case .null: bytes.append(0xf6)
    case .bool(let flag): bytes.append(flag ? 0xf5 : 0xf4)
    case .string(let text):
      head(3, UInt64(text.utf8.count), to: &bytes)
      bytes.append(contentsOf: text.utf8)
    case .array(let elements):
      head(4, UInt64(elements.count), to: &bytes)
      for element in elements { append(element, to: &bytes) }
    case .object(let members):
      head(5, UInt64(members.count), to: &bytes)
      for (key, value) in members {
        append(.string(key), to: &bytes)
        append(value, to: &bytes)
      }
    case .number(let number): append(number, to: &bytes)
    }
  }

  private static func append(_ number: JSONNumber, to bytes: inout [UInt8]) {
    if let integer = number.int64, !number.literal.contains(".") {
      integer < 0
        ? head(1, UInt64(-1 - integer), to: &bytes) : head(0, UInt64(integer), to: &bytes)
    } else if Double(Float(number.double)) == number.double {
      bytes.append(0xfa)
      append(bigEndian: UInt64(Float(number.double).bitPattern), 4, to: &bytes)
    } else {
      bytes.append(0xfb)
      append(bigEndian: number.double.bitPattern, 8, to: &bytes)
    }
  }

  private static func head(_ kind: UInt8, _ value: UInt64, to bytes: inout [UInt8]) {
    switch value {
    case 0..<24: bytes.append(kind << 5 | UInt8(value))
    case 24..<256:
      bytes.append(kind << 5 | 24)
      append(bigEndian: value, 1, to: &bytes)
    case 256..<65_536:
      bytes.append(kind << 5 | 25)
      append(bigEndian: value, 2, to: &bytes)
    default:
      bytes.append(kind << 5 | 27)
      append(bigEndian: value, 8, to: &bytes)
    }
  }

  private static func append(bigEndian value: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8)))
    }
  }
}

/// Raw deflate (RFC 1951) with a preset dictionary, one stream reused for all events.
final class DeflateForm: StoredForm {
  let name: String
  private let dictionary: [UInt8]
  private var stream = z_stream()
  private var inflating = z_stream()
  private var output = [UInt8](repeating: 0, count: 65_536)

  /// What every app shares, and what one app's events share among themselves: the latter would
  /// have to be learned on the phone and kept beside the rows.
  static func all(for events: Recordings) -> [DeflateForm] {
    let common = Array(
      (#"falsetruenull.000"name":"value":"key":"time":"count":"message":"error":""#
        + #""durationMs":"screen":"{"id":"","ts":"2026-00-00T00:00:00.000Z","type":"","payload":{"#
        + #"},"sessionId":"5e551011-0000-4000-8000-000000000000"}"#).utf8)
    var learned: [UInt8] = []
    var kinds: Set<String> = []
    // The latest of each kind first, then whatever still fits: near bytes are the cheapest.
    for event in events.learning.reversed() + events.learning {
      guard kinds.insert(event.type).inserted || learned.count < 1_000 else { continue }
      learned = event.json + learned
      if learned.count > 4_000 { break }
    }
    return [
      DeflateForm("deflate 1, common words", common, level: 1, window: 12, memory: 4),
      DeflateForm("deflate 6, common words", common, level: 6, window: 12, memory: 4),
      DeflateForm("deflate 1, learned words", learned, level: 1, window: 12, memory: 4),
      DeflateForm("deflate 6, learned words", learned, level: 6, window: 12, memory: 4),
      DeflateForm(
        "deflate 6, learned, zlib's own memory", learned, level: 6, window: 15, memory: 8),
    ]
  }

  init(_ name: String, _ dictionary: [UInt8], level: Int32, window: Int32, memory: Int32) {
    self.name = name
    self.dictionary = dictionary
    let size = Int32(MemoryLayout<z_stream>.size)
    deflateInit2_(
      &stream, level, Z_DEFLATED, -window, memory, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    inflateInit2_(&inflating, -window, ZLIB_VERSION, size)
  }

  deinit {
    deflateEnd(&stream)
    inflateEnd(&inflating)
  }

  func bytes(of event: Recording) -> [UInt8] {
    var input = event.json
    deflateReset(&stream)
    deflateSetDictionary(&stream, dictionary, UInt32(dictionary.count))
    return input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        deflate(&stream, Z_FINISH)
        return Array(target[..<(target.count - Int(stream.avail_out))])
      }
    }
  }

  func json(from stored: [UInt8], of event: Recording) -> [UInt8]? {
    var input = stored
    inflateReset(&inflating)
    inflateSetDictionary(&inflating, dictionary, UInt32(dictionary.count))
    return input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target -> [UInt8]? in
        inflating.next_in = source.baseAddress
        inflating.avail_in = UInt32(source.count)
        inflating.next_out = target.baseAddress
        inflating.avail_out = UInt32(target.count)
        guard inflate(&inflating, Z_FINISH) == Z_STREAM_END else { return nil }
        return Array(target[..<(target.count - Int(inflating.avail_out))])
      }
    }
  }
}
