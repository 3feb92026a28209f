import CZlib

/// Gzip members as the checks need them, good and damaged (RFC 1952). The sole file of this
/// module that calls zlib.
enum VerifyGzip {
  /// Bytes of header and trailer.
  static let headerBytes = 10
  static let trailerBytes = 8

  /// One member. `stored` leaves the bytes uncompressed inside it.
  static func member(_ bytes: [UInt8], stored: Bool = false) -> [UInt8] {
    var stream = z_stream()
    let windowBitsForGzip: Int32 = 15 + 16
    let level = stored ? Z_NO_COMPRESSION : 6
    guard
      deflateInit2_(
        &stream, level, Z_DEFLATED, windowBitsForGzip, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
        Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return [] }
    defer { deflateEnd(&stream) }
    var input = bytes
    let bound = Int(deflateBound(&stream, UInt(input.count))) + 32
    return input.withUnsafeMutableBufferPointer { source in
      [UInt8](unsafeUninitializedCapacity: bound) { target, count in
        stream.next_in = source.baseAddress
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        // The output has room for the worst case, so one call finishes the member.
        let finished = deflate(&stream, Z_FINISH) == Z_STREAM_END
        count = finished ? target.count - Int(stream.avail_out) : 0
      }
    }
  }

  /// A member whose checksum is wrong.
  static func badChecksum(_ bytes: [UInt8]) -> [UInt8] {
    flipped(member(bytes), fromEnd: trailerBytes)
  }

  /// A member whose length field is wrong.
  static func badLength(_ bytes: [UInt8]) -> [UInt8] { flipped(member(bytes), fromEnd: 4) }

  /// A member that ends in the middle of its data.
  static func truncated(_ bytes: [UInt8]) -> [UInt8] {
    let whole = member(bytes)
    return Array(whole.prefix(headerBytes + (whole.count - headerBytes - trailerBytes) / 2))
  }

  private static func flipped(_ bytes: [UInt8], fromEnd distance: Int) -> [UInt8] {
    var damaged = bytes
    if damaged.count >= distance { damaged[damaged.count - distance] ^= 0xff }
    return damaged
  }
}
