import JSONText

/// Lines and columns of ascending offsets, the text being read once for all of them.
struct PlaceReader {
  private let bytes: [UInt8]
  private var place = JSONPosition(line: 1, column: 1, offset: 0)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// An offset before the last one is found too, by reading from the start again.
  mutating func position(at offset: Int) -> JSONPosition {
    let end = min(max(offset, 0), bytes.count)
    var line = place.line
    var column = place.column
    var start = place.offset
    if end < start {
      (line, column, start) = (1, 1, 0)
    }
    for index in start..<end {
      switch bytes[index] {
      case 0x0a:
        line += 1
        column = 1
      case 0x0d:
        // CR LF is one line end, counted at the LF.
        if index + 1 < bytes.count, bytes[index + 1] == 0x0a { continue }
        line += 1
        column = 1
      case 0x80...0xbf: continue
      default: column += 1
      }
    }
    place = JSONPosition(line: line, column: column, offset: end)
    return place
  }
}
