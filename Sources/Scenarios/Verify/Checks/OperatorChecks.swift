#if os(macOS) || os(Linux)
  /// What needs the hand of an operator: a restart, a server made busy.
  enum OperatorChecks {
    static let all = [restartResent, restartStored, retryAfter, retryLater, tokenSecret]

    /// How long a restarted server is waited for.
    private static let restartNs: Int64 = 30_000_000_000
    private static let retryNs: Int64 = 100_000_000

    private static func restart(_ run: CheckRun) throws {
      guard let command = run.session.options.restartCommand else { return }
      try run.run(command, named: "the restart command")
      if run.session.options.dryRun { return }
      let deadline = Deadline.after(ns: restartNs).orEarlier(run.session.end)
      while !deadline.isOver {
        do {
          try run.session.client.open(run.session.options.target, by: deadline).close()
          return
        } catch { RawSocket.pause(until: Deadline.after(ns: retryNs).orEarlier(deadline)) }
      }
      throw CheckStop.finding(.fail("after the restart command the target takes no connections"))
    }

    private static let whyRestart =
      "A batch whose answer was lost in a restart comes again afterwards."

    private static let restartResent = ContractCheck(
      "restart.resent", "A batch from before a restart is recognised after it.", why: whyRestart,
      needs: [.restartCommand, .counts]
    ) { run in
      let request = run.batch(run.events(3))
      try run.accept(request)
      try restart(run)
      let answer = try run.accept(request)
      return run.compare(
        try run.counts(answer), accepted: 0, duplicates: 3, after: "a restart and the same events")
    }

    private static let restartStored = ContractCheck(
      "restart.stored-once", "What was accepted before a restart is stored once after it.",
      why: "A client deletes its rows on 2xx; the server has the only copy.",
      needs: [.restartCommand, .observer]
    ) { run in
      let events = run.events(2)
      try run.accept(run.batch(events))
      try restart(run)
      try run.accept(run.batch(events))
      return try run.storedOnce(events.map(\.eventID))
    }

    /// Makes the target busy and sends a batch into it.
    private static func provoke(_ run: CheckRun, _ request: ProbeRequest) throws -> HTTPAnswer {
      try run.run(run.session.options.provokeCommand ?? "", named: "the provoke command")
      guard let answer = try run.send(request).answer else {
        throw CheckStop.finding(.fail("after the provoke command a batch got no answer"))
      }
      if answer.status != 429 && answer.status != 503 && !run.session.options.dryRun {
        throw CheckStop.finding(
          Finding(
            verdict: .skipped,
            sentence: "the provoke command did not lead to 429 or 503 but to \(answer.status)"))
      }
      return answer
    }

    /// Seconds to wait; nil where the field is absent or cannot be read.
    static func pauseSeconds(_ answer: HTTPAnswer) -> Int64? {
      guard let text = answer.header("Retry-After") else { return nil }
      if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Int64(text) }
      guard let at = HTTPDate.seconds(text), let now = answer.header("Date").flatMap(HTTPDate.imf)
      else { return nil }
      return at - now
    }

    private static let attempts = 5
    private static let longestPauseS: Int64 = 30
    /// Where the field is absent or garbage.
    private static let ownPauseS: Int64 = 1

    /// Waits as told and sends again until the batch is taken; so the next check finds a target
    /// that is not busy any more.
    private static func recover(
      _ run: CheckRun, _ request: ProbeRequest, from first: HTTPAnswer
    ) throws -> Finding {
      var answer = first
      for _ in 0..<attempts where !answer.isSuccess && !run.session.options.dryRun {
        let told = pauseSeconds(answer) ?? ownPauseS
        let pauseS = min(max(told, 0), longestPauseS)
        RawSocket.pause(
          until: Deadline.after(ns: pauseS * 1_000_000_000).orEarlier(run.session.end))
        guard let next = try run.send(request).answer else {
          return .fail("the batch got no answer after the pause")
        }
        answer = next
      }
      guard answer.isSuccess else {
        return .fail("after \(attempts) pauses the batch is still answered \(answer.status)")
      }
      return .pass("after the pause the same batch was answered \(answer.status)")
    }

    private static let retryAfter = ContractCheck(
      "retry.after", "429 and 503 carry a Retry-After that can be read (RFC 9110, 10.2.3).",
      why: "Without it thousands of phones come back on their own schedule.",
      needs: [.provokeCommand]
    ) { run in
      let request = run.batch(run.events(1))
      let answer = try provoke(run, request)
      let field = answer.header("Retry-After")
      let told = pauseSeconds(answer)
      _ = try recover(run, request, from: answer)
      guard let field else { return .fail("the \(answer.status) has no Retry-After") }
      guard let told else {
        return .fail("Retry-After is \"\(field)\": neither seconds nor a date of HTTP")
      }
      let longest = run.policy.maxRetryAfterNs / 1_000_000_000
      guard told > 0, told <= longest else {
        return .fail("Retry-After is \"\(field)\", expected 1 to \(longest) seconds")
      }
      return .pass("\(answer.status) with Retry-After \(field)")
    }

    private static let retryLater = ContractCheck(
      "retry.accepted-later", "The batch is accepted once the pause is over.",
      why: "A batch that stays refused blocks all that stand behind it.", needs: [.provokeCommand]
    ) { run in
      let request = run.batch(run.events(2))
      return try recover(run, request, from: try provoke(run, request))
    }

    /// Stands last: it judges all answers of the run.
    private static let tokenSecret = ContractCheck(
      "secret.token", "No answer of the whole run carries a token back.",
      why: "Answers end up in logs, caches and bug reports; tokens must not."
    ) { run in
      var request = run.batch(run.events(1))
      request.contentEncoding = "x-verify"
      request.about = "a request that is refused, with the token"
      _ = try run.send(request)
      guard let first = run.session.echoes.first else { return .pass("no token in any answer") }
      return .fail("a token came back in \(run.session.echoes.count) places, first in \(first)")
    }
  }
#endif
