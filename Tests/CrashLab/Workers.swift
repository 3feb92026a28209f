import Foundation
import StorageShim
import TelemetrySDK
import TelemetryTestSupport

/// One process per core, each with its share of the trials. A trial that ends its process, or does
/// not end itself, is a violation that names the trial.
enum Workers {
  /// Seconds that one trial may take on a machine many times slower than today's.
  private static let trialSeconds: UInt32 = 120

  /// In a worker: the watch over the trial that begins.
  static func begin(_ trial: String) {
    // Nothing catches it: the process ends, and whoever started it tells which trial it was.
    alarm(trialSeconds)
    put("begin " + trial)
  }

  static func put(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(1, bytes, bytes.count)
  }

  /// Runs the trials of a kind on all cores.
  static func run(_ kind: String, _ options: Options) -> [Findings] {
    let parts = max(1, options.jobs)
    let found = Guarded<[[Findings]]>(Array(repeating: [], count: parts))
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      let findings = share(kind, options, part: part, of: parts)
      found.withLock { $0[part] = findings }
    }
    Workplace.remove(Workplace.root)
    return found.withLock { $0 }.reduce(into: []) { merged, findings in
      for finding in findings {
        if let index = merged.firstIndex(where: { $0.title == finding.title }) {
          merged[index].add(finding)
        } else {
          merged.append(finding)
        }
      }
    }
  }

  private static func share(
    _ kind: String, _ options: Options, part: Int, of parts: Int
  ) -> [Findings] {
    var arguments = [
      "work", "--kind", kind, "--part", "\(part)", "--parts", "\(parts)",
      "--events", "\(options.events)", "--seed", "\(options.seed)", "--images",
      "\(options.images)",
    ]
    if let runs = options.runs { arguments += ["--runs", "\(runs)"] }
    if options.keeps { arguments.append("--keep") }
    let (output, status) = Child.run(arguments)
    var findings: [Findings] = []
    var trial = ""
    for line in output.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      switch words[0] {
      case "title": findings.append(Findings(title: words[1]))
      case "begin": trial = words[1]
      case "count": findings.last.map { findings[findings.count - 1] = $0.counted(words[1]) }
      case "violation": findings.last.map { findings[findings.count - 1] = $0.with(words[1]) }
      default: continue
      }
    }
    if status != 0 {
      var lost = Findings(title: "processes")
      lost.violations = ["\(kind) \(trial): the process ended with status \(status)"]
      findings.append(lost)
    }
    return findings
  }

  /// A worker's own findings, for the process that started it.
  static func tell(_ findings: Findings) {
    put("title " + findings.title)
    put("count cases \(findings.cases)")
    for (name, count) in findings.counts.sorted(by: { $0.key < $1.key }) {
      put("count \(name) \(count)")
    }
    for violation in findings.violations.prefix(50) { put("violation " + violation) }
  }
}

/// What one sort of trial found.
struct Findings {
  var title: String
  var cases = 0
  /// Sums over all processes, by name.
  var counts: [String: Int] = [:]
  var violations: [String] = []

  init(title: String) { self.title = title }

  mutating func add(_ other: Findings) {
    cases += other.cases
    counts.merge(other.counts, uniquingKeysWith: +)
    violations += other.violations
  }

  /// With a count as `Workers.tell` writes it.
  func counted(_ text: String) -> Findings {
    var copy = self
    guard let space = text.lastIndex(of: " "), let count = Int(text[text.index(after: space)...])
    else { return self }
    let name = String(text[..<space])
    if name == "cases" { copy.cases += count } else { copy.counts[name] = count }
    return copy
  }

  func with(_ violation: String) -> Findings {
    var copy = self
    copy.violations.append(violation)
    return copy
  }
}

/// This program, started again.
enum Child {
  /// Everything that it wrote, and how it ended: 0 where it ended well.
  static func run(_ arguments: [String]) -> (output: String, status: Int32) {
    var ends: [Int32] = [-1, -1]
    var child: pid_t = 0
    // One at a time: a child of another thread must not hold this pipe open.
    let status = starting.withLock { _ in start(arguments, &ends, &child) }
    defer { close(ends[0]) }
    guard status == 0 else { return ("", status) }
    // The pipe ends with the child; only then is it reaped.
    let output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: false).readDataToEndOfFile()
    var ending: Int32 = 0
    waitpid(child, &ending, 0)
    return (String(decoding: output, as: UTF8.self), ending)
  }

  private static let starting = Guarded(0)

  private static func start(
    _ arguments: [String], _ ends: inout [Int32], _ child: inout pid_t
  ) -> Int32 {
    guard pipe(&ends) == 0 else { return errno }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let program = CommandLine.arguments[0]
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    return posix_spawn(&child, program, &actions, nil, &words, &environment)
  }
}
