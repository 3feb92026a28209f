import JSONText

/// Lines and columns of ascending offsets, the text being read once for all of them.
struct PlaceReader {
  private let bytes: [UInt8]
  private var place = JSONPosition(line: 1, column: 1, offset: 0)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// An offset before the last one is found too, by reading from the start again.
  mutating func position(at offset: Int) -> JSONPosition {
    place = JSONPosition(offset: offset, in: bytes, after: place)
    return place
  }
}
