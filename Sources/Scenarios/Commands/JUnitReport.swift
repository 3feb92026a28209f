/// JUnit XML: one test case per scenario, lane and checker.
enum JUnitReport {
  static func text(_ results: [CaseResult]) -> String {
    var cases = ""
    var count = 0
    var failures = 0
    var errors = 0
    var skipped = 0
    func add(_ result: CaseResult, _ name: String, _ inner: String) {
      count += 1
      cases +=
        "  <testcase classname=\"\(escape(result.title)).\(result.lane.rawValue)\""
        + " name=\"\(escape(name))\">\(inner)</testcase>\n"
    }
    for result in results {
      if let why = result.skipped {
        skipped += 1
        add(result, "run", "<skipped message=\"\(escape(why))\"/>")
        continue
      }
      if let failure = result.failure {
        errors += 1
        add(result, "run", "<error message=\"\(escape(failure))\"/>")
      }
      for check in result.checks {
        let message = escape(check.verdict.explanation)
        switch check.verdict.outcome {
        case .pass: add(result, check.checker, "")
        case .fail:
          failures += 1
          add(result, check.checker, "<failure message=\"\(message)\"/>")
        case .unknown:
          errors += 1
          add(result, check.checker, "<error type=\"unknown\" message=\"\(message)\"/>")
        }
      }
    }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite name="scenarios" tests="\(count)" failures="\(failures)" errors="\(errors)" \
      skipped="\(skipped)">
      \(cases)</testsuite>

      """
  }

  /// XML 1.0 has no control characters, not even escaped.
  private static func escape(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\t", "\r": escaped += " "
      default:
        if scalar.value >= 0x20 && scalar.value != 0xfffe && scalar.value != 0xffff {
          escaped.unicodeScalars.append(scalar)
        } else {
          escaped += "\u{fffd}"
        }
      }
    }
    return escaped
  }
}
