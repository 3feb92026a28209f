import JSONText

/// Which requests: WireMock's matchers, and what only batches have.
package struct RequestPattern: Sendable {
  enum Target: Sendable {
    case url(String)
    case path(String)
    case urlPattern(TextPattern)
    case pathPattern(TextPattern)
  }
  struct Bounds: Sendable {
    var min = 0
    var max: Int?
    func contains(_ value: Int) -> Bool { value >= min && value <= max ?? .max }
  }
  /// A condition with its name for near misses.
  struct Criterion: Sendable {
    let name: String
    let needsBody: Bool
    let holds: @Sendable (RequestView) -> Bool
  }

  private(set) var criteria: [Criterion] = []

  /// Matches every request.
  package init() {}

  var isEmpty: Bool { criteria.isEmpty }
  var needsBody: Bool { criteria.contains(where: \.needsBody) }

  func matches(_ view: RequestView) -> Bool { criteria.allSatisfy { $0.holds(view) } }

  /// Names of the conditions that do not hold.
  func mismatches(_ view: RequestView) -> [String] {
    criteria.filter { !$0.holds(view) }.map(\.name)
  }

  /// Reads a pattern on its own, as the admin's searches send it.
  ///
  /// - Throws: `FaultPlanError`.
  package init(reading node: JSONNode) throws {
    try PlanReader.check(node, .object(PatternObjects.request), pointer: "")
    try self.init(checked: node)
  }

  /// Builds a pattern from a checked object.
  init(checked node: JSONNode) throws {
    if let method = node["method"]?.string, method != "ANY" {
      add("method") { $0.request.method == method }
    }
    if let target = try RequestPattern.target(node) { add(target) }
    for member in node["queryParameters"]?.members ?? [] {
      let name = member.key
      let matcher = try StringMatcher(checked: member.value)
      add("query parameter \(name)") { matcher.holds(anyOf: $0.queryValues(name), in: $0) }
    }
    for member in node["headers"]?.members ?? [] {
      let name = member.key
      let matcher = try StringMatcher(checked: member.value)
      add("header \(name)") { matcher.holds(anyOf: $0.request.headers.all(name), in: $0) }
    }
    try addConnection(node)
    try addBody(node)
  }

  private mutating func addConnection(_ node: JSONNode) throws {
    if let bounds = RequestPattern.bounds(node["connection"]) {
      add("connection") { bounds.contains($0.context.connection) }
    }
    if let bounds = RequestPattern.bounds(node["requestOnConnection"]) {
      add("request on connection") { bounds.contains($0.context.indexOnConnection) }
    }
    if let matcher = try node["incarnation"].map(StringMatcher.init(checked:)) {
      add("incarnation") {
        matcher.holds(anyOf: $0.request.headers.all(BatchEngine.incarnationHeader), in: $0)
      }
    }
  }

  private mutating func addBody(_ node: JSONNode) throws {
    if let bounds = RequestPattern.bounds(node["attempt"]) {
      add("attempt", needsBody: true) { $0.attempt.map(bounds.contains) ?? false }
    }
    if let matcher = try node["eventId"].map(StringMatcher.init(checked:)) {
      add("event id", needsBody: true) { matcher.holds(anyOf: $0.eventIDs, in: $0) }
    }
    if let matcher = try node["eventType"].map(StringMatcher.init(checked:)) {
      add("event type", needsBody: true) { matcher.holds(anyOf: $0.eventTypes, in: $0) }
    }
    for (index, pattern) in (node["bodyPatterns"]?.elements ?? []).enumerated() {
      for condition in try BodyPattern.conditions(pattern) {
        add("body pattern \(index + 1)", needsBody: true, condition)
      }
    }
  }

  private mutating func add(
    _ name: String, needsBody: Bool = false, _ holds: @escaping @Sendable (RequestView) -> Bool
  ) {
    criteria.append(Criterion(name: name, needsBody: needsBody, holds: holds))
  }

  private mutating func add(_ target: Target) {
    switch target {
    case .url(let url): add("URL") { $0.pathAndQuery == url }
    case .path(let path): add("URL path") { $0.path == path }
    case .urlPattern(let pattern): add("URL pattern") { $0.fits($0.pathAndQuery, pattern) == true }
    case .pathPattern(let pattern): add("URL path pattern") { $0.fits($0.path, pattern) == true }
    }
  }

  private static func target(_ node: JSONNode) throws -> Target? {
    if let url = node["url"]?.string { return .url(url) }
    if let path = node["urlPath"]?.string { return .path(path) }
    if let source = node["urlPattern"]?.string { return .urlPattern(try TextPattern(source)) }
    if let source = node["urlPathPattern"]?.string { return .pathPattern(try TextPattern(source)) }
    return nil
  }

  private static func bounds(_ node: JSONNode?) -> Bounds? {
    guard let node else { return nil }
    if let exact = node.number?.int64 {
      return Bounds(min: Int(clamping: exact), max: Int(clamping: exact))
    }
    return Bounds(min: node.integer("min") ?? 0, max: node.integer("max"))
  }
}

extension StringMatcher {
  /// A checked text or matcher object.
  init(checked node: JSONNode) throws {
    if let text = node.string {
      self.init(conditions: [.equalTo(text)])
      return
    }
    var conditions: [Condition] = []
    if let text = node["equalTo"]?.string {
      let ignoresCase = node["caseInsensitive"]?.bool ?? false
      conditions.append(ignoresCase ? .equalToIgnoringCase(text) : .equalTo(text))
    }
    if let text = node["contains"]?.string { conditions.append(.contains(text)) }
    if let text = node["doesNotContain"]?.string { conditions.append(.doesNotContain(text)) }
    if let text = node["matches"]?.string { conditions.append(.matches(try TextPattern(text))) }
    if let text = node["doesNotMatch"]?.string {
      conditions.append(.doesNotMatch(try TextPattern(text)))
    }
    if let absent = node["absent"]?.bool {
      conditions.append(absent ? .absent : .present)
    }
    self.init(conditions: conditions)
  }
}

/// Conditions on the decoded body.
enum BodyPattern {
  typealias Condition = @Sendable (RequestView) -> Bool

  static func conditions(_ node: JSONNode) throws -> [Condition] {
    var conditions: [Condition] = []
    let text = try StringMatcher(checked: node)
    if !text.conditions.isEmpty { conditions.append { text.holds($0.bodyText, in: $0) } }
    if let wanted = node["equalToJson"]?.value {
      let ignoresOrder = node["ignoreArrayOrder"]?.bool ?? false
      let ignoresExtra = node["ignoreExtraElements"]?.bool ?? false
      // Text is WireMock's older form: JSON inside a string.
      let value = wanted.stringValue.flatMap { try? JSONValue.parse($0) } ?? wanted
      conditions.append { view in
        view.json.map {
          JSONLikeness.holds($0, value, ignoresOrder: ignoresOrder, ignoresExtra: ignoresExtra)
        } ?? false
      }
    }
    if let path = node["matchesJsonPath"] { conditions.append(try jsonPath(path)) }
    return conditions
  }

  private static func jsonPath(_ node: JSONNode) throws -> Condition {
    let path = try JSONPath(node.string ?? node["expression"]?.string ?? "$")
    guard node.string == nil else { return { !$0.values(at: path).isEmpty } }
    let matcher = try StringMatcher(checked: node)
    return { view in
      let found = view.values(at: path)
      guard !matcher.conditions.isEmpty else { return !found.isEmpty }
      return matcher.holds(anyOf: found.map { $0.stringValue ?? $0.description }, in: view)
    }
  }
}

/// `equalToJson`: the same value, or one that holds it.
enum JSONLikeness {
  static func holds(
    _ found: JSONValue, _ wanted: JSONValue, ignoresOrder: Bool, ignoresExtra: Bool
  ) -> Bool {
    func same(_ found: JSONValue, _ wanted: JSONValue) -> Bool {
      holds(found, wanted, ignoresOrder: ignoresOrder, ignoresExtra: ignoresExtra)
    }
    if let left = found.objectValue, let right = wanted.objectValue {
      guard ignoresExtra || left.count == right.count else { return false }
      return right.allSatisfy { key, value in left[key].map { same($0, value) } ?? false }
    }
    guard let left = found.arrayValue, let right = wanted.arrayValue else {
      if let left = found.doubleValue, let right = wanted.doubleValue { return left == right }
      return found == wanted
    }
    guard left.count == right.count || (ignoresExtra && left.count > right.count) else {
      return false
    }
    guard ignoresOrder else { return zip(left, right).allSatisfy(same) }
    var rest = left
    return right.allSatisfy { value in
      guard let at = rest.firstIndex(where: { same($0, value) }) else { return false }
      rest.remove(at: at)
      return true
    }
  }
}
