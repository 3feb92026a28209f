extension Checker {
  /// No recorded content, session or time is readable in the device's files or its log, as text
  /// or as a binary number.
  package static let noPlaintext = Checker.property(
    "noPlaintext", needs: "searches of the device's files for all recorded content",
    looksAtServer: false
  ) { evidence in
    let scans = evidence.scans.filter { $0.needles > 0 && $0.files > 0 }
    guard !scans.isEmpty else { return .unknown("no file was searched for recorded content") }
    if let finding = scans.flatMap(\.found).first {
      let count = scans.reduce(0) { $0 + $1.found.count }
      return .fail(
        "\(count) recorded contents are readable, the first: \(finding.what) at byte"
          + " \(finding.offset) of \(finding.file)")
    }
    if let file = scans.flatMap(\.unreadable).first {
      return .unknown("a file could not be searched: \(file)")
    }
    let files = scans.map(\.files).max() ?? 0
    let needles = scans.map(\.needles).max() ?? 0
    if let leftOut = scans.map(\.leftOut).max(), leftOut > 0 {
      return .unknown("\(leftOut) contents more than the \(needles) that were searched for")
    }
    return .pass("\(scans.count) searches of up to \(files) files for \(needles) contents")
  }
}
