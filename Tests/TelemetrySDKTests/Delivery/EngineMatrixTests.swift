import Foundation
import XCTest

@testable import TelemetrySDK

/// Every input in every state: none traps, none breaks a law, and none is left out.
final class EngineMatrixTests: XCTestCase {
  /// Where an engine can rest between two inputs.
  enum Row: String, CaseIterable {
    case preparing, sending, sendingAhead, sendingReady, settling
    case empty, disabled, storage, suspended, serverGate, refusals, backoff, offline, asking
    case noToken, shutDown
  }

  /// What can come in; the compiler keeps the list complete.
  enum Column: String, CaseIterable {
    case foreground, background, pathLost, pathFound, lowPower, consent, noConsent, tokenChanged
    case flush, task, taskExpiring, purged, shutDown, storeOpened, storeBlocked, recorded, requeued
    case writesBlocked, writesRecovered, upkeepDone, timer, prepared, settled, tokenAnswered
    case uploadEnded, assertionExpiring, assertionRefused

    init(_ input: DeliveryInput) {
      switch input {
      case .foreground: self = .foreground
      case .background: self = .background
      case .pathChanged(let path): self = path.satisfied ? .pathFound : .pathLost
      case .lowPowerChanged: self = .lowPower
      case .consent(let given): self = given ? .consent : .noConsent
      case .tokenChanged: self = .tokenChanged
      case .flushAsked: self = .flush
      case .taskGranted: self = .task
      case .taskExpiring: self = .taskExpiring
      case .purged: self = .purged
      case .shutDown: self = .shutDown
      case .storeOpened: self = .storeOpened
      case .storeBlocked: self = .storeBlocked
      case .recorded: self = .recorded
      case .requeued: self = .requeued
      case .writesBlocked: self = .writesBlocked
      case .writesRecovered: self = .writesRecovered
      case .upkeepDone: self = .upkeepDone
      case .timerFired: self = .timer
      case .prepared: self = .prepared
      case .settled: self = .settled
      case .tokenAnswered: self = .tokenAnswered
      case .uploadEnded: self = .uploadEnded
      case .assertionExpiring: self = .assertionExpiring
      case .assertionRefused: self = .assertionRefused
      }
    }
  }

  private func row(of world: EngineWorld) -> Row {
    let engine = world.engine
    if engine.isShutDown { return .shutDown }
    switch engine.flight {
    case .preparing: return .preparing
    case .ready: return .preparing
    case .settling: return .settling
    case .sending:
      switch engine.ahead {
      case .none: return .sending
      case .preparing: return .sendingAhead
      case .ready: return .sendingReady
      }
    case .idle: break
    }
    switch engine.blocker(now: world.now) {
    case nil: return .empty
    case .disabled: return .disabled
    case .storage: return .storage
    case .suspended: return .suspended
    case .serverGate: return .serverGate
    case .refusals: return .refusals
    case .backoff: return .backoff
    case .offline: return .offline
    case .asking: return .asking
    case .token: return .noToken
    }
  }

  /// A world in each state, reached by inputs alone.
  private func world(in row: Row) -> EngineWorld {
    var world = EngineWorld(seed: 1) { $0.batchMaxEvents = 10 }
    if row == .storage {
      world.open(blocked: true)
      return world
    }
    world.open()
    world.record(30, account: "", bytes: 100)
    if row == .asking { return world }
    world.answerToken(row == .noToken ? nil : "T")
    switch row {
    case .preparing, .noToken: break
    case .sending, .sendingAhead, .sendingReady, .settling, .serverGate, .backoff:
      world.prepareNext()
      finish(&world, row)
    case .empty: drain(&world)
    case .disabled: consent(&world, false)
    case .suspended:
      drain(&world)
      world.isForeground = false
      world.input(.background)
    case .refusals:
      for _ in 0..<3 {
        world.prepareNext()
        world.answer(status: 400)
        world.settleNext()
        world.prepareNext()
      }
    case .offline:
      world.prepareNext()
      world.answer(.failed(code: -1009, lostReusedConnection: false))
      world.path = NetworkPath(satisfied: false)
      world.input(.pathChanged(world.path))
      world.advance(ms: 10_000)
      world.prepareNext()
      world.answer(.failed(code: -1009, lostReusedConnection: false))
      world.advance(ms: 10_000)
    case .shutDown:
      world.isShutDown = true
      world.input(.shutDown)
    case .asking, .storage: break
    }
    return world
  }

  private func finish(_ world: inout EngineWorld, _ row: Row) {
    switch row {
    case .sending: world.prepareNext(blocked: true)
    case .sendingReady: world.prepareNext()
    case .settling: world.answer(status: 200)
    case .serverGate: world.answer(status: 503, retryAfter: "100")
    case .backoff: world.answer(status: 500)
    default: break
    }
  }

  private func drain(_ world: inout EngineWorld) {
    while world.hasOutstanding {
      world.prepareNext()
      world.answer(status: 200)
      world.settleNext()
      world.finishUpkeep()
    }
  }

  private func consent(_ world: inout EngineWorld, _ given: Bool) {
    world.hasConsent = given
    world.input(.consent(given))
  }

  /// The column's inputs, both as an answer that is waited for and as one that comes too late.
  private func apply(_ column: Column, to world: inout EngineWorld) {
    let late: UInt64 = 1_000_000
    switch column {
    case .foreground:
      world.isForeground = true
      world.input(.foreground)
    case .background:
      world.isForeground = false
      world.input(.background)
    case .pathLost, .pathFound:
      world.path = NetworkPath(satisfied: column == .pathFound)
      world.input(.pathChanged(world.path))
    case .lowPower: world.input(.lowPowerChanged(true))
    case .consent: consent(&world, true)
    case .noConsent: consent(&world, false)
    case .tokenChanged: world.input(.tokenChanged)
    case .flush: world.flush(timeoutMs: 60_000)
    case .task: world.grantTask(seconds: 30)
    case .taskExpiring: world.input(.taskExpiring(id: 99))
    case .purged: world.purge()
    case .shutDown:
      world.isShutDown = true
      world.input(.shutDown)
    case .storeOpened: world.open()
    case .storeBlocked: world.input(.storeBlocked)
    case .recorded: world.record(1, account: "", bytes: 100)
    case .requeued: world.requeue()
    case .writesBlocked: world.input(.writesBlocked(.notOpen))
    case .writesRecovered: world.input(.writesRecovered)
    case .upkeepDone: world.input(.upkeepDone(more: false))
    case .timer:
      for timer in DeliveryTimer.allCases {
        world.input(.timerFired(timer, generation: late))
        if let state = world.timers[timer] {
          world.now = max(world.now, state.at)
          world.fire(timer)
        }
      }
    case .prepared:
      world.prepareNext()
      world.input(.prepared(generation: late, .nothing(others: false)))
    case .settled:
      world.settleNext()
      world.input(.settled(generation: late, complete: true))
    case .tokenAnswered:
      world.answerToken("T9")
      world.input(.tokenAnswered(generation: late, nil))
    case .uploadEnded:
      world.answer(status: 503)
      world.input(.uploadEnded(generation: late, .failed(code: -1, lostReusedConnection: true)))
    case .assertionExpiring: world.input(.assertionExpiring(generation: world.assertion ?? late))
    case .assertionRefused:
      let generation = world.assertion ?? late
      world.assertion = nil
      world.input(.assertionRefused(generation: generation))
    }
  }

  func testEngine_whenAnyInputComesInAnyState_keepsTheLaws() {
    var cells: [Row: Set<Column>] = [:]
    var lines: [String] = []
    for row in Row.allCases {
      let start = world(in: row)
      XCTAssertEqual(self.row(of: start), row, "the way into the state leads elsewhere")
      XCTAssertEqual(start.laws.broken, [], row.rawValue)
      var line = row.rawValue.padding(toLength: 14, withPad: " ", startingAt: 0)
      for column in Column.allCases {
        var world = start
        let before = world.trace.count
        apply(column, to: &world)
        let seen = world.trace.dropFirst(before)
        if let input = seen.compactMap(\.input).first {
          cells[row, default: []].insert(Column(input))
        }
        XCTAssertEqual(
          world.laws.broken, [],
          "\(row) × \(column)\n" + seen.map(\.description).joined(separator: "\n"))
        let next = self.row(of: world)
        line += (next == row ? "·" : next.rawValue).padding(
          toLength: 11, withPad: " ", startingAt: 0)
      }
      lines.append(line)
    }
    let head =
      "".padding(toLength: 14, withPad: " ", startingAt: 0)
      + Column.allCases.map {
        $0.rawValue.prefix(10).padding(toLength: 11, withPad: " ", startingAt: 0)
      }
      .joined()
    print("state after each input (· stays):\n" + ([head] + lines).joined(separator: "\n"))
    for row in Row.allCases {
      let missing = Set(Column.allCases).subtracting(cells[row] ?? [])
      XCTAssert(missing.isEmpty, "a hole: \(row) × \(missing.map(\.rawValue).sorted())")
    }
  }
}
