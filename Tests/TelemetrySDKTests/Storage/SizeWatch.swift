import StorageShim
import TelemetrySDK

/// How many bytes lie in a folder, looked at before every storage operation.
final class SizeWatch {
  private let system = SystemFiles()
  private let folder: String
  private var seen: Int64 = 0

  init(folder: String) { self.folder = folder }

  func bytes() -> Int64 {
    // try? because a folder that is not there holds nothing.
    let names = (try? system.list(folder)) ?? []
    return names.reduce(0) { $0 + (system.status(folder + "/" + $1)?.bytes ?? 0) }
  }

  private func look() { seen = max(seen, bytes()) }

  /// The most that was there at any operation of the body's, on this thread, or after it.
  func largest(during body: () throws -> Void) rethrows -> Int64 {
    seen = 0
    shim_watch(
      { context in
        guard let context else { return }
        Unmanaged<SizeWatch>.fromOpaque(context).takeUnretainedValue().look()
      }, Unmanaged.passUnretained(self).toOpaque())
    defer { shim_watch(nil, nil) }
    try body()
    look()
    return seen
  }
}
