#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Random bytes from the operating system, fetched in blocks: a system call for each id or nonce
/// would cost more than sealing an event.
///
/// Bytes are handed out once and erased from the block. A process must not fork and go on in both
/// halves; the SDK never forks.
package final class SystemRandom: Sendable {
  package static let shared = SystemRandom()

  /// What one call to the system may fetch.
  private static let blockBytes = 256

  private struct Block {
    var bytes = [UInt8](repeating: 0, count: SystemRandom.blockBytes)
    var used = SystemRandom.blockBytes
  }
  private let block = Guarded(Block())

  package init() {}

  /// Fills the buffer. False where the system has no randomness to give; nothing is usable then.
  package func fill(_ target: UnsafeMutableRawBufferPointer) -> Bool {
    block.withLock { block in
      var filled = 0
      while filled < target.count {
        if block.used == SystemRandom.blockBytes {
          guard block.bytes.withUnsafeMutableBytes(SystemRandom.fetch) else { return false }
          block.used = 0
        }
        let count = min(target.count - filled, SystemRandom.blockBytes - block.used)
        for offset in 0..<count {
          target[filled + offset] = block.bytes[block.used + offset]
          block.bytes[block.used + offset] = 0
        }
        block.used += count
        filled += count
      }
      return true
    }
  }

  /// A block from the system. On Apple's platforms `arc4random_buf`, which cannot fail: apps that
  /// call `getentropy` are turned away by the App Store, for it is no public interface there.
  private static func fetch(_ target: UnsafeMutableRawBufferPointer) -> Bool {
    guard let start = target.baseAddress else { return false }
    #if canImport(Darwin)
      arc4random_buf(start, target.count)
      return true
    #else
      return getentropy(start, target.count) == 0
    #endif
  }

  /// `count` random bytes, or nil where the system has none.
  package func bytes(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return bytes.withUnsafeMutableBytes { fill($0) } ? bytes : nil
  }

  /// Sixteen random bytes, or nil where the system has none.
  package func sixteen() -> SIMD16<UInt8>? {
    var bytes = SIMD16<UInt8>()
    return withUnsafeMutableBytes(of: &bytes) { fill($0) } ? bytes : nil
  }
}
