import JSONText

/// The table of the admin's endpoints.
enum AdminEndpoints {
  static let all: [AdminEndpoint] = server + plan + requests + ledger

  /// The endpoints of a path, with what stands for `{…}`. A path that is written out goes before
  /// one that stands for any: `requests/find` is no entry of the journal.
  static func matching(_ path: String) -> [(AdminEndpoint, String)] {
    let matching = all.compactMap { endpoint in
      endpoint.parameter(of: path).map { (endpoint, $0) }
    }
    let written = matching.filter { $0.0.path == path }
    return written.isEmpty ? matching : written
  }

  private static let server: [AdminEndpoint] = [
    AdminEndpoint(
      method: "GET", path: "/health", about: "Whether the server works, and how it is set up.",
      perform: { _, handler in .json(health(handler)) }),
    AdminEndpoint(
      method: "GET", path: "/metrics", about: "Figures in Prometheus' text format.",
      mediaType: "text/plain",
      perform: { _, handler in
        .response(
          HTTPResponse(
            status: 200, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
            body: Array(Prometheus.text(of: handler.engine).utf8)))
      }),
    AdminEndpoint(
      method: "GET", path: "/events", about: "Everything that happens, as server-sent events.",
      mediaType: "text/event-stream",
      perform: { _, handler in .events(handler.openFeed()) }),
    AdminEndpoint(
      method: "GET", path: "/openapi.json", about: "This interface and the contract.",
      perform: { _, handler in .json(OpenAPI.document(for: handler)) }),
    AdminEndpoint(
      method: "POST", path: "/reset", about: "Resets parts of the state.",
      body: [
        "type": "object", "required": ["parts"], "additionalProperties": false,
        "properties": [
          "parts": [
            "type": "array", "minItems": 1,
            "items": [
              "enum": .array(BatchEngine.Part.allCases.map { .string($0.rawValue) })
            ],
          ]
        ],
      ], answers: [(200, "The parts that were reset."), (400, "Not such a list.")],
      perform: { try reset($0, $1) }),
    AdminEndpoint(
      method: "POST", path: "/shutdown", about: "Ends the server once its requests are answered.",
      answers: [(202, "It will end.")],
      perform: { _, handler in
        handler.settings.shutdown()
        return .json(["status": "stopping"], status: 202)
      }),
  ]

  private static let plan: [AdminEndpoint] = [
    AdminEndpoint(
      method: "GET", path: "/plan", about: "The fault plan in force, as it was given.",
      perform: { _, handler in .json(handler.engine.plan.source) }),
    AdminEndpoint(
      method: "PUT", path: "/plan", about: "Puts a fault plan into force.",
      body: ["$ref": "#/components/schemas/plan"],
      answers: [
        (200, "In force."), (400, "Not a plan; says where."),
        (422, "A performer cannot express it; says what."),
      ],
      perform: { try putPlan($0, $1) }),
    AdminEndpoint(
      method: "DELETE", path: "/plan", about: "Back to no faults and the usual limits.",
      answers: [(204, "In force.")],
      perform: { _, handler in
        try handler.engine.use(FaultPlan())
        return .nothing
      }),
    AdminEndpoint(
      method: "GET", path: "/gates", about: "Gates, their states, and how many wait.",
      perform: { _, handler in
        .json(["gates": .array(handler.engine.gates.all().map(gate))])
      }),
    AdminEndpoint(
      method: "PUT", path: "/gates/{name}", about: "Opens a gate, or holds it.",
      body: [
        "type": "object", "required": ["state"], "additionalProperties": false,
        "properties": ["state": ["enum": ["held", "open"]]],
      ], answers: [(200, "The gate."), (400, "Not such a state.")],
      perform: { try putGate($0, $1) }),
  ]

  private static let requests: [AdminEndpoint] = [
    AdminEndpoint(
      method: "GET", path: "/requests", about: "The journal, oldest first.",
      query: [
        AdminParameter("offset", .integer(offsets, 0), "How many to leave out."),
        AdminParameter("limit", .integer(0...10_000, 100), "How many at most."),
        AdminParameter("bodies", .choice(["true", "false"]), "Whether with bodies."),
      ], answers: [(200, "The entries, as many as one answer takes."), (400, "Not such values.")],
      takesLong: true, perform: { try listRequests($0, $1) }),
    AdminEndpoint(
      method: "GET", path: "/requests/{id}", about: "One entry of the journal.",
      answers: [(200, "The entry."), (404, "Never was, or has made room.")], takesLong: true,
      perform: { call, handler in
        guard let id = Int(call.parameter), let entry = handler.engine.journal.entry(id) else {
          throw AdminProblem(404, "the journal has no such request")
        }
        return .json(JournalView(engine: handler.engine).json(entry))
      }),
    AdminEndpoint(
      method: "DELETE", path: "/requests", about: "Empties the journal.",
      answers: [(204, "Empty.")],
      perform: { _, handler in
        try handler.engine.reset([.journal])
        return .nothing
      }),
    AdminEndpoint(
      method: "POST", path: "/requests/find", about: "Requests that match a pattern.",
      query: [
        AdminParameter("offset", .integer(offsets, 0), "Entries of the journal to leave out."),
        AdminParameter("limit", .integer(0...10_000, 10_000), "How many at most."),
      ],
      body: patternBody, answers: patternAnswers, takesLong: true,
      perform: { try findRequests($0, $1) }),
    AdminEndpoint(
      method: "POST", path: "/requests/count", about: "How many requests match a pattern.",
      body: patternBody, answers: patternAnswers, takesLong: true,
      perform: { try countRequests($0, $1) }),
    AdminEndpoint(
      method: "POST", path: "/requests/near-misses",
      about: "Requests that match a pattern nearly, nearest first.",
      query: [AdminParameter("limit", .integer(1...100, 3), "How many at most.")],
      body: patternBody, answers: patternAnswers, takesLong: true,
      perform: { try nearMisses($0, $1) }),
    AdminEndpoint(
      method: "GET", path: "/wait",
      about: "Answers once so many complete requests came since the start or the last reset.",
      query: [
        AdminParameter("count", .integer(offsets, 1), "How many."),
        AdminParameter("timeout", .duration("10s"), "How long at most."),
      ],
      answers: [
        (200, "They came."), (400, "Not such a number or duration."),
        (408, "They did not; tells how many came."),
      ],
      perform: { try wait($0, $1) }),
  ]

  private static let offsets = 0...Int(Int32.max)

  private static let ledger: [AdminEndpoint] = [
    AdminEndpoint(
      method: "GET", path: "/ledger", about: "Counters and events, in the order first seen.",
      query: [
        AdminParameter("offset", .integer(offsets, 0), "How many events to leave out."),
        AdminParameter("limit", .integer(0...100_000, 100), "How many at most."),
      ],
      answers: [(200, "The ledger, as much as one answer takes."), (400, "Not such numbers.")],
      takesLong: true, perform: { try listLedger($0, $1) }),
    AdminEndpoint(
      method: "GET", path: "/ledger/{id}", about: "What is known about one event.",
      answers: [(200, "The event."), (404, "Never seen.")], takesLong: true,
      perform: { call, handler in
        guard let entry = handler.engine.ledger.entry(call.parameter) else {
          throw AdminProblem(404, "the ledger has no such event")
        }
        return .json(LedgerView(engine: handler.engine).json(entry, withEvent: true))
      }),
  ]
}
