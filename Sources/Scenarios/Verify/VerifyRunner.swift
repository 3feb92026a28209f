#if os(macOS) || os(Linux)
  /// Why no check could run.
  package struct TargetUnavailable: Error, Sendable {
    package var sentence: String
  }

  /// Everything that came out of a run.
  package struct ContractReport: Sendable {
    package var target: String
    package var run: String
    package var observer: String
    package var results: [ContractResult]
    package var planned: [PlannedRequest]
    /// Why the run ended before its last check, where it did.
    package var endedEarly: String?

    package func count(_ verdict: ContractVerdict) -> Int {
      results.filter { $0.verdict == verdict }.count
    }
  }

  /// Runs checks against a target, one after the other.
  package struct VerifyRunner {
    private let session: VerifySession
    private let options: VerifyOptions

    package init(_ options: VerifyOptions, environment: VerifyEnvironment) {
      self.options = options
      session = VerifySession(options, environment: environment)
    }

    /// Throws `TargetUnavailable` where the target serves no batches at all.
    package func run(
      _ checks: [ContractCheck], progress: (ContractResult) -> Void = { _ in }
    ) throws -> ContractReport {
      if !options.dryRun { try meetTarget() }
      var results: [ContractResult] = []
      var gone: String?
      for check in checks {
        let result = gone.map { skip(check, "the target went away: \($0)") } ?? run(check)
        results.append(result)
        progress(result)
        if gone == nil, result.verdict == .fail, !options.dryRun {
          gone = missing().map { "\($0), since \(check.id)" }
        }
      }
      return ContractReport(
        target: session.redactor.clean(options.target.url), run: session.factory.run,
        observer: observerText, results: results, planned: session.planned, endedEarly: gone)
    }

    private var observerText: String {
      switch options.observe {
      case .none: return "none"
      case .admin: return "admin"
      case .lookup(let url): return session.redactor.clean("lookup=\(url)")
      }
    }

    // MARK: The first meeting

    /// One look at the mock server's health page, without a token, and one valid batch: whoever
    /// does not take that has no contract to check.
    private func meetTarget() throws {
      var health = ProbeRequest()
      health.method = "GET"
      health.path = "/__admin/health"
      health.token = .none
      let target = options.target
      let deadline = session.answerDeadline
      let first = session.client.perform(health, to: target, authorization: nil, by: deadline)
      if case .fault(.socket(let fault)) = first, fault != .timedOut, fault != .reset {
        throw TargetUnavailable(sentence: "\(target.origin): \(fault.text)")
      }
      if let json = first.answer?.json, json["tokens"]?.stringValue == "any" {
        session.takesAnyToken = true
      }
      let probe = CheckRun(VerifyRunner.meeting, in: session)
      let reply: Reply
      do { reply = try probe.send(probe.batch(probe.events(1))) } catch {
        throw TargetUnavailable(sentence: "the time budget was spent on \(target.url)")
      }
      if let reason = VerifyRunner.unfit(reply) {
        throw TargetUnavailable(sentence: session.redactor.clean("\(target.url): \(reason)"))
      }
    }

    private static let meeting = ContractCheck("meeting", "", why: "") { _ in .pass("") }

    /// Why an answer to a valid batch shows that nothing here speaks the contract.
    private static func unfit(_ reply: Reply) -> String? {
      switch reply {
      case .fault(let fault): return "a valid batch got no answer: \(fault.text)"
      case .answer(let answer) where answer.status == 404 || answer.status == 405:
        return "a valid batch was answered \(answer.status): is the path right?"
      case .answer(let answer) where (300..<400).contains(answer.status):
        return "a valid batch was redirected (\(answer.status)) to"
          + " \(answer.header("Location") ?? "nowhere"): clients do not follow"
      case .answer(let answer) where answer.isSuccess && answer.isHTML:
        return "a valid batch was answered with an HTML page:"
          + " a portal, proxy or login page stands in front"
      default: return nil
      }
    }

    /// Why the target takes no connections any more; nil where it does.
    private func missing() -> String? {
      do {
        try session.client.open(options.target, by: session.answerDeadline).close()
        return nil
      } catch let fault as SocketFault { return fault.text } catch { return "\(error)" }
    }

    // MARK: One check

    private func run(_ check: ContractCheck) -> ContractResult {
      for need in check.needs {
        if let finding = lacks(need) {
          return CheckRun(check, in: session).result(finding)
        }
      }
      let run = CheckRun(check, in: session)
      do { return run.result(try check.body(run)) } catch CheckStop.finding(let finding) {
        return run.result(finding)
      } catch {
        return run.result(Finding(verdict: .skipped, sentence: "the time budget was spent"))
      }
    }

    private func skip(_ check: ContractCheck, _ sentence: String) -> ContractResult {
      CheckRun(check, in: session).result(Finding(verdict: .skipped, sentence: sentence))
    }

    private func lacks(_ need: CheckNeed) -> Finding? {
      func skipped(_ sentence: String) -> Finding {
        Finding(verdict: .skipped, sentence: sentence)
      }
      switch need {
      case .expiredToken:
        return options.expiredToken == nil ? skipped("no --expired-token-env was given") : nil
      case .restartCommand:
        return options.restartCommand == nil ? skipped("no --restart-command was given") : nil
      case .provokeCommand:
        return options.provokeCommand == nil ? skipped("no --provoke-command was given") : nil
      case .destructive:
        return options.destructive ? nil : skipped("could harm the target: needs --destructive")
      case .observer:
        return session.observer == nil ? .notObservable("no --observe was given") : nil
      case .restrictedTokens:
        return session.takesAnyToken
          ? skipped("the target says that it takes any token (start it with --token)") : nil
      case .maxEvents:
        return options.policy.maxEvents == nil ? skipped("the policy has no maxEvents") : nil
      case .maxBytes:
        return options.policy.maxBytes == nil ? skipped("the policy has no maxBytes") : nil
      case .counts:
        return options.policy.answer == .counts
          ? nil : skipped("the policy says that answers carry no counts")
      }
    }
  }
#endif
