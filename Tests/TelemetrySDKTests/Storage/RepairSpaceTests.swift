import Foundation
import StorageShim
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

/// Repairs that find no room on the disk, or folders in their way.
final class RepairSpaceTests: RepairTestCase {
  func testRepair_whenTheDiskHasNoRoomBesideTheDamagedFile_letsThatGoFirst() throws {
    try makeDamaged(rows: 200, bytes: 200)
    let whole = try measure()
    try begin()
    shim_full("queue-repair")
    let store = queueStore()
    XCTAssertNil(store.open(), "not tried in vain again and again")
    XCTAssertEqual(findings(store), whole.findings)
    XCTAssertEqual(losses, whole.losses)
    XCTAssertNil(SystemFiles().status(queue + "/queue.damaged"), "a copy would take the room")
    store.close()
  }

  /// As where a file system looks for room when it writes, not when it is given the bytes.
  func testRepair_whenOnlyTheSyncFindsTheDiskFull_letsTheDamagedFileGoFirst() throws {
    try makeDamaged(rows: 200, bytes: 200)
    let steps = Steps()
    shim_record(1)
    defer { shim_record(0) }
    let before = shim_operations()
    let whole = try steps.follow { try measure() }
    let done = (0..<shim_recorded()).map { shim_recorded_at($0).pointee }
    let rename = try XCTUnwrap(done.firstIndex { $0.kind == SHIM_RENAME })
    XCTAssertEqual(done[rename - 1].kind, Int32(SHIM_SYNC))
    // The last step that was not recorded when so many were is the one that was recorded next.
    let sync = try XCTUnwrap(steps.taken.last { $0.recorded == rename - 1 }).operation - before
    try begin()
    let at = shim_operations() + sync
    shim_plan(at, at + 1, Int32(SHIM_ENOSPC))
    let store = queueStore()
    XCTAssertNil(store.open(), "not tried in vain again and again")
    XCTAssertEqual(findings(store), whole.findings)
    XCTAssertNil(SystemFiles().status(queue + "/queue.damaged"), "a copy would take the room")
    store.close()
  }

  func testRepair_whenTheDiskIsFullFromAnyOperationOn_goesOnOnceThereIsRoom() throws {
    try makeDamaged(rows: 200, bytes: 200)
    let whole = try measure()
    for operation in 1...whole.operations {
      try begin()
      shim_plan(shim_operations() + operation, Int.max, Int32(SHIM_ENOSPC))
      let store = queueStore()
      for _ in 0..<3 { _ = store.open() }
      heal()
      XCTAssertNil(store.open(), "operation \(operation)")
      XCTAssertEqual(findings(store), whole.findings, "operation \(operation)")
      XCTAssertEqual(Set(losses.map { "\($0)" }), Set(whole.losses.map { "\($0)" }))
      store.close()
    }
  }

  /// What is wrong for a moment while the damaged file is read says nothing about its rows.
  func testRepair_whenOneOperationFails_losesNoMoreThanTheDamage() throws {
    try makeDamaged(rows: 200, bytes: 200)
    let whole = try measure()
    for action in [Int(SHIM_ENOSPC), Int(SHIM_EIO)] {
      for operation in 1...whole.operations {
        try begin()
        let at = shim_operations() + operation
        shim_plan(at, at + 1, Int32(action))
        let store = queueStore()
        if store.open() != nil { XCTAssertNil(store.open(), "\(action), \(operation)") }
        XCTAssertEqual(findings(store), whole.findings, "\(action), operation \(operation)")
        store.close()
      }
    }
  }

  func testOpen_whenFoldersLieInThePlacesOfFiles_movesThemAwayWholeAndLosesNothing() throws {
    try makeDamaged(rows: 200, bytes: 200)
    let whole = try measure()
    let system = SystemFiles()
    let names = StorePaths(directory: queue).all.map { String($0.dropFirst(queue.count + 1)) }
    XCTAssertTrue(names.contains("queue-repaired.sqlite"))
    for name in names where name != "queue.sqlite" && name != "queue.sqlite-wal" {
      try begin()
      let place = queue + "/" + name
      if system.status(place) != nil { try system.remove(place) }
      try FileManager.default.createDirectory(
        atPath: place + "/inside", withIntermediateDirectories: true)
      for start in 1...2 {
        let store = queueStore()
        XCTAssertNil(store.open(), "\(name), start \(start)")
        if name != "queue.lock" { XCTAssertEqual(findings(store), whole.findings, name) }
        XCTAssertEqual(findings(store).queued, whole.findings.queued, name)
        XCTAssertEqual(system.status(place + ".folder1/inside")?.isDirectory, true, name)
        store.close()
      }
    }
  }

  func testOpen_whenAFolderWasMovedAwayBefore_movesTheNextBesideIt() throws {
    let places = [queue + "/queue.lock", queue + "/queue.lock.folder1"]
    for place in places {
      try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    }
    let store = queueStore()
    XCTAssertNil(store.open())
    XCTAssertEqual(SystemFiles().status(queue + "/queue.lock.folder2")?.isDirectory, true)
    XCTAssertLessThan(store.snapshot().bytesOnDisk, 200_000)
    store.close()
  }
}

/// Which operation is the how-manieth that is recorded: some are counted alone.
private final class Steps {
  private(set) var taken: [(operation: Int, recorded: Int)] = []

  func follow<Result>(_ body: () throws -> Result) rethrows -> Result {
    shim_watch(
      {
        guard let steps = $0.map({ Unmanaged<Steps>.fromOpaque($0).takeUnretainedValue() })
        else { return }
        steps.taken.append((shim_operations(), shim_recorded()))
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { shim_watch(nil, nil) }
    return try body()
  }
}
