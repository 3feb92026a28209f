import Foundation

/// Where this very program lies, to be started again as a device.
enum OwnExecutable {
  static func path() throws -> String {
    #if os(Linux)
      // The kernel knows, whatever the shell said; without /proc the arguments have to do.
      let known = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let known = Bundle.main.executablePath
    #endif
    let path = known ?? CommandLine.arguments.first ?? ""
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw RunnerFailure("\(path): the workbench's own program is not there, no device can start")
    }
    return path
  }
}
