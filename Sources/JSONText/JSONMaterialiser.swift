/// Turns a piece of tape into a value, with a stack of its own instead of recursion.
enum JSONMaterialiser {
  private struct Frame {
    let end: Int
    let isObject: Bool
    let mayRepeat: Bool
    var key = ""
    var elements: [JSONValue] = []
    var members: [JSONObject.Member] = []

    mutating func add(_ value: JSONValue) {
      if isObject {
        members.append(JSONObject.Member(key: key, value: value))
      } else {
        elements.append(value)
      }
    }

    var value: JSONValue {
      guard isObject else { return .array(elements) }
      guard mayRepeat else { return .object(JSONObject(uniqueMembers: members)) }
      return .object(JSONObject(members.map { ($0.key, $0.value) }))
    }
  }

  static func value(of cursor: JSONCursor, mayRepeatKeys: Bool = true) -> JSONValue {
    guard cursor.kind == .array || cursor.kind == .object else { return scalar(cursor) }
    var stack = [frame(for: cursor, mayRepeatKeys)]
    var at = cursor.moved(to: cursor.index + 1)
    while true {
      let top = stack.count - 1
      if at.index == stack[top].end {
        let value = stack.removeLast().value
        guard top > 0 else { return value }
        stack[top - 1].add(value)
        continue
      }
      if stack[top].isObject {
        stack[top].key = JSONStrings.decode(at.tape[at.index], in: at.bytes)
        at = at.valueOfKey
      }
      if at.kind == .array || at.kind == .object {
        stack.append(frame(for: at, mayRepeatKeys))
      } else {
        stack[top].add(scalar(at))
      }
      at = at.moved(to: at.index + 1)
    }
  }

  private static func frame(for cursor: JSONCursor, _ mayRepeatKeys: Bool) -> Frame {
    let isObject = cursor.kind == .object
    var frame = Frame(
      end: Int(cursor.tape[cursor.index].next), isObject: isObject, mayRepeat: mayRepeatKeys)
    if isObject {
      frame.members.reserveCapacity(cursor.count)
    } else {
      frame.elements.reserveCapacity(cursor.count)
    }
    return frame
  }

  private static func scalar(_ cursor: JSONCursor) -> JSONValue {
    switch cursor.kind {
    case .bool: return .bool(cursor.isTrue)
    case .number:
      return .number(JSONNumber(checked: String(decoding: cursor.rawBytes, as: UTF8.self)))
    case .string: return .string(JSONStrings.decode(cursor.tape[cursor.index], in: cursor.bytes))
    default: return .null
    }
  }
}
