import Foundation
import StorageShim

/// A file system rebuilt from recorded operations, which knows what a power loss may leave.
///
/// Of the writes to a file since its last sync any subset may be there, torn at sectors, in any
/// order; names follow in order, and any sync brings all earlier ones. Images are made in the
/// shim's memory. Each is searched for clear text: around every write that is in it, for the rest
/// was searched when it became durable.
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
      makeDurable(inode(path))
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

  /// True where a durable file came to hold clear text.
  private(set) var isClear = false

  private func makeDurable(_ inode: Inode) {
    for change in inode.pending {
      switch change {
      case .truncate(let size):
        inode.durable.removeLast(max(0, inode.durable.count - size))
      case .write(let offset, let source):
        let end = offset + source.count
        if end > inode.durable.count {
          inode.durable.append(contentsOf: repeatElement(0, count: end - inode.durable.count))
        }
        inode.durable.withUnsafeMutableBufferPointer { target in
          guard let from = source.baseAddress, let to = target.baseAddress else { return }
          memcpy(to + offset, from, source.count)
          if CrashDisk.isClear(UnsafePointer(to), target.count, around: offset..<end) {
            isClear = true
          }
        }
      }
    }
    inode.pending = []
  }

  private static func isClear(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, around range: Range<Int>
  ) -> Bool {
    let reach = Survivors.needle.count - 1
    let low = max(0, range.lowerBound - reach)
    let high = min(count, range.upperBound + reach)
    return Survivors.holdsNeedle(bytes + low, high - low)
  }

  /// Puts a file into the shim's memory. True where it holds clear text.
  ///
  /// - Parameter keep: The part of a write that is kept: nil for all of it.
  private func load(
    _ path: String, _ inode: Inode, keeping keep: (Int, Int) -> Range<Int>?
  ) -> Bool {
    memory_write(path, 0, Int64(inode.durable.count), inode.durable)
    var written: [Range<Int>] = []
    for (index, change) in inode.pending.enumerated() {
      switch change {
      case .truncate(let size):
        if let kept = keep(index, 1), kept.isEmpty { continue }
        if Int64(size) < memory_size(path) { _ = memory_truncate(path, Int64(size)) }
      case .write(let offset, let source):
        let kept = keep(index, source.count) ?? 0..<source.count
        guard !kept.isEmpty, let from = source.baseAddress else { continue }
        let start = offset + kept.lowerBound
        memory_write(path, Int64(start), Int64(kept.count), from + kept.lowerBound)
        written.append(start..<start + kept.count)
      }
    }
    guard let bytes = memory_bytes(path) else { return false }
    let count = Int(memory_size(path))
    return written.contains { range in
      range.lowerBound < count && CrashDisk.isClear(bytes, count, around: range)
    }
  }

  /// Puts the files as a crash at this moment may leave them into the shim's memory. Returns the
  /// name of a file that holds clear text.
  func load(_ choice: Choice) -> String? {
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
    memory_clear()
    var clear = isClear ? "a durable file" : nil
    // In a fixed order, so that a seed means the same image in every process.
    for (path, inode) in found.sorted(by: { $0.key < $1.key }) {
      let last = inode.pending.count - 1
      let isClear = load(path, inode) { index, count in
        switch choice {
        case .all: nil
        case .none: 0..<0
        case .lastOnly: index == last ? nil : 0..<0
        case .allButLast: index == last ? 0..<0 : nil
        case .random: CrashDisk.part(count, &generator)
        }
      }
      if isClear { clear = path }
    }
    return clear
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
