import Foundation
import JSONText
import XCTest

@testable import Scenarios

final class DeviceProcessTests: XCTestCase {
  /// Collects what a device says, and lets a test wait for it.
  private final class Ear: Sendable {
    struct Heard {
      var messages: [JSONValue] = []
      var tornBytes: Int?
    }
    let heard = Guarded(Heard())

    func take(_ event: DeviceStreamEvent) {
      heard.withLock { heard in
        switch event {
        case .message(let message): heard.messages.append(message)
        case .idle(let idle): heard.messages.append(.object(idle.message))
        case .ended(let torn): heard.tornBytes = torn
        case .broken(let reason): heard.messages.append(["broken": .string(reason)])
        }
      }
    }

    func reply(_ number: Int64) -> JSONValue? {
      heard.wait(seconds: 60) { heard in heard.messages.first { $0["n"]?.int64Value == number } }
    }

    func idle(after number: Int64) -> DeviceIdle? {
      heard.wait(seconds: 60) { heard in
        heard.messages.compactMap { DeviceIdle($0) }.first { $0.after == number }
      }
    }

    func end() -> Int? { heard.wait(seconds: 60) { $0.tornBytes } }
  }

  private func setup(_ folder: String) -> DeviceSetup {
    var setup = DeviceSetup()
    setup.folder = folder + "/device"
    setup.endpoint = "http://127.0.0.1:9/v1/telemetry/batch"
    setup.network = .offline
    return setup
  }

  private func start(_ folder: String, _ ear: Ear) throws -> DeviceProcess {
    try DeviceProcess(
      executable: Fixture.executable, logFile: folder + "/device.log", withBridge: false
    ) { ear.take($0) }
  }

  private func open(_ process: DeviceProcess, _ setup: DeviceSetup, _ ear: Ear) throws {
    var message = setup.message
    message["n"] = 1
    try process.send(message)
    XCTAssertNotNil(ear.reply(1))
    XCTAssertNotNil(ear.idle(after: 1))
  }

  func testDevice_whenKilledAfterAReceipt_hasTheEventAtTheNextStart() throws {
    let folder = try Fixture.folder(self)
    let ear = Ear()
    let process = try start(folder, ear)
    try open(process, setup(folder), ear)
    try process.send([
      "n": 2, "do": "record", "events": [["type": "navigation", "payload": ["screen": "Orders"]]],
    ])
    let receipt = try XCTUnwrap(ear.reply(2)?["receipts"]?[0])
    XCTAssertEqual(receipt["receipt"], "durable")
    process.kill()
    XCTAssertNotNil(ear.end())
    XCTAssertEqual(process.reap(), .signalled(9))

    let secondEar = Ear()
    let second = try start(folder, secondEar)
    var again = setup(folder)
    again.incarnation = 2
    try open(second, again, secondEar)
    try second.send(["n": 2, "do": "status"])
    XCTAssertEqual(secondEar.reply(2)?["queued"], 1)
    second.kill()
    second.reap()
  }

  func testDevice_whenItsRunnerGoes_ends() throws {
    let folder = try Fixture.folder(self)
    let ear = Ear()
    let process = try start(folder, ear)
    try open(process, setup(folder), ear)
    // `reap` closes the request channel, which is all a device sees of its runner's death.
    XCTAssertEqual(process.reap(), .exited(0))
    XCTAssertEqual(ear.end(), 0)
  }

  func testDevices_whenManyLived_leaveNoDescriptorsBehind() throws {
    #if os(Linux)
      let folder = try Fixture.folder(self)
      func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      }
      var counts: [Int] = []
      for _ in 0..<5 {
        let ear = Ear()
        let process = try start(folder, ear)
        process.kill()
        XCTAssertNotNil(ear.end())
        process.reap()
        XCTAssert(process.awaitDrained(seconds: 60))
        counts.append(try descriptors())
      }
      XCTAssertEqual(counts.last, counts.first)
    #endif
  }

  func testSpawn_whenTheProgramIsMissing_saysWhich() throws {
    XCTAssertThrowsError(
      try DeviceProcess(
        executable: "/nowhere/workbench", logFile: "/dev/null", withBridge: false, onEvent: { _ in }
      )
    ) {
      XCTAssertEqual(
        "\($0)", "/nowhere/workbench: No such file or directory (posix_spawn, error 2)")
    }
  }

  func testLines_whenTorn_areKeptApart() {
    var splitter = LineSplitter()
    XCTAssertEqual(splitter.take(Array("{\"a\":1}\n{\"b".utf8)), [Array("{\"a\":1}".utf8)])
    XCTAssertEqual(splitter.tornBytes, 3)
    XCTAssertEqual(splitter.take(Array("\":2}\n".utf8)), [Array("{\"b\":2}".utf8)])
    XCTAssertEqual(splitter.tornBytes, 0)
  }

  func testClock_whenAdvanced_firesTimersAtTheirOwnTime() {
    let clock = ScriptedClock(nowNs: 0)
    let fired = Guarded<[Int64]>([])
    let start = clock.now()
    for ms: Int64 in [50, 10, 30] {
      _ = clock.schedule(at: start.adding(milliseconds: ms)) {
        fired.withLock { $0.append(clock.nowNs / 1_000_000) }
      }
    }
    let cancelled = clock.schedule(at: start.adding(milliseconds: 20)) {
      fired.withLock { $0.append(-1) }
    }
    cancelled.cancel()
    XCTAssertEqual(clock.nextDueNs, 10_000_000)
    clock.advance(toNs: 40_000_000) {}
    XCTAssertEqual(fired.withLock { $0 }, [10, 30])
    XCTAssertEqual(clock.nowNs, 40_000_000)
  }

  func testRandom_whenRestarted_repeatsNoDraw() {
    let first = ScriptedRandom(seed: 1, incarnation: 1)
    let again = ScriptedRandom(seed: 1, incarnation: 1)
    let second = ScriptedRandom(seed: 1, incarnation: 2)
    let draws = (0..<100).map { _ in first.next(purpose: "jitter") }
    XCTAssertEqual(draws, (0..<100).map { _ in again.next(purpose: "jitter") })
    let others =
      (0..<100).map { _ in second.next(purpose: "jitter") }
      + (0..<100).map { _ in first.next(purpose: "id") }
    XCTAssertEqual(Set(draws + others).count, 300)
    XCTAssertEqual(second.first(100, purpose: "jitter"), Array(others.prefix(100)))
  }
}
