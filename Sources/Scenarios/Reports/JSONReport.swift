import JSONText

/// The run as one JSON object, for tools.
package enum JSONReport {
  /// The format's version.
  package static let version = 1

  package static func bytes(_ report: RunReport) -> [UInt8] {
    let counts = JSONObject(
      CaseReport.Status.allCases.map { ($0.rawValue, .number(report.count($0))) })
    let value: JSONValue = [
      "report": .number(version), "exitCode": .number(Int(report.exitCode)),
      "tookMs": .number(JSONNumber(report.tookMs)), "counts": .object(counts),
      "cases": .array(report.cases.map(item)),
      "differences": .array(report.comparisons.flatMap(differences)),
    ]
    return JSONWriter.bytes(value, pretty: true) + [0x0a]
  }

  private static func item(_ report: CaseReport) -> JSONValue {
    let header = report.history.header
    let figures = report.figures
    var object: JSONObject = [
      "scenario": .string(header.scenario), "lane": .string(header.lane),
      "file": .string(header.file), "about": .string(header.about),
      "seed": .number(JSONNumber(header.seed)), "status": .string(report.status.rawValue),
      "recorded": .number(figures.recorded), "delivered": .number(figures.delivered),
      "duplicates": .number(figures.duplicates), "requests": .number(figures.requests),
      "tookMs": .number(JSONNumber(report.tookMs)), "replay": .string(header.replay),
      "checks": .array(report.results.map(check)),
    ]
    object["skipped"] = report.skipped.map(JSONValue.string)
    object["runnerFailure"] = report.runnerFailure.map(JSONValue.string)
    object["unavailable"] = report.unavailable.map(JSONValue.string)
    object["artifacts"] = report.artifacts.map(JSONValue.string)
    return .object(object)
  }

  private static func check(_ result: CheckResult) -> JSONValue {
    var object: JSONObject = [
      "checker": .string(result.checker), "verdict": .string(result.verdict.outcome.rawValue),
      "explanation": .string(result.verdict.explanation),
    ]
    if let expectation = result.expectation {
      object["expected"] = .string(expectation.value)
      object["line"] = .number(expectation.line)
      object["column"] = .number(expectation.column)
    }
    if !result.verdict.subjects.isEmpty {
      object["events"] = .array(
        result.verdict.subjects.map { ["event": .string($0.name), "story": .string($0.line)] })
    }
    return .object(object)
  }

  private static func differences(_ comparison: Comparison) -> [JSONValue] {
    comparison.differences.map { difference in
      var object: JSONObject = [
        "scenario": .string(comparison.scenario),
        "lanes": .array(difference.lanes.map(JSONValue.string)),
        "text": .string(difference.text), "count": .number(difference.count),
      ]
      object["explanation"] = difference.explanation.map(JSONValue.string)
      return .object(object)
    }
  }
}
