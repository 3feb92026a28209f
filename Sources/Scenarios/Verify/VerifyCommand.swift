#if os(macOS) || os(Linux)
  import Foundation

  /// `workbench verify`: from the command line to the exit code.
  package enum VerifyCommand {
    package static let usage = """
      usage: workbench verify --url URL --token-env NAME [options]

      Checks the batch contract on a running server. NAME is an environment variable that holds
      a valid token; without a path, URL means \(Target.defaultPath).

        --observe admin|admin=URL|lookup=URL|none
                              where stored events can be seen: the admin API of workbench serve,
                              or a URL with {id} in it (default: none)
        --observe-token-env NAME   token for the observer
        --expired-token-env NAME   an expired token
        --restart-command CMD      restarts the server; run with /bin/sh
        --provoke-command CMD      makes the server answer 429 or 503 for a moment
        --policy FILE         decisions of this server, as JSON (docs/verify.md)
        --destructive         also checks that could harm the server
        --require-all         exit 2 where a check was skipped or not observable
        --rate N              requests a second at most (default: \(VerifyOptions.defaultRate))
        --budget TIME         the whole run (default: 3m)
        --ca FILE             authorities to trust, PEM (https; default: the system's)
        --only ID[,ID]        these checks        --filter TEXT   checks whose id has TEXT
        --dry-run             lists what would be sent    --list   lists the checks
        --json FILE --junit FILE --markdown FILE          reports

      exit: 0 no check failed, 1 some failed, 2 see --require-all, 3 wrong arguments or policy,
            4 a report could not be written, 5 the target does not serve the contract at all

      """

    /// Runs the command with the process's own environment, clock and output.
    package static func run(arguments: [String]) -> Int32 {
      SystemCalls.prepareStandardDescriptors()
      return run(
        arguments, variables: ProcessInfo.processInfo.environment,
        environment: VerifyEnvironment(
          wallMs: { Int64(Date().timeIntervalSince1970 * 1_000) },
          random: { count in (0..<count).map { _ in UInt8.random(in: 0...255) } }),
        out: { Console.out($0, terminator: "") }, complain: { Console.error($0, terminator: "") })
    }

    /// Runs the command; `out` and `complain` print.
    package static func run(
      _ arguments: [String], variables: [String: String], environment: VerifyEnvironment,
      out: (String) -> Void, complain: (String) -> Void
    ) -> Int32 {
      // A peer that goes away while TLS writes must not end the process.
      signal(SIGPIPE, SIG_IGN)
      if arguments.contains("--help") || arguments.contains("-h") {
        out(usage)
        return ExitCode.pass.rawValue
      }
      if arguments == ["--list"] {
        for check in ContractCatalogue.all { out("\(check.id)\t\(check.rule)\n") }
        return ExitCode.pass.rawValue
      }
      let options: VerifyOptions
      let checks: [ContractCheck]
      do {
        options = try VerifyArguments.options(arguments, environment: variables) { path in
          [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        checks = try ContractCatalogue.selected(only: options.only, filter: options.filter)
      } catch {
        complain(explain(error))
        return ExitCode.invalid.rawValue
      }
      guard !checks.isEmpty else {
        complain("verify: no check has \"\(options.filter ?? "")\" in its id\n")
        return ExitCode.invalid.rawValue
      }
      return verify(options, checks, environment, out: out, complain: complain)
    }

    private static func explain(_ error: any Error) -> String {
      switch error {
      case let errors as ScriptErrors: return errors.rendered
      case let mistake as VerifyArguments.Mistake:
        return "verify: \(mistake.text)\nverify --help lists the arguments\n"
      case let unknown as ContractCatalogue.UnknownCheck:
        let hint = unknown.nearest.map { ", did you mean \($0)?" } ?? ""
        return "verify: no check is named \(unknown.id)\(hint)\n"
      default: return "verify: \(error)\n"
      }
    }

    private static func verify(
      _ options: VerifyOptions, _ checks: [ContractCheck], _ environment: VerifyEnvironment,
      out: (String) -> Void, complain: (String) -> Void
    ) -> Int32 {
      let report: ContractReport
      do {
        report = try VerifyRunner(options, environment: environment).run(checks) { result in
          if !options.dryRun { out(ContractTable.line(result) + "\n") }
        }
      } catch let unavailable as TargetUnavailable {
        complain("verify: \(unavailable.sentence)\n")
        return ExitCode.unavailable.rawValue
      } catch {
        complain("verify: \(error)\n")
        return ExitCode.runnerFailed.rawValue
      }
      if options.dryRun {
        out(ContractTable.plan(report))
        return ExitCode.pass.rawValue
      }
      out(ContractTable.ending(report))
      let written = write(report, options, complain: complain)
      return exitCode(report, options, written: written)
    }

    private static func exitCode(
      _ report: ContractReport, _ options: VerifyOptions, written: Bool
    ) -> Int32 {
      if report.count(.fail) > 0 { return ExitCode.broken.rawValue }
      if !written { return ExitCode.runnerFailed.rawValue }
      let unseen = report.count(.skipped) + report.count(.notObservable)
      return options.requireAll && unseen > 0 ? ExitCode.unknown.rawValue : ExitCode.pass.rawValue
    }

    private static func write(
      _ report: ContractReport, _ options: VerifyOptions, complain: (String) -> Void
    ) -> Bool {
      let files: [(String?, () -> [UInt8])] = [
        (options.jsonFile, { ContractJSON.bytes(report) }),
        (options.junitFile, { Array(ContractJUnit.text(report).utf8) }),
        (options.markdownFile, { Array(ContractMarkdown.text(report).utf8) }),
      ]
      var complete = true
      for case (let path?, let bytes) in files {
        do { try Data(bytes()).write(to: URL(fileURLWithPath: path)) } catch {
          complain("verify: \(path) cannot be written\n")
          complete = false
        }
      }
      return complete
    }
  }
#endif
