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

  /// A size as scripts write it, or bytes.
  private static func bytes(_ value: JSONValue) -> Int64? {
    if let number = value.int64Value { return number }
    // What cannot be read is said by the verdict.
    return value.stringValue.flatMap { try? Quantity.size($0) }
  }
}
