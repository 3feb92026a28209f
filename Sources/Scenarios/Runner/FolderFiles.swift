#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The regular files below a folder, as `stat` tells them: none is opened, so no lock of SQLite's
/// is lost.
struct FolderFiles {
  struct File {
    /// Relative to the folder.
    var path: String
    var bytes: Int64
  }

  /// Folders in folders at most: a device makes one or two levels.
  private static let maxDepth = 8

  /// In no order. One that vanished meanwhile is not there any more.
  private(set) var files: [File] = []
  /// Folders that could not be listed, relative to the folder, which itself is the empty path.
  private(set) var unlisted: [String] = []

  init(below folder: String) {
    visit(open(folder, FolderFiles.flags & ~O_NOFOLLOW), path: "", depth: 0)
  }

  /// All files together.
  var bytes: Int64 { files.reduce(0) { $0 + $1.bytes } }

  private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

  /// Takes the descriptor over.
  private mutating func visit(_ descriptor: Int32, path: String, depth: Int) {
    guard descriptor >= 0, depth < FolderFiles.maxDepth, let stream = fdopendir(descriptor) else {
      if descriptor >= 0 { close(descriptor) }
      unlisted.append(path)
      return
    }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let size = MemoryLayout.size(ofValue: entry.pointee.d_name)
      let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
        tuple.withMemoryRebound(to: CChar.self, capacity: size) { String(cString: $0) }
      }
      if name != ".", name != ".." {
        take(name, of: descriptor, path: path.isEmpty ? name : path + "/" + name, depth: depth)
      }
    }
  }

  private mutating func take(_ name: String, of folder: Int32, path: String, depth: Int) {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    switch status.st_mode & S_IFMT {
    case S_IFREG: files.append(File(path: path, bytes: Int64(status.st_size)))
    case S_IFDIR: visit(openat(folder, name, FolderFiles.flags), path: path, depth: depth + 1)
    default: return
    }
  }
}
