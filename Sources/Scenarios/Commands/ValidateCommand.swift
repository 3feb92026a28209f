/// `workbench validate PATH…`: reads scripts and lists every mistake; runs nothing.
package enum ValidateCommand {
  static let usage = "usage: workbench validate PATH…"

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    do {
      let parsed = try Arguments(arguments, valued: [], flags: [])
      guard !parsed.paths.isEmpty else {
        throw UsageError("no script is named\n\(usage)")
      }
      let loaded = try ScriptLoader.load(parsed.paths)
      if loaded.complain() {
        Console.error("\(loaded.broken.count) of \(loaded.files) scripts are invalid")
        return ExitCode.invalid.rawValue
      }
      Console.out("\(loaded.files) scripts, \(loaded.scenarios.count) scenarios: valid")
      return ExitCode.pass.rawValue
    } catch {
      Console.error("workbench validate: \(error)")
      return ExitCode.invalid.rawValue
    }
  }
}

/// What `workbench` says where no command is named, or an unknown one.
package enum UsageCommand {
  static let commands = [
    "run", "validate", "replay", "recheck", "verify", "serve", "bench", "reference",
  ]

  /// The usage of a command whose line asks for it and nothing else; nil where it does not, or the
  /// command has words of its own for it.
  package static func help(_ arguments: [String]) -> Int32? {
    let usages = [
      "run": RunCommand.usage, "validate": ValidateCommand.usage, "replay": ReplayCommand.usage,
      "recheck": RecheckCommand.usage, "bench": FleetCommand.usage,
      "reference": ReferenceCommand.usage,
    ]
    guard arguments.count == 2, ["--help", "-h"].contains(arguments[1]),
      let usage = usages[arguments[0]]
    else { return nil }
    SystemCalls.prepareStandardDescriptors()
    Console.out(usage)
    return ExitCode.pass.rawValue
  }

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    let text = "usage: workbench \(commands.joined(separator: "|")) …\n\(RunCommand.usage)"
    guard let command = arguments.first, command != "--help", command != "help" else {
      Console.out(text)
      return arguments.isEmpty ? ExitCode.invalid.rawValue : ExitCode.pass.rawValue
    }
    let hint = Nearest.match(command, among: commands).map { ", did you mean \"\($0)\"?" } ?? ""
    Console.error("workbench: unknown command \"\(command)\"\(hint)\n\(text)")
    return ExitCode.invalid.rawValue
  }
}
