import Foundation
import JSONText
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
      case .crashes: return CrashingStore(store) { SystemCalls.abortNow() }
      case .isKilled: return CrashingStore(store) { SystemCalls.killSelf() }
      case .keepsClearIndex:
        return ClearIndexStore(store, file: setup.folder + "/index.txt")
      case .logsEvents: return LoggingStore(store)
      case .movesTime: return LateStore(store)
      case .keepsBackgroundTime: return store
      }
    #else
      return store
    #endif
  }

  static func wrap(
    _ time: ScriptedBackgroundTime, _ setup: DeviceSetup
  ) -> any BackgroundAssertions {
    #if DEBUG
      if setup.settings.planted == .keepsBackgroundTime { return KeptAssertions(system: time) }
    #endif
    return time
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
  extension NewEvent {
    /// What nobody may find in a file.
    fileprivate var clearText: [UInt8] { content.json(id: id, wallMs: recordedAtMs) ?? [] }
  }

  /// Asks for time in the background and never gives it back.
  private struct KeptAssertions: BackgroundAssertions {
    let system: ScriptedBackgroundTime
    func begin(_ expiring: @escaping @Sendable () -> Void) -> Int? { system.begin(expiring) }
    func end(_ id: Int) {}
  }

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

  /// Ends the process on the way of the first event: as a trap in the SDK would, or as a system
  /// that is short of memory does.
  private final class CrashingStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; `end` never changes.
    private let end: @Sendable () -> Void

    init(_ inner: any EventStore, end: @escaping @Sendable () -> Void) {
      self.end = end
      super.init(inner)
    }

    override func arrives(_ event: NewEvent) {
      end()
    }
  }

  /// Keeps a file beside the database.
  private class FileKeepingStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; `file` never changes.
    let file: String

    init(_ inner: any EventStore, file: String) {
      self.file = file
      super.init(inner)
    }

    func add(_ line: [UInt8]) {
      if !FileManager.default.fileExists(atPath: file) {
        _ = FileManager.default.createFile(atPath: file, contents: nil)
      }
      guard let handle = FileHandle(forWritingAtPath: file) else { return }
      handle.seekToEndOfFile()
      handle.write(Data(line + [0x0a]))
      handle.closeFile()
    }
  }

  /// Writes every event in clear.
  private final class PlainTextStore: FileKeepingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func arrives(_ event: NewEvent) {
      add(event.clearText)
    }
  }

  /// Writes time and session of every event in clear, and tidies up once they are delivered.
  private final class ClearIndexStore: FileKeepingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func arrives(_ event: NewEvent) {
      // Broken on purpose: an event that is no JSON has nothing to index.
      if let value = try? JSONValue.parse(event.clearText) {
        let words = [value["ts"], value["sessionId"]].compactMap { $0?.stringValue }
        add(Array(words.joined(separator: "|").utf8))
      }
    }

    override func deleteDelivered(_ rows: [RowReference]) -> StoreBlock? {
      // Broken on purpose: whether the file was there makes no difference.
      try? FileManager.default.removeItem(atPath: file)
      return super.deleteDelivered(rows)
    }
  }

  /// Stores each event with another time than its own.
  private final class LateStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func append(
      _ event: NewEvent, patience: inout Patience, late: () -> LateAnswer
    ) -> AppendOutcome? {
      let later = NewEvent(
        id: event.id, idIsFromCaller: event.idIsFromCaller, account: event.account,
        content: event.content, recordedAtMs: event.recordedAtMs + 1)
      return super.append(later, patience: &patience, late: late)
    }
  }

  /// Writes every event to standard error.
  private final class LoggingStore: ForwardingStore, @unchecked Sendable {
    // Guard: as its parent; no state of its own.
    override func arrives(_ event: NewEvent) {
      FileHandle.standardError.write(Data(event.clearText + [0x0a]))
    }
  }
#endif
