#if os(macOS) || os(Linux)
  import JSONText

  /// One check at work: sends, looks, and keeps the evidence.
  final class CheckRun {
    /// Exchanges kept as evidence of one check.
    static let maxExchanges = 8
    /// Characters of a body that are shown.
    static let excerptLength = 400

    let session: VerifySession
    let check: ContractCheck
    private(set) var exchanges: [CheckExchange] = []
    private(set) var leftOut = 0

    init(_ check: ContractCheck, in session: VerifySession) {
      self.check = check
      self.session = session
    }

    var policy: ServerPolicy { session.options.policy }

    // MARK: Making requests

    func event(
      type: String = "navigation", payload: JSONValue = ["screen": "Verify", "ms": 128],
      atMs: Int64? = nil
    ) -> JSONValue {
      session.factory.event(type: type, payload: payload, atMs: atMs)
    }

    func events(_ count: Int) -> [JSONValue] { session.factory.events(count) }

    /// The JSON text of a batch in the envelope of the policy.
    func text(_ events: [JSONValue]) -> [UInt8] {
      let list = JSONValue.array(events)
      switch policy.envelope {
      case .array: return JSONWriter.bytes(list)
      case .object:
        var envelope = JSONObject()
        envelope[policy.envelopeKey] = list
        return JSONWriter.bytes(.object(envelope))
      }
    }

    func batch(_ events: [JSONValue]) -> ProbeRequest {
      request(
        body: VerifyGzip.member(text(events)),
        about: events.count == 1 ? "1 event" : "\(events.count) events", events: events.count)
    }

    /// `events` counts the good events of the body, where it is a batch that may be accepted.
    func request(body: [UInt8], about: String, events: Int? = nil) -> ProbeRequest {
      var request = ProbeRequest()
      request.body = body
      request.about = about
      request.events = events
      return request
    }

    // MARK: Sending

    func send(_ request: ProbeRequest) throws -> Reply {
      try session.takeSlots(1)
      session.plan(request, check: check.id)
      let reply =
        session.options.dryRun
        ? CheckRun.imagined
        : session.client.perform(
          request, to: session.options.target,
          authorization: session.authorization(request.token), by: session.answerDeadline)
      keep(request, reply)
      return reply
    }

    func sendInTurn(_ requests: [ProbeRequest]) throws -> [Reply] {
      try session.takeSlots(requests.count)
      for request in requests { session.plan(request, check: check.id) }
      if session.options.dryRun { return requests.map { _ in CheckRun.imagined } }
      let replies = session.client.performInTurn(
        requests, to: session.options.target, authorization: session.authorization(.valid),
        by: session.answerDeadline)
      for (request, reply) in zip(requests, replies) { keep(request, reply) }
      return replies
    }

    func sendTogether(_ request: ProbeRequest, copies: Int) throws -> [Reply] {
      try session.takeSlots(copies)
      session.plan(request, check: check.id, copies: copies)
      if session.options.dryRun {
        return [Reply](repeating: CheckRun.imagined, count: copies)
      }
      let replies = session.client.performTogether(
        request, copies: copies, to: session.options.target,
        authorization: session.authorization(.valid), by: session.answerDeadline)
      for reply in replies { keep(request, reply) }
      return replies
    }

    /// What a dry run takes for an answer, so that a check goes on to what it sends next.
    private static let imagined = Reply.answer(
      HTTPAnswer(
        status: 200, reason: "OK", headers: [("Content-Type", "application/json")],
        body: Array(#"{"accepted":1,"duplicates":0,"rejected":[]}"#.utf8)))

    // MARK: Looking

    /// What the observer sees of an event now.
    func look(_ id: String) throws -> Sighting {
      guard let observer = session.observer else {
        throw CheckStop.finding(.notObservable("no observer was given"))
      }
      let (request, target) = observer.request(for: id)
      session.plan(request, check: check.id, target: target)
      if session.options.dryRun { return .stored(copies: 1, event: nil) }
      try session.takeSlots(1)
      let reply = session.client.perform(
        request, to: target,
        authorization: session.options.observeToken.map { "Bearer \($0)" },
        by: session.answerDeadline)
      keep(request, reply, at: target)
      return observer.read(reply, id: id)
    }

    /// Looks until the event is there or the time for it is over.
    func lookForStored(_ id: String) throws -> Sighting {
      let deadline = Deadline.after(ns: policy.storedWithinNs).orEarlier(session.end)
      while true {
        let sighting = try look(id)
        guard sighting == .absent, !deadline.isOver else { return sighting }
        RawSocket.pause(until: Deadline.after(ns: CheckRun.lookAgainNs).orEarlier(deadline))
      }
    }
    private static let lookAgainNs: Int64 = 250_000_000

    // MARK: Commands of the operator

    /// Runs a command that was given for it; a failing one is no verdict about the server.
    func run(_ command: String, named name: String) throws {
      session.planCommand(name, check: check.id)
      if session.options.dryRun { return }
      let outcome = ShellCommand.run(command, by: session.end)
      guard outcome.succeeded else {
        throw CheckStop.finding(
          Finding(
            verdict: .skipped,
            sentence: session.redactor.clean("\(name) failed: \(outcome.text)")))
      }
    }

    // MARK: Evidence

    private func keep(_ request: ProbeRequest, _ reply: Reply, at target: Target? = nil) {
      if let answer = reply.answer { session.inspect(answer, check: check.id) }
      guard exchanges.count < CheckRun.maxExchanges else {
        leftOut += 1
        return
      }
      let target = target ?? session.options.target
      var curl = session.curl
      if target != session.options.target { curl = CurlCommand(curl, target: target) }
      let clean = session.redactor.clean
      exchanges.append(
        CheckExchange(
          request: clean(
            "\(request.method) \(target.origin)\(request.path ?? target.path)"
              + (request.about.isEmpty ? "" : " (\(request.about))")),
          curl: curl.text(for: request), outcome: clean(reply.text),
          status: reply.answer?.status,
          headers: reply.answer?.headers.map { clean("\($0.name): \($0.value)") } ?? [],
          excerpt: CheckRun.excerpt(clean(reply.answer?.text ?? ""))))
    }

    private static func excerpt(_ text: String) -> String {
      let shown = text.prefix(excerptLength)
      return shown.count < text.count ? shown + "…" : String(shown)
    }

    func result(_ finding: Finding) -> ContractResult {
      ContractResult(
        id: check.id, rule: check.rule, why: check.why, verdict: finding.verdict,
        sentence: session.redactor.clean(finding.sentence), exchanges: exchanges,
        exchangesLeftOut: leftOut)
    }
  }
#endif
