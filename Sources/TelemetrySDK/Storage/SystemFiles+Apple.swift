#if canImport(Darwin)
  import Foundation

  extension SystemFiles {
    /// Keeps a folder of the SDK's own out of backups, and what will be made in it readable from the
    /// first unlock after a boot on. Where that fails the folder is not used: both are promises.
    static func keepPrivate(_ directory: String) throws {
      do {
        var url = URL(fileURLWithPath: directory, isDirectory: true)
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try url.setResourceValues(values)
        #if os(iOS)
          try FileManager.default.setAttributes(
            [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
            ofItemAtPath: directory)
        #endif
      } catch {
        throw FileError(
          operation: "keepPrivate", code: Int32(truncatingIfNeeded: (error as NSError).code))
      }
    }
  }
#endif
