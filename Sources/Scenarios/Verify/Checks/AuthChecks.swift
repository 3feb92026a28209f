#if os(macOS) || os(Linux)
  /// Who may send.
  enum AuthChecks {
    static let all = [
      missing, wrong, empty, basic, expired, challenge, schemeCase, nothingStored,
    ]

    private static let why401 =
      "On 401 alone a client asks for a new token and keeps its rows; 403 or 400 quarantine them."

    private static func refused(
      _ run: CheckRun, _ token: ProbeRequest.Token, what: String
    ) throws -> Finding {
      var request = run.batch(run.events(1))
      request.token = token
      request.about += ", \(what)"
      return try run.refuse(request, [401], what: what)
    }

    private static let missing = ContractCheck(
      "auth.missing", "A request without a token is answered 401.", why: why401
    ) { run in try refused(run, .none, what: "no token") }

    private static let wrong = ContractCheck(
      "auth.wrong", "A token that the server does not know is answered 401.", why: why401,
      needs: [.restrictedTokens]
    ) { run in
      try refused(
        run, .field("Bearer nobody-has-this-\(run.session.factory.run)"), what: "a wrong token")
    }

    private static let empty = ContractCheck(
      "auth.empty", "`Bearer` without a token is answered 401.", why: why401
    ) { run in try refused(run, .field("Bearer "), what: "an empty token") }

    private static let basic = ContractCheck(
      "auth.scheme", "Another scheme than Bearer is answered 401.", why: why401
    ) { run in
      try refused(run, .field("Basic dmVyaWZ5OnZlcmlmeQ=="), what: "the Basic scheme")
    }

    private static let expired = ContractCheck(
      "auth.expired", "An expired token is answered 401.", why: why401,
      needs: [.expiredToken, .restrictedTokens]
    ) { run in try refused(run, .expired, what: "an expired token") }

    private static let challenge = ContractCheck(
      "auth.challenge", "A 401 carries WWW-Authenticate with the Bearer scheme (RFC 9110, 15.5.2).",
      why: "Without it some HTTP stacks report a broken connection instead of a 401."
    ) { run in
      var request = run.batch(run.events(1))
      request.token = .none
      guard let answer = try run.send(request).answer, answer.status == 401 else {
        return .notObservable("no token was not answered 401 (auth.missing)")
      }
      guard let challenge = answer.header("WWW-Authenticate") else {
        return .fail("the 401 has no WWW-Authenticate")
      }
      guard challenge.lowercased().contains("bearer") else {
        return .fail("WWW-Authenticate is \"\(challenge)\", without Bearer")
      }
      return .pass("WWW-Authenticate is \(challenge)")
    }

    private static let schemeCase = ContractCheck(
      "auth.scheme-case", "The scheme's name is read without case (RFC 9110, 11.1).",
      why: "Proxies and HTTP stacks may write `bearer`."
    ) { run in
      var request = run.batch(run.events(1))
      request.token = .validWithScheme("bearer")
      try run.accept(request)
      return .pass("`bearer` was accepted")
    }

    private static let nothingStored = ContractCheck(
      "auth.nothing-stored", "Nothing of a request without a valid token is stored.",
      why: "Whoever can write without a token can bury the real events.", needs: [.observer]
    ) { run in
      let events = run.events(2)
      var request = run.batch(events)
      request.token = .none
      _ = try run.send(request)
      return try run.notStored(events.map(\.eventID), though: "its request had no token")
    }
  }
#endif
