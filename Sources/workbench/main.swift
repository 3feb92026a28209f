import MockBatchServer
import Scenarios

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

let arguments = Array(CommandLine.arguments.dropFirst())
if let code = UsageCommand.help(arguments) { exit(code) }
switch arguments.first {
case "device": DeviceCommand.run(arguments: Array(arguments.dropFirst()))
case "recheck": exit(RecheckCommand.run(arguments: Array(arguments.dropFirst())))
case "replay": exit(ReplayCommand.run(arguments: Array(arguments.dropFirst())))
case "run": exit(RunCommand.run(arguments: Array(arguments.dropFirst())))
case "bench": exit(FleetCommand.run(arguments: Array(arguments.dropFirst())))
case "verify": exit(VerifyCommand.run(arguments: Array(arguments.dropFirst())))
case "serve": exit(ServeCommand.run(arguments: Array(arguments.dropFirst())))
case "parse-http": exit(ParseCommand.run())
case "validate": exit(ValidateCommand.run(arguments: Array(arguments.dropFirst())))
case "reference": exit(ReferenceCommand.run(arguments: Array(arguments.dropFirst())))
default: exit(UsageCommand.run(arguments: arguments))
}
