#if os(macOS) || os(Linux)
  import JSONText

  /// What an accepted batch is answered with.
  struct AnswerCounts: Sendable, Equatable {
    var accepted: Int
    var duplicates: Int
    /// Id and reason of every event refused.
    var rejected: [(id: String, reason: String)]

    var total: Int { accepted + duplicates + rejected.count }

    static func == (left: AnswerCounts, right: AnswerCounts) -> Bool {
      left.accepted == right.accepted && left.duplicates == right.duplicates
        && left.rejected.map(\.id) == right.rejected.map(\.id)
    }

    var text: String {
      "accepted \(accepted), duplicates \(duplicates), rejected \(rejected.count)"
    }

    /// Nil where the answer lacks a member or has one of another kind.
    init?(_ answer: HTTPAnswer) {
      guard let json = answer.json, let accepted = json["accepted"]?.intValue,
        let duplicates = json["duplicates"]?.intValue, let list = json["rejected"]?.arrayValue,
        accepted >= 0, duplicates >= 0
      else { return nil }
      self.accepted = accepted
      self.duplicates = duplicates
      rejected = list.map {
        ($0["id"]?.stringValue ?? "", $0["reason"]?.stringValue ?? "")
      }
    }

    init(accepted: Int, duplicates: Int) {
      self.accepted = accepted
      self.duplicates = duplicates
      rejected = []
    }
  }

  /// The client's view of an answer, as sentences.
  enum Judging {
    /// Nil where the answer takes every one of the events; else what a client makes of it. An
    /// answer without counts is another check's matter.
    static func rejection(_ answer: HTTPAnswer, events: Int) -> String? {
      if let first = answer.json?["rejected"]?.arrayValue?.first {
        let reason = first["reason"]?.stringValue ?? ""
        return "answered \(answer.status), but lists a good event under rejected (\"\(reason)\"):"
          + " a client quarantines it"
      }
      guard let counts = AnswerCounts(answer), counts.accepted + counts.duplicates != events
      else { return nil }
      return "answered \(answer.status), but a batch of \(events) good events is said to be"
        + " \(counts.text)"
    }

    /// Nil where a client takes the batch for delivered; else what it does instead.
    static func complaint(_ reply: Reply) -> String? {
      guard let answer = reply.answer else { return "a good batch got no answer: \(reply.text)" }
      let status = answer.status
      switch status {
      case 200..<300:
        return answer.isHTML
          ? "answered \(status) with text/html: a client takes that for a captive portal" : nil
      case 300..<400: return "answered \(status): a client never follows a redirect"
      case 401: return "answered 401 although the token is valid"
      case 413: return "answered 413: a client splits the batch though it is within the limits"
      case 429: return "answered 429: is the target limiting this run? (try a lower --rate)"
      case 400..<500: return "answered \(status): a client quarantines these good events"
      default: return "answered \(status): a client sends the batch again and again"
      }
    }

    /// Nil where the refusal is final and of a kind that clients expect here.
    static func refusalComplaint(_ reply: Reply, allowed: Set<Int>, what: String) -> String? {
      let wanted = allowed.sorted().map(String.init).joined(separator: " or ")
      guard let answer = reply.answer else {
        return "\(what) got no answer (\(reply.text)): a client sends it again and again"
      }
      if allowed.contains(answer.status) { return nil }
      switch answer.status {
      case 200..<300: return "\(what) was answered \(answer.status), expected \(wanted)"
      case 500..<600, 429:
        return "\(what) was answered \(answer.status), expected \(wanted): a client repeats it"
          + " without end"
      default: return "\(what) was answered \(answer.status), expected \(wanted)"
      }
    }

    /// Statuses for a body that can never become good.
    static let malformed: Set<Int> = [400, 415, 422]
  }

  extension CheckRun {
    /// Sends a batch that has to be accepted; ends the check where it is not.
    @discardableResult
    func accept(_ request: ProbeRequest) throws -> HTTPAnswer {
      let reply = try send(request)
      return try accepted(reply, of: request)
    }

    /// Nil where the answer takes the whole batch of the request.
    func complaint(_ reply: Reply, of request: ProbeRequest) -> String? {
      if let complaint = Judging.complaint(reply) { return complaint }
      guard policy.answer == .counts, !session.options.dryRun, let answer = reply.answer,
        let events = request.events
      else { return nil }
      return Judging.rejection(answer, events: events)
    }

    @discardableResult
    func accepted(_ reply: Reply, of request: ProbeRequest) throws -> HTTPAnswer {
      if let complaint = complaint(reply, of: request) {
        throw CheckStop.finding(.fail(complaint))
      }
      guard let answer = reply.answer else { throw CheckStop.finding(.fail(reply.text)) }
      return answer
    }

    /// Sends a body that has to be refused for good.
    func refuse(
      _ request: ProbeRequest, _ allowed: Set<Int> = Judging.malformed, what: String
    ) throws -> Finding {
      let reply = try send(request)
      if let complaint = Judging.refusalComplaint(reply, allowed: allowed, what: what) {
        return .fail(complaint)
      }
      return .pass("\(what) was answered \(reply.answer?.status ?? 0)")
    }

    /// The counts of an answer; ends the check where it has none.
    func counts(_ answer: HTTPAnswer) throws -> AnswerCounts {
      guard let counts = AnswerCounts(answer) else {
        throw CheckStop.finding(
          .notObservable("the answer has no counts to see it by (answer.counts)"))
      }
      return counts
    }

    /// Compares counts with what the server should have said.
    func compare(_ got: AnswerCounts, accepted: Int, duplicates: Int, after what: String)
      -> Finding
    {
      let wanted = AnswerCounts(accepted: accepted, duplicates: duplicates)
      guard got == wanted else {
        return .fail("after \(what) the answer says \(got.text), expected \(wanted.text)")
      }
      return .pass("after \(what) the answer says \(got.text)")
    }

    /// Sends a good event and waits until the observer shows it. What was sent before has come to
    /// the store by then, also where a server stores behind its answers.
    ///
    /// An observer that does not show it proves nothing by showing nothing.
    func fence() throws {
      let known = event()
      try accept(batch([known]))
      guard case .stored = try lookForStored(known.eventID) else {
        throw CheckStop.finding(
          .notObservable("the observer does not even show an accepted event"))
      }
    }

    /// A pass where the observer sees exactly one copy, also a while later.
    func storedOnce(_ ids: [String]) throws -> Finding {
      for id in ids {
        switch try lookForStored(id) {
        case .absent:
          return .fail("\(id) was acknowledged but is not stored: the client has deleted it")
        case .unclear(let why): return .notObservable(why)
        case .stored: continue
        }
      }
      try fence()
      for id in ids {
        switch try look(id) {
        case .absent: return .fail("\(id) was stored and is gone: the client has deleted it")
        case .unclear(let why): return .notObservable(why)
        case .stored(nil, _):
          return .notObservable("the observer shows the event but does not count copies")
        case .stored(let copies?, _):
          if copies != 1 { return .fail("\(id) is stored \(copies) times") }
        }
      }
      return .pass(ids.count == 1 ? "stored once" : "each of \(ids.count) events is stored once")
    }

    /// A pass where the observer sees nothing of the events, also a while later.
    func notStored(_ ids: [String], though what: String) throws -> Finding {
      try fence()
      for id in ids {
        switch try look(id) {
        case .absent: continue
        case .unclear(let why): return .notObservable(why)
        case .stored: return .fail("\(id) is stored though \(what)")
        }
      }
      return .pass("nothing of it is stored")
    }
  }
#endif
