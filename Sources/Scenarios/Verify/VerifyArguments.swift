#if os(macOS) || os(Linux)
  /// Reads the command line of `workbench verify`.
  package enum VerifyArguments {
    /// What is wrong with a command line, for the reader of a terminal.
    package struct Mistake: Error, Sendable {
      package var text: String
    }

    private static let valued: Set<String> = [
      "--url", "--token-env", "--observe", "--observe-token-env", "--expired-token-env",
      "--restart-command", "--provoke-command", "--policy", "--rate", "--budget", "--ca", "--only",
      "--filter", "--json", "--junit", "--markdown",
    ]
    private static let flags: Set<String> = [
      "--require-all", "--destructive", "--dry-run", "--help", "--list",
    ]

    /// Values by name, in the order given; a name may stand once, `--only` several times.
    struct Parsed {
      var values: [String: [String]] = [:]
      var flags: Set<String> = []
      func value(_ name: String) -> String? { values[name]?.last }
    }

    static func parse(_ arguments: [String]) throws -> Parsed {
      var parsed = Parsed()
      var rest = arguments[...]
      while let argument = rest.popFirst() {
        var name = argument
        var inline: String?
        if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "="),
          valued.contains(String(argument[..<equals]))
        {
          name = String(argument[..<equals])
          inline = String(argument[argument.index(after: equals)...])
        }
        if flags.contains(name) {
          parsed.flags.insert(name)
          continue
        }
        guard valued.contains(name) else { throw unknown(argument) }
        guard let value = inline ?? rest.popFirst() else {
          throw Mistake(text: "\(name) needs a value")
        }
        guard name == "--only" || parsed.values[name] == nil else {
          throw Mistake(text: "\(name) stands twice")
        }
        parsed.values[name, default: []].append(value)
      }
      return parsed
    }

    private static func unknown(_ argument: String) -> Mistake {
      let known = Array(valued) + Array(flags)
      let hint = Nearest.match(argument, among: known).map { ", did you mean \($0)?" } ?? ""
      return Mistake(text: "unknown argument \(argument)\(hint)")
    }

    /// The options of a run. `readFile` gives a file's bytes or throws.
    package static func options(
      _ arguments: [String], environment: [String: String],
      readFile: (String) throws -> [UInt8]
    ) throws -> VerifyOptions {
      let parsed = try parse(arguments)
      guard let url = parsed.value("--url") else { throw Mistake(text: "--url is missing") }
      let target = try self.target(url, for: "--url").withContractPath
      guard let variable = parsed.value("--token-env") else {
        throw Mistake(text: "--token-env is missing: name the variable that holds the token")
      }
      let token = try secret(variable, "--token-env", environment)
      var options = VerifyOptions(target: target, token: token)
      options.tokenVariable = variable
      if let name = parsed.value("--expired-token-env") {
        options.expiredToken = try secret(name, "--expired-token-env", environment)
        options.expiredTokenVariable = name
      }
      if let name = parsed.value("--observe-token-env") {
        options.observeToken = try secret(name, "--observe-token-env", environment)
      }
      options.observe = try observe(parsed.value("--observe") ?? "none")
      options.restartCommand = parsed.value("--restart-command")
      options.provokeCommand = parsed.value("--provoke-command")
      options.requireAll = parsed.flags.contains("--require-all")
      options.destructive = parsed.flags.contains("--destructive")
      options.dryRun = parsed.flags.contains("--dry-run")
      options.caFile = parsed.value("--ca")
      options.only = (parsed.values["--only"] ?? []).flatMap {
        $0.split(separator: ",").map(String.init)
      }
      options.filter = parsed.value("--filter")
      options.jsonFile = parsed.value("--json")
      options.junitFile = parsed.value("--junit")
      options.markdownFile = parsed.value("--markdown")
      try limits(parsed, &options)
      if let caFile = options.caFile { _ = try read(caFile, "--ca", readFile) }
      if let file = parsed.value("--policy") {
        options.policy = try ServerPolicy.parse(
          file: file, bytes: try read(file, "--policy", readFile))
      }
      return options
    }

    private static func limits(_ parsed: Parsed, _ options: inout VerifyOptions) throws {
      if let text = parsed.value("--rate") {
        guard let rate = Int(text), (1...10_000).contains(rate) else {
          throw Mistake(text: "--rate is \"\(text)\", expected requests a second, 1 to 10000")
        }
        options.rate = rate
      }
      if let text = parsed.value("--budget") {
        do { options.budgetNs = try Quantity.duration(text) } catch let fault as Quantity.Fault {
          throw Mistake(text: "--budget \(fault.explanation), e.g. 90s")
        }
        guard options.budgetNs > 0 else { throw Mistake(text: "--budget is zero") }
      }
    }

    private static func read(
      _ file: String, _ name: String, _ readFile: (String) throws -> [UInt8]
    ) throws -> [UInt8] {
      do { return try readFile(file) } catch {
        throw Mistake(text: "\(name): \(file) cannot be read")
      }
    }

    private static func target(_ text: String, for name: String) throws -> Target {
      switch Target.parse(text) {
      case .success(let target): return target
      case .failure(let problem): throw Mistake(text: "\(name) \(problem.text)")
      }
    }

    /// A token goes into a header: line breaks would forge more of them.
    private static func secret(
      _ variable: String, _ name: String, _ environment: [String: String]
    ) throws -> String {
      guard let value = environment[variable], !value.isEmpty else {
        throw Mistake(
          text: "\(name): the environment variable \(variable) is not set (export it first)")
      }
      guard value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
        throw Mistake(text: "\(name): \(variable) holds characters that no header may have")
      }
      return value
    }

    private static func observe(_ text: String) throws -> VerifyOptions.Observe {
      if text == "none" { return .none }
      if text == "admin" { return .admin(nil) }
      if text.hasPrefix("admin=") {
        return .admin(try target(String(text.dropFirst(6)), for: "--observe admin="))
      }
      if text.hasPrefix("lookup=") {
        let template = String(text.dropFirst(7))
        guard template.contains("{id}") else {
          throw Mistake(text: "--observe lookup= needs {id} where the event's id goes")
        }
        if case .failure(let problem) = Observer.lookupTarget(template) {
          throw Mistake(text: "--observe lookup= \(problem.text)")
        }
        return .lookup(template)
      }
      throw Mistake(
        text: "--observe is \"\(text)\", expected admin, admin=URL, lookup=URL or none")
    }
  }
#endif
