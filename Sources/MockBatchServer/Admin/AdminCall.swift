import JSONText

/// A query parameter of an endpoint: what is documented is what is checked.
struct AdminParameter {
  enum Kind {
    /// A decimal integer within bounds, and what counts where it is absent.
    case integer(ClosedRange<Int>, Int)
    /// One of these; the first counts where it is absent.
    case choice([String])
    /// A duration, and what counts where it is absent.
    case duration(String)
  }

  let name: String
  let kind: Kind
  let about: String

  init(_ name: String, _ kind: Kind, _ about: String) {
    self.name = name
    self.kind = kind
    self.about = about
  }

  var schema: JSONValue {
    switch kind {
    case .integer(let range, let standard):
      return [
        "type": "integer", "minimum": .number(range.lowerBound),
        "maximum": .number(range.upperBound), "default": .number(standard),
      ]
    case .choice(let words):
      return ["enum": .array(words.map(JSONValue.string)), "default": .string(words.first ?? "")]
    case .duration(let standard):
      return [
        "type": "string", "minLength": 2, "pattern": .string(AdminParameter.durationPattern),
        "default": .string(standard),
      ]
    }
  }

  /// Durations that are always taken: whole numbers, largest unit first, far from overflow.
  /// Fractions are taken as well, as far as they come to whole nanoseconds.
  private static let durationPattern =
    "^" + ["d", "h", "m", "s", "ms", "us", "ns"].map { "([0-9]{1,4}\($0))?" }.joined()
    + "$"
}

/// A request to an endpoint of the admin, its path taken apart.
struct AdminCall {
  let request: HTTPRequest
  let endpoint: AdminEndpoint
  /// What stands in the place of `{…}` in the endpoint's path.
  let parameter: String
  /// Ended when the client goes.
  let work = AdminWork()

  /// An integer query parameter; its default where it is absent.
  ///
  /// - Throws: `AdminProblem`.
  func integer(_ name: String) throws -> Int {
    guard case .integer(let range, let standard)? = kind(of: name) else { throw undeclared(name) }
    guard let text = query(name) else { return standard }
    guard let value = Int(text), range.contains(value) else {
      throw AdminProblem(
        400, "\(name) is an integer from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  /// A query parameter that is one of some words; the first where it is absent.
  ///
  /// - Throws: `AdminProblem`.
  func choice(_ name: String) throws -> String {
    guard case .choice(let words)? = kind(of: name) else { throw undeclared(name) }
    let text = query(name) ?? words.first ?? ""
    guard words.contains(text) else {
      throw AdminProblem(400, "\(name) is one of \(words.joined(separator: ", "))")
    }
    return text
  }

  /// A query parameter that is a duration; its default where it is absent.
  ///
  /// - Throws: `AdminProblem`.
  func nanoseconds(_ name: String) throws -> Int64 {
    guard case .duration(let standard)? = kind(of: name) else { throw undeclared(name) }
    do {
      return try Quantity.nanoseconds(query(name) ?? standard)
    } catch let error as QuantityError {
      throw AdminProblem(400, "\(name): \(error.description)")
    }
  }

  /// The body as JSON.
  ///
  /// - Throws: `AdminProblem`.
  func json() throws -> JSONDocument {
    do {
      return try JSONDocument(
        parsing: request.body, limits: JSONLimits(maxDepth: 64, maxBytes: AdminCall.maxBody))
    } catch let error as JSONError {
      throw AdminProblem(400, "the body is not JSON: \(error.reason)", position: error.position)
    }
  }

  /// Bytes of a body.
  static let maxBody = 4_000_000

  /// The first value of a query parameter.
  private func query(_ name: String) -> String? {
    RequestView(
      request: request, context: RequestContext(connection: 0, indexOnConnection: 0), attempt: nil,
      decodedBody: { nil }
    ).queryValues(name).first
  }

  private func kind(of name: String) -> AdminParameter.Kind? {
    endpoint.query.first { $0.name == name }?.kind
  }

  private func undeclared(_ name: String) -> AdminProblem {
    AdminProblem(500, "\(name) is not declared by the endpoint")
  }
}
