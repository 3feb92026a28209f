import Foundation
import JSONText

/// Reads scripts. Strict: every mistake is an error with its place, before anything runs.
package enum ScenarioParser {
  /// All variants of one script, one without a matrix. Throws `ScriptErrors`.
  ///
  /// - Parameter size: The file's, where more than may be read was not read.
  package static func parse(file: String, bytes: [UInt8], size: Int64? = nil) throws -> [Scenario] {
    let document = try read(file: file, bytes: bytes, size: size ?? Int64(bytes.count))
    var check = ShapeCheck(file: file)
    for duplicate in document.duplicateKeys {
      check.fail(
        duplicate.position,
        "the key \"\(duplicate.key)\" stands here a second time, first in line"
          + " \(duplicate.firstPosition.line)",
        length: duplicate.key.unicodeScalars.count + 2)
    }
    let variants = Matrix.variants(of: document, check: &check)
    guard check.errors.isEmpty else { throw ScriptErrors(errors: check.errors, source: bytes) }
    return try variants.map { variant in
      var substitution = Substitution(
        values: Dictionary(variant.map { ($0.name, $0.value) }) { first, _ in first },
        bytes: bytes)
      var node = substitution.node(document.root)
      node = Matrix.withoutMatrix(node)
      for unknown in substitution.unknown {
        check.fail(
          unknown.position, "the variable \"\(unknown.name)\" is not in the matrix",
          hint: Nearest.match(unknown.name, among: variant.map(\.name)).map {
            "did you mean \"\($0)\"?"
          })
      }
      check.check(node, .object(ScenarioShape.root), label: "the script")
      guard check.errors.isEmpty else { throw ScriptErrors(errors: check.errors, source: bytes) }
      let scenario = ScenarioBuilder(file: file, source: bytes, document: document)
        .scenario(node, variant: variant)
      var meaning = MeaningCheck(scenario: scenario, check: check)
      meaning.run()
      guard meaning.check.errors.isEmpty else {
        throw ScriptErrors(errors: meaning.check.errors, source: bytes)
      }
      return scenario
    }
  }

  private static func read(file: String, bytes: [UInt8], size: Int64) throws -> JSONDocument {
    func single(_ message: String) -> ScriptErrors {
      let start = JSONPosition(line: 1, column: 1, offset: 0)
      return ScriptErrors(
        errors: [ScriptError(file: file, position: start, message: message)], source: [])
    }
    guard bytes.count <= ScenarioShape.maxScriptBytes else {
      throw single(
        "the script has \(size) bytes, at most \(ScenarioShape.maxScriptBytes) are read")
    }
    let blank = bytes.allSatisfy { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
    guard !blank else { throw single("the script is empty") }
    do {
      return try JSONDocument(parsing: bytes)
    } catch let error as JSONError {
      throw ScriptErrors(
        errors: [
          ScriptError(
            file: file, position: error.position, message: "not JSON: \(error.reason)")
        ], source: bytes)
    }
  }
}

/// The combinations of a script's variables.
enum Matrix {
  typealias Variant = [(name: String, value: JSONValue)]

  static func variants(of document: JSONDocument, check: inout ShapeCheck) -> [Variant] {
    guard let matrix = document.root["matrix"] else { return [[]] }
    var plain = Substitution(values: [:], bytes: document.bytes)
    let node = plain.node(matrix)
    check.check(node, .map(.list(of: .any, min: 1, max: 64)), label: "\"matrix\"")
    guard check.errors.isEmpty else { return [] }
    var variants: [Variant] = [[]]
    for member in node.members {
      var longer: [Variant] = []
      for variant in variants {
        for value in member.value.elements {
          longer.append(variant + [(name: member.key, value: value.value)])
        }
      }
      guard longer.count <= ScenarioShape.maxVariants else {
        check.fail(
          matrix.position,
          "the matrix has more than \(ScenarioShape.maxVariants) combinations")
        return []
      }
      variants = longer
    }
    return variants
  }

  /// The matrix has been checked and used; its texts are no place for variables.
  static func withoutMatrix(_ node: ScriptNode) -> ScriptNode {
    guard case .object(let members) = node.content else { return node }
    return ScriptNode(
      position: node.position, content: .object(members.filter { $0.key != "matrix" }),
      substituted: node.substituted)
  }
}
