import Foundation
import JSONText

/// What tells a script that the server accepts: one JSON line, on standard output and in a file.
struct ReadyFile {
  /// The file cannot be used.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  let path: String

  /// Deletes a stale file, so that nobody takes an earlier server's word for this one's.
  func prepare() throws {
    var isFolder: ObjCBool = false
    let manager = FileManager.default
    if manager.fileExists(atPath: path, isDirectory: &isFolder) {
      guard !isFolder.boolValue else {
        throw Failure(description: "ready file \(path): is a folder")
      }
      do {
        try manager.removeItem(atPath: path)
      } catch {
        throw Failure(description: "ready file \(path): the stale one cannot be deleted")
      }
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard manager.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw Failure(description: "ready file \(path): there is no folder \(folder)")
    }
    guard manager.isWritableFile(atPath: folder) else {
      throw Failure(description: "ready file \(path): the folder is not writable")
    }
  }

  /// Written aside and renamed, so that a reader never sees half a line.
  func write(_ line: String) throws {
    let aside = "\(path).\(ProcessInfo.processInfo.processIdentifier)"
    do {
      try Data(line.utf8).write(to: URL(fileURLWithPath: aside))
    } catch {
      throw Failure(description: "ready file \(path): \(error.localizedDescription)")
    }
    guard rename(aside, path) == 0 else {
      let cause = String(cString: strerror(errno))
      // The file aside is of no use to anybody; that it stays is all that can go wrong.
      try? FileManager.default.removeItem(atPath: aside)
      throw Failure(description: "ready file \(path): \(cause)")
    }
  }

  /// The line, slashes unescaped, with its line feed.
  static func line(for server: BatchServer) -> String {
    let object: JSONValue = [
      "version": 1,
      "url": .string(server.url.absoluteString),
      "adminURL": .string(server.adminURL.absoluteString),
      "port": .number(JSONNumber(server.port)),
      "pid": .number(JSONNumber(Int(ProcessInfo.processInfo.processIdentifier))),
    ]
    return String(decoding: JSONWriter.bytes(object), as: UTF8.self) + "\n"
  }
}
