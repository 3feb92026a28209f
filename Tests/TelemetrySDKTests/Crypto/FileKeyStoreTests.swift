import Foundation
import TelemetrySDK
import XCTest

final class FileKeyStoreTests: XCTestCase {
  private var folder = ""

  override func setUp() {
    folder = NSTemporaryDirectory() + "keys-" + UUID().uuidString
  }

  override func tearDownWithError() throws {
    try FileManager.default.removeItem(atPath: folder)
  }

  func testSave_whenLoadedAgain_givesTheKeyAndKeepsItPrivate() throws {
    let keys = FileKeyStore(directory: folder)
    let key = [UInt8](0..<32)
    try keys.save(0xabc, key: key)
    XCTAssertEqual(try keys.keyIDs(), [0xabc])
    XCTAssertEqual(try keys.load(0xabc), key)
    for (name, mode) in [("", 0o700), ("/0000000000000abc.key", 0o600)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder + name)
      XCTAssertEqual(attributes[.posixPermissions] as? Int, mode)
    }
  }

  func testSave_whenTheIDExists_refusesAndKeepsTheOld() throws {
    let keys = FileKeyStore(directory: folder)
    try keys.save(1, key: [UInt8](repeating: 1, count: 32))
    XCTAssertThrowsError(try keys.save(1, key: [UInt8](repeating: 2, count: 32)))
    XCTAssertEqual(try keys.load(1), [UInt8](repeating: 1, count: 32))
  }

  func testLoad_whenTheFileIsTorn_isUnavailableAndNotMissing() throws {
    let keys = FileKeyStore(directory: folder)
    try keys.save(1, key: [UInt8](repeating: 1, count: 32))
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/0000000000000001.key"))
    XCTAssertThrowsError(try keys.load(1)) {
      XCTAssertEqual($0 as? KeyStoreError, .unavailable(status: 0))
    }
  }

  func testLoad_whenAFolderLiesInItsPlace_findsNoKeyAndLeavesTheFolder() throws {
    let keys = FileKeyStore(directory: folder)
    try keys.save(1, key: [UInt8](repeating: 1, count: 32))
    let place = folder + "/0000000000000002.key"
    try FileManager.default.createDirectory(
      atPath: place + "/inside", withIntermediateDirectories: true)
    XCTAssertEqual(try keys.keyIDs(), [1])
    XCTAssertThrowsError(try keys.load(2)) {
      XCTAssertEqual($0 as? KeyStoreError, .itemNotFound)
    }
    XCTAssertEqual(SystemFiles().status(place + "/inside")?.isDirectory, true)
  }

  func testDestroy_whenTheKeyIsGone_isNoError() throws {
    let keys = FileKeyStore(directory: folder)
    try keys.save(1, key: [UInt8](repeating: 1, count: 32))
    try keys.destroy(1)
    try keys.destroy(1)
    XCTAssertThrowsError(try keys.load(1)) {
      XCTAssertEqual($0 as? KeyStoreError, .itemNotFound)
    }
  }
}
