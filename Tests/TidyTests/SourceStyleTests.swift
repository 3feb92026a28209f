import XCTest

/// Style as a test: what a compiler on Linux does not notice and a reviewer forgets.
final class SourceStyleTests: XCTestCase {
  private func report(_ findings: [String], _ rule: String, file: StaticString = #filePath) {
    XCTAssert(findings.isEmpty, "\(rule):\n\(findings.joined(separator: "\n"))")
  }

  private func linesOfCode(below folder: String) throws -> [(
    place: String, code: String, raw: String
  )] {
    try Checkout.files(below: folder).flatMap { file in
      file.lines.enumerated().map {
        ("\(file.path):\($0.offset + 1)", Checkout.code(of: $0.element), String($0.element))
      }
    }
  }

  func testSources_whenRead_useOnlyWhatIOS15AndSwift59Have() throws {
    let forbidden = [
      "import Synchronization", "import Testing", "ContinuousClock", "SuspendingClock",
      "Task.sleep(for:", "Mutex<", "throws(", "nonisolated(unsafe)", "OSAllocatedUnfairLock",
      "~Escapable", "InlineArray", "Span<", "#expect", "withDiscardingTaskGroup",
    ]
    var findings: [String] = []
    for folder in ["Sources", "Tests"] {
      for line in try linesOfCode(below: folder) where !line.place.hasPrefix("Tests/TidyTests") {
        for word in forbidden where line.code.contains(word) {
          findings.append("\(line.place) \(word)")
        }
      }
    }
    report(findings, "newer than iOS 15 or Swift 5.9")
  }

  func testSources_whenRead_neverTrapOrSwallow() throws {
    let forbidden = [
      "fatalError(", "precondition(", "preconditionFailure(", "try!", "TODO", "FIXME",
    ]
    var findings: [String] = []
    for line in try linesOfCode(below: "Sources") {
      for word in forbidden
      where line.code.contains(word) || (word.count < 6 && line.raw.contains(word)) {
        findings.append("\(line.place) \(word)")
      }
    }
    report(findings, "traps or loose ends")
  }

  func testSources_whenAnErrorIsIgnored_sayWhy() throws {
    var findings: [String] = []
    for file in try Checkout.files(below: "Sources") {
      let lines = file.lines
      for (index, line) in lines.enumerated() where Checkout.code(of: line).contains("try?") {
        let above = index > 0 ? lines[index - 1] : ""
        if !line.contains("//") && !above.contains("//") {
          findings.append("\(file.path):\(index + 1)")
        }
      }
    }
    report(findings, "`try?` without a reason on the line or the one above")
  }

  func testSources_whenUncheckedSendable_nameTheGuard() throws {
    var findings: [String] = []
    for file in try Checkout.files(below: "Sources") {
      let lines = file.lines
      for (index, line) in lines.enumerated()
      where Checkout.code(of: line).contains("@unchecked Sendable") {
        let near = lines[max(0, index - 12)...index]
        if !near.contains(where: { $0.contains("//") }) {
          findings.append("\(file.path):\(index + 1)")
        }
      }
    }
    report(findings, "`@unchecked Sendable` without a comment that names its guard")
  }

  func testSystemLibraries_whenImported_areImportedByOneFilePerModule() throws {
    let allowed = [
      "CSQLite": [
        "TelemetrySDK": "SQLiteConnection.swift", "MockBatchServer": "SQLiteLedgerFile.swift",
      ],
      "CZlib": [
        "TelemetrySDK": "Gzip.swift", "MockBatchServer": "Inflate.swift",
        "Scenarios": "VerifyGzip.swift",
      ],
      "COpenSSL": [
        "TelemetrySDK": "AESGCM+OpenSSL.swift", "MockBatchServer": "TLS.swift",
        "Scenarios": "VerifyTLS.swift",
      ],
    ]
    var findings: [String] = []
    for file in try Checkout.files(below: "Sources") {
      for (library, places) in allowed where file.text.contains("import \(library)\n") {
        if places[file.module] != file.name { findings.append("\(file.path) imports \(library)") }
      }
    }
    report(findings, "a system library outside its one file")
  }

  func testModules_whenTheyImport_followTheArrows() throws {
    let modules: Set = ["JSONText", "TelemetrySDK", "MockBatchServer", "Scenarios", "workbench"]
    let arrows: [String: Set<String>] = [
      "JSONText": [], "TelemetrySDK": ["JSONText"], "MockBatchServer": ["JSONText"],
      "Scenarios": ["JSONText", "TelemetrySDK", "MockBatchServer"],
      "workbench": ["JSONText", "Scenarios", "MockBatchServer"],
    ]
    var findings: [String] = []
    for line in try linesOfCode(below: "Sources") {
      let words = line.code.split(separator: " ")
      guard let at = words.firstIndex(of: "import"), at + 1 < words.count else { continue }
      let imported = String(words[at + 1])
      let module = line.place.split(separator: "/").dropFirst().first.map(String.init) ?? ""
      if modules.contains(imported), arrows[module]?.contains(imported) != true {
        findings.append("\(line.place) \(module) → \(imported)")
      }
    }
    report(findings, "a wrong module arrow")
  }

  func testLocks_whenUsed_liveInTheBoxes() throws {
    var findings: [String] = []
    for line in try linesOfCode(below: "Sources") where !line.place.contains("/Guarded.swift") {
      for word in [
        "NSLock()", "NSRecursiveLock()", "pthread_mutex_init", "os_unfair_lock_lock",
        "NSCondition()",
      ]
      where line.code.contains(word) { findings.append("\(line.place) \(word)") }
    }
    report(findings, "a lock outside a box (Guarded.swift)")
  }

  /// Read and written back in generic storage, a bare closure gains a thunk each time, until calling
  /// it overflows the stack; inside a nominal type it does not.
  func testLocks_whenTheyHoldAClosure_holdItInANominalType() throws {
    var findings: [String] = []
    for folder in ["Sources", "Tests"] {
      for line in try linesOfCode(below: folder) where !line.place.hasPrefix("Tests/TidyTests") {
        if line.code.contains("Guarded<(@") || line.code.contains("Guarded<((") {
          findings.append(line.place)
        }
      }
    }
    report(findings, "a closure right inside a lock: use Callback")
  }

  func testFormatters_whenDatesAreWritten_areNotFoundations() throws {
    var findings: [String] = []
    for line in try linesOfCode(below: "Sources") {
      for word in ["DateFormatter(", "ISO8601DateFormatter", "NumberFormatter("]
      where line.code.contains(word) { findings.append("\(line.place) \(word)") }
    }
    report(findings, "a Foundation formatter")
  }

  func testFiles_whenLong_areSplit() throws {
    var findings: [String] = []
    for folder in ["Sources", "Tests"] {
      for file in try Checkout.files(below: folder) where file.lines.count > 401 {
        findings.append("\(file.path): \(file.lines.count - 1) lines")
      }
    }
    report(findings, "over 400 lines")
  }
}
