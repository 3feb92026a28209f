/// What the runner's one thread is told by the others.
enum CaseEvent: Sendable {
  case device(incarnation: Int, DeviceStreamEvent)
  /// Something moved on the server's side; look again.
  case serverMoved
  /// A `when` step's moment has come; the device is dead already where the step is a kill.
  case triggered(step: Int)
}

/// The runner's inbox.
final class Mailbox: Sendable {
  private let events = Guarded<[CaseEvent]>([])

  func put(_ event: CaseEvent) { events.withLock { $0.append(event) } }

  /// What has come; empty where nothing is there.
  func takeAll() -> [CaseEvent] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }

  /// Waits for something. Nil when so many seconds of real time have passed.
  func await(seconds: Double) -> [CaseEvent]? {
    events.wait(seconds: seconds) { events in
      guard !events.isEmpty else { return nil }
      defer { events = [] }
      return events
    }
  }
}

/// The runner could not do its work: nothing is said about the device under test. Exit code 4.
struct RunnerFailure: Error, Sendable, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// The device's process ended in a crash: the case ends there, and its verdict is a broken promise.
struct DeviceCrashed: Error, Sendable {}

/// The device died while the runner talked to it, by a trigger: the step that needed it is over.
struct DeviceGone: Error, Sendable {}
