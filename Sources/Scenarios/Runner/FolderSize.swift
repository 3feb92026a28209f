#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Bytes of files, as `stat` tells them: no file is opened, so no lock of SQLite's is lost.
enum FolderSize {
  /// Folders in folders at most: a device makes one or two levels.
  private static let maxDepth = 8

  /// All regular files below the folder. One that vanished meanwhile has no size any more.
  static func bytes(of folder: String) -> Int64 { bytes(of: folder, depth: 0) }

  private static func bytes(of folder: String, depth: Int) -> Int64 {
    guard depth < maxDepth, let stream = opendir(folder) else { return 0 }
    defer { closedir(stream) }
    var total: Int64 = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(
          to: CChar.self, capacity: MemoryLayout.size(ofValue: tuple.pointee)
        ) { String(cString: $0) }
      }
      guard name != ".", name != ".." else { continue }
      let path = folder + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: total += Int64(status.st_size)
      case S_IFDIR: total += bytes(of: path, depth: depth + 1)
      default: continue
      }
    }
    return total
  }
}
