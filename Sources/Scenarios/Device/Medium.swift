import Foundation

/// What a power loss leaves of a device's files: their bytes as of each file's last sync.
///
/// Names reach the medium at once and contents with their sync, nothing in between: one of the
/// outcomes that are legal, and the harshest for what was written last. The shared memory of a
/// write-ahead log is no file of the medium.
///
/// Thread safe.
final class Medium: Sendable {
  private struct State {
    /// Bytes written since the file's last sync; absent for a file that this life has not synced
    /// yet: then all of it is copied, for an earlier life may have written anything.
    var dirty: [String: [Range<Int64>]] = [:]
  }
  /// The device's folder under the names by which it is known.
  private let folders: [String]
  /// Where the medium's content lies.
  private let kept: String
  private let state = Guarded(State())

  init(folders: [String], kept: String) {
    self.folders = folders
    self.kept = kept
  }

  /// The file's name on the medium; nil for one that lies elsewhere.
  private func name(_ path: String) -> String? {
    for folder in folders where path.hasPrefix(folder + "/") {
      return String(path.dropFirst(folder.count + 1))
    }
    return nil
  }

  private func place(_ name: String) -> String { kept + "/" + name }

  func created(_ path: String) {
    guard let name = name(path) else { return }
    state.withLock { $0.dirty[name] = [] }
    SystemCalls.makeFile(place(name))
  }

  func wrote(_ path: String, _ range: Range<Int64>) {
    guard let name = name(path) else { return }
    state.withLock { state in
      guard var ranges = state.dirty[name] else { return }
      if let last = ranges.last, last.upperBound == range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
      } else {
        ranges.append(range)
      }
      state.dirty[name] = ranges
    }
  }

  /// What lies in the file now has reached the medium.
  func synced(_ path: String) {
    guard let name = name(path) else { return }
    let ranges = state.withLock { state -> [Range<Int64>]? in
      defer { state.dirty[name] = [] }
      return state.dirty[name]
    }
    SystemCalls.copyRanges(ranges, from: path, to: place(name))
  }

  func deleted(_ path: String) {
    guard let name = name(path) else { return }
    state.withLock { $0.dirty[name] = nil }
    // A folder that is not there any more, or a file that was never on the medium.
    try? FileManager.default.removeItem(atPath: place(name))
  }

  func renamed(_ from: String, _ to: String) {
    guard let old = name(from), let new = name(to) else { return }
    state.withLock { $0.dirty[new] = $0.dirty.removeValue(forKey: old) }
    SystemCalls.renameFile(place(old), to: place(new))
  }

  /// Power is lost: the device's folder becomes what its medium holds.
  static func losePower(folder: String, kept: String) throws {
    let manager = FileManager.default
    do {
      try manager.removeItem(atPath: folder)
      if manager.fileExists(atPath: kept) {
        try manager.copyItem(atPath: kept, toPath: folder)
      } else {
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
    } catch { throw RunnerFailure("the power loss cannot be played: \(SystemWords.text(error))") }
  }
}
