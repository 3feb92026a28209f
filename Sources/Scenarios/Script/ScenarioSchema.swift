import JSONText

/// The JSON schema (draft 2020-12) of scenario scripts, made of the parser's own definition.
package enum ScenarioSchema {
  package static var text: String {
    var schema: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Telemetry workbench scenario",
    ]
    if case .object(let root) = object(ScenarioShape.root) {
      for member in root { schema[member.key] = member.value }
    }
    schema["$defs"] = [
      "step": step, "trigger": object(ScenarioShape.trigger), "expectation": expectation,
    ]
    let bytes = JSONWriter.bytes(.object(schema), pretty: true)
    return String(decoding: bytes, as: UTF8.self) + "\n"
  }

  private static let variable: JSONValue = ["type": "string", "pattern": "\\$\\{[^}]+\\}"]

  /// A value of the shape, or a variable in its place.
  private static func substitutable(_ value: JSONValue) -> JSONValue {
    ["anyOf": .array([value, variable])]
  }

  private static func value(_ shape: ValueShape) -> JSONValue {
    switch shape {
    case .text(let maxLength):
      return ["type": "string", "minLength": 1, "maxLength": number(Int64(maxLength))]
    case .name: return ["type": "string", "maxLength": 80]
    case .duration:
      return ["type": "string", "pattern": "^([0-9.]+(d|h|m|s|ms))+$|\\$\\{"]
    case .signedDuration:
      return ["type": "string", "pattern": "^[-+]?([0-9.]+(d|h|m|s|ms))+$|\\$\\{"]
    case .size: return ["type": "string", "pattern": "^[0-9.]+([KMG]i?)?B$|\\$\\{"]
    case .integer(let range):
      return substitutable([
        "type": "integer", "minimum": number(range.lowerBound),
        "maximum": number(range.upperBound),
      ])
    case .boolean: return substitutable(["type": "boolean"])
    case .null: return ["type": "null"]
    case .choice(let choices):
      return substitutable(["enum": .array(choices.map { .string($0) })])
    case .list(let element, let min, let max):
      return [
        "type": "array", "items": value(element), "minItems": number(Int64(min)),
        "maxItems": number(Int64(max)),
      ]
    case .object(let shape): return object(shape)
    case .anyObject, .plan: return ["type": "object"]
    case .any: return .bool(true)
    case .map(let shape):
      return ["type": "object", "minProperties": 1, "additionalProperties": value(shape)]
    case .either(let shapes): return ["anyOf": .array(shapes.map { value($0) })]
    case .step: return ["$ref": "#/$defs/step"]
    case .expectation: return ["$ref": "#/$defs/expectation"]
    }
  }

  private static func number(_ value: Int64) -> JSONValue { .number(JSONNumber(value)) }

  private static func field(_ field: FieldShape) -> JSONValue {
    var result = value(field.shape).objectValue ?? [:]
    result["description"] = .string(field.about)
    return .object(result)
  }

  private static func object(_ shape: ObjectShape) -> JSONValue {
    var properties = JSONObject()
    for entry in shape.fields { properties[entry.key] = field(entry) }
    var result: JSONObject = [
      "type": "object", "properties": .object(properties), "additionalProperties": false,
    ]
    let required = shape.fields.filter(\.required).map(\.key)
    if !required.isEmpty { result["required"] = .array(required.map { .string($0) }) }
    if !shape.needsOneOf.isEmpty {
      result["anyOf"] = .array(shape.needsOneOf.map { ["required": [.string($0)]] })
    }
    if let both = anyTwo(of: shape.excludes) { result["not"] = both }
    return .object(result)
  }

  /// Any two of these keys in one object.
  private static func anyTwo(of keys: [String]) -> JSONValue? {
    let pairs = keys.indices.flatMap { first in
      keys[(first + 1)...].map { second -> JSONValue in
        ["required": [.string(keys[first]), .string(second)]]
      }
    }
    return pairs.isEmpty ? nil : ["anyOf": .array(pairs)]
  }

  private static var step: JSONValue {
    let timing: [JSONValue] = [["required": ["at"]], ["required": ["when"]]]
    let actions = ScenarioShape.actions.map { action -> JSONValue in
      var properties: JSONObject = [
        "at": value(.duration), "when": ["$ref": "#/$defs/trigger"],
        action.key: value(action.shape),
      ]
      for companion in action.companions { properties[companion.key] = field(companion) }
      return [
        "type": "object", "description": .string(action.about),
        "properties": .object(properties), "required": [.string(action.key)],
        "additionalProperties": false,
      ]
    }
    return ["oneOf": .array(actions), "allOf": [["oneOf": .array(timing)]]]
  }

  private static var expectation: JSONValue {
    [
      "oneOf": .array(
        ScenarioShape.expectations.map { shape -> JSONValue in
          [
            "type": "object", "description": .string(shape.about),
            "properties": [shape.key: value(shape.shape)], "required": [.string(shape.key)],
            "additionalProperties": false,
          ]
        })
    ]
  }
}
