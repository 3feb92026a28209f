/// Searches every file of a device's folder for recorded content.
///
/// Reading a SQLite file from outside drops the locks that the same process holds on it: only while
/// no database in this process has the folder open, or where no other process could open it.
package enum SecrecyScan {
  /// A file larger than this is reported as unreadable: devices keep 20 MB.
  package static let maxFileBytes: Int64 = 256_000_000
  /// More findings than anybody reads.
  package static let maxFindings = 20

  /// - Parameters:
  ///   - excluding: names of files and folders that are not searched: the file that stands in for
  ///     the system's Keychain.
  ///   - beside: files outside the folder that are searched as well, where they exist.
  ///   - baseline: contents of files that were made before anything was recorded. A word that stands
  ///     there, such as one of the database's schema, is no finding where it has the same bytes
  ///     around it; anywhere else it is.
  package static func run(
    folder: String, needles: SecrecyNeedles, excluding: Set<String> = [],
    beside: [String] = [], baseline: [[UInt8]] = []
  ) -> SecrecyFindings {
    var findings = SecrecyFindings(files: 0, bytes: 0, needles: 0)
    var known: Set<ArraySlice<UInt8>> = []
    let search = SecrecySearch(needles)
    for content in baseline {
      search.find(in: content) { offset, needle in
        known.insert(surroundings(of: needle, at: offset, in: content))
        return true
      }
    }
    findings.needles = needles.count
    findings.leftOut = needles.leftOut
    for file in files(below: folder, excluding: excluding, &findings) {
      scan(folder + "/" + file, as: file, search, known, &findings)
    }
    for path in beside where SystemCalls.stamp(path) != nil {
      let name = path.split(separator: "/").last.map(String.init) ?? path
      scan(path, as: name, search, known, &findings)
    }
    return findings
  }

  /// A needle with the bytes around it: in a row's plaintext these are others than in a schema.
  private static func surroundings(
    of needle: SecrecyNeedles.Needle, at offset: Int, in bytes: [UInt8]
  ) -> ArraySlice<UInt8> {
    bytes[
      max(0, offset - marginBytes)..<min(bytes.count, offset + needle.bytes.count + marginBytes)]
  }
  private static let marginBytes = 8

  private static func scan(
    _ path: String, as file: String, _ search: SecrecySearch, _ known: Set<ArraySlice<UInt8>>,
    _ findings: inout SecrecyFindings
  ) {
    let bytes: [UInt8]
    do {
      guard let content = try SystemCalls.readFile(path, limit: maxFileBytes) else {
        findings.unreadable.append("\(file): larger than \(maxFileBytes) bytes")
        return
      }
      bytes = content
    } catch {
      // Without the path: it is another one in each run.
      let reason = (error as? SystemCallError).map { SystemCalls.words($0.code) } ?? "\(error)"
      findings.unreadable.append("\(file): \(reason)")
      return
    }
    findings.files += 1
    findings.bytes += Int64(bytes.count)
    var reported: Set<String> = []
    search.find(in: bytes) { offset, needle in
      guard findings.found.count < maxFindings else { return false }
      let isKnown =
        !known.isEmpty && known.contains(surroundings(of: needle, at: offset, in: bytes))
      if !isKnown, reported.insert(needle.what).inserted {
        findings.found.append(
          SecrecyFindings.Finding(file: file, offset: Int64(offset), what: needle.what))
      }
      return true
    }
  }

  /// All regular files, relative to the folder, in the order of their names.
  private static func files(
    below folder: String, excluding: Set<String>, _ findings: inout SecrecyFindings
  ) -> [String] {
    func isExcluded(_ path: String) -> Bool {
      !excluding.isEmpty && !excluding.isDisjoint(with: path.split(separator: "/").map(String.init))
    }
    let all = FolderFiles(below: folder)
    for path in all.unlisted where !isExcluded(path) {
      findings.unreadable.append("\(path.isEmpty ? folder : path): cannot be listed")
    }
    return all.files.map(\.path).filter { !isExcluded($0) }.sorted()
  }
}
