#if os(macOS) || os(Linux)
  import JSONText

  /// What an observer says about one event.
  enum Sighting: Sendable, Equatable {
    case absent
    /// Copies where the observer counts them; the content where it shows it.
    case stored(copies: Int?, event: JSONValue?)
    case unclear(String)
  }

  /// Sees what the target has stored, through HTTP only.
  struct Observer: Sendable {
    private enum Kind: Sendable {
      case admin(Target)
      case lookup(Target)
    }

    private let kind: Kind

    /// Nil where nothing was given to look with.
    init?(_ observe: VerifyOptions.Observe, target: Target) {
      switch observe {
      case .none: return nil
      case .admin(let admin):
        var base = admin ?? target
        base.path = ""
        kind = .admin(base)
      case .lookup(let template):
        // The arguments were checked; a template that is no URL does not come here.
        guard case .success(let lookup) = Observer.lookupTarget(template) else { return nil }
        kind = .lookup(lookup)
      }
    }

    /// The template as a target whose path holds the mark where the id goes.
    static func lookupTarget(_ template: String) -> Result<Target, Target.Problem> {
      Target.parse(template.substituting("{id}", with: Observer.idMark))
    }

    private static let idMark = "__event-id__"

    func request(for id: String) -> (request: ProbeRequest, target: Target) {
      var request = ProbeRequest()
      request.method = "GET"
      request.token = .none
      switch kind {
      case .admin(let base):
        request.path = "/__admin/ledger/\(id)"
        return (request, base)
      case .lookup(let base):
        request.path = base.path.substituting(Observer.idMark, with: id)
        return (request, base)
      }
    }

    /// 404 and an empty list say absent; an object is one event, a list its copies. Counts are
    /// read from `timesStored`, the content from `event` or the object itself.
    func read(_ reply: Reply, id: String) -> Sighting {
      guard let answer = reply.answer else { return .unclear("the observer \(reply.text)") }
      if answer.status == 404 { return .absent }
      guard answer.isSuccess else { return .unclear("the observer answered \(answer.status)") }
      guard let json = answer.json else { return .unclear("the observer's answer is no JSON") }
      if let copies = json.arrayValue {
        guard let first = copies.first else { return .absent }
        return .stored(copies: copies.count, event: Observer.event(in: first))
      }
      guard case .object = json else { return .unclear("the observer's answer is no object") }
      if let times = json["timesStored"]?.intValue {
        return times == 0 ? .absent : .stored(copies: times, event: Observer.event(in: json))
      }
      return .stored(copies: nil, event: Observer.event(in: json))
    }

    private static func event(in json: JSONValue) -> JSONValue? {
      if let event = json["event"] { return event }
      // Spelt out: in a conditional, `nil` would become the JSON value null.
      guard json["payload"] != nil else { return Optional.none }
      return json
    }
  }
#endif
