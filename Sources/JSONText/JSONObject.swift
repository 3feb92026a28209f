/// The members of a JSON object, in their order, each key once.
///
/// Keys are compared byte by byte: `é` as one scalar and as two are different keys, unlike in
/// Swift's own string comparison. Looking a key up takes time proportional to the members before
/// it; objects on the wire are small.
public struct JSONObject: Sendable, Hashable, Sequence, ExpressibleByDictionaryLiteral {
  /// One member.
  public typealias Element = (key: String, value: JSONValue)

  package struct Member: Sendable {
    package var key: String
    package var value: JSONValue
  }
  /// In order. For walks that must not allocate: an iterator of `Sequence` does.
  package internal(set) var members: [Member] = []

  /// An object without members.
  public init() {}

  /// Members in the order given; of equal keys the last one's value stays, in the first one's
  /// place.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    var seen: [ExactKey: Int] = [:]
    for (key, value) in members {
      if let index = seen[ExactKey(key)] {
        self.members[index].value = value
      } else {
        seen[ExactKey(key)] = self.members.count
        self.members.append(Member(key: key, value: value))
      }
    }
  }

  /// Members in the order given; of equal keys the last one's value stays.
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

  /// Members known to have different keys.
  init(uniqueMembers: [Member]) { members = uniqueMembers }

  /// How many members there are.
  public var count: Int { members.count }
  /// True where there is no member.
  public var isEmpty: Bool { members.isEmpty }
  /// The keys, in order.
  public var keys: [String] { members.map(\.key) }

  /// The value of a key. Setting a new key appends, setting nil removes.
  public subscript(key: String) -> JSONValue? {
    get { index(of: key).map { members[$0].value } }
    set {
      switch (index(of: key), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(key: key, value: value))
      case (nil, nil): break
      }
    }
  }

  private func index(of key: String) -> Int? {
    members.firstIndex { $0.key.hasSameBytes(as: key) }
  }

  /// Walks the members in order.
  public func makeIterator() -> AnyIterator<Element> {
    var iterator = members.makeIterator()
    return AnyIterator { iterator.next().map { ($0.key, $0.value) } }
  }

  /// True where the members are the same, in the same order.
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    JSONValue.object(left) == JSONValue.object(right)
  }

  /// Feeds keys and values in order.
  public func hash(into hasher: inout Hasher) { JSONValue.object(self).hash(into: &hasher) }
}

/// A key by its bytes: Swift's strings are equal when they look the same, JSON's when they are.
struct ExactKey: Hashable {
  let text: String
  init(_ text: String) { self.text = text }
  static func == (left: ExactKey, right: ExactKey) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }
  // Equal bytes give equal strings, so the string's own hash is a valid one.
  func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension String {
  /// True where the UTF-8 of both is the same.
  @usableFromInline
  func hasSameBytes(as other: String) -> Bool {
    utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
  }
}
