#if os(macOS) || os(Linux)
  /// Every check, in the order in which they run.
  package enum ContractCatalogue {
    package static let all: [ContractCheck] =
      AnswerChecks.all + FidelityChecks.all + AuthChecks.all + EncodingChecks.all + SizeChecks.all
      + SchemaChecks.all + DedupChecks.all + MethodChecks.all + ConnectionChecks.all
      + OperatorChecks.all

    /// The checks that a run was asked for. Throws the first name that is none.
    package static func selected(only: [String], filter: String?) throws -> [ContractCheck] {
      for id in only where !all.contains(where: { $0.id == id }) {
        throw UnknownCheck(id: id, nearest: Nearest.match(id, among: all.map(\.id)))
      }
      return all.filter { check in
        (only.isEmpty || only.contains(check.id)) && filter.map(check.id.contains) ?? true
      }
    }

    package struct UnknownCheck: Error, Sendable {
      package var id: String
      package var nearest: String?
    }
  }
#endif
