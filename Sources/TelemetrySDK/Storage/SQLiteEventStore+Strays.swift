/// Events that lie in another database of this store: this version or an earlier one recorded them
/// beside a queue of a schema that was too new for it. Where the queue can be read again, they come
/// into it, under the same ids and in the same order.
///
/// A chunk is committed here with a mark that names its rows, synced, and then deleted there, so
/// that a kill between any two operations brings no row twice and loses none.
extension SQLiteEventStore {
  /// Chunks that opening brings in; the rest comes with the upkeep, so that nobody waits for long.
  static let straysAtOpening = 64
  static let straysPerUpkeep = 4
  /// The mark, the boots, and what rows take beside their seals.
  private static let bytesBesideStrays = 20_000

  /// Databases other than the open one, and the newer one beside which that lies.
  private var strayPlaces: [StorePaths] {
    guard case .success(let open) = onCore({ $0.paths }) else { return [] }
    return databases.dropFirst().filter {
      $0.base != open.base
        && (files.status($0.database) != nil || files.status($0.repaired) != nil)
    }
  }

  var hasStrays: Bool { !strayPlaces.isEmpty }

  /// Brings chunks in, at most so many. True where more are waiting. What fails is tried again with
  /// the next upkeep.
  func bringInStrays(atMost chunks: Int) -> Bool {
    var left = chunks
    return bringInStrays(&left) == nil && left == 0
  }

  /// All of them, or what hinders it.
  func bringInAllStrays() -> StoreBlock? {
    var left = Int.max
    return bringInStrays(&left)
  }

  private func bringInStrays(_ left: inout Int) -> StoreBlock? {
    for place in strayPlaces where left > 0 && strays.withLock({ $0[place.base] }) == nil {
      guard case .success(true) = onCore({ $0.isReady }) else { return .keyUnavailable }
      do {
        try bringIn(place, &left)
      } catch is NewerSchema {
        strays.withLock { $0[place.base] = 0 }  // Not ours.
      } catch let blocked as Blocked {
        return blocked.reason
      } catch is KeyStoreError {
        return .keyUnavailable
      } catch {
        return .ioError
      }
    }
    return nil
  }

  private func bringIn(_ place: StorePaths, _ left: inout Int) throws {
    try mending(place) { try bringInReadable(place, &left) }
  }

  /// Opening reads no row to its end. Where the damage shows later, it is mended, and the work done
  /// once more.
  private func mending(_ place: StorePaths, _ work: () throws -> Void) throws {
    do { try work() } catch let error as SQLiteError where error.meaning == .damaged {
      var events: [StoreEvent] = []
      let mended = try replaceDamaged(place, nil, &events)
      defer { mended.connection.close() }
      try tellLoss(of: mended, isRepaired: true, events)
      mended.connection.close()
      try work()
    }
  }

  private func bringInReadable(_ place: StorePaths, _ left: inout Int) throws {
    let source = try openStray(place)
    defer { source.connection.close() }
    var mark = try mark(of: source, place)
    if mark.isSettled {
      // Counted as given up before a kill: it must not come in as well.
      if let block = syncFully() { throw Blocked(reason: block) }
      source.connection.close()
      return try removeFiles(of: place)
    }
    try source.forgetStrays(named: mark.rows)
    var reading = StrayReading()
    while left > 0 {
      reading.isTight = bytesOnDisk() > configuration.maxBytesOnDisk / 2
      let chunk = try source.readStrays(&reading)
      let next = mark.following(source.counts, chunk.rows)
      if !chunk.isEmpty || !next.countsAs(mark) {
        let bytes = chunk.bytes + SQLiteEventStore.bytesBesideStrays
        let old = mark
        // What the log held is room, too.
        try onCore { try $0.emptyLog() }.get()
        let room = configuration.maxBytesOnDisk - bytesOnDisk() - 2 * StoreCore.strayLogBytes
        try writing(forBytes: bytes) { core in
          try core.takeStrays(chunk, from: old, to: next, name: place.name, room: room)
        }.get()
        if let block = syncFully() { throw Blocked(reason: block) }
        try source.forgetStrays(chunk)
        mark = next
      }
      if chunk.rows.isEmpty { return try finish(source, place) }
      left -= 1
      if reading.isTight { try source.shrinkWhole() }
      try adjustPageCap()
    }
  }

  /// With the keys of its rows.
  private func openStray(_ place: StorePaths) throws -> StoreCore {
    let source = try openToldStray(place)
    for id in source.counts.usedKeys {
      // A key store that is locked finds nothing: its word counts when it is given twice while
      // protected data can be read.
      if let key = try believed(id, true), let cipher = AESGCM(key: key) {
        source.load(id, cipher)
      } else {
        source.keys.noteMissing(id)
      }
    }
    return source
  }

  private func openToldStray(_ place: StorePaths) throws -> StoreCore {
    var events: [StoreEvent] = []
    let (source, isRepaired) = try openOrRepair(place, nil, &events)
    try tellLoss(of: source, isRepaired: isRepaired, events)
    return source
  }

  private func tellLoss(
    of source: StoreCore, isRepaired: Bool, _ events: [StoreEvent]
  ) throws {
    let loss = try source.untoldLoss(isRepaired: isRepaired)
    tell(events + (loss?.events ?? []))
    if loss != nil { try source.forgetUntoldLoss() }
  }

  /// Nothing is left that can be brought in: the files go, unless rows of lost keys are in them.
  private func finish(_ source: StoreCore, _ place: StorePaths) throws {
    let left = source.counts.queued + source.counts.quarantined
    source.connection.close()
    // Older notes may lie in what stays, or in another database that waits.
    if left == 0, strayPlaces.count == 1 {
      try writing(forBytes: 0) { try $0.forgetYoungerNotes() }.get()
    }
    if left == 0 {
      try removeFiles(of: place)
      try files.syncDirectory(configuration.directory)
    } else {
      strays.withLock { $0[place.base] = left }
    }
    try adjustPageCap()
  }

  private func adjustPageCap() throws { try onCore { try setPageCap($0) }.get() }

  /// Rows in such databases that only a key which is not there can open.
  var unreadableStrays: Int64 { strays.withLock { $0.values.reduce(0, +) } }
  var hasUnreadableStrays: Bool { unreadableStrays > 0 }

  /// Like a copy of a damaged file, they go when events need their room.
  func dropUnreadableStrays() throws {
    for place in strayPlaces where strays.withLock({ $0[place.base] ?? 0 }) > 0 {
      try giveUp(place, as: .queueFull)
    }
  }

  /// A purge takes them, too.
  func purgeStrays() throws {
    for place in strayPlaces {
      do {
        try giveUp(place, as: .purged)
      } catch is NewerSchema {
        try removeFiles(of: place)  // Nothing in it can be counted.
      }
    }
  }

  /// Counts what is in it, once, and removes it.
  private func giveUp(_ place: StorePaths, as reason: DropReason) throws {
    try mending(place) { try giveUpReadable(place, as: reason) }
  }

  private func giveUpReadable(_ place: StorePaths, as reason: DropReason) throws {
    let source = try openToldStray(place)
    defer { source.connection.close() }
    let mark = try mark(of: source, place)
    // What was committed here and not yet deleted there is no more there.
    if !mark.isSettled { try source.forgetStrays(named: mark.rows) }
    try writing { core in
      try core.countStrays(of: source.counts, from: mark, name: place.name, as: reason)
    }.get()
    if let block = syncFully() { throw Blocked(reason: block) }
    source.connection.close()
    try removeFiles(of: place)
    strays.withLock { $0[place.base] = nil }
  }

  private func mark(of source: StoreCore, _ place: StorePaths) throws -> StrayMark {
    try onCore { try $0.strayMark(place.name, of: source.storeID) }.get()
  }
}
