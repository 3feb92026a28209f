import TelemetrySDK

/// Many delivery engines under one outage: does the server see a stampede when it comes back?
///
/// Real engines with their own delays, a virtual clock, no store and no sockets: each device has
/// some events, tries as its engine says, and is done when they are acknowledged. During the
/// outage half of the fleet finds the server refusing connections, the other half gets 503.
package enum FleetSimulation {
  /// What came of it.
  package struct Report: Sendable, Equatable {
    package var engines: Int
    /// Requests in each second from the recovery on.
    package var arrivals: [Int]
    /// Requests in each second of the last minute before the recovery.
    package var arrivalsBefore: [Int]
    /// Devices that were not done after the time that was simulated.
    package var undelivered: Int
    /// When the last device was done, seconds after the recovery.
    package var lastDeliverySecond: Int
    package var requests: Int

    /// Most requests in one second of the first minute.
    package var peak: Int { arrivals.prefix(60).max() ?? 0 }
    /// The peak as a share of the fleet.
    package var peakShare: Double { Double(peak) / Double(max(1, engines)) }
  }

  /// - Parameters:
  ///   - outageSeconds: How long the server is away before it comes back.
  ///   - afterSeconds: How long is simulated after that.
  package static func run(
    engines: Int, outageSeconds: Int = 6 * 3_600, afterSeconds: Int = 900, seed: UInt64
  ) -> Report {
    var fleet = Fleet(engines: engines, outageSeconds: outageSeconds, seed: seed)
    fleet.run(untilSecond: outageSeconds + afterSeconds)
    return fleet.report(outageSeconds: outageSeconds, afterSeconds: afterSeconds)
  }
}

/// The devices, the server and the events that are due.
private struct Fleet {
  private struct Due {
    let at: Moment
    let number: UInt64
    let device: Int
    let input: DeliveryInput
    /// Timers are dropped when the engine has set or cancelled them meanwhile.
    let timer: DeliveryTimer?
    let generation: UInt64
  }

  private var devices: [Device]
  private var queue: Heap<Due>
  private var random: SeededDraws
  private var number: UInt64 = 0
  private let recovery: Moment
  private var sends: [Int: Int] = [:]
  private var requests = 0
  private var lastDelivery = 0

  private struct Device {
    var engine: DeliveryEngine
    var timers: [DeliveryTimer: UInt64] = [:]
    var rows: [RowReference]
    /// The batch under way was acknowledged.
    var isAcknowledged = false
    let refuses: Bool
  }

  init(engines: Int, outageSeconds: Int, seed: UInt64) {
    random = SeededDraws(seed: seed)
    recovery = Moment(nanoseconds: Int64(outageSeconds) * 1_000_000_000)
    queue = Heap { ($0.at, $0.number) < ($1.at, $1.number) }
    let configuration = TelemetryConfiguration(
      endpoint: "https://fleet.invalid/v1/telemetry/batch", directory: "/none")
    let policy = DeliveryPolicy(configuration)
    devices = []
    for index in 0..<engines {
      let rows = (1...Int64(1 + random.next() % 20)).map {
        RowReference(
          sequence: $0, id: EventID(bytes: SIMD16(repeating: UInt8(truncatingIfNeeded: $0))))
      }
      devices.append(
        Device(
          engine: DeliveryEngine(
            policy: policy, bootID: "boot", random: SeededDraws.Source(seed: random.next())),
          rows: rows, refuses: index % 2 == 0))
      // The workers open their apps within the first ten minutes.
      let start = Moment(nanoseconds: Int64(random.next() % 600_000) * 1_000_000)
      post(.storeOpened(gate: nil, queued: rows.count), to: index, at: start)
    }
  }

  private mutating func post(
    _ input: DeliveryInput, to device: Int, at moment: Moment, timer: DeliveryTimer? = nil,
    generation: UInt64 = 0
  ) {
    number += 1
    queue.push(
      Due(
        at: moment, number: number, device: device, input: input, timer: timer,
        generation: generation))
  }

  mutating func run(untilSecond end: Int) {
    let end = Moment(nanoseconds: Int64(end) * 1_000_000_000)
    while let due = queue.pop(), due.at <= end {
      if let timer = due.timer {
        guard devices[due.device].timers[timer] == due.generation else { continue }
        devices[due.device].timers[timer] = nil
      }
      let effects = devices[due.device].engine.handle(due.input, now: due.at)
      for effect in effects { perform(effect, of: due.device, at: due.at) }
    }
  }

  private mutating func perform(_ effect: DeliveryEffect, of index: Int, at now: Moment) {
    switch effect {
    case .askToken(let generation):
      let token = AccessToken(value: "T", account: "")
      post(.tokenAnswered(generation: generation, token), to: index, at: now)
    case .prepare(let generation, _, _):
      post(.prepared(generation: generation, preparation(of: index)), to: index, at: now)
    case .send(let generation, _, _): answer(generation, index, now)
    case .settle(let generation, _, _):
      if devices[index].isAcknowledged {
        devices[index].rows = []
        lastDelivery = max(lastDelivery, second(now))
      }
      post(.settled(generation: generation, complete: true), to: index, at: now)
    case .setTimer(let timer, let at, let generation):
      devices[index].timers[timer] = generation
      post(
        .timerFired(timer, generation: generation), to: index, at: max(at, now), timer: timer,
        generation: generation)
    case .cancelTimer(let timer): devices[index].timers[timer] = nil
    case .upkeep: post(.upkeepDone(more: false), to: index, at: now)
    default: break
    }
  }

  private func preparation(of index: Int) -> Preparation {
    let rows = devices[index].rows
    guard !rows.isEmpty else { return .nothing(others: false) }
    return .batch(
      BatchSummary(
        account: "", rows: rows, jsonBytes: rows.count * 300, wireBytes: rows.count * 60,
        hasMore: false))
  }

  /// The server takes a while; during the outage it says no in one of two ways.
  private mutating func answer(_ generation: UInt64, _ index: Int, _ now: Moment) {
    sends[second(now), default: 0] += 1
    requests += 1
    let outcome: UploadOutcome
    if now >= recovery {
      devices[index].isAcknowledged = true
      outcome = .answered(AnswerFacts(status: 200))
    } else if devices[index].refuses {
      outcome = .failed(code: -1004, lostReusedConnection: false)
    } else {
      outcome = .answered(AnswerFacts(status: 503))
    }
    let takesMs = Int64(50 + random.next() % 250)
    post(
      .uploadEnded(generation: generation, outcome), to: index,
      at: now.adding(milliseconds: takesMs))
  }

  private func second(_ moment: Moment) -> Int { Int(moment.nanoseconds / 1_000_000_000) }

  func report(outageSeconds: Int, afterSeconds: Int) -> FleetSimulation.Report {
    FleetSimulation.Report(
      engines: devices.count,
      arrivals: (0..<afterSeconds).map { sends[outageSeconds + $0] ?? 0 },
      arrivalsBefore: (max(0, outageSeconds - 60)..<outageSeconds).map { sends[$0] ?? 0 },
      undelivered: devices.filter { !$0.rows.isEmpty }.count,
      lastDeliverySecond: lastDelivery - outageSeconds, requests: requests)
  }
}
