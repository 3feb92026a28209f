#if os(macOS) || os(Linux)
  import Foundation

  /// Runs an operator's command with /bin/sh and waits for its end, for a bounded time.
  enum ShellCommand {
    struct Outcome: Sendable {
      var succeeded: Bool
      var text: String
    }

    /// A restart of a real server takes its time; nobody waits longer.
    static let patienceNs: Int64 = 60_000_000_000
    private static let pollNs: Int64 = 10_000_000
    private static let shownBytes = 500

    static func run(_ command: String, by end: Deadline) -> Outcome {
      // A file, not a pipe: a server started in the background keeps its output open for ever.
      let unnamed = String(repeating: "X", count: 6)
      var template = Array((NSTemporaryDirectory() + "workbench-verify." + unnamed).utf8CString)
      let log = mkstemp(&template)
      guard log >= 0 else { return Outcome(succeeded: false, text: "no temporary file") }
      unlink(&template)
      _ = fcntl(log, F_SETFD, FD_CLOEXEC)
      defer { close(log) }
      guard let child = spawn(command, log: log) else {
        return Outcome(succeeded: false, text: "/bin/sh cannot be started")
      }
      let deadline = Deadline.after(ns: patienceNs).orEarlier(end)
      var status: Int32 = 0
      while true {
        let reaped = waitpid(child, &status, WNOHANG)
        if reaped == child { return outcome(status, log: log) }
        if reaped < 0 && errno != EINTR {
          return Outcome(succeeded: false, text: "its end was not seen")
        }
        guard !deadline.isOver else {
          kill(child, SIGKILL)
          waitpid(child, &status, 0)
          return Outcome(succeeded: false, text: "it did not end in time and was killed")
        }
        RawSocket.pause(until: Deadline.after(ns: pollNs))
      }
    }

    private static func spawn(_ command: String, log: Int32) -> pid_t? {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
      #else
        var actions = posix_spawn_file_actions_t()
      #endif
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, log, 1)
      posix_spawn_file_actions_adddup2(&actions, log, 2)
      let words = ["/bin/sh", "-c", command]
      var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) }
      arguments.append(nil)
      defer { for argument in arguments { free(argument) } }
      // We ignore SIGPIPE; the operator's programs expect it.
      #if canImport(Darwin)
        var attributes: posix_spawnattr_t?
      #else
        var attributes = posix_spawnattr_t()
      #endif
      posix_spawnattr_init(&attributes)
      defer { posix_spawnattr_destroy(&attributes) }
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      posix_spawnattr_setsigdefault(&attributes, &signals)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
      var child: pid_t = 0
      let status = posix_spawn(&child, "/bin/sh", &actions, &attributes, &arguments, environ)
      return status == 0 ? child : nil
    }

    private static func outcome(_ status: Int32, log: Int32) -> Outcome {
      var buffer = [UInt8](repeating: 0, count: shownBytes)
      let count = max(0, pread(log, &buffer, shownBytes, 0))
      let said = String(decoding: buffer.prefix(count), as: UTF8.self)
        .split(separator: "\n").joined(separator: " / ")
      // The wait status: the low seven bits are a signal, the next byte the exit code.
      let signal = status & 0x7f
      let code = (status >> 8) & 0xff
      if signal == 0 && code == 0 { return Outcome(succeeded: true, text: said) }
      let how = signal == 0 ? "exit code \(code)" : "signal \(signal)"
      return Outcome(succeeded: false, text: said.isEmpty ? how : "\(how): \(said)")
    }
  }
#endif
