import Foundation
import XCTest

@testable import MockBatchServer

final class LedgerFileTests: XCTestCase {
  private var folder = URL(fileURLWithPath: NSTemporaryDirectory())

  override func setUpWithError() throws {
    folder = folder.appendingPathComponent("ledger-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(at: folder) }

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  /// What a process leaves that is killed now: the files as they are.
  private func killImage(_ name: String) throws -> String {
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path(name) + suffix, toPath: path("image") + suffix)
    }
    return path("image")
  }

  func testFile_whenServerIsKilled_knowsEverythingAnswered() throws {
    let driver = try EngineDriver(ledger: Ledger(path: path("l.db")))
    driver.send(RequestBuilder.make(EventBuilder.batch([1, 2, 3, 2])))
    driver.send(
      RequestBuilder.make(
        EventBuilder.batch([3, 4]), headers: [(BatchEngine.incarnationHeader, "é\u{1F354}")]))
    driver.send(RequestBuilder.make("{"))
    let reopened = try Ledger(path: killImage("l.db"))
    XCTAssertEqual(reopened.counts, driver.engine.ledger.counts)
    XCTAssertEqual(reopened.counts.invalid, 1)
    XCTAssertEqual(reopened.entries(), driver.engine.ledger.entries())
    XCTAssertEqual(reopened.entry(EventBuilder.id(4))?.incarnation, "é\u{1F354}")
    let second = try EngineDriver(ledger: reopened)
    let again = second.send(RequestBuilder.make(EventBuilder.batch([1, 9])))
    XCTAssertEqual(again.text, "{\"accepted\":1,\"duplicates\":1,\"rejected\":[]}")
    let changed = EventBuilder.make(2, payload: "{\"other\":1}")
    second.send(RequestBuilder.make(EventBuilder.batch([changed])))
    XCTAssertEqual(reopened.counts.conflicting, 1)
  }

  func testFile_whenItCannotBeWritten_nothingIsTakenAndTheNextCommitIsWhole() throws {
    let driver = try EngineDriver(ledger: Ledger(path: path("l.db")))
    let ledger = driver.engine.ledger
    driver.send(RequestBuilder.make(EventBuilder.batch([1, 2])))
    let counts = ledger.counts
    let entries = ledger.entries()
    let conflict = EventBuilder.make(2, payload: "{\"other\":1}")
    let batch = RequestBuilder.make(EventBuilder.batch([EventBuilder.make(3), conflict]))
    withoutFiles {
      let refused = driver.send(batch)
      XCTAssertEqual(refused.status, 503)
      XCTAssertEqual(refused.problem, "ledger-failed")
    }
    XCTAssertEqual(ledger.counts, counts)
    XCTAssertEqual(ledger.entries(), entries)
    XCTAssertEqual(driver.send(batch).text, "{\"accepted\":1,\"duplicates\":1,\"rejected\":[]}")
    XCTAssertEqual(ledger.entry(EventBuilder.id(2))?.timesSeen, 2)
    XCTAssertEqual(try Ledger(path: killImage("l.db")).entries(), ledger.entries())
  }

  /// No file may be written meanwhile, as on a disk that is full.
  private func withoutFiles(_ body: () -> Void) {
    let before = signal(SIGXFSZ, SIG_IGN)
    var old = rlimit()
    getrlimit(ResourceKind.fileSize, &old)
    var none = old
    none.rlim_cur = 0
    setrlimit(ResourceKind.fileSize, &none)
    body()
    setrlimit(ResourceKind.fileSize, &old)
    signal(SIGXFSZ, before)
  }

  func testFile_whenReset_isEmptyAfterReopening() throws {
    let ledger = try Ledger(path: path("l.db"))
    let driver = try EngineDriver(ledger: ledger)
    driver.send()
    try ledger.reset()
    XCTAssertEqual(try Ledger(path: killImage("l.db")).counts, LedgerCounts())
  }

  func testFile_whenAnotherLedgerHasIt_isRefusedUntilThatOneEnds() throws {
    var first: Ledger? = try Ledger(path: path("l.db"))
    try EngineDriver(ledger: XCTUnwrap(first)).send()
    XCTAssertThrowsError(try SQLiteLedgerFile(path: path("l.db"), waitMs: 0)) {
      XCTAssertEqual("\($0)", "ledger file: open: another server has the file (5)")
    }
    first = nil
    XCTAssertEqual(try Ledger(path: path("l.db")).counts.stored, 1)
  }

  /// `PRAGMA page_size=512; CREATE TABLE t(a);`
  private static let foreignDatabase: [UInt8] = {
    let parts: [(at: Int, bytes: [UInt8])] = [
      (0, Array("SQLite format 3\0".utf8) + [2, 0, 1, 1, 0, 64, 32, 32, 0, 0, 0, 1, 0, 0, 0, 2]),
      (43, [1, 0, 0, 0, 4]), (59, [1]),
      (95, [1, 0, 0x2e, 0x63, 1, 13, 0, 0, 0, 1, 1, 0xdf, 0, 1, 0xdf]),
      (
        479,
        [0x1f, 1, 6, 0x17, 15, 15, 1, 0x2f] + Array("tablett".utf8) + [2]
          + Array("CREATE TABLE t(a)".utf8) + [13, 0, 0, 0, 0, 2]
      ),
    ]
    var file = [UInt8](repeating: 0, count: 1_024)
    for part in parts {
      file.replaceSubrange(part.at..<(part.at + part.bytes.count), with: part.bytes)
    }
    return file
  }()

  func testFile_whenItIsAForeignDatabase_isRefusedAndLeftAlone() throws {
    let file = Data(Self.foreignDatabase)
    try file.write(to: URL(fileURLWithPath: path("notes.db")))
    XCTAssertThrowsError(try Ledger(path: path("notes.db"))) {
      XCTAssertEqual("\($0)", "ledger file: open: the file is not a ledger (0)")
    }
    XCTAssertEqual(FileManager.default.contents(atPath: path("notes.db")), file)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path), ["notes.db"])
  }

  func testFile_whenItIsNoLedger_isRefusedAndLeftAlone() throws {
    let text = Data("this is a text of somebody else, longer than a page header is".utf8)
    try text.write(to: URL(fileURLWithPath: path("notes.txt")))
    XCTAssertThrowsError(try Ledger(path: path("notes.txt"))) {
      XCTAssertEqual(($0 as? LedgerError)?.operation, "open")
    }
    XCTAssertEqual(FileManager.default.contents(atPath: path("notes.txt")), text)
    XCTAssertThrowsError(try Ledger(path: path("missing/l.db")))
  }
}
