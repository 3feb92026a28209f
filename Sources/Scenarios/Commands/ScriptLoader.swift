import Foundation
import JSONText

/// Finds and reads scripts; every mistake of every file is reported before anything runs.
enum ScriptLoader {
  /// Scripts of one run at most.
  static let maxFiles = 10_000

  struct Loaded {
    var scenarios: [Scenario] = []
    /// The mistakes of each file that has some.
    var broken: [ScriptErrors] = []
    var files = 0

    /// Rendered, one text a file.
    var mistakes: [String] { broken.map(\.rendered) }

    /// Says every mistake. False where there is none.
    func complain() -> Bool {
      for errors in broken { Console.error(errors.rendered, terminator: "") }
      GitHubAnnotations.print(broken.flatMap(\.errors).map(GitHubAnnotations.line))
      return !broken.isEmpty
    }
  }

  /// Throws `UsageError` where a path is missing or unreadable.
  static func load(_ paths: [String]) throws -> Loaded {
    var loaded = Loaded()
    var names: [String: String] = [:]
    for file in try files(in: paths) {
      loaded.files += 1
      let contents: UserFile.Contents
      do { contents = try UserFile.read(file, atMost: ScenarioShape.maxScriptBytes) } catch {
        throw UsageError("\(error)")
      }
      do {
        let variants = try ScenarioParser.parse(
          file: file, bytes: contents.bytes, size: contents.size)
        if let name = variants.first?.name {
          if let other = names[name] {
            loaded.broken.append(taken(name, by: other, file, contents.bytes))
            continue
          }
          names[name] = file
        }
        loaded.scenarios += variants
      } catch let errors as ScriptErrors {
        loaded.broken.append(errors)
      }
    }
    return loaded
  }

  private static func taken(
    _ name: String, by other: String, _ file: String, _ source: [UInt8]
  ) -> ScriptErrors {
    // The script has just been parsed.
    let position = (try? JSONDocument(parsing: source))?.root["name"]?.position
    let error = ScriptError(
      file: file, position: position ?? JSONPosition(line: 1, column: 1, offset: 0),
      length: name.unicodeScalars.count + 2, message: "the name \"\(name)\" is taken by \(other)")
    return ScriptErrors(errors: [error], source: source)
  }

  static func files(in paths: [String]) throws -> [String] {
    var files: [String] = []
    for path in paths {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
        throw UsageError("\(path): no such file or folder")
      }
      if !isFolder.boolValue {
        files.append(path)
        continue
      }
      let found = try scripts(below: path)
      guard !found.isEmpty else { throw UsageError("\(path): no scenario scripts in it") }
      files += found
    }
    // A folder and a script in it may both be named.
    var seen: Set<String> = []
    files = files.filter { seen.insert(URL(fileURLWithPath: $0).standardizedFileURL.path).inserted }
    guard files.count <= maxFiles else {
      throw UsageError("\(files.count) scripts, at most \(maxFiles) run at once")
    }
    return files
  }

  /// Every `.json` file below, but for schemas and whatever lies in a folder named `data`.
  private static func scripts(below folder: String) throws -> [String] {
    guard let walker = FileManager.default.enumerator(atPath: folder),
      FileManager.default.isReadableFile(atPath: folder)
    else { throw UsageError("\(folder): cannot be read") }
    var found: [String] = []
    for case let name as String in walker {
      let parts = name.split(separator: "/")
      guard name.hasSuffix(".json"), !name.hasSuffix(".schema.json"),
        !parts.dropLast().contains("data")
      else { continue }
      found.append((folder.hasSuffix("/") ? folder : folder + "/") + name)
    }
    return found.sorted()
  }
}
