import Foundation
import StorageShim

/// A file system rebuilt from recorded operations, which knows what a power loss may leave.
///
/// Of the writes to a file since its last sync any subset may be there, torn at sectors, in any
/// order; names follow in order, and any sync brings all earlier ones.
final class CrashDisk {
  private enum Change {
    case write(offset: Int, bytes: UnsafeBufferPointer<UInt8>)
    case truncate(Int)
  }

  private final class Inode {
    var durable: [UInt8] = []
    var pending: [Change] = []
  }

  private enum NameChange {
    case create(String, Inode)
    case delete(String)
    case rename(String, String)
  }

  /// Which writes a crash leaves.
  enum Choice {
    case all, none, lastOnly, allButLast
    case random(SplitMix)
  }

  private var names: [String: Inode] = [:]
  private var durableNames: [String: Inode] = [:]
  private var pendingNames: [NameChange] = []
  /// True: a sync that is not a full one orders nothing.
  private let onlyFullSyncsCount: Bool
  private static let sector = 512

  init(onlyFullSyncsCount: Bool) { self.onlyFullSyncsCount = onlyFullSyncsCount }

  var hasPending: Bool {
    !pendingNames.isEmpty || names.values.contains { !$0.pending.isEmpty }
  }

  func apply(_ operation: shim_operation) {
    let path = String(cString: shim_path(operation.file))
    switch Int(operation.kind) {
    case Int(SHIM_CREATE):
      let inode = names[path] ?? Inode()
      if names[path] == nil {
        names[path] = inode
        pendingNames.append(.create(path, inode))
      } else {
        inode.pending.append(.truncate(0))
      }
    case Int(SHIM_WRITE):
      let bytes = UnsafeBufferPointer(start: operation.data, count: Int(operation.length))
      inode(path).pending.append(.write(offset: Int(operation.offset), bytes: bytes))
    case Int(SHIM_TRUNCATE): inode(path).pending.append(.truncate(Int(operation.offset)))
    case Int(SHIM_SYNC):
      if onlyFullSyncsCount && operation.length < 2 { return }
      let inode = inode(path)
      inode.durable = content(inode, keeping: { _, _ in nil })
      inode.pending = []
      commitNames()
    case Int(SHIM_SYNC_FOLDER):
      if onlyFullSyncsCount && operation.length < 2 { return }
      commitNames()
    case Int(SHIM_DELETE):
      names[path] = nil
      pendingNames.append(.delete(path))
    case Int(SHIM_RENAME):
      let name = UnsafeBufferPointer(start: operation.data, count: Int(operation.length))
      let target = String(decoding: name, as: UTF8.self)
      names[target] = names[path]
      names[path] = nil
      pendingNames.append(.rename(path, target))
    default: break
    }
  }

  private func inode(_ path: String) -> Inode {
    if let inode = names[path] { return inode }
    let inode = Inode()
    names[path] = inode
    pendingNames.append(.create(path, inode))
    return inode
  }

  private func commitNames() {
    for change in pendingNames { CrashDisk.apply(change, to: &durableNames) }
    pendingNames = []
  }

  private static func apply(_ change: NameChange, to names: inout [String: Inode]) {
    switch change {
    case .create(let path, let inode): names[path] = inode
    case .delete(let path): names[path] = nil
    case .rename(let path, let target):
      names[target] = names[path]
      names[path] = nil
    }
  }

  /// The part of a write that is kept: nil for all of it.
  private func content(
    _ inode: Inode, keeping keep: (Int, Int) -> Range<Int>?
  ) -> [UInt8] {
    var bytes = inode.durable
    for (index, change) in inode.pending.enumerated() {
      switch change {
      case .truncate(let size):
        if let kept = keep(index, 1), kept.isEmpty { continue }
        if size < bytes.count { bytes.removeLast(bytes.count - size) }
      case .write(let offset, let source):
        let kept = keep(index, source.count) ?? 0..<source.count
        if kept.isEmpty { continue }
        let end = offset + kept.upperBound
        if end > bytes.count {
          bytes.append(contentsOf: repeatElement(0, count: end - bytes.count))
        }
        bytes.withUnsafeMutableBufferPointer { target in
          guard let from = source.baseAddress, let to = target.baseAddress else { return }
          memcpy(to + offset + kept.lowerBound, from + kept.lowerBound, kept.count)
        }
      }
    }
    return bytes
  }

  /// The files as a crash at this moment may leave them.
  func image(_ choice: Choice) -> [String: [UInt8]] {
    var generator = SplitMix(seed: 0)
    var keptNames = pendingNames.count
    switch choice {
    case .all, .allButLast: break
    case .none, .lastOnly: keptNames = 0
    case .random(let given):
      generator = given
      keptNames = generator.below(pendingNames.count + 1)
    }
    var found = durableNames
    for change in pendingNames.prefix(keptNames) { CrashDisk.apply(change, to: &found) }
    return found.mapValues { inode in
      let last = inode.pending.count - 1
      switch choice {
      case .all: return content(inode) { _, _ in nil }
      case .none: return inode.durable
      case .lastOnly: return content(inode) { index, _ in index == last ? nil : 0..<0 }
      case .allButLast: return content(inode) { index, _ in index == last ? 0..<0 : nil }
      case .random: return content(inode) { _, count in CrashDisk.part(count, &generator) }
      }
    }
  }

  /// All, none, or a part that ends at a sector.
  private static func part(_ count: Int, _ generator: inout SplitMix) -> Range<Int>? {
    switch generator.below(8) {
    case 0...3: return nil
    case 4...6: return 0..<0
    default:
      let sectors = max(1, count / sector)
      let cut = min(count, generator.below(sectors + 1) * sector)
      return generator.below(2) == 0 ? 0..<cut : cut..<count
    }
  }
}
