import JSONText

@testable import MockBatchServer

/// Makes events and batches.
enum EventBuilder {
  static func id(_ number: Int) -> String {
    EventKey(high: 0x1111_2222_3333_4444, low: UInt64(number)).text
  }

  static func make(
    _ number: Int = 1, type: String = "navigation", payload: String = "{\"screen\":\"Orders\"}"
  ) -> String {
    """
    {"id":"\(id(number))","ts":"2026-05-04T09:15:02.114Z","type":"\(type)",\
    "payload":\(payload),"sessionId":"s1"}
    """
  }

  static func batch(_ events: [String]) -> String {
    "{\"events\":[\(events.joined(separator: ","))]}"
  }

  static func batch(_ numbers: some Sequence<Int>) -> String { batch(numbers.map { make($0) }) }
}

enum RequestBuilder {
  /// A request that follows the contract, unless told otherwise.
  static func make(
    _ text: String = EventBuilder.batch([1]), body: [UInt8]? = nil, method: String = "POST",
    target: String = "/v1/telemetry/batch", token: String? = "T1", encoding: String? = "gzip",
    type: String? = "application/json", headers extra: [(String, String)] = []
  ) -> HTTPRequest {
    var headers = HTTPHeaders([("Host", "127.0.0.1")])
    if let token { headers.add("Authorization", "Bearer " + token) }
    if let type { headers.add("Content-Type", type) }
    if let encoding { headers.add("Content-Encoding", encoding) }
    for (name, value) in extra { headers.add(name, value) }
    return HTTPRequest(
      method: method, target: target, headers: headers,
      body: body ?? (encoding == "gzip" ? GzipBuilder.make(text) : Array(text.utf8)))
  }
}
