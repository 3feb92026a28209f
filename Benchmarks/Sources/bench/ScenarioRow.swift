import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// Seven scripted days on the virtual lane: the whole command, from the start of its process to its
/// end.
enum ScenarioRow {
  private static let program = ".build/release/workbench"
  private static let script = "scenarios/stress/seven-days-fifty-faults.json"

  static func row() throws -> Row {
    guard access(program, X_OK) == 0 else {
      throw RowFailure(
        "\(program) is not there: run from the repository's root, as make bench does")
    }
    var shortest = (wall: Double.infinity, processor: Double.infinity)
    for _ in 0..<3 {
      let run = try once()
      shortest = (min(shortest.wall, run.wall), min(shortest.processor, run.processor))
    }
    return .bound(
      "virtual lane, 7 days, 10,000 events, 50 faults", shortest.wall, unit: "s", atMost: 1,
      detail: "processor time \(format(shortest.processor)) s, the checks and the table included")
  }

  private static func once() throws -> (wall: Double, processor: Double) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    let words = [program, "run", script, "--lane", "virtual", "--jobs", "1"]
    var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    let start = seconds()
    var child: pid_t = 0
    guard posix_spawn(&child, program, &actions, nil, &arguments, environ) == 0 else {
      throw RowFailure("\(program) cannot be started")
    }
    var status: Int32 = 0
    var usage = rusage()
    while wait4(child, &status, 0, &usage) < 0 {
      guard errno == EINTR else { throw RowFailure("its end was not seen") }
    }
    let wall = seconds() - start
    guard status == 0 else { throw RowFailure("the scenario did not pass (\(status))") }
    func read(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return (wall, read(usage.ru_utime) + read(usage.ru_stime))
  }
}
