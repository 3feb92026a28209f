import Foundation
import JSONText

/// A record step under way: the events it still owes.
struct Generator {
  var step: Int
  var record: RecordStep
  var made: Int64
  var nextNs: Int64
}

/// The timeline: what is due when, in which order.
extension CaseRunner {
  var nextTimedStep: Int64? { nextTimed < timed.count ? timed[nextTimed].atNs : nil }

  var hasMoreToDo: Bool {
    nextTimedStep != nil || !generators.isEmpty || restartAtNs != nil
  }

  func runTimeline() throws {
    var spins = 0
    while hasMoreToDo, let moment = nextMoment() {
      spins = moment == clock.nowNs ? spins + 1 : 0
      guard spins < CaseRunner.maxRoundsAtOneMoment else {
        throw RunnerFailure("timers at one moment never end")
      }
      try seeThatTimeIsLeft()
      if moment > clock.nowNs || isDue(moment) { try advance(toNs: moment) }
      try runDue()
    }
  }

  /// Whether a timer of device or server is due at this moment.
  private func isDue(_ moment: Int64) -> Bool {
    (idle?.nextDueNs).map { $0 <= moment } ?? false
      || clock.nextDueNs.map { $0 <= moment } ?? false
  }

  /// Restarts, steps and generated events that are due now, in the order of the script.
  private func runDue() throws {
    if let restart = restartAtNs, restart <= clock.nowNs {
      restartAtNs = nil
      try startDevice()
    }
    while true {
      try seeThatTimeIsLeft()
      let now = clock.nowNs
      let generator =
        generators.isEmpty
        ? nil
        : generators.indices.filter { generators[$0].nextNs <= now }
          .min { generators[$0].step < generators[$1].step }
      let step = nextTimed < timed.count && timed[nextTimed].atNs <= now ? timed[nextTimed] : nil
      if let generator, step.map({ generators[generator].step < $0.index }) ?? true {
        try produce(generator)
      } else if let step {
        nextTimed += 1
        try run(scenario.timeline[step.index])
      } else {
        return
      }
    }
  }

  func runFiredSteps() throws {
    while !firedSteps.isEmpty {
      let index = firedSteps.removeFirst()
      let step = scenario.timeline[index]
      history.append(.triggerFired(step: index))
      try run(step)
      guard case .when(.request(let number, let phase)) = step.moment else { continue }
      _ = rig?.engine.setGate(TriggerBoard.gate(number, phase), isOpen: true)
    }
  }

  // MARK: Events

  /// Events in one request to the device at most, so that a kill between two is possible.
  private static let chunk: Int64 = 100
  /// Fewer where they are large: all of them are in memory at once, more than once.
  private static func chunk(of record: RecordStep) -> Int64 {
    min(chunk, max(1, 4_000_000 / max(1, record.payloadBytes ?? 1)))
  }

  func begin(_ record: RecordStep, step: Int) throws {
    generators.append(Generator(step: step, record: record, made: 0, nextNs: clock.nowNs))
  }

  /// Makes the events of a generator that are due now.
  private func produce(_ index: Int) throws {
    var generator = generators[index]
    let count = try EventSource.count(of: generator.record)
    let remaining = count - generator.made
    var due = generator.record.everyNs == 0 ? remaining : min(remaining, 1)
    if let limit = triggers.recordsUntilTrigger(from: recorded) { due = min(due, limit) }
    due = min(due, CaseRunner.chunk(of: generator.record))
    let first = generator.made
    generator.made += due
    let (next, overflow) = generator.nextNs.addingReportingOverflow(generator.record.everyNs)
    generator.nextNs = overflow ? .max : next
    if generator.made >= count {
      generators.remove(at: index)
    } else {
      generators[index] = generator
    }
    try offer(generator.record, positions: first..<(first + due))
  }

  private func offer(_ record: RecordStep, positions: Range<Int64>) throws {
    guard link != nil else {
      history.append(.notOffered(label: record.name, count: positions.count))
      return
    }
    let events = try positions.map {
      try EventSource.event(of: record, position: $0, seed: settings.seed)
    }
    let wallMs = ScriptedClock.startWallMs + (clock.nowNs + phone.wallOffsetNs) / 1_000_000
    needles.add(timeMs: wallMs)
    let time = WireTime.text(ms: wallMs)
    var serials: [Int] = []
    for event in events {
      serial += 1
      serials.append(serial)
      needles.add(event: event)
      history.append(
        .offered(
          serial: serial, label: record.name, account: phone.token.account,
          content: ContentDigest.text(of: event, time: time)))
    }
    do {
      recording = Recording(number: lastNumber + 1, serials: serials)
      let reply = try call("record", ["events": .array(events)])
      // What the device says of itself is only searched for; nothing is believed.
      if let session = reply["session"]?.stringValue { needles.add(text: session) }
      triggers.recorded(recorded)
      take(mailbox.takeAll())
      // A kill right after `record` returned must not wait until the device has come to rest.
      if !firedSteps.isEmpty { try runFiredSteps() }
      try settle()
      measureFiles()
      try lookNowAndThen()
    } catch is DeviceGone {
      recording = nil
      try settle()
    }
  }

  /// Written down when the reply is heard: what happens to an event comes after its receipt.
  func hearReceipts(_ reply: JSONValue, of recording: Recording) {
    for (serial, receipt) in zip(recording.serials, reply["receipts"]?.arrayValue ?? []) {
      history.append(.receipt(serial: serial, CaseRunner.receipt(receipt)))
      recorded += 1
    }
    for id in recording.durable { history.append(.becameDurable(id: id)) }
  }

  private static func receipt(_ value: JSONValue) -> Receipt {
    let id = value["id"]?.stringValue ?? ""
    let reason = value["reason"]?.stringValue ?? ""
    switch value["receipt"]?.stringValue {
    case "durable": return .durable(id: id)
    case "buffered": return .buffered(id: id, reason: reason)
    default: return .rejected(reason: reason)
    }
  }
}

extension Step {
  /// Scenario time of a step that has one.
  // Not inlined: the optimiser of Swift 6.3.1 ends with an ownership error where it is.
  @inline(never)
  var timeNs: Int64? {
    guard case .at(let time) = moment else { return nil }
    return time
  }
}
