/// When past boots of the device began, as far as a server's date told.
///
/// An event is stamped with the milliseconds since boot, a clock that nobody sets. One confirmed
/// date during a boot dates all its events, those before and those after; events of a boot that
/// was never confirmed are at least as old as the next one that was. A wrong wall clock, set
/// right or not, changes nothing.
struct BootAnchors: Sendable, Equatable {
  private static let maxBoots = 32
  private static let unknown = Int64.min
  private static let entryBytes = 12

  /// In the order of the boots; `startMs` is the wall-clock time of the boot's begin.
  private var boots: [(boot: UInt32, startMs: Int64)] = []

  static func == (left: BootAnchors, right: BootAnchors) -> Bool { left.encoded == right.encoded }

  init() {}

  /// Takes note of the running boot. True where that changed something.
  mutating func begin(_ boot: UInt32) -> Bool {
    guard boots.last?.boot != boot else { return false }
    boots.removeAll { $0.boot == boot }
    boots.append((boot, BootAnchors.unknown))
    if boots.count > BootAnchors.maxBoots { boots.removeFirst() }
    return true
  }

  /// Takes note of a boot before the running one, of which no more is known.
  mutating func learn(_ boot: UInt32) {
    guard !boots.contains(where: { $0.boot == boot }) else { return }
    boots.insert((boot, BootAnchors.unknown), at: max(0, boots.count - 1))
    if boots.count > BootAnchors.maxBoots { boots.removeFirst() }
  }

  /// Dates the running boot. True where that changed something worth keeping.
  mutating func confirm(_ boot: UInt32, startMs: Int64) -> Bool {
    let isNew = begin(boot)
    let last = boots.count - 1
    let old = boots[last].startMs
    if !isNew, old != BootAnchors.unknown, abs(old - startMs) < BootAnchors.toleranceMs {
      return false
    }
    boots[last].startMs = startMs
    return true
  }
  /// Server dates have whole seconds and travel time; smaller changes are not written again.
  private static let toleranceMs: Int64 = 60_000

  /// The latest moment at which the event can have been recorded; nil where nothing is known.
  func latest(_ time: RecordedTime) -> Int64? {
    let index = boots.firstIndex { $0.boot == time.boot }
    if let index, boots[index].startMs != BootAnchors.unknown {
      return boots[index].startMs + time.sinceBootMs
    }
    let later = boots[(index.map { $0 + 1 } ?? 0)...]
    return later.first { $0.startMs != BootAnchors.unknown }?.startMs
  }

  var encoded: [UInt8] {
    boots.flatMap { entry -> [UInt8] in
      let start = UInt64(bitPattern: entry.startMs)
      return (0..<4).reversed().map { UInt8(truncatingIfNeeded: entry.boot >> UInt32($0 * 8)) }
        + (0..<8).reversed().map { UInt8(truncatingIfNeeded: start >> UInt64($0 * 8)) }
    }
  }

  init(_ bytes: [UInt8]) {
    for start in stride(from: 0, to: bytes.count - bytes.count % BootAnchors.entryBytes, by: 12) {
      boots.append(
        (
          bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) },
          Int64(
            bitPattern: bytes[start + 4..<start + 12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        ))
    }
  }
}
