import JSONText

/// What the larger endpoints do.
extension AdminEndpoints {
  static let patternBody: JSONValue = ["$ref": "#/components/schemas/request"]
  static let patternAnswers = [(200, "What was found."), (400, "Not a pattern; says where.")]

  static func health(_ handler: AdminHandler) -> JSONValue {
    let engine = handler.engine
    let plan = engine.plan
    var members: JSONObject = [
      "status": "ok", "version": 1,
      "tokens": engine.current.contract.rules.tokens.isEmpty ? "any" : "restricted",
      "listener": .string(engine.listenerState.rawValue),
      "clockNs": .number(JSONNumber(engine.clock.nowNs)),
      "time": .string(JournalView.timestamp(engine.clock.wallMs)),
      "seed": .number(JSONNumber(plan.seed)),
      "rules": .array(
        engine.appliedRules.map { ["id": .string($0.rule), "applied": .number($0.times)] }),
      "requests": .number(engine.journal.completeRequests),
      "ledger": LedgerView(engine: engine).counts,
    ]
    for (key, value) in handler.settings.facts() { members[key] = value }
    return .object(members)
  }

  static func pattern(_ call: AdminCall) throws -> RequestPattern {
    try RequestPattern(reading: try call.json().root)
  }

  static func gate(_ gate: (name: String, isOpen: Bool, waiting: Int)) -> JSONValue {
    [
      "name": .string(gate.name), "state": gate.isOpen ? "open" : "held",
      "waiting": .number(gate.waiting),
    ]
  }

  static func putPlan(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let plan = try FaultPlan(parsing: call.request.body)
    do {
      try handler.engine.use(plan)
    } catch let refusal as CapabilityRefusal {
      throw AdminProblem(422, refusal.description)
    }
    return .json(["rules": .number(plan.rules.count), "toxics": .number(plan.toxics.count)])
  }

  static func putGate(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let root = try call.json().root
    guard root.kind == .object, root.members.map(\.key) == ["state"],
      let state = root["state"]?.string, state == "held" || state == "open"
    else {
      throw AdminProblem(400, "the body is {\"state\":\"held\"} or {\"state\":\"open\"}")
    }
    guard handler.engine.setGate(call.parameter, isOpen: state == "open") else {
      throw AdminProblem(400, "more than \(GateKeeper.maxGates) gates")
    }
    let found = handler.engine.gates.all().first { $0.name == call.parameter }
    return .json(gate(found ?? (call.parameter, state == "open", 0)))
  }

  static func reset(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let names = BatchEngine.Part.allCases.map(\.rawValue)
    let expected = AdminProblem(
      400, "the body is {\"parts\":[…]} with some of \(names.joined(separator: ", "))")
    let root = try call.json().root
    guard root.kind == .object, root.members.map(\.key) == ["parts"], let list = root["parts"],
      list.kind == .array, list.count > 0
    else { throw expected }
    let parts = list.elements.compactMap { $0.string.flatMap(BatchEngine.Part.init) }
    guard parts.count == list.count else { throw expected }
    try handler.engine.reset(Set(parts))
    return .json(["reset": .array(parts.map { .string($0.rawValue) })])
  }

  static func listRequests(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let withBodies = try call.choice("bodies") != "false"
    return try page(call, handler, withBodies: withBodies) { _ in true }
  }

  static func findRequests(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let pattern = try pattern(call)
    let view = JournalView(engine: handler.engine)
    return try page(call, handler, withBodies: true) {
      try $0.isComplete && view.matches($0, pattern)
    }
  }

  /// Entries of the journal, oldest first, as many as one answer takes.
  private static func page(
    _ call: AdminCall, _ handler: AdminHandler, withBodies: Bool,
    where holds: (JournalEntry) throws -> Bool
  ) throws -> AdminResult {
    var offset = try call.integer("offset")
    let limit = try call.integer("limit")
    let view = JournalView(engine: handler.engine)
    let entries = handler.engine.journal.entries
    var page = AdminPage("requests", maxBytes: handler.settings.pageBytes)
    while offset < entries.count, page.count < limit {
      try call.work.goOn()
      let entry = entries[offset]
      if try holds(entry), !page.add(view.json(entry, withBodies: withBodies)) { break }
      offset += 1
    }
    return page.result(
      next: offset < entries.count ? offset : nil,
      ["total": .number(entries.count), "dropped": .number(handler.engine.journal.dropped)])
  }

  static func countRequests(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let pattern = try pattern(call)
    let view = JournalView(engine: handler.engine)
    var count = 0
    for entry in handler.engine.journal.entries where entry.isComplete {
      try call.work.goOn()
      if try view.matches(entry, pattern) { count += 1 }
    }
    return .json(["count": .number(count)])
  }

  static func nearMisses(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let pattern = try pattern(call)
    let limit = try call.integer("limit")
    let view = JournalView(engine: handler.engine)
    var misses: [(entry: JournalEntry, failed: [String])] = []
    for entry in handler.engine.journal.entries where entry.isComplete {
      try call.work.goOn()
      let failed = try view.mismatches(entry, pattern)
      if !failed.isEmpty { misses.append((entry, failed)) }
    }
    return .json(["nearMisses": view.nearest(misses, of: pattern, limit: limit)])
  }

  static func listLedger(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let offset = try call.integer("offset")
    let limit = try call.integer("limit")
    let view = LedgerView(engine: handler.engine)
    var page = AdminPage("events", maxBytes: handler.settings.pageBytes)
    // One more than wanted shows whether there are more.
    let entries = handler.engine.ledger.entries(offset: offset, limit: limit + 1)
    for entry in entries.prefix(limit) {
      try call.work.goOn()
      guard page.add(view.json(entry)) else { break }
    }
    return page.result(
      next: page.count < entries.count ? offset + page.count : nil, ["counts": view.counts])
  }

  static func wait(_ call: AdminCall, _ handler: AdminHandler) throws -> AdminResult {
    let engine = handler.engine
    let count = try call.integer("count")
    let timeoutNs = try call.nanoseconds("timeout")
    let journal = engine.journal
    let park = engine.watchers.wait(for: count) { journal.completeRequests }
    let due = BatchEngine.sum(engine.clock.nowNs, timeoutNs)
    let timer = engine.clock.schedule(atNs: due) { park.release() }
    return .later(
      park: park,
      cancel: {
        timer.cancel()
        engine.watchers.leave(park)
      },
      answer: {
        timer.cancel()
        engine.watchers.leave(park)
        let came = journal.completeRequests
        let body: JSONValue = ["count": .number(came)]
        return HTTPResponse(
          status: came >= count ? 200 : 408, headers: ["Content-Type": "application/json"],
          body: JSONWriter.bytes(body))
      })
  }
}
