/// The `Date` header and the usual answer's fields, made once a second.
final class DateCache: Sendable {
  private struct State {
    var second = Int64.min
    var text = ""
    var json = HTTPHeaders()
  }
  private let state = Guarded(State())

  /// The date of this moment.
  func text(wallMs: Int64) -> String {
    state.access { state in
      DateCache.refresh(&state, wallMs)
      return state.text
    }
  }

  /// `Content-Type: application/json` and the date of this moment.
  func jsonHeaders(wallMs: Int64) -> HTTPHeaders {
    state.access { state in
      DateCache.refresh(&state, wallMs)
      return state.json
    }
  }

  private static func refresh(_ state: inout State, _ wallMs: Int64) {
    let second = wallMs >= 0 ? wallMs / 1000 : 0
    guard second != state.second else { return }
    state.second = second
    state.text = HTTPDate.text(seconds: second)
    state.json = ["Content-Type": "application/json", "Date": state.text]
  }
}
