import JSONText
import MockBatchServer

/// What an onlooker between performer and engine sees of one request.
struct RequestSighting: Sendable {
  /// The exchange's number in the journal; 0 at the portal.
  var request: Int
  /// `<incarnation>.<number>`, as the device named it; empty for other clients.
  var name: String
  var kind: Kind

  enum Kind: Sendable {
    case arrived(HTTPRequest, RequestContext)
    case body([UInt8])
    case answered(HTTPResponse)
    case ended(ExchangeEnding, how: String)
  }
}

/// Stands between a performer and the engine: keeps the board, tells what passes, and answers in
/// the engine's place while a captive portal is up.
///
/// Thread safe.
final class ObservedHandler: ExchangeHandler {
  enum Portal: Sendable { case page, redirect }

  private let inner: any ExchangeHandler
  private let board: RequestBoard
  private let portal = Guarded<Portal?>(nil)
  private let onSighting: @Sendable (RequestSighting) -> Void

  init(
    _ inner: any ExchangeHandler, board: RequestBoard,
    onSighting: @escaping @Sendable (RequestSighting) -> Void
  ) {
    self.inner = inner
    self.board = board
    self.onSighting = onSighting
  }

  func setPortal(_ portal: Portal?) { self.portal.withLock { $0 = portal } }

  func connectionOpened(_ connection: Int, peer: String) {
    inner.connectionOpened(connection, peer: peer)
  }
  func connectionClosed(_ connection: Int) { inner.connectionClosed(connection) }
  func refused(_ bytes: [UInt8], status: Int, reason: String, context: RequestContext) {
    inner.refused(bytes, status: status, reason: reason, context: context)
  }
  func cut(_ bytes: [UInt8], reason: String, context: RequestContext) {
    inner.cut(bytes, reason: reason, context: context)
  }

  func begin(_ head: HTTPRequest, context: RequestContext) -> any Exchange {
    let name = head.headers[DeviceMessage.requestHeader] ?? ""
    let exchange: any Exchange
    switch portal.withLock({ $0 }) {
    case nil: exchange = inner.begin(head, context: context)
    case .page: exchange = PortalExchange(.page)
    case .redirect: exchange = PortalExchange(.redirect)
    }
    let request = exchange.id
    let onSighting = self.onSighting
    onSighting(RequestSighting(request: request, name: name, kind: .arrived(head, context)))
    return ObservedExchange(exchange, name: name, board: board) {
      onSighting(RequestSighting(request: request, name: name, kind: $0))
    }
  }
}

private final class ObservedExchange: Exchange {
  private let inner: any Exchange
  private let name: String
  private let board: RequestBoard
  private let tell: @Sendable (RequestSighting.Kind) -> Void
  private let finish = Guarded("")

  init(
    _ inner: any Exchange, name: String, board: RequestBoard,
    tell: @escaping @Sendable (RequestSighting.Kind) -> Void
  ) {
    self.inner = inner
    self.name = name
    self.board = board
    self.tell = tell
  }

  var id: Int { inner.id }

  func next() -> ExchangeStep {
    var step = inner.next()
    switch step {
    case .limitReading(var limits):
      // A pause between two reads is nobody's park, so scenario time would stand still. The engine
      // makes the time up once the body has come.
      limits.bytesPerSecond = nil
      step = .limitReading(limits)
    case .send(let response), .sendHead(let response, _): tell(.answered(response))
    case .finish(let finish): self.finish.withLock { $0 = ObservedExchange.name(finish) }
    default: break
    }
    board.step(name, step)
    return step
  }

  func supply(_ body: SuppliedBody) {
    if case .complete(let bytes, _) = body { tell(.body(bytes)) }
    inner.supply(body)
  }

  func ended(bytesSent: Int, _ ending: ExchangeEnding) {
    inner.ended(bytesSent: bytesSent, ending)
    tell(.ended(ending, how: finish.withLock { $0 }))
    board.ended(name)
  }

  private static func name(_ finish: ExchangeFinish) -> String {
    switch finish {
    case .keepAlive: return "keepAlive"
    case .close: return "close"
    case .reset: return "reset"
    case .halfClose: return "halfClose"
    case .stall: return "stall"
    }
  }
}

/// A hotel's network that answers everything itself.
private final class PortalExchange: Exchange {
  private enum Stage { case start, bodyRead, sent }
  private let portal: ObservedHandler.Portal
  private let stage = Guarded(Stage.start)
  /// The engine's journal does not know of it.
  let id = 0

  init(_ portal: ObservedHandler.Portal) { self.portal = portal }

  func next() -> ExchangeStep {
    stage.withLock { stage in
      switch stage {
      case .start:
        stage = .bodyRead
        return .readBody(limit: 10_000_000)
      case .bodyRead:
        stage = .sent
        return .send(answer)
      case .sent: return .finish(.close)
      }
    }
  }

  private var answer: HTTPResponse {
    var headers = HTTPHeaders()
    headers.add("Content-Type", "text/html; charset=utf-8")
    if case .redirect = portal { headers.add("Location", "http://login.hotel.example/") }
    let page = "<html><body>Please accept the terms of use.</body></html>"
    return HTTPResponse(
      status: portal == .page ? 200 : 302, headers: headers, body: Array(page.utf8))
  }

  func supply(_ body: SuppliedBody) {}
  func ended(bytesSent: Int, _ ending: ExchangeEnding) {}
}
