/// Keys as files of mode 0600, one per key, named by the key's id in hexadecimal: so far on every
/// platform, for there is no store over the Keychain yet. Who can read the folder can read what the
/// keys seal.
///
/// A key is written aside, synced, renamed and its folder synced before `save` returns, so that a
/// key is either whole or not there.
package struct FileKeyStore: KeyStore {
  private static let suffix = ".key"

  private let directory: String
  private let files: any FileOperations

  /// - Parameter directory: Made where it is missing, with mode 0700. It belongs to one store.
  package init(directory: String, files: any FileOperations = SystemFiles()) {
    self.directory = directory
    self.files = files
  }

  package func keyIDs() throws -> [UInt64] {
    do {
      try files.createDirectory(directory)
      return try files.list(directory).compactMap(FileKeyStore.id(ofFile:)).filter {
        !isFolder($0)
      }
    } catch let error as FileError {
      throw KeyStoreError.unavailable(status: error.code)
    }
  }

  package func load(_ id: UInt64) throws -> [UInt8] {
    // Whatever put a folder in its place: the key is gone, and waiting brings it no nearer.
    if isFolder(id) { throw KeyStoreError.itemNotFound }
    do {
      let key = try files.read(path(id))
      // A key of another length was never written by `save`; it is no answer, and no reason to
      // make a new one either.
      guard key.count == AESGCM.keyBytes else { throw KeyStoreError.unavailable(status: 0) }
      return key
    } catch let error as FileError {
      if error.isNotFound { throw KeyStoreError.itemNotFound }
      throw KeyStoreError.unavailable(status: error.code)
    }
  }

  package func save(_ id: UInt64, key: [UInt8]) throws {
    do {
      try files.createDirectory(directory)
      guard files.status(path(id)) == nil else { throw KeyStoreError.unavailable(status: 17) }
      try files.writeDurably(path(id), key)
    } catch let error as FileError {
      throw KeyStoreError.unavailable(status: error.code)
    }
  }

  package func destroy(_ id: UInt64) throws {
    do {
      do { try files.remove(path(id)) } catch let error as FileError where error.isNotFound {
        // An earlier call may have removed it and not have reached the medium.
      }
      try files.syncDirectory(directory)
    } catch let error as FileError {
      if error.isNotFound { return }  // There is no folder either.
      throw KeyStoreError.unavailable(status: error.code)
    }
  }

  package func isProtectedDataAvailable() -> Bool { true }

  private func isFolder(_ id: UInt64) -> Bool { files.status(path(id))?.isDirectory == true }

  private func path(_ id: UInt64) -> String {
    let digits = String(id, radix: 16)
    let padding = String(repeating: "0", count: 16 - digits.count)
    return directory + "/" + padding + digits + FileKeyStore.suffix
  }

  private static func id(ofFile name: String) -> UInt64? {
    guard name.hasSuffix(suffix), name.utf8.count == 16 + suffix.utf8.count else { return nil }
    return UInt64(name.dropLast(suffix.count), radix: 16)
  }
}
