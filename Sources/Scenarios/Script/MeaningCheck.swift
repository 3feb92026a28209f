import Foundation
import JSONText
import TelemetrySDK

/// What the shape cannot say: order, references, names, lanes.
struct MeaningCheck {
  let scenario: Scenario
  var check: ShapeCheck

  mutating func run() {
    checkOrder()
    checkRecords()
    checkReferences()
    checkLanes()
    checkDevice()
    checkDatabase()
  }

  private mutating func checkDatabase() {
    var states = DatabaseStates()
    for step in scenario.timeline {
      let mistake = states.take(step)
      guard case .database = step.action else { continue }
      if scenario.losesPower {
        // What is written behind the scripted disk's back is unknown to its medium.
        check.fail(step.position, "\"database\" and \"reboot\" cannot stand in one script")
      } else if let mistake {
        check.fail(step.position, mistake)
      }
    }
  }

  private mutating func checkDevice() {
    let start = JSONPosition(line: 1, column: 1, offset: 0)
    var setup = DeviceSetup()
    setup.settings = scenario.device
    setup.folder = "device"
    setup.endpoint = "http://127.0.0.1/"
    for problem in setup.configuration.problems() {
      check.fail(scenario.devicePosition ?? start, "the SDK refuses these settings: \(problem)")
    }
    if scenario.device.planted != nil && !PlantedFaults.areAvailable {
      check.fail(
        scenario.devicePosition ?? start, "\"planted\" devices exist in debug builds only")
    }
  }

  private mutating func checkOrder() {
    var last: Int64 = 0
    for step in scenario.timeline {
      guard case .at(let time) = step.moment else { continue }
      if time < last {
        check.fail(
          step.position,
          "the step at \(Quantity.text(durationNs: time)) comes after one at"
            + " \(Quantity.text(durationNs: last)): steps stand in the order of time")
      }
      last = max(last, time)
    }
  }

  private mutating func checkRecords() {
    var names: [String: JSONPosition] = [:]
    for step in scenario.timeline {
      guard case .record(let record) = step.action else { continue }
      if let first = names[record.name] {
        check.fail(
          step.position,
          "the name \"\(record.name)\" is taken by the record step in line"
            + " \(first.line)")
      }
      names[record.name] = step.position
      checkSpan(of: record, step.position)
      if let bytes = record.payloadBytes, bytes > ScenarioShape.maxPayloadBytes {
        check.fail(step.position, "\"payloadSize\" is more than 16MB")
      }
      if let id = record.id {
        if EventID(id) == nil { check.fail(step.position, "\"id\" is no UUID") }
        if record.count > 1 {
          check.fail(step.position, "one \"id\" cannot name \(record.count) events")
        }
      }
      if let file = record.file, !FileManager.default.fileExists(atPath: file),
        !scenario.needs.contains(file)
      {
        check.fail(step.position, "the file \(file) does not exist (\"needs\" makes it optional)")
      }
      if case .when = step.moment, record.everyNs > 0 {
        check.fail(step.position, "a triggered record step records at once, without \"every\"")
      }
    }
  }

  private mutating func checkSpan(of record: RecordStep, _ position: JSONPosition) {
    var count = record.count
    // The file says how many events there are. One that is not there is told elsewhere.
    if let file = record.file, FileManager.default.fileExists(atPath: file) {
      do {
        count = try EventSource.count(of: record)
      } catch {
        check.fail(position, "the file \(file) holds no events: \(error)")
      }
    }
    let (span, overflow) = record.everyNs.multipliedReportingOverflow(by: count)
    if overflow || span > Quantity.maxDurationNs {
      check.fail(position, "the record step runs longer than 3650d")
    }
  }

  private mutating func checkReferences() {
    let names = scenario.timeline.compactMap { step -> String? in
      guard case .record(let record) = step.action else { return nil }
      return record.name
    }
    var expectations = scenario.expect
    let gates = PlanGates.names(in: scenario.plan)
    for step in scenario.timeline {
      if case .expect(let list) = step.action { expectations += list }
      if case .gate(let name, _) = step.action { checkGate(name, gates, step.position) }
      if case .when(.gate(let name)) = step.moment { checkGate(name, gates, step.position) }
    }
    for expectation in expectations {
      guard case .name? = ScenarioShape.expectation(named: expectation.key)?.shape,
        case .string(let name) = expectation.value, !names.contains(name)
      else { continue }
      let hint = Nearest.match(name, among: names).map { "did you mean \"\($0)\"?" }
      check.fail(
        expectation.position, "no record step is named \"\(name)\"",
        length: expectation.key.count + 2,
        hint: hint ?? (names.isEmpty ? nil : "named here: \(names.joined(separator: ", "))"))
    }
  }

  private mutating func checkGate(_ name: String, _ gates: [String], _ position: JSONPosition) {
    guard !gates.contains(name) else { return }
    check.fail(
      position, "the fault plan has no gate named \"\(name)\"",
      hint: Nearest.match(name, among: gates).map { "did you mean \"\($0)\"?" })
  }

  private mutating func checkLanes() {
    for step in scenario.timeline {
      let obstacles = scenario.lanes.map { LaneCapability.obstacle(to: step, in: $0) }
      let named = obstacles.compactMap { $0 }
      if named.count == scenario.lanes.count, let first = named.first {
        check.fail(step.position, "no listed lane can do this step: \(first)")
      }
    }
    checkPlan()
  }
}

extension MeaningCheck {
  /// The fault plan has a parser of its own, whose places are those of the script.
  mutating func checkPlan() {
    guard let text = scenario.plan else { return }
    do {
      let plan = try CasePlan.plan(of: scenario, seed: scenario.seed)
      let obstacles = scenario.lanes.compactMap { CasePlan.obstacle(to: plan, in: $0) }
      if obstacles.count == scenario.lanes.count, let first = obstacles.first {
        check.fail(text.position, "no listed lane can express this fault plan: \(first)")
      }
    } catch let errors as ScriptErrors {
      for error in errors.errors {
        check.fail(error.position, error.message, length: error.length, hint: error.hint)
      }
    } catch {
      check.fail(text.position, "the fault plan cannot be read: \(error)")
    }
  }
}

/// Names of the gates a fault plan defines, found without knowing the rest of the plan.
enum PlanGates {
  static func names(in plan: PlanText?) -> [String] {
    // A plan that is not JSON was refused before; its own parser reports everything else.
    guard let plan, let value = try? JSONValue.parse(plan.bytes) else { return [] }
    var names: [String] = []
    collect(value, &names)
    return names
  }

  private static func collect(_ value: JSONValue, _ names: inout [String]) {
    switch value {
    case .array(let elements): for element in elements { collect(element, &names) }
    case .object(let object):
      if case .string("gate")? = object["type"], case .string(let name)? = object["name"] {
        names.append(name)
      }
      for member in object { collect(member.value, &names) }
    default: return
    }
  }
}
