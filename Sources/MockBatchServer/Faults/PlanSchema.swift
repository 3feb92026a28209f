import JSONText

/// The JSON schema (2020-12) of fault plans and request patterns, made from the definitions the
/// reader checks by.
package enum PlanSchema {
  /// The schema of a fault plan file.
  package static func document() -> JSONValue {
    var definitions = Definitions()
    var members: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "Fault plan of MockBatchServer",
    ]
    for (key, value) in definitions.body(of: PlanObjects.plan) { members[key] = value }
    members["$defs"] = .object(definitions.all)
    return .object(members)
  }

  /// The schemas of one object and of what it refers to, by name.
  static func schemas(of object: PlanObject, prefix: String) -> JSONObject {
    var definitions = Definitions(prefix: prefix)
    _ = definitions.reference(to: object)
    return definitions.all
  }

  private struct Definitions {
    var prefix = "#/$defs/"
    var all = JSONObject()

    mutating func reference(to object: PlanObject) -> JSONValue {
      let name = PlanSchema.identifier(object.name)
      if all[name] == nil {
        // Before its body: an object may hold itself.
        all[name] = .object([:])
        all[name] = .object(body(of: object))
      }
      return ["$ref": .string(prefix + name)]
    }

    mutating func body(of object: PlanObject) -> JSONObject {
      var properties = JSONObject()
      for key in object.keys {
        var schema = self.schema(key.shape).objectValue ?? [:]
        schema["description"] = .string(key.about)
        // `try?`: a default that is told in words has no value to show.
        if let standard = key.standard, let value = try? JSONValue.parse(standard) {
          schema["default"] = value
        }
        properties[key.name] = .object(schema)
      }
      var body: JSONObject = [
        "type": "object", "description": .string(object.about), "additionalProperties": false,
        "properties": .object(properties),
      ]
      let required = object.keys.filter(\.isRequired).map { JSONValue.string($0.name) }
      if !required.isEmpty { body["required"] = .array(required) }
      let exclusive = object.exclusive.flatMap { group in
        group.indices.flatMap { first in
          group.indices.filter { $0 > first }.map { second -> JSONValue in
            ["not": ["required": [.string(group[first]), .string(group[second])]]]
          }
        }
      }
      if !exclusive.isEmpty { body["allOf"] = .array(exclusive) }
      return body
    }

    mutating func schema(_ shape: PlanShape) -> JSONValue {
      switch shape {
      case .any: return [:]
      case .bool: return ["type": "boolean"]
      case .string: return ["type": "string"]
      case .pattern: return ["type": "string", "format": "regex"]
      case .path: return ["type": "string", "pattern": "^\\$"]
      case .base64: return ["type": "string", "contentEncoding": "base64"]
      case .duration:
        return [
          "type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(d|h|m|s|ms|us|ns))+$",
        ]
      case .size:
        return ["type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(B|KB|MB|GB|KiB|MiB|GiB)$"]
      case .choice(let words): return ["enum": .array(words.map(JSONValue.string))]
      case .integer(let range):
        var members: JSONObject = [
          "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
        ]
        if range.upperBound != .max { members["maximum"] = .number(JSONNumber(range.upperBound)) }
        return .object(members)
      case .seed:
        return [
          "type": "integer", "minimum": 0, "maximum": .number(JSONNumber(UInt64.max)),
        ]
      case .number(let range):
        var members: JSONObject = ["type": "number"]
        members["minimum"] = JSONNumber(range.lowerBound).map(JSONValue.number)
        members["maximum"] = JSONNumber(range.upperBound).map(JSONValue.number)
        return .object(members)
      case .object(let object): return reference(to: object)
      case .array(let element, let minimum):
        var members: JSONObject = ["type": "array", "items": schema(element)]
        if minimum > 0 { members["minItems"] = .number(minimum) }
        return .object(members)
      case .map(let element):
        return ["type": "object", "additionalProperties": schema(element)]
      case .either(let shapes): return ["oneOf": .array(shapes.map { schema($0) })]
      }
    }
  }

  private static func identifier(_ name: String) -> String {
    name.reduce(into: "") { $0 += $1 == " " ? "-" : String($1) }
  }
}
