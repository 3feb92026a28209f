#if os(Linux)
  import Foundation
  import Glibc
  import XCTest

  /// Runs one test of this very test program in a process of its own.
  enum ChildTest {
    struct Failure: Error, CustomStringConvertible {
      let description: String
    }

    static func run(_ name: String, environment: [String: String]) throws {
      var merged = ProcessInfo.processInfo.environment
      for (key, value) in environment { merged[key] = value }
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup(name), nil]
      var variables: [UnsafeMutablePointer<CChar>?] = merged.map { strdup("\($0)=\($1)") } + [nil]
      defer { (arguments + variables).forEach { free($0) } }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for descriptor: Int32 in 0...2 {
        posix_spawn_file_actions_addopen(
          &actions, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0)
      }
      var child: pid_t = 0
      let failure = posix_spawn(&child, program, &actions, nil, &arguments, &variables)
      guard failure == 0 else { throw Failure(description: "spawn: \(failure)") }
      var status: Int32 = 0
      while waitpid(child, &status, 0) == -1 {
        guard errno == EINTR else { throw Failure(description: "waitpid: \(errno)") }
      }
      guard status == 0 else { throw Failure(description: "\(name) ended with \(status)") }
    }
  }
#endif
