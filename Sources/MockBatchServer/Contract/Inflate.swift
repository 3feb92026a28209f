import CZlib

/// Strict gunzip (RFC 1952): exactly one member, CRC and length checked, nothing behind it, output
/// bounded in size and in ratio.
///
/// One inflater is used by one thread at a time and keeps zlib's state between bodies.
final class Inflater {
  /// On the heap: zlib remembers the address of its stream.
  private let stream: UnsafeMutablePointer<z_stream>
  private var isReady = false

  init() {
    stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
  }

  deinit {
    if isReady { inflateEnd(stream) }
    stream.deinitialize(count: 1)
    stream.deallocate()
  }

  /// Output checked against the ratio from here on; small texts may be very regular.
  static let ratioFloor = 64_000

  /// - Parameters:
  ///   - maxBytes: bytes of output; more is `bodyTooLarge`.
  ///   - maxRatio: output per input; more is `bomb`.
  /// - Throws: `Problem`.
  func gunzip(_ body: [UInt8], maxBytes: Int, maxRatio: Int) throws -> [UInt8] {
    guard body.count >= 2, body[0] == 0x1f, body[1] == 0x8b else {
      throw Problem(.notGzip, "the body does not start with the gzip magic 1f 8b")
    }
    try prepare()
    var output: [UInt8] = []
    // One byte above the limit shows that it is passed.
    let most = maxBytes < .max ? maxBytes + 1 : .max
    var capacity = firstCapacity(body, most)
    var consumed = 0
    while true {
      let status = try step(body, &consumed, &output, capacity)
      if output.count > Inflater.ratioFloor, output.count / max(1, maxRatio) >= max(1, consumed) {
        throw Problem(.bomb, "more than \(maxRatio) bytes come out of each compressed byte")
      }
      guard output.count <= maxBytes else {
        throw Problem(.bodyTooLarge, "more than \(maxBytes) bytes after decompression")
      }
      if status == Z_STREAM_END { break }
      if consumed == body.count, output.count < capacity {
        throw Problem(.truncatedGzip, "the body ends inside the gzip member")
      }
      capacity = min(most, capacity * 2)
    }
    try checkEnd(body, consumed)
    return output
  }

  /// The trailer tells the length of an honest body, so that one allocation does. A lie costs
  /// nothing but a second round.
  private func firstCapacity(_ body: [UInt8], _ most: Int) -> Int {
    let told = body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    return min(most, max(64, min(told, body.count * Inflater.expectedRatio) + 1))
  }

  /// How far the trailer's length is believed, in multiples of the compressed length.
  private static let expectedRatio = 64

  private func prepare() throws {
    let status: Int32
    if isReady {
      status = inflateReset(stream)
    } else {
      // 15 bits of window, + 16: gzip and nothing else.
      status = inflateInit2_(
        stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
      isReady = status == Z_OK
    }
    guard status == Z_OK else {
      throw Problem(.corruptGzip, "zlib is not ready (\(status))", status: 503)
    }
  }

  /// Inflates until `capacity` bytes of output are there, the member ends, or the input does.
  private func step(
    _ body: [UInt8], _ consumed: inout Int, _ output: inout [UInt8], _ capacity: Int
  ) throws -> Int32 {
    let done = output.count
    var status = Z_OK
    var produced = 0
    let before = output
    let from = consumed
    output = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      before.withUnsafeBufferPointer { old in
        if let source = old.baseAddress, let target = buffer.baseAddress {
          target.update(from: source, count: done)
        }
      }
      body.withUnsafeBufferPointer { input in
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.advanced(by: from))
        stream.pointee.avail_in = UInt32(clamping: body.count - from)
        stream.pointee.next_out = buffer.baseAddress?.advanced(by: done)
        stream.pointee.avail_out = UInt32(clamping: capacity - done)
        status = inflate(stream, Z_NO_FLUSH)
        produced = capacity - done - Int(stream.pointee.avail_out)
        consumed = body.count - Int(stream.pointee.avail_in)
      }
      count = done + produced
    }
    switch status {
    case Z_OK, Z_STREAM_END, Z_BUF_ERROR: return status
    default: throw damage(stream.pointee.msg.map { String(cString: $0) } ?? "")
    }
  }

  /// zlib names the kind of damage in words only.
  private func damage(_ message: String) -> Problem {
    switch message {
    case "incorrect data check": return Problem(.gzipChecksum, "CRC-32 does not match the content")
    case "incorrect length check":
      return Problem(.gzipLength, "ISIZE does not match the content's length")
    case "incorrect header check", "unknown compression method", "unknown header flags set",
      "header crc mismatch":
      return Problem(.notGzip, "the gzip header is wrong: \(message)")
    default: return Problem(.corruptGzip, "the compressed data is damaged: \(message)")
    }
  }

  private func checkEnd(_ body: [UInt8], _ consumed: Int) throws {
    let rest = body.count - consumed
    guard rest > 0 else { return }
    if rest >= 2, body[consumed] == 0x1f, body[consumed + 1] == 0x8b {
      throw Problem(.concatenatedMembers, "a second gzip member starts at byte \(consumed)")
    }
    throw Problem(.trailingBytes, "\(rest) bytes follow the gzip member at byte \(consumed)")
  }
}

/// Inflaters at rest. A body takes one, or a new one where all are at work.
package final class InflaterPool: Sendable {
  package init() {}

  /// Guard: an inflater is in the pool or with exactly one body.
  private struct Lent: @unchecked Sendable { let inflater: Inflater }
  private let resting = Guarded<[Lent]>([])
  /// Kept at rest; one is about 40 KB.
  private static let maxResting = 16

  package func gunzip(_ body: [UInt8], maxBytes: Int, maxRatio: Int) throws -> [UInt8] {
    let lent = resting.access { $0.popLast() } ?? Lent(inflater: Inflater())
    defer {
      resting.access { if $0.count < InflaterPool.maxResting { $0.append(lent) } }
    }
    return try lent.inflater.gunzip(body, maxBytes: maxBytes, maxRatio: maxRatio)
  }
}
