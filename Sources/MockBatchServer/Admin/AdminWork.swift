import Dispatch
import JSONText

/// Whether somebody still waits for what a call is doing.
final class AdminWork: Sendable {
  private let isOff = Guarded(false)

  func cancel() { isOff.access { $0 = true } }

  /// Called between entries.
  ///
  /// - Throws: `AdminProblem`, which nobody reads.
  func goOn() throws {
    if isOff.access({ $0 }) { throw AdminProblem(503, "the client went away") }
  }
}

/// Does what takes long beside the thread that serves the connections, one call at a time.
struct AdminQueue: Sendable {
  private let queue = DispatchQueue(label: "mock-batch-server.admin")

  func later(
    _ work: AdminWork, _ body: @escaping @Sendable () -> HTTPResponse
  ) -> AdminResult {
    let park = Park(reason: "admin", isWork: true)
    let response = Guarded<HTTPResponse?>(nil)
    queue.async {
      let made = body()
      response.access { $0 = made }
      park.release()
    }
    return .later(
      park: park, cancel: { work.cancel() },
      answer: { response.access { $0 } ?? AdminProblem(503, "nothing was made").response })
  }
}

/// A list that is answered in parts: it ends at a number of bytes, however many more the caller
/// would take.
struct AdminPage {
  /// Bytes of a part; a single item may be longer.
  static let maxBytes = 4_000_000

  private let name: String
  private let maxBytes: Int
  private var items: [UInt8] = []
  private(set) var count = 0

  /// - Parameters:
  ///   - name: the list's key in the answer.
  ///   - maxBytes: where the part ends.
  init(_ name: String, maxBytes: Int) {
    self.name = name
    self.maxBytes = maxBytes
  }

  /// False when the item has no room any more.
  mutating func add(_ value: JSONValue) -> Bool {
    var item = JSONWriter.bytes(value)
    guard count == 0 || items.count + item.count < maxBytes else { return false }
    if count > 0 { item.insert(UInt8(ascii: ","), at: 0) }
    items += item
    count += 1
    return true
  }

  /// The answer.
  ///
  /// - Parameters:
  ///   - next: the `offset` that the next part begins at; nil when this is the last.
  ///   - members: what stands beside the list.
  func result(next: Int?, _ members: JSONObject = [:]) -> AdminResult {
    var members = members
    members["next"] = next.map(JSONValue.number) ?? .null
    var body = Array("{\"\(name)\":[".utf8) + items + Array("],".utf8)
    body += JSONWriter.bytes(.object(members)).dropFirst()
    return .response(
      HTTPResponse(status: 200, headers: ["Content-Type": "application/json"], body: body))
  }
}
