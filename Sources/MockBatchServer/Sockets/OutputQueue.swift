/// What the kernel has not taken yet. Empty, and without storage, on nearly every connection.
struct OutputQueue {
  private var bytes: [UInt8] = []
  private var start = 0

  var isEmpty: Bool { start == bytes.count }
  var count: Int { bytes.count - start }

  /// Sends directly; what the kernel does not take is kept behind what is kept already.
  /// False when the connection is broken.
  mutating func send(_ data: UnsafeRawBufferPointer, over socket: Socket) -> Bool {
    var rest = data
    while isEmpty, !rest.isEmpty {
      switch socket.send(rest) {
      case .bytes(let count): rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      case .wouldBlock, .endOfFile:
        bytes.append(contentsOf: rest)
        return true
      case .failed: return false
      }
    }
    bytes.append(contentsOf: rest)
    return true
  }

  /// Sends what was kept. False when the connection is broken.
  mutating func flush(over socket: Socket) -> Bool {
    while !isEmpty {
      let result = bytes.withUnsafeBytes {
        socket.send(UnsafeRawBufferPointer(rebasing: $0[start...]))
      }
      switch result {
      case .bytes(let count): start += count
      case .wouldBlock, .endOfFile: return true
      case .failed: return false
      }
    }
    bytes = []
    start = 0
    return true
  }

  mutating func drop() {
    bytes = []
    start = 0
  }
}
