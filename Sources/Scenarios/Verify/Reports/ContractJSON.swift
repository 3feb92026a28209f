#if os(macOS) || os(Linux)
  import JSONText

  /// The report for machines.
  package enum ContractJSON {
    package static let version = 1

    package static func bytes(_ report: ContractReport) -> [UInt8] {
      var counts = JSONObject()
      for verdict in ContractVerdict.allCases {
        counts[verdict.rawValue] = .number(report.count(verdict))
      }
      var object: JSONValue = [
        "version": .number(version), "target": .string(report.target), "run": .string(report.run),
        "observer": .string(report.observer), "counts": .object(counts),
        "checks": .array(report.results.map(check)),
      ]
      if let early = report.endedEarly { object["endedEarly"] = .string(early) }
      return JSONWriter.bytes(object, pretty: true) + [0x0a]
    }

    private static func check(_ result: ContractResult) -> JSONValue {
      [
        "id": .string(result.id), "verdict": .string(result.verdict.rawValue),
        "sentence": .string(result.sentence), "rule": .string(result.rule),
        "why": .string(result.why), "exchanges": .array(result.exchanges.map(exchange)),
        "exchangesLeftOut": .number(result.exchangesLeftOut),
      ]
    }

    private static func exchange(_ exchange: CheckExchange) -> JSONValue {
      [
        "request": .string(exchange.request), "outcome": .string(exchange.outcome),
        "status": exchange.status.map { .number($0) } ?? .null,
        "headers": .array(exchange.headers.map { .string($0) }),
        "body": .string(exchange.excerpt), "curl": .string(exchange.curl),
      ]
    }
  }
#endif
