// Equality and hashing keep a list of their own instead of recursing: values may be as deep as
// `JSONLimits.deepestAllowed`, and secondary threads have small stacks.

extension JSONValue: Hashable {
  /// True where both are written the same.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    var pending = [(left, right)]
    while let (one, other) = pending.popLast() {
      switch (one, other) {
      case (.null, .null): break
      case (.bool(let one), .bool(let other)):
        if one != other { return false }
      case (.number(let one), .number(let other)):
        if one != other { return false }
      case (.string(let one), .string(let other)):
        if !one.hasSameBytes(as: other) { return false }
      case (.array(let one), .array(let other)):
        guard one.count == other.count else { return false }
        pending.append(contentsOf: zip(one, other))
      case (.object(let one), .object(let other)):
        guard one.count == other.count else { return false }
        for (mine, others) in zip(one.members, other.members) {
          guard mine.key.hasSameBytes(as: others.key) else { return false }
          pending.append((mine.value, others.value))
        }
      default: return false
      }
    }
    return true
  }

  /// Feeds kind, size and content of every value.
  public func hash(into hasher: inout Hasher) {
    var pending = [self]
    while let value = pending.popLast() {
      switch value {
      case .null: hasher.combine(0)
      case .bool(let value):
        hasher.combine(1)
        hasher.combine(value)
      case .number(let value):
        hasher.combine(2)
        hasher.combine(value)
      case .string(let value):
        hasher.combine(3)
        hasher.combine(value)
      case .array(let values):
        hasher.combine(4)
        hasher.combine(values.count)
        pending.append(contentsOf: values)
      case .object(let object):
        hasher.combine(5)
        hasher.combine(object.count)
        for member in object.members {
          hasher.combine(member.key)
          pending.append(member.value)
        }
      }
    }
  }
}
