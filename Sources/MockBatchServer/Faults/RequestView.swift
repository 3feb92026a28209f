import JSONText

/// A request as patterns see it. What is costly is read on demand, once; used by one thread.
package final class RequestView {
  package let request: HTTPRequest
  package let context: RequestContext
  /// How often this set of events has come; nil while the body is unknown.
  package let attempt: Int?
  private let decode: () -> [UInt8]?
  /// What was too costly and was given up; it then matches nothing.
  enum GivenUp: String {
    case jsonPath = "a JSONPath comes to too many values"
    case regularExpression = "a regular expression takes too many steps"
  }
  private(set) var givenUp: GivenUp?
  /// By regular expression, how often it may still report on this request: some ten million steps
  /// in all. Each has its own, so that a costly one takes nothing from the others.
  private var reportsLeft: [String: Int] = [:]
  static let maxReports = 1_000

  /// - Parameter decodedBody: the body's text; nil when it cannot be decompressed.
  package init(
    request: HTTPRequest, context: RequestContext, attempt: Int?,
    decodedBody: @escaping () -> [UInt8]?
  ) {
    self.request = request
    self.context = context
    self.attempt = attempt
    decode = decodedBody
  }

  private(set) lazy var path = request.path
  private(set) lazy var pathAndQuery = request.query.map { path + "?" + $0 } ?? path
  private(set) lazy var body = decode()
  private(set) lazy var bodyText = body.map { String(decoding: $0, as: UTF8.self) }
  // A body that is not JSON matches no JSON pattern; the contract tells what is wrong with it.
  private(set) lazy var json = body.flatMap { try? JSONValue.parse($0) }

  private lazy var events: [JSONValue] = {
    guard let json else { return [] }
    if let list = json.arrayValue { return list }
    return json.objectValue?.compactMap { $0.1.arrayValue }.first ?? []
  }()
  private(set) lazy var eventIDs = events.compactMap { $0.objectValue?["id"]?.stringValue }
  private(set) lazy var eventTypes = events.compactMap { $0.objectValue?["type"]?.stringValue }

  /// What a JSONPath finds in the body.
  func values(at path: JSONPath) -> [JSONValue] {
    guard let json else { return [] }
    guard let found = path.values(in: json) else {
      givenUp = .jsonPath
      return []
    }
    return found
  }

  /// Whether a text fits a regular expression; nil when that was given up.
  func fits(_ text: String, _ pattern: TextPattern) -> Bool? {
    var left = reportsLeft[pattern.source] ?? RequestView.maxReports
    let fits = left > 0 ? pattern.matches(text, &left) : nil
    if left < RequestView.maxReports { reportsLeft[pattern.source] = left }
    if fits == nil { givenUp = .regularExpression }
    return fits
  }

  /// Values of a query parameter, percent-decoded.
  func queryValues(_ name: String) -> [String] {
    (request.query ?? "").split(separator: "&").compactMap { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard PercentCoding.decode(parts[0]) == name else { return nil }
      return parts.count > 1 ? PercentCoding.decode(parts[1]) : ""
    }
  }
}

/// Percent-decoding of query parameters (`+` is a blank).
enum PercentCoding {
  static func decode(_ text: some StringProtocol) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let high = ASCII.hexValue(rest[rest.startIndex]),
        let low = ASCII.hexValue(rest[rest.startIndex + 1])
      {
        bytes.append(UInt8(truncatingIfNeeded: high << 4 | low))
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
