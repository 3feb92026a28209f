import Foundation

/// Files that the command line or a script names: they may be anything.
enum UserFile {
  /// What was read. `bytes` ends one byte behind the bound where the file goes on.
  struct Contents {
    var bytes: [UInt8]
    /// The whole file's size, where it says; at least what was read.
    var size: Int64
  }

  /// Why a file cannot be read, in the user's words.
  struct Trouble: Error, CustomStringConvertible {
    var description: String
  }

  /// Reads no more than the bound and one byte: a file that is too large must not fill the memory
  /// before it is refused.
  static func read(_ path: String, atMost limit: Int) throws -> Contents {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw Trouble(description: "\(path): no such file")
    }
    guard !isFolder.boolValue else { throw Trouble(description: "\(path): is a folder") }
    do {
      let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      // Nothing was written: there is nothing to lose at the end.
      defer { try? handle.close() }
      var data = Data()
      while data.count <= limit {
        let wanted = min(pieceBytes, limit + 1 - data.count)
        guard let piece = try handle.read(upToCount: wanted), !piece.isEmpty else { break }
        data.append(piece)
      }
      let said = SystemCalls.stamp(path)?.bytes ?? 0
      return Contents(bytes: [UInt8](data), size: max(said, Int64(data.count)))
    } catch {
      throw Trouble(description: "\(path): cannot be read (\(SystemWords.text(error)))")
    }
  }
  private static let pieceBytes = 1 << 20

  /// The same for files whose size is not part of their format's rules.
  static func readWhole(_ path: String, atMost limit: Int) throws -> [UInt8] {
    let contents = try read(path, atMost: limit)
    guard contents.bytes.count <= limit else {
      throw Trouble(
        description: "\(path): has \(contents.size) bytes, at most \(limit) are read")
    }
    return contents.bytes
  }

  /// True for what is written into and not replaced: a device, a pipe.
  static func isSpecial(_ path: String) -> Bool {
    // What cannot be looked at is not there yet, or its writing says why.
    let kind = (try? FileManager.default.attributesOfItem(atPath: resolved(path)))?[.type]
    guard let kind = kind as? FileAttributeType else { return false }
    return kind != .typeRegular && kind != .typeDirectory
  }

  /// Whole or not at all, beside the old one and then in its place; what is no plain file is
  /// written into. A link stays a link.
  static func write(_ bytes: [UInt8], to path: String) throws {
    do {
      let file = URL(fileURLWithPath: resolved(path))
      guard isSpecial(path) else { return try Data(bytes).write(to: file, options: .atomic) }
      let handle = try FileHandle(forWritingTo: file)
      defer { try? handle.close() }  // A device tells its troubles at the write.
      try handle.write(contentsOf: Data(bytes))
    } catch { throw RunnerFailure("\(path): cannot be written (\(SystemWords.text(error)))") }
  }

  private static func resolved(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }
}
