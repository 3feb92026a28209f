import Foundation
import JSONText

extension EncodingContext {
  /// The values that this encoder maps by itself; nil for all others, which encode themselves.
  ///
  /// Compares types before casting: a cast alone would bridge on Apple platforms, and integers
  /// come here for every element of an array.
  func scalar<Value: Encodable>(_ value: Value, at path: () -> [CodingKey]) -> JSONValue? {
    if Value.self == String.self, let value = value as? String { return .string(value) }
    if Value.self == Int.self, let value = value as? Int { return .number(JSONNumber(value)) }
    if Value.self == Double.self, let value = value as? Double { return number(value, at: path) }
    if Value.self == Bool.self, let value = value as? Bool { return .bool(value) }
    if Value.self == JSONValue.self { return value as? JSONValue }
    if Value.self == JSONObject.self { return (value as? JSONObject).map(JSONValue.object) }
    if Value.self == Date.self, let value = value as? Date { return date(value, at: path) }
    if Value.self == URL.self, let value = value as? URL { return .string(value.absoluteString) }
    if Value.self == UUID.self, let value = value as? UUID { return .string(value.uuidString) }
    if Value.self == Data.self, let value = value as? Data {
      return .string(value.base64EncodedString())
    }
    if Value.self == Decimal.self, let value = value as? Decimal {
      return decimal(value, at: path)
    }
    return nil
  }

  func number(_ value: Double, at path: () -> [CodingKey]) -> JSONValue {
    JSONNumber(value).map(JSONValue.number) ?? replace(at: path())
  }

  /// A float's own shortest literal: as a double, 0.1 would be 0.10000000149011612.
  func number(_ value: Float, at path: () -> [CodingKey]) -> JSONValue {
    guard value.isFinite else { return replace(at: path()) }
    return JSONNumber(literal: "\(value)").map(JSONValue.number) ?? replace(at: path())
  }

  private func decimal(_ value: Decimal, at path: () -> [CodingKey]) -> JSONValue {
    // Without a locale the description has plain digits and a point, and "NaN" where it is none.
    JSONNumber(literal: value.description).map(JSONValue.number) ?? replace(at: path())
  }

  private func date(_ value: Date, at path: () -> [CodingKey]) -> JSONValue {
    let milliseconds = (value.timeIntervalSince1970 * 1_000).rounded()
    guard !milliseconds.isNaN else { return replace(at: path()) }
    // Clamped before the conversion, which would trap beyond 64 bits.
    let range = Timestamp.range
    let clamped = min(max(milliseconds, Double(range.lowerBound)), Double(range.upperBound))
    return .string(Timestamp.text(Int64(clamped)))
  }
}
