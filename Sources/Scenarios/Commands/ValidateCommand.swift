/// `workbench validate PATH…`: reads scripts and lists every mistake; runs nothing.
package enum ValidateCommand {
  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    do {
      let parsed = try Arguments(arguments, valued: [], flags: [])
      guard !parsed.paths.isEmpty else {
        throw UsageError("no script is named\nusage: workbench validate PATH…")
      }
      let loaded = try ScriptLoader.load(parsed.paths)
      for mistake in loaded.mistakes { Console.error(mistake, terminator: "") }
      guard loaded.mistakes.isEmpty else {
        Console.error("\(loaded.mistakes.count) of \(loaded.files) scripts are invalid")
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
