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
  private let setUpStatus: Int32
  private var output: [UInt8] = []
  /// Where zlib writes; emptied into `output` when it is full, not for each fragment.
  private let chunk: UnsafeMutablePointer<UInt8>
  private static let chunkBytes = 32_768

  init(level: Int) {
    chunk = .allocate(capacity: Gzip.chunkBytes)
    // 15 bits of window; 16 more ask for the gzip wrapper. Memory level 8 is zlib's default.
    setUpStatus = deflateInit2_(
      &stream, Int32(level), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
  }

  deinit {
    if setUpStatus == Z_OK { deflateEnd(&stream) }
    chunk.deallocate()
  }

  /// Starts a new body; whatever was begun before is forgotten.
  func begin() throws {
    guard setUpStatus == Z_OK else { throw Failure(status: setUpStatus) }
    let status = deflateReset(&stream)
    guard status == Z_OK else { throw Failure(status: status) }
    output = []
    offerChunk()
  }

  func append(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBufferPointer { input in
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(input.count)
      while stream.avail_in > 0 {
        let status = deflate(&stream, Z_NO_FLUSH)
        guard status == Z_OK else { throw Failure(status: status) }
        if stream.avail_out == 0 { takeChunk() }
      }
      stream.next_in = nil
    }
  }

  /// The finished member.
  func finish() throws -> [UInt8] {
    while true {
      let status = deflate(&stream, Z_FINISH)
      takeChunk()
      if status == Z_STREAM_END { break }
      guard status == Z_OK else { throw Failure(status: status) }
    }
    defer { output = [] }
    return output
  }

  private func offerChunk() {
    stream.next_out = chunk
    stream.avail_out = UInt32(Gzip.chunkBytes)
  }

  private func takeChunk() {
    let used = Gzip.chunkBytes - Int(stream.avail_out)
    output.append(contentsOf: UnsafeBufferPointer(start: chunk, count: used))
    offerChunk()
  }
}
