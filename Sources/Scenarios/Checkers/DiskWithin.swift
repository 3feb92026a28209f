import JSONText

extension Checker {
  /// The device's files never took more than this.
  package static let diskWithin = Checker(
    "diskWithin", needs: "a measurement of the files", looksAtServer: false
  ) { evidence, value in
    guard let bound = bytes(value) else { return .unknown("not a size: \(value)") }
    let sizes = evidence.measured + evidence.books.map(\.bytesOnDisk)
    guard let largest = sizes.max(), !evidence.measured.isEmpty || largest > 0 else {
      return .unknown("the files were never measured")
    }
    let text = "at most \(largest) bytes in \(sizes.count) measurements"
    return largest <= bound ? .pass(text) : .fail("\(text), expected at most \(bound)")
  }

  /// A size as scripts write it: bytes, or a number with B, KB, MB, GB, KiB, MiB or GiB.
  private static func bytes(_ value: JSONValue) -> Int64? {
    if let number = value.int64Value { return number }
    guard let text = value.stringValue else { return nil }
    let units: [(String, Int64)] = [
      ("KiB", 1_024), ("MiB", 1_048_576), ("GiB", 1_073_741_824), ("KB", 1_000),
      ("MB", 1_000_000), ("GB", 1_000_000_000), ("B", 1),
    ]
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }),
      let number = Int64(text.dropLast(unit.count))
    else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }
}
