import Foundation

exit(CrashLab.run(Array(CommandLine.arguments.dropFirst())))
