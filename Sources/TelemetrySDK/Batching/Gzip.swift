import CZlib

/// Compresses one body after the other with one deflate stream, which is reused: setting one up
/// costs 270 KB of memory.
///
/// Not thread safe: belongs to the shell's executor.
final class Gzip {
  /// zlib's status, where it refused.
  struct Failure: Error, Equatable {
    let status: Int32
  }

  private var stream = z_stream()
  private let isReady: Bool
  private let setUpStatus: Int32
  private var output: [UInt8] = []

  init(level: Int) {
    // 15 bits of window; 16 more ask for the gzip wrapper. Memory level 8 is zlib's default.
    setUpStatus = deflateInit2_(
      &stream, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    isReady = setUpStatus == Z_OK
  }

  deinit { if isReady { deflateEnd(&stream) } }

  /// Starts a new body; whatever was begun before is forgotten.
  func begin() throws {
    guard isReady else { throw Failure(status: setUpStatus) }
    let status = deflateReset(&stream)
    guard status == Z_OK else { throw Failure(status: status) }
    output = []
    output.reserveCapacity(Gzip.chunkBytes)
  }

  func append(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBufferPointer { try run($0, flush: Z_NO_FLUSH) }
  }

  /// The finished member.
  func finish() throws -> [UInt8] {
    try run(UnsafeBufferPointer(start: nil, count: 0), flush: Z_FINISH)
    defer { output = [] }
    return output
  }

  private func run(_ input: UnsafeBufferPointer<UInt8>, flush: Int32) throws {
    stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.avail_in = UInt32(input.count)
    var status = Z_OK
    repeat {
      let used = output.count
      output.append(contentsOf: repeatElement(0, count: Gzip.chunkBytes))
      let free = output.withUnsafeMutableBufferPointer { target -> Int in
        stream.next_out = target.baseAddress?.advanced(by: used)
        stream.avail_out = UInt32(Gzip.chunkBytes)
        status = deflate(&stream, flush)
        return Int(stream.avail_out)
      }
      output.removeLast(free)
      guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
        throw Failure(status: status)
      }
      // A full chunk may hide more output.
      if free > 0 { break }
    } while true
    stream.next_in = nil
    if flush == Z_FINISH, status != Z_STREAM_END { throw Failure(status: status) }
  }

  private static let chunkBytes = 16_384
}
