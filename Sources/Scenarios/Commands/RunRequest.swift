import Foundation

/// The parsed command line of `run`, and of `replay`, which adds one case to it.
struct RunRequest {
  var paths: [String]
  var lanes: [LaneName]?
  var seed: UInt64?
  var filter: String?
  var title: String?
  var shard = Shard.all
  /// A case waits now and then, for a process to end or a thread to wake up: one more than there
  /// are cores keeps these busy.
  var jobs = min(Int(RunRequest.maxJobs), ProcessInfo.processInfo.activeProcessorCount + 1)
  var timeoutSeconds = 60.0
  var out: String?
  var junit: String?
  var html: String?
  var json: String?
  /// A folder for the history of every case.
  var jsonl: String?
  var watches = false
  var remote: Target?
  var admin: Target?
  var tokenVariable: String?
  var adminTokenVariable: String?
  var maxRealNs = RemoteSite.defaultMaxRealNs

  private static let maxJobs: Int64 = 64
  private static let maxTimeoutSeconds: Int64 = 86_400

  static let valued = [
    "--lane", "--seed", "--filter", "--shard", "--jobs", "--timeout", "--out", "--junit",
    "--html", "--json", "--jsonl", "--remote", "--admin", "--token-env", "--admin-token-env",
    "--max-real",
  ]

  init(_ words: [String]) throws {
    try self.init(try Arguments(words, valued: RunRequest.valued, flags: ["--watch"]))
    guard !paths.isEmpty else { throw UsageError("no script is named\n\(RunCommand.usage)") }
  }

  init(_ arguments: Arguments) throws {
    paths = arguments.paths
    watches = arguments.flags.contains("--watch")
    if let names = arguments.values["--lane"] {
      lanes = try names.flatMap { $0.split(separator: ",") }.map { name in
        guard let lane = LaneName(rawValue: String(name)) else {
          throw UsageError(
            "--lane is \"\(name)\", expected one of"
              + " \(LaneName.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return lane
      }
    }
    seed = try arguments.integer("--seed", in: 0...Int64.max).map(UInt64.init)
    filter = arguments.value("--filter")
    if let text = arguments.value("--shard") {
      guard let shard = Shard(text) else {
        throw UsageError("--shard is \"\(text)\", expected I/N with 1 ≤ I ≤ N, e.g. 2/3")
      }
      self.shard = shard
    }
    if let jobs = try arguments.integer("--jobs", in: 1...RunRequest.maxJobs) {
      self.jobs = Int(jobs)
    }
    if let seconds = try arguments.integer("--timeout", in: 1...RunRequest.maxTimeoutSeconds) {
      timeoutSeconds = Double(seconds)
    }
    out = arguments.value("--out")
    junit = arguments.value("--junit")
    html = arguments.value("--html")
    json = arguments.value("--json")
    jsonl = arguments.value("--jsonl")
    try readRemote(arguments)
  }

  private mutating func readRemote(_ arguments: Arguments) throws {
    remote = try RunRequest.target(arguments, "--remote")?.withContractPath
    admin = try RunRequest.target(arguments, "--admin")
    tokenVariable = arguments.value("--token-env")
    adminTokenVariable = arguments.value("--admin-token-env")
    if let text = arguments.value("--max-real") {
      do { maxRealNs = try Quantity.duration(text) } catch let fault as Quantity.Fault {
        throw UsageError("--max-real \(fault.explanation), e.g. 2m")
      }
    }
    guard remote == nil else { return }
    for name in ["--admin", "--token-env", "--admin-token-env", "--max-real"]
    where arguments.value(name) != nil {
      throw UsageError("\(name) goes with --remote URL")
    }
  }

  private static func target(_ arguments: Arguments, _ name: String) throws -> Target? {
    guard let text = arguments.value(name) else { return nil }
    switch Target.parse(text) {
    case .success(let target): return target
    case .failure(let problem): throw UsageError("\(name) \(problem.text)")
    }
  }

  func selection(_ site: RemoteSite?) -> CaseSelection {
    CaseSelection(
      lanes: lanes, seed: seed, filter: filter, title: title, shard: shard, remote: site)
  }

  /// The words that name the target again, for a command that repeats a case. Tokens stay in the
  /// environment.
  var remoteWords: [String] {
    let pairs = [
      ("--remote", remote?.url), ("--admin", admin?.url), ("--token-env", tokenVariable),
      ("--admin-token-env", adminTokenVariable),
    ]
    return pairs.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  /// Meets the target. Nil without one; throws `TargetUnavailable` where nothing answers.
  func site(_ environment: [String: String]) throws -> RemoteSite? {
    guard let remote else { return nil }
    let admin = RemoteAdmin(
      target: self.admin ?? remote,
      token: try RunRequest.secret(adminTokenVariable, "--admin-token-env", environment))
    var site = RemoteSite(
      target: remote, token: try RunRequest.secret(tokenVariable, "--token-env", environment),
      admin: admin, maxRealNs: maxRealNs)
    if try !RemoteProbe.meet(site) { site.admin = nil }
    return site
  }

  /// A token goes into a header: line breaks would forge more of them.
  private static func secret(
    _ variable: String?, _ name: String, _ environment: [String: String]
  ) throws -> String? {
    guard let variable else { return nil }
    guard let value = environment[variable], !value.isEmpty else {
      throw UsageError("\(name): the environment variable \(variable) is not set")
    }
    guard value.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw UsageError("\(name): \(variable) holds characters that no header may have")
    }
    return value
  }

  func writeReports(_ report: RunReport) throws {
    try ReportFile.write(report, junit: junit, html: html, json: json)
    GitHubAnnotations.print(GitHubAnnotations.lines(report))
  }
}
