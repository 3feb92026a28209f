/// Those who wait for requests to come: `GET wait` of the admin, and tests.
final class Watchers: Sendable {
  private struct Watcher {
    let count: Int
    let park: Park
  }
  private let waiting = Guarded<[ObjectIdentifier: Watcher]>([:])

  /// A park that ends when `current` has reached `count`.
  func wait(for count: Int, current: () -> Int) -> Park {
    let park = Park(reason: "request \(count)")
    waiting.access { $0[ObjectIdentifier(park)] = Watcher(count: count, park: park) }
    // Looked at after joining, so that no request slips between.
    note(current())
    return park
  }

  func leave(_ park: Park) { waiting.access { $0[ObjectIdentifier(park)] = nil } }

  func note(_ count: Int) {
    let reached = waiting.access { waiting -> [Park] in
      guard !waiting.isEmpty else { return [] }
      let reached = waiting.filter { $0.value.count <= count }
      for key in reached.keys { waiting[key] = nil }
      return reached.values.map(\.park)
    }
    reached.forEach { $0.release() }
  }
}
