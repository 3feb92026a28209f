/// One call to the admin.
///
/// Guard: its performer calls one method at a time.
final class AdminExchange: Exchange, @unchecked Sendable {
  let id = 0
  private let handler: AdminHandler
  private var request: HTTPRequest
  private var state = State.reading

  private enum State {
    case reading
    case ready(AdminResult)
    case waiting(cancel: @Sendable () -> Void, answer: @Sendable () -> HTTPResponse)
    case streaming(EventFeed)
    case done
  }

  init(handler: AdminHandler, head: HTTPRequest) {
    self.handler = handler
    request = head
  }

  func next() -> ExchangeStep {
    switch state {
    case .reading: return .readBody(limit: AdminCall.maxBody)
    case .ready(let result): return begin(result)
    case .waiting(_, let answer):
      state = .done
      return .send(dated(answer()))
    case .streaming(let feed):
      guard let bytes = feed.take() else {
        feed.close()
        handler.leave(feed)
        state = .done
        return .endBody
      }
      return bytes.isEmpty ? .park(feed.park()) : .sendBody(bytes)
    case .done: return .finish(.keepAlive)
    }
  }

  private func begin(_ result: AdminResult) -> ExchangeStep {
    switch result {
    case .response(let response):
      state = .done
      return .send(dated(response))
    case .later(let park, let cancel, let answer):
      state = .waiting(cancel: cancel, answer: answer)
      return .park(park)
    case .events(let feed):
      guard request.method != "HEAD" else {
        feed.close()
        handler.leave(feed)
        state = .done
        return .send(dated(HTTPResponse(status: 200, headers: EventFeed.headers)))
      }
      state = .streaming(feed)
      let head = dated(HTTPResponse(status: 200, headers: EventFeed.headers))
      return .sendHead(head, request.minorVersion > 0 ? .chunked : .untilClose)
    }
  }

  func supply(_ body: SuppliedBody) {
    switch body {
    case .complete(let bytes, let trailers):
      request.body = bytes
      request.trailers = trailers
      state = .ready(handler.respond(to: request))
    case .tooLarge:
      state = .ready(.response(AdminProblem(413, "the body is too large").response))
    }
  }

  func ended(bytesSent: Int, _ ending: ExchangeEnding) {
    switch state {
    case .ready(.later(_, let cancel, _)), .waiting(let cancel, _): cancel()
    case .ready(.events(let feed)), .streaming(let feed):
      feed.close()
      handler.leave(feed)
    default: break
    }
    state = .done
  }

  private func dated(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    let wallMs = handler.engine.clock.wallMs
    response.headers.set("Date", handler.engine.dates.text(wallMs: wallMs))
    // Answers tell of a state that changes.
    if !response.headers.contains("cache-control") {
      response.headers.add("Cache-Control", "no-store")
    }
    return response
  }
}
