/// The deduplication table: open addressing over a dense list of slots, keyed by an event's
/// sixteen id bytes. Slots keep the order in which events were first seen.
struct LedgerTable: Sendable {
  /// One event: 72 bytes.
  struct Slot: Sendable, Hashable {
    var key: EventKey
    var content: UInt64
    var firstSeenMs: Int64
    var lastSeenMs: Int64
    var firstRequest: UInt32
    var lastRequest: UInt32
    var firstConnection: UInt32
    var times: UInt32
    var timesStored: UInt32
    var conflicts: UInt32
    /// Index into the ledger's list of incarnations.
    var incarnation: UInt32
  }

  private(set) var slots: [Slot] = []
  /// Slot index + 1 per cell; 0 is empty. A power of two, at most three quarters full.
  private var cells = [UInt32](repeating: 0, count: 1024)

  var count: Int { slots.count }

  subscript(index: Int) -> Slot {
    get { slots[index] }
    set { slots[index] = newValue }
  }

  /// The slot of an event; nil when it was never seen.
  func find(_ key: EventKey) -> Int? {
    let mask = cells.count - 1
    var cell = Int(truncatingIfNeeded: key.spread) & mask
    while cells[cell] != 0 {
      let index = Int(cells[cell]) - 1
      if slots[index].key == key { return index }
      cell = (cell + 1) & mask
    }
    return nil
  }

  /// Adds an event that is not there yet.
  mutating func append(_ slot: Slot) {
    if (slots.count + 1) * 4 > cells.count * 3 { grow() }
    slots.append(slot)
    place(slots.count - 1)
  }

  /// Takes the last slots back, newest first: their cells were the last to be filled, so emptying
  /// them breaks no probe sequence.
  mutating func removeLast(downTo count: Int) {
    while slots.count > count {
      let mask = cells.count - 1
      var cell = Int(truncatingIfNeeded: slots[slots.count - 1].key.spread) & mask
      while Int(cells[cell]) != slots.count { cell = (cell + 1) & mask }
      cells[cell] = 0
      slots.removeLast()
    }
  }

  private mutating func place(_ index: Int) {
    let mask = cells.count - 1
    var cell = Int(truncatingIfNeeded: slots[index].key.spread) & mask
    while cells[cell] != 0 { cell = (cell + 1) & mask }
    cells[cell] = UInt32(index + 1)
  }

  private mutating func grow() {
    cells = [UInt32](repeating: 0, count: cells.count * 2)
    for index in slots.indices { place(index) }
  }
}
