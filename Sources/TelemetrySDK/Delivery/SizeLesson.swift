/// The batch limit that 413 taught: half of the body that was too large. Grows back slowly, since
/// a server's limit may be raised, and a lesson from a passing proxy should not stay for ever.
package struct SizeLesson: Sendable, Equatable {
  /// Bodies accepted under the lesson before it is doubled.
  package static let acceptedBeforeGrowth = 32

  package var limitBytes: Int?
  package var accepted = 0

  package init() {}

  /// A body of so many JSON bytes was too large.
  package mutating func tooLarge(jsonBytes: Int) {
    limitBytes = max(1, min(limitBytes ?? .max, jsonBytes / 2))
    accepted = 0
  }

  /// A body was accepted. At `fullBytes` the lesson is forgotten.
  package mutating func accept(fullBytes: Int) {
    guard let limit = limitBytes else { return }
    accepted += 1
    guard accepted >= SizeLesson.acceptedBeforeGrowth else { return }
    accepted = 0
    limitBytes = limit > fullBytes / 2 ? nil : limit * 2
  }
}
