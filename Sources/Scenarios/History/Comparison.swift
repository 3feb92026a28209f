/// The lanes of one scenario, compared by their logical histories.
package struct Comparison: Sendable, Hashable {
  /// One difference between two lanes, with the events it concerns counted.
  package struct Difference: Sendable, Hashable {
    package var lanes: [String]
    /// One line: what differs, with an example.
    package var text: String
    package var count: Int
    /// Why this may be so; nil for a finding.
    package var explanation: String?
  }

  package var scenario: String
  package var lanes: [String]
  package var differences: [Difference]

  /// Differences that nothing explains.
  package var findings: [Difference] { differences.filter { $0.explanation == nil } }

  /// Compares every lane with the first one. Without two histories there is nothing to compare.
  package init(_ histories: [History]) {
    scenario = histories.first?.header.scenario ?? ""
    lanes = histories.map(\.header.lane)
    differences = []
    guard let first = histories.first else { return }
    let finalStatesOnly = histories.contains { $0.header.hasStorageTriggers }
    let reference = LogicalHistory(first)
    for other in histories.dropFirst() {
      let other = LogicalHistory(other)
      compareFates(reference, other, finalStatesOnly: finalStatesOnly)
      if !finalStatesOnly { compareOutcomes(reference, other) }
    }
  }

  private mutating func compareFates(
    _ one: LogicalHistory, _ other: LogicalHistory, finalStatesOnly: Bool
  ) {
    var groups: [String: Difference] = [:]
    var order: [String] = []
    func add(_ key: String, _ text: String, _ explanation: String?) {
      if groups[key] == nil {
        order.append(key)
        groups[key] = Difference(
          lanes: [one.lane, other.lane], text: text, count: 0, explanation: explanation)
      }
      groups[key]?.count += 1
    }
    let others = Dictionary(other.fates.map { ($0.serial, $0) }, uniquingKeysWith: { $1 })
    for fate in one.fates {
      guard let match = others[fate.serial], match.label == fate.label else {
        add(
          "only \(one.lane)", "\(Comparison.name(fate)) was offered in \(one.lane) only",
          finalStatesOnly ? Comparison.otherCrashPoint : nil)
        continue
      }
      let same = finalStatesOnly ? fate.state == match.state : fate == match
      if same { continue }
      add(
        "\(fate.text) | \(match.text)",
        "\(Comparison.name(fate)): \(one.lane) \(fate.text), \(other.lane) \(match.text)",
        Comparison.explain(fate, match, finalStatesOnly))
    }
    let known = Set(one.fates.map(\.serial))
    for fate in other.fates where !known.contains(fate.serial) {
      add(
        "only \(other.lane)", "\(Comparison.name(fate)) was offered in \(other.lane) only",
        finalStatesOnly ? Comparison.otherCrashPoint : nil)
    }
    differences += order.compactMap { groups[$0] }
  }

  private static let otherCrashPoint =
    "the crash is counted in storage operations, and lanes need not make the same ones"

  private static func explain(
    _ one: LogicalHistory.Fate, _ other: LogicalHistory.Fate, _ finalStatesOnly: Bool
  ) -> String? {
    if one.receipt == "none" || other.receipt == "none" {
      return "the device died inside the call: without a receipt an event may be stored or not"
    }
    let isDurable = one.receipt == "durable" && other.receipt == "durable"
    return finalStatesOnly && !isDurable ? otherCrashPoint : nil
  }

  private static func name(_ fate: LogicalHistory.Fate) -> String {
    "event \(fate.serial) of \"\(fate.label)\""
  }

  private mutating func compareOutcomes(_ one: LogicalHistory, _ other: LogicalHistory) {
    guard one.outcomes != other.outcomes else { return }
    let pairs = zip(one.outcomes, other.outcomes)
    let place = pairs.enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let at = place ?? min(one.outcomes.count, other.outcomes.count)
    func shown(_ outcomes: [String]) -> String {
      let rest = outcomes.dropFirst(max(0, at - 1)).prefix(4)
      return rest.isEmpty ? "nothing" : rest.joined(separator: ", ")
    }
    differences.append(
      Difference(
        lanes: [one.lane, other.lane],
        text: "outcomes differ from number \(at + 1) on: \(one.lane) \(shown(one.outcomes)),"
          + " \(other.lane) \(shown(other.outcomes))",
        count: 1, explanation: nil))
  }
}
