import Foundation
import XCTest

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A server of `Tests/Fixtures`, in a process of its own that ends with its standard input.
final class PythonServer {
  let url: String
  private let child: pid_t
  private let input: Int32

  static let fixtures = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  /// Starts a script and reads its ready line. Skips the test where there is no python3.
  init(_ script: String, _ arguments: [String] = []) throws {
    guard let python = PythonServer.find("python3") else {
      throw XCTSkip("python3 is not installed")
    }
    var toChild: [Int32] = [0, 0]
    var fromChild: [Int32] = [0, 0]
    guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failure("no pipes") }
    for end in toChild + fromChild { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
    posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let path = PythonServer.fixtures.appendingPathComponent(script).path
    var words: [UnsafeMutablePointer<CChar>?] = ([python, path] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    let status = posix_spawn(&child, python, &actions, nil, words, environ)
    close(toChild[0])
    close(fromChild[1])
    guard status == 0 else { throw Failure("python3 cannot be started: \(status)") }
    self.child = child
    input = toChild[1]
    let line = PythonServer.line(fromChild[0])
    close(fromChild[0])
    guard line.hasPrefix("ready ") else { throw Failure("no ready line: \"\(line)\"") }
    url = String(line.dropFirst(6))
  }

  deinit {
    close(input)
    kill(child, SIGKILL)
    var status: Int32 = 0
    waitpid(child, &status, 0)
  }

  struct Failure: Error {
    var text: String
    init(_ text: String) { self.text = text }
  }

  static func find(_ program: String) -> String? {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(program)" }.first {
      access($0, X_OK) == 0
    }
  }

  private static func line(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 0x0a { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
