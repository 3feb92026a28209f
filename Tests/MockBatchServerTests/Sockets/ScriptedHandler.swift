import Foundation

@testable import MockBatchServer

/// Answers each request with the steps a test gives, and keeps what the performer reported.
final class ScriptedHandler: ExchangeHandler {
  struct Log {
    var requests: [HTTPRequest] = []
    var bodies: [SuppliedBody] = []
    var endings: [(bytesSent: Int, ending: ExchangeEnding)] = []
    var refusals: [(status: Int, reason: String)] = []
    var opened = 0
    var closed = 0
  }

  let log = Guarded(Log())
  let changed = DispatchSemaphore(value: 0)
  private let answer: @Sendable (HTTPRequest, SuppliedBody?) -> [ExchangeStep]
  let readsBody: Bool
  let limits: StreamLimits?

  /// - Parameter answer: the steps behind the body.
  init(
    readsBody: Bool = true, limits: StreamLimits? = nil,
    answer: @escaping @Sendable (HTTPRequest, SuppliedBody?) -> [ExchangeStep]
  ) {
    self.readsBody = readsBody
    self.limits = limits
    self.answer = answer
  }

  /// Answers 200 with the body it got.
  static func echo(readsBody: Bool = true) -> ScriptedHandler {
    ScriptedHandler(readsBody: readsBody) { _, body in
      guard case .complete(let bytes, _)? = body else {
        return [.send(HTTPResponse(status: body == nil ? 200 : 413)), .finish(.keepAlive)]
      }
      return [.send(HTTPResponse(status: 200, body: bytes)), .finish(.keepAlive)]
    }
  }

  func connectionOpened(_ connection: Int, peer: String) {
    log.access { $0.opened += 1 }
    changed.signal()
  }

  func connectionClosed(_ connection: Int) {
    log.access { $0.closed += 1 }
    changed.signal()
  }

  func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange {
    log.access { $0.requests.append(head) }
    return ScriptedExchange(handler: self, head: head)
  }

  func refused(_ bytes: [UInt8], status: Int, reason: String, context: RequestContext) {
    log.access { $0.refusals.append((status, reason)) }
    changed.signal()
  }

  func cut(_ bytes: [UInt8], reason: String, context: RequestContext) {}

  func steps(_ head: HTTPRequest, _ body: SuppliedBody?) -> [ExchangeStep] { answer(head, body) }

  /// Waits until a body has come in.
  func waitForBody(count: Int = 1) -> Bool { wait { $0.bodies.count >= count } }

  /// Waits until the log satisfies `condition`; false when the guard expires.
  func wait(until condition: (Log) -> Bool) -> Bool {
    while !log.access({ condition($0) }) {
      if changed.wait(timeout: .now() + 60) == .timedOut { return false }
    }
    return true
  }
}

private final class ScriptedExchange: Exchange {
  let id = 1
  private let handler: ScriptedHandler
  private let head: HTTPRequest
  private let steps: Guarded<[ExchangeStep]>

  init(handler: ScriptedHandler, head: HTTPRequest) {
    self.handler = handler
    self.head = head
    let limits = handler.limits.map { [ExchangeStep.limitReading($0)] } ?? []
    steps = Guarded(
      limits + (handler.readsBody ? [.readBody(limit: 1_000_000)] : handler.steps(head, nil)))
  }

  func next() -> ExchangeStep {
    steps.access { $0.isEmpty ? .finish(.close) : $0.removeFirst() }
  }

  func supply(_ body: SuppliedBody) {
    handler.log.access { $0.bodies.append(body) }
    handler.changed.signal()
    let following = handler.steps(head, body)
    steps.access { $0 = following }
  }

  func ended(bytesSent: Int, _ ending: ExchangeEnding) {
    handler.log.access { $0.endings.append((bytesSent, ending)) }
    handler.changed.signal()
  }
}
