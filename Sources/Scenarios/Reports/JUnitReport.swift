/// JUnit XML: one suite per scenario and lane, one case per checker.
///
/// A failed check is a `failure`, an unknown one an `error`, a skipped lane a `skipped` case, and
/// the runner's own trouble an `error` of a case named `run`. Characters that XML 1.0 forbids are
/// written as `\u{…}`.
package enum JUnitReport {
  package static func text(_ report: RunReport) -> String {
    var xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    let suites = report.cases.map(Suite.init) + differenceSuites(report)
    xml += "<testsuites\(totals(suites)) time=\"\(seconds(report.tookMs))\">\n"
    for suite in suites {
      xml += "  <testsuite name=\"\(XMLText.attribute(suite.name))\"\(totals([suite]))"
      xml += " time=\"\(seconds(suite.tookMs))\">\n"
      for item in suite.cases { xml += testcase(item, suite) }
      xml += "  </testsuite>\n"
    }
    return xml + "</testsuites>\n"
  }

  private enum Outcome { case pass, failure, error, skipped }

  private struct Case {
    var name: String
    var outcome: Outcome
    var message = ""
    var body: [String] = []
  }

  private struct Suite {
    var name: String
    var className: String
    var tookMs: Int64
    var cases: [Case]

    init(name: String, className: String, cases: [Case]) {
      self.name = name
      self.className = className
      tookMs = 0
      self.cases = cases
    }

    init(_ report: CaseReport) {
      name = "\(report.scenario) (\(report.lane))"
      className = "\(report.scenario).\(report.lane)"
      tookMs = report.tookMs
      var names: [String: Int] = [:]
      cases = report.results.map { result in
        // Two expectations with one key are two cases.
        let count = (names[result.checker] ?? 0) + 1
        names[result.checker] = count
        let name = count == 1 ? result.checker : "\(result.checker) \(count)"
        return JUnitReport.item(result, name, report)
      }
      if let trouble = report.trouble {
        cases.append(
          Case(
            name: "run", outcome: .error, message: trouble,
            body: FailureText.tail(report, indent: "")))
      } else if let reason = report.skipped {
        cases.append(Case(name: "run", outcome: .skipped, message: reason))
      } else if cases.isEmpty {
        cases.append(Case(name: "run", outcome: .error, message: "nothing was expected"))
      }
    }
  }

  private static func item(_ result: CheckResult, _ name: String, _ report: CaseReport) -> Case {
    let message = result.verdict.explanation
    let body =
      FailureText.lines(result, report, indent: "") + FailureText.tail(report, indent: "")
    switch result.verdict.outcome {
    case .pass: return Case(name: name, outcome: .pass)
    case .fail: return Case(name: name, outcome: .failure, message: message, body: body)
    case .unknown:
      return Case(name: name, outcome: .error, message: "unknown: \(message)", body: body)
    }
  }

  private static func differenceSuites(_ report: RunReport) -> [Suite] {
    report.comparisons.filter { $0.lanes.count > 1 }.map { comparison in
      let findings = comparison.findings.map(FailureText.text)
      let item = Case(
        name: "same in every lane", outcome: findings.isEmpty ? .pass : .failure,
        message: findings.first ?? "", body: findings)
      return Suite(
        name: "\(comparison.scenario) (lanes compared)", className: "\(comparison.scenario).lanes",
        cases: [item])
    }
  }

  private static func totals(_ suites: [Suite]) -> String {
    let cases = suites.flatMap(\.cases)
    func count(_ outcome: Outcome) -> Int { cases.filter { $0.outcome == outcome }.count }
    return " tests=\"\(cases.count)\" failures=\"\(count(.failure))\" errors=\"\(count(.error))\""
      + " skipped=\"\(count(.skipped))\""
  }

  private static func testcase(_ item: Case, _ suite: Suite) -> String {
    let head =
      "    <testcase classname=\"\(XMLText.attribute(suite.className))\""
      + " name=\"\(XMLText.attribute(item.name))\" time=\"0\""
    let message = XMLText.attribute(item.message)
    let body = XMLText.content(item.body.joined(separator: "\n"))
    switch item.outcome {
    case .pass: return head + "/>\n"
    case .skipped: return head + ">\n      <skipped message=\"\(message)\"/>\n    </testcase>\n"
    case .failure:
      return head + ">\n      <failure type=\"violated\" message=\"\(message)\">\(body)</failure>\n"
        + "    </testcase>\n"
    case .error:
      return head + ">\n      <error type=\"unknown\" message=\"\(message)\">\(body)</error>\n"
        + "    </testcase>\n"
    }
  }

  private static func seconds(_ milliseconds: Int64) -> String {
    let fraction = String(1000 + milliseconds % 1000).dropFirst()
    return "\(milliseconds / 1000).\(fraction)"
  }
}

/// Text for XML 1.0 and HTML.
enum XMLText {
  static func content(_ text: String) -> String { escape(text, inAttribute: false) }
  static func attribute(_ text: String) -> String { escape(text, inAttribute: true) }

  private static func escape(_ text: String, inAttribute: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\n", "\t":
        if inAttribute {
          escaped += "&#\(scalar.value);"
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      case "\r": escaped += "&#13;"
      default:
        if isAllowed(scalar.value) {
          escaped.unicodeScalars.append(scalar)
        } else {
          escaped += "\\u{\(String(scalar.value, radix: 16))}"
        }
      }
    }
    return escaped
  }

  /// XML 1.0, section 2.2, without the C1 controls that it discourages.
  private static func isAllowed(_ value: UInt32) -> Bool {
    (0x20...0x7e).contains(value) || (0xa0...0xd7ff).contains(value)
      || (0xe000...0xfffd).contains(value) || value >= 0x10000 && value & 0xfffe != 0xfffe
  }
}
