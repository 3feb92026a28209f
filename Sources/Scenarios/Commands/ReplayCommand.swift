import Foundation

/// `workbench replay`: runs one case again, from the folder that it left or from the printed line.
package enum ReplayCommand {
  static let usage = """
    usage: workbench replay FOLDER [options of run]
           workbench replay SCRIPT --lane L [--seed N] [--case TITLE] [options of run]

    FOLDER is what a failed case left under --out; it names script, lane, seed and case.
    """

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    return RunCommand.attempt("replay") {
      let request = try self.request(arguments) { Console.error("workbench replay: \($0)") }
      let outputs = try OutputCheck.prepare(request)
      let site = try request.site(ProcessInfo.processInfo.environment)
      return try RunCommand.run(request, site, outputs)
    }
  }

  /// The line that repeats a case.
  static func line(_ planned: PlannedCase, _ remoteWords: [String]) -> String {
    var words = [
      "workbench", "replay", planned.scenario.file, "--lane", planned.lane.rawValue, "--seed",
      "\(planned.seed)",
    ]
    if !planned.scenario.variant.isEmpty { words += ["--case", planned.scenario.title] }
    if planned.lane == .remote { words += remoteWords }
    return words.map(quoted).joined(separator: " ")
  }

  /// For a shell: plain words stay as they are.
  private static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy {
      ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
        || "-_./:=,@%+".unicodeScalars.contains($0)
    }
    if plain && !word.isEmpty { return word }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''") + "'"
  }

  /// - Parameter note: told what the reader should know beyond the verdict.
  static func request(_ words: [String], note: (String) -> Void) throws -> RunRequest {
    let arguments = try Arguments(words, valued: RunRequest.valued + ["--case"], flags: [])
    guard arguments.paths.count == 1, let path = arguments.paths.first else {
      throw UsageError("one folder or script is wanted\n\(usage)")
    }
    var request = try RunRequest(arguments)
    request.title = arguments.value("--case")
    if let kept = try KeptCase(path) {
      request.paths = [try kept.script(note: note)]
      request.lanes = request.lanes ?? [kept.lane]
      request.seed = request.seed ?? kept.seed
      request.title = request.title ?? kept.title
    }
    guard request.lanes != nil else {
      throw UsageError("--lane is missing: a replay is of one case\n\(usage)")
    }
    return request
  }
}

/// What a failed case left behind.
struct KeptCase {
  static let historyName = "history.jsonl"
  static let scriptName = "scenario.json"
  static let journalName = "journal.jsonl"

  let folder: String
  let file: String
  let title: String
  let lane: LaneName
  let seed: UInt64

  /// Nil where the path is a script. Throws `UsageError` where it is neither.
  init?(_ path: String) throws {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw UsageError("\(path): no such file or folder")
    }
    guard isFolder.boolValue || path.hasSuffix(".jsonl") else { return nil }
    let history = isFolder.boolValue ? path + "/" + KeptCase.historyName : path
    guard FileManager.default.fileExists(atPath: history) else {
      throw UsageError("\(path): there is no \(KeptCase.historyName) of a case in it")
    }
    let header: HistoryHeader
    do {
      let bytes = try UserFile.readWhole(history, atMost: HistoryReader.maxBytes)
      header = try HistoryReader.read(bytes).header
    } catch let error as HistoryError {
      throw UsageError("\(history): \(error)")
    } catch let trouble as UserFile.Trouble { throw UsageError("\(trouble)") }
    guard let lane = LaneName(rawValue: header.lane) else {
      throw UsageError("\(history): there is no lane \"\(header.lane)\"")
    }
    folder = history.lastIndex(of: "/").map { String(history[..<$0]) } ?? "."
    file = header.file
    title = header.scenario
    seed = header.seed
    self.lane = lane
  }

  /// The script where it lay; the kept copy where it is gone. Says so where they differ.
  func script(note: (String) -> Void) throws -> String {
    let copy = folder + "/" + KeptCase.scriptName
    let now = FileManager.default.contents(atPath: file)
    let then = FileManager.default.contents(atPath: copy)
    guard now != nil else {
      guard then != nil else {
        throw UsageError("\(file): the script is gone, and no copy was kept")
      }
      note("\(file) is gone, the kept copy is run")
      return copy
    }
    if let then, then != now { note("\(file) has changed since; what then ran is \(copy)") }
    return file
  }
}
