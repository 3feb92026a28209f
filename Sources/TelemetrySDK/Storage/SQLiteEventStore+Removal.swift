/// Rows leaving the queue, in short transactions, the lock let go between them.
extension SQLiteEventStore {
  package func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? {
    inChunks(rows) { core, rest in
      let seen = try core.deleteDelivered(rest) { state.isUrgent }
      core.inFlight.subtract(rest.prefix(seen).map(\.sequence))
      return seen
    }
  }

  package func quarantine(_ rows: [RowReference], reason: QuarantineReason) -> StoreBlock? {
    inChunks(rows) { core, rest in
      let chunk = rest.prefix(StoreCore.chunkRows)
      let found = try core.matching(chunk)
      if !found.isEmpty { try core.quarantine(found, reason: reason) }
      core.inFlight.subtract(chunk.map(\.sequence))
      return chunk.count
    }
  }

  /// Repeats a step that takes some of the rows that are left, and says how many.
  private func inChunks(
    _ rows: [RowReference], _ step: (StoreCore, ArraySlice<RowReference>) throws -> Int
  ) -> StoreBlock? {
    let rows = rows.sorted { $0.sequence < $1.sequence }
    var start = 0
    while start < rows.count {
      switch writing({ try step($0, rows[start...]) }) {
      case .success(let seen): start += seen
      case .failure(let blocked): return blocked.reason
      }
    }
    return nil
  }

  package func dropAll(account: String?) -> StoreBlock? {
    // What cannot be brought in now would come later, and be sent.
    if let block = bringInAllStrays() { return block }
    var tags: [Int64?] = [nil]
    if let account {
      switch onCore({ try $0.tags(ofAccount: account) }) {
      case .success(let found): tags = found
      case .failure(let blocked): return blocked.reason
      }
    }
    for tag in tags {
      let block =
        inSteps { try $0.dropChunk(account: tag, after: $1, reason: .purged) }
        ?? inSteps { try $0.dropQuarantined(account: tag, after: $1, reason: .purged) }
      if let block { return block }
    }
    return nil
  }

  /// Repeats a bounded step from place to place until it says that there is no more.
  private func inSteps(_ step: (StoreCore, Int64) throws -> Int64?) -> StoreBlock? {
    var place = Int64.min
    while true {
      switch writing({ try step($0, place) }) {
      case .success(.some(let next)): place = next
      case .success(.none): return nil
      case .failure(let blocked): return blocked.reason
      }
    }
  }

  package func quarantinedEvents(limit: Int) -> [QuarantinedEvent] {
    // try? turns a block into no answer: the caller asks again when the store is back.
    return (try? onCore { try $0.quarantinedEvents(limit: limit) }.get()) ?? []
  }

  package func requeueQuarantined() -> Int {
    var total = 0
    var cursor = Int64.min
    while case .success(.some(let step)) = writing({ try $0.requeueChunk(after: cursor) }) {
      total += step.requeued
      cursor = step.next
    }
    return total
  }

  package func clearQuarantine() -> Int {
    var total = 0
    while case .success(let count) = writing({
      try $0.clearQuarantineChunk(reason: .quarantineCleared)
    }), count > 0 {
      total += count
    }
    return total
  }

  package func setNote(_ key: String, _ value: [UInt8]?) -> StoreBlock? {
    guard (value?.count ?? 0) <= StoreCore.maxNoteBytes, !key.hasPrefix(StoreCore.ownPrefix)
    else { return .ioError }
    let isYounger = hasStrays
    let result = writing { core -> StoreBlock? in
      guard core.keys.live != nil else { return .keyUnavailable }
      if isYounger { try core.setYoungerNote(key, value) } else { try core.setNote(key, value) }
      return nil
    }
    switch result {
    case .success(let block): return block
    case .failure(let blocked): return blocked.reason
    }
  }

  package func note(_ key: String) -> [UInt8]? {
    // try? turns a block into no answer: the caller asks again when the store is back.
    (try? onCore { try $0.note(key) }.get()) ?? nil
  }
}
