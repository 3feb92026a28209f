/// `workbench reference schema|scenario`: prints what is generated from the parser's definition.
package enum ReferenceCommand {
  static let usage = "usage: workbench reference schema|scenario"

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    switch arguments.first {
    case "schema": Console.out(ScenarioSchema.text, terminator: "")
    case "scenario": Console.out(ScenarioReference.text, terminator: "")
    default:
      Console.error(usage)
      return ExitCode.invalid.rawValue
    }
    return ExitCode.pass.rawValue
  }
}
