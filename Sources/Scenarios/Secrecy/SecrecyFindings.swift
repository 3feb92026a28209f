/// What a search of the device's files for recorded content found.
package struct SecrecyFindings: Sendable, Hashable {
  package var files: Int
  package var bytes: Int64
  /// How many contents were looked for; without any the search says nothing.
  package var needles: Int
  package var found: [Finding]
  /// Files that could not be read, with the reason.
  package var unreadable: [String]
  /// Contents for which the search had no room.
  package var leftOut: Int

  package init(
    files: Int, bytes: Int64, needles: Int, found: [Finding] = [], unreadable: [String] = [],
    leftOut: Int = 0
  ) {
    self.files = files
    self.bytes = bytes
    self.needles = needles
    self.found = found
    self.unreadable = unreadable
    self.leftOut = leftOut
  }

  /// One recorded content, readable in a file.
  package struct Finding: Sendable, Hashable {
    /// Relative to the device's folder.
    package var file: String
    package var offset: Int64
    /// What was found, and in which form.
    package var what: String

    package init(file: String, offset: Int64, what: String) {
      self.file = file
      self.offset = offset
      self.what = what
    }
  }
}
