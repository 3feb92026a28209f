import Foundation

/// A report on its way to a file.
enum ReportFile {
  static func write(_ report: RunReport, junit: String?, html: String?, json: String?) throws {
    if let junit { try write(JUnitReport.text(report), to: junit) }
    if let html { try write(HTMLReport.text(report), to: html) }
    if let json { try write(String(decoding: JSONReport.bytes(report), as: UTF8.self), to: json) }
  }

  static func write(_ text: String, to path: String) throws {
    try UserFile.write(Array(text.utf8), to: path)
  }
}

/// Sees to it that everything a run will write can be written, before anything runs.
enum OutputCheck {
  /// The proof that it was looked at.
  struct Prepared { fileprivate init() {} }

  static func prepare(_ request: RunRequest) throws -> Prepared {
    for (name, path) in [
      ("--junit", request.junit), ("--html", request.html), ("--json", request.json),
    ] {
      if let path { try checkFile(path, name) }
    }
    for (name, path) in [("--out", request.out), ("--jsonl", request.jsonl)] {
      if let path { try checkFolder(path, name) }
    }
    return Prepared()
  }

  private static func checkFile(_ path: String, _ name: String) throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw RunnerFailure("\(name): \(path) is a folder, a file is wanted")
    }
    if UserFile.isSpecial(path) { return }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else {
      throw RunnerFailure("\(name): \(path) cannot be written, there is no folder \(folder)")
    }
    guard isFolder.boolValue else {
      throw RunnerFailure("\(name): \(path) cannot be written, \(folder) is no folder")
    }
    try probe(folder, "\(name): \(path) cannot be written")
  }

  private static func checkFolder(_ path: String, _ name: String) throws {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw RunnerFailure("\(name): the folder \(path) cannot be made (\(SystemWords.text(error)))")
    }
    try probe(path, "\(name): the folder \(path) cannot be written to")
  }

  /// Permissions do not tell everything (a read-only medium, root): a file is really made.
  private static func probe(_ folder: String, _ complaint: String) throws {
    let file = "\(folder)/.workbench-\(UUID().uuidString)"
    do { try Data().write(to: URL(fileURLWithPath: file)) } catch {
      throw RunnerFailure("\(complaint) (\(SystemWords.text(error)))")
    }
    // An empty file that cannot be removed harms nobody.
    try? FileManager.default.removeItem(atPath: file)
  }
}

/// The system's own words for an error of Foundation's.
enum SystemWords {
  static func text(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    guard let underlying, underlying.domain == NSPOSIXErrorDomain else {
      return error.localizedDescription
    }
    return SystemCalls.words(Int32(truncatingIfNeeded: underlying.code))
  }
}
