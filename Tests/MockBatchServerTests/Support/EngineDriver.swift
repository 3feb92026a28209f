import JSONText

@testable import MockBatchServer

/// Performs exchanges of an engine in a test, on a manual clock: what would go on the wire is
/// written down with its time.
final class EngineDriver {
  /// One thing that a performer would have done.
  enum Act: Equatable {
    case head(Int, length: Int?)
    case body([UInt8])
    case raw(Int)
    case close
    case reset
    case halfClose
    case stall
    case keepAlive
  }
  struct Sent: Equatable {
    var atNs: Int64
    var act: Act
  }

  let clock: ManualEngineClock
  let engine: BatchEngine
  private let events = Guarded<[EngineEvent]>([])
  private var connection = 0

  init(_ plan: String = "{\"version\":1}", ledger: Ledger = Ledger()) throws {
    let clock = ManualEngineClock()
    self.clock = clock
    let events = events
    engine = BatchEngine(plan: try FaultPlan(plan), ledger: ledger, clock: clock) { event in
      events.access { $0.append(event) }
    }
  }

  /// Drives an engine that exists; its events are not written down.
  init(_ engine: BatchEngine, _ clock: ManualEngineClock) {
    self.engine = engine
    self.clock = clock
  }

  var kinds: [EngineEvent.Kind] { events.access { $0.map(\.kind) } }

  /// Starts a request on a connection of its own.
  func start(_ request: HTTPRequest) -> Running {
    connection += 1
    engine.connectionOpened(connection, peer: "test")
    return start(request, connection: connection)
  }

  /// Starts a request on a connection that is open.
  func start(_ request: HTTPRequest, connection: Int, index: Int = 0) -> Running {
    var head = request
    head.body = []
    let context = RequestContext(connection: connection, indexOnConnection: index)
    let exchange = engine.begin(head, context: context)
    return Running(exchange: exchange, request: request, clock: clock)
  }

  /// Sends a request and moves the clock until it is answered.
  @discardableResult
  func send(_ request: HTTPRequest = RequestBuilder.make()) -> Running {
    let running = start(request)
    running.run()
    var guardCount = 0
    while !running.isOver, let due = clock.nextDueNs, guardCount < 10_000 {
      clock.advance(toNs: due)
      running.run()
      guardCount += 1
    }
    return running
  }
}

/// A request on its way.
final class Running {
  let exchange: any Exchange
  let request: HTTPRequest
  private let clock: ManualEngineClock
  private(set) var sent: [EngineDriver.Sent] = []
  private(set) var response = HTTPResponse(status: 0)
  private(set) var isOver = false
  /// What the performer was told about reading.
  private(set) var limits: StreamLimits?
  private(set) var parked: Park?

  init(exchange: any Exchange, request: HTTPRequest, clock: ManualEngineClock) {
    self.exchange = exchange
    self.request = request
    self.clock = clock
  }

  var status: Int { response.status }
  var text: String { String(decoding: response.body, as: UTF8.self) }
  var json: JSONValue { (try? JSONValue.parse(response.body)) ?? .null }
  var acts: [EngineDriver.Act] { sent.map(\.act) }
  var problem: String? {
    json.objectValue?["type"]?.stringValue.map { String($0.dropFirst(22)) }
  }

  /// Goes on until the exchange parks or ends.
  func run() {
    while !isOver, parked?.isReady ?? true {
      parked = nil
      take(exchange.next())
    }
  }

  private func take(_ step: ExchangeStep) {
    switch step {
    case .readBody(let limit):
      exchange.supply(
        request.body.count > limit ? .tooLarge : .complete(request.body, trailers: HTTPHeaders()))
    case .limitReading(let wanted): limits = wanted
    case .park(let park): parked = park
    case .send(let answer):
      response = answer
      note(.head(answer.status, length: answer.body.count))
      if !answer.body.isEmpty { note(.body(answer.body)) }
    case .sendHead(let answer, let framing):
      response = answer
      response.body = []
      if case .length(let count) = framing {
        note(.head(answer.status, length: count))
      } else {
        note(.head(answer.status, length: nil))
      }
    case .sendBody(let bytes):
      response.body += bytes
      note(.body(bytes))
    case .sendRaw(let bytes): note(.raw(bytes.count))
    case .endBody: break
    case .finish(let finish): end(finish)
    }
  }

  private func end(_ finish: ExchangeFinish) {
    switch finish {
    case .keepAlive: note(.keepAlive)
    case .close: note(.close)
    case .reset: note(.reset)
    case .halfClose: note(.halfClose)
    case .stall: note(.stall)
    }
    isOver = true
    exchange.ended(bytesSent: response.body.count, .completed)
  }

  private func note(_ act: EngineDriver.Act) {
    sent.append(EngineDriver.Sent(atNs: clock.nowNs, act: act))
  }
}
