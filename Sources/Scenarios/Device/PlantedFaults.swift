import Foundation
import TelemetrySDK

/// Devices that are broken on purpose, so that the checkers can be seen to catch them. They exist
/// in debug builds of the runner only; the SDK knows nothing of them.
enum PlantedFaults {
  /// False in release builds, where a script that plants a fault is refused.
  static var areAvailable: Bool {
    #if DEBUG
      return true
    #else
      return false
    #endif
  }

  static func wrap(_ store: any EventStore, _ setup: DeviceSetup) -> any EventStore {
    #if DEBUG
      switch setup.settings.planted {
      case nil: return store
      case .forgetsQueueAtRestart:
        if setup.incarnation > 1 { forget(folder: setup.folder) }
        return store
      case .deletesBeforeAcknowledgement: return EagerStore(store)
      case .neverSyncs: return UnsyncedStore(store)
      case .storesPlainText:
        return PlainTextStore(store, file: setup.folder + "/copy.log")
      }
    #else
      return store
    #endif
  }

  #if DEBUG
    private static func forget(folder: String) {
      let manager = FileManager.default
      // A folder that is not there has nothing to forget.
      for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] {
        // Broken on purpose: an error here changes nothing about that.
        try? manager.removeItem(atPath: folder + "/" + name)
      }
    }
  #endif
}

#if DEBUG
  /// Deletes rows when they are sent instead of when they are acknowledged.
  private final class EagerStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func markInFlight(_ rows: [RowReference]) {
      super.markInFlight(rows)
      _ = inner.deleteDelivered(rows)
    }
  }

  /// Says that everything is on the medium, and never sees to it.
  private final class UnsyncedStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func sync() -> StoreBlock? { nil }
    override func maintain() -> Bool { false }
    override func whenSynced(_ callback: @escaping @Sendable (StoreBlock?) -> Void) {
      callback(nil)
    }
  }

  /// Writes every event in clear beside the database.
  private final class PlainTextStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; `file` never changes.
    private let file: String

    init(_ inner: any EventStore, file: String) {
      self.file = file
      super.init(inner)
    }

    override func append(_ event: NewEvent) -> AppendOutcome {
      if !FileManager.default.fileExists(atPath: file) {
        _ = FileManager.default.createFile(atPath: file, contents: nil)
      }
      if let handle = FileHandle(forWritingAtPath: file) {
        handle.seekToEndOfFile()
        handle.write(Data(event.json + [0x0a]))
        handle.closeFile()
      }
      return super.append(event)
    }
  }
#endif
