#if os(macOS) || os(Linux)
  import JSONText

  /// What the checks of one run share: the connection to the target, manners, and what was seen.
  final class VerifySession {
    let options: VerifyOptions
    let client: ProbeClient
    let observer: Observer?
    let redactor: Redactor
    let curl: CurlCommand
    var factory: EventFactory
    /// When everything has to be over.
    let end: Deadline
    private var nextSlot = Deadline(atNs: 0)

    /// The target says of itself that it takes any token.
    var takesAnyToken = false
    /// The observer has shown an event of this run.
    /// Answers that carried a token back, by check.
    var echoes: [String] = []
    /// What a dry run would have sent.
    private(set) var planned: [PlannedRequest] = []

    init(_ options: VerifyOptions, environment: VerifyEnvironment) {
      self.options = options
      client = ProbeClient(caFile: options.caFile)
      observer = Observer(options.observe, target: options.target)
      redactor = Redactor(secrets: options.secrets)
      curl = CurlCommand(
        target: options.target, tokenVariable: options.tokenVariable,
        expiredVariable: options.expiredTokenVariable, caFile: options.caFile,
        redactor: redactor)
      factory = EventFactory(random: environment.random(8), startMs: environment.wallMs())
      end = Deadline.after(ns: options.budgetNs)
    }

    func authorization(_ token: ProbeRequest.Token) -> String? {
      switch token {
      case .none: return nil
      case .valid: return "Bearer \(options.token)"
      case .expired: return options.expiredToken.map { "Bearer \($0)" }
      case .validWithScheme(let scheme): return "\(scheme) \(options.token)"
      case .field(let value): return value
      }
    }

    /// Waits for the next free place of the rate, or ends the check where the time is spent.
    func takeSlots(_ count: Int) throws {
      guard !end.isOver else { throw CheckStop.budgetSpent }
      if options.dryRun { return }
      RawSocket.pause(until: nextSlot.orEarlier(end))
      let slotNs = 1_000_000_000 / Int64(max(1, options.rate)) * Int64(count)
      nextSlot = Deadline.after(ns: slotNs)
    }

    /// When one request has to be answered.
    var answerDeadline: Deadline {
      Deadline.after(ns: options.policy.answerWithinNs).orEarlier(end)
    }

    func plan(_ request: ProbeRequest, check: String, copies: Int = 1, target: Target? = nil) {
      let target = target ?? options.target
      planned.append(
        PlannedRequest(
          check: check, method: request.method,
          url: target.origin + (request.path ?? target.path), bytes: request.framedBody.count,
          copies: copies, about: request.about))
    }

    func planCommand(_ what: String, check: String) {
      planned.append(
        PlannedRequest(check: check, method: "RUN", url: what, bytes: 0, copies: 1, about: ""))
    }

    /// Looks whether an answer carries a token back.
    func inspect(_ answer: HTTPAnswer, check: String) {
      let heads = answer.headers.map { "\($0.name): \($0.value)" }
      let places = heads.filter { redactor.finds(in: $0) }.map { "the header \($0)" }
      let inBody = redactor.finds(in: answer.text) ? ["the body of an answer"] : []
      for place in places + inBody {
        echoes.append("\(check): \(redactor.clean(place)) (status \(answer.status))")
      }
    }
  }

  /// One line of a dry run.
  package struct PlannedRequest: Sendable {
    package var check: String
    package var method: String
    package var url: String
    package var bytes: Int
    package var copies: Int
    package var about: String
  }
#endif
