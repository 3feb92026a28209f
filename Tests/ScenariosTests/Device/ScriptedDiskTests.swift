import Foundation
import TelemetrySDK
import XCTest

@testable import Scenarios

/// The scripted disk under real SQLite and the SDK's real file operations.
final class ScriptedDiskTests: XCTestCase {
  private struct Place {
    var folder: String
    var medium: String
    var database: String { folder + "/queue.sqlite" }
  }

  private func place() throws -> Place {
    let base = try Fixture.folder(self)
    let place = Place(folder: base + "/device", medium: base + "/medium")
    try FileManager.default.createDirectory(
      atPath: place.folder, withIntermediateDirectories: true)
    return place
  }

  private func disk(_ place: Place, frozen: Scenarios.Guarded<Bool> = Scenarios.Guarded(false))
    throws -> ScriptedDisk
  {
    let disk = try ScriptedDisk(
      folder: place.folder, medium: place.medium, state: .ok, isFrozen: frozen)
    addTeardownBlock { disk.close() }
    return disk
  }

  private func connection(_ place: Place) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(
      path: place.database, vfs: ScriptedDisk.vfsName, busyMs: 50)
    _ = try connection.integer("PRAGMA journal_mode=WAL")
    try connection.execute("PRAGMA synchronous=NORMAL")
    return connection
  }

  private func count(_ place: Place) throws -> Int64? {
    let connection = try SQLiteConnection(path: place.database, vfs: nil, busyMs: 50)
    defer { connection.close() }
    return try connection.integer("SELECT count(*) FROM t")
  }

  private func code(_ body: () throws -> Void) -> Int32? {
    do {
      try body()
      return nil
    } catch let error as SQLiteError { return error.code & 0xff } catch { return -1 }
  }

  func testFull_whenSQLiteWrites_isSQLitesOwnErrorAndPasses() throws {
    let place = try place()
    let disk = try disk(place)
    let connection = try connection(place)
    try connection.execute("CREATE TABLE t(x)")
    disk.set(.full)
    XCTAssertEqual(code { try connection.execute("INSERT INTO t VALUES(1)") }, 13)
    XCTAssertThrowsError(try disk.files.write(place.folder + "/key", [1])) {
      XCTAssertEqual(($0 as? FileError)?.code, 28)
    }
    XCTAssertEqual(try connection.integer("SELECT count(*) FROM t"), 0, "reading goes on")
    disk.set(.ok)
    XCTAssertNil(code { try connection.execute("INSERT INTO t VALUES(1)") })
    connection.close()
  }

  func testProtected_whenAFileIsOpened_isRefusedWhileOpenOnesGoOn() throws {
    let place = try place()
    let disk = try disk(place)
    let open = try connection(place)
    try open.execute("CREATE TABLE t(x)")
    disk.set(.protected)
    XCTAssertNil(code { try open.execute("INSERT INTO t VALUES(1)") })
    XCTAssertNotNil(code { _ = try connection(place) })
    XCTAssertThrowsError(try disk.files.lock(place.folder + "/queue.lock"))
    disk.set(.ok)
    XCTAssertNil(code { try connection(place).close() })
    open.close()
  }

  func testFrozen_whenTheDeviceDied_changesNothing() throws {
    let place = try place()
    let frozen = Scenarios.Guarded(false)
    _ = try disk(place, frozen: frozen)
    let connection = try connection(place)
    try connection.execute("CREATE TABLE t(x)")
    frozen.withLock { $0 = true }
    XCTAssertNotNil(code { try connection.execute("INSERT INTO t VALUES(1)") })
    connection.closeUntouched()
    XCTAssertEqual(try count(place), 0)
  }

  func testLock_whenAnotherConnectionHoldsTheDatabase_isBusyWithoutARealWait() throws {
    let place = try place()
    _ = try disk(place)
    let connection = try connection(place)
    try connection.execute("CREATE TABLE t(x)")
    connection.setBusyMs(3_600_000)
    let lock = try DatabaseLock(database: place.database)
    XCTAssertEqual(code { try connection.execute("INSERT INTO t VALUES(1)") }, 5)
    lock.release()
    XCTAssertNil(code { try connection.execute("INSERT INTO t VALUES(1)") })
    connection.close()
  }

  func testLock_whenItIsKeptInTheProcess_keepsOthersOutAllTheSame() throws {
    let place = try place()
    let disk = try ScriptedDisk(
      folder: place.folder, medium: nil, state: .ok, isFrozen: Scenarios.Guarded(false),
      isAlone: true)
    addTeardownBlock { disk.close() }
    let connection = try connection(place)
    try connection.execute("CREATE TABLE t(x)")
    let lock = try DatabaseLock(database: place.database, vfs: ScriptedDisk.bystanderVFSName)
    XCTAssertEqual(code { try connection.execute("INSERT INTO t VALUES(1)") }, 5)
    XCTAssertEqual(try connection.integer("SELECT count(*) FROM t"), 0, "readers read on")
    XCTAssertEqual(
      code { _ = try DatabaseLock(database: place.database, vfs: ScriptedDisk.vfsName) }, -1,
      "one holder at a time")
    lock.release()
    for _ in 0..<3 { try connection.execute("INSERT INTO t VALUES(1)") }
    try connection.execute("BEGIN IMMEDIATE")
    XCTAssertThrowsError(
      try DatabaseLock(database: place.database, vfs: ScriptedDisk.bystanderVFSName))
    connection.closeUntouched()
    let next = try DatabaseLock(database: place.database, vfs: ScriptedDisk.bystanderVFSName)
    next.release()
    XCTAssertEqual(try count(place), 3)
  }

  func testGrowth_whenAFileGetsLarger_isTold() throws {
    let place = try place()
    let growths = Scenarios.Guarded(0)
    let disk = try ScriptedDisk(
      folder: place.folder, medium: nil, state: .ok, isFrozen: Scenarios.Guarded(false),
      onGrowth: { growths.withLock { $0 += 1 } })
    addTeardownBlock { disk.close() }
    func told(_ body: () throws -> Void) throws -> Bool {
      growths.withLock { $0 = 0 }
      try body()
      return growths.withLock { $0 } > 0
    }
    XCTAssertTrue(try told { try disk.files.write(place.folder + "/key", [1]) })
    XCTAssertFalse(
      try told { try disk.files.rename(place.folder + "/key", to: place.folder + "/other") })
    let connection = try connection(place)
    XCTAssertTrue(try told { try connection.execute("CREATE TABLE t(x)") })
    var largest: Int64 = 0
    var count = (yes: 0, no: 0)
    for round in 0..<40 {
      let isTold = try told {
        if round % 7 == 6 {
          _ = try connection.checkpointTruncate()
        } else if round % 5 == 4 {
          try connection.execute("DELETE FROM t")
        } else {
          try connection.execute("INSERT INTO t VALUES(zeroblob(\((round % 3) * 5_000)))")
        }
      }
      let bytes = FolderFiles(below: place.folder).bytes
      if bytes > largest { XCTAssertTrue(isTold, "round \(round)") }
      largest = isTold ? max(largest, bytes) : largest
      if isTold { count.yes += 1 } else { count.no += 1 }
    }
    XCTAssertGreaterThan(count.yes, 0)
    XCTAssertGreaterThan(count.no, 0)
    connection.close()
  }

  func testPowerLoss_whenTheLogWasSyncedInBetween_leavesWhatWasSynced() throws {
    let place = try place()
    let disk = try disk(place)
    let connection = try connection(place)
    try connection.execute("CREATE TABLE t(x)")
    _ = try connection.checkpointTruncate()
    for _ in 0..<5 { try connection.execute("INSERT INTO t VALUES(1)") }
    let log = try disk.files.openForSync(place.database + "-wal")
    try log.sync()
    for _ in 0..<7 { try connection.execute("INSERT INTO t VALUES(2)") }
    log.close()
    connection.closeUntouched()
    XCTAssertEqual(try count(copy(place)), 12, "a kill keeps all of them")
    try Medium.losePower(folder: place.folder, kept: place.medium)
    XCTAssertEqual(try count(place), 5)
  }

  /// Reading recovers the log, so a copy is read.
  private func copy(_ place: Place) throws -> Place {
    var other = place
    other.folder = place.folder + "-copy"
    try FileManager.default.copyItem(atPath: place.folder, toPath: other.folder)
    return other
  }

  func testMedium_whenAnEarlierLifeWrote_takesTheWholeFileAtTheFirstSync() throws {
    let place = try place()
    let path = place.folder + "/f"
    let first = Medium(folders: [place.folder], kept: place.medium)
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    first.created(path)
    first.wrote(path, 0..<3)
    // Killed here: the next life knows nothing of the three bytes, and writes a fourth.
    let second = Medium(folders: [place.folder], kept: place.medium)
    try Data([1, 2, 3, 4]).write(to: URL(fileURLWithPath: path))
    second.wrote(path, 3..<4)
    XCTAssertEqual(kept(place, "f"), [])
    second.synced(path)
    XCTAssertEqual(kept(place, "f"), [1, 2, 3, 4])
  }

  func testMedium_whenAFileIsRewrittenAsideAndRenamed_keepsOneOfBothWhole() throws {
    let place = try place()
    let files = try disk(place).files
    let path = place.folder + "/keys/k"
    try FileManager.default.createDirectory(
      atPath: place.folder + "/keys", withIntermediateDirectories: true)
    try files.writeDurably(path, [7, 8])
    XCTAssertEqual(kept(place, "keys/k"), [7, 8])
    try files.write(path + ".new", [9])
    XCTAssertEqual(kept(place, "keys/k"), [7, 8])
    try files.sync(path + ".new")
    try files.rename(path + ".new", to: path)
    XCTAssertEqual(kept(place, "keys/k"), [9])
    try files.remove(path)
    XCTAssertNil(kept(place, "keys/k"))
  }

  func testMedium_whenAFileShrinks_isAsShortAfterTheSync() throws {
    let place = try place()
    let files = try disk(place).files
    let path = place.folder + "/f"
    try files.write(path, [1, 2, 3, 4])
    try files.sync(path)
    try files.truncate(path, bytes: 2)
    XCTAssertEqual(kept(place, "f"), [1, 2, 3, 4])
    try files.sync(path)
    XCTAssertEqual(kept(place, "f"), [1, 2])
  }

  private func kept(_ place: Place, _ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: place.medium + "/" + name).map { [UInt8]($0) }
  }
}
