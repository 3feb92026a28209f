import JSONText

/// The events that a success names as not taken: `{"rejected":[{"id":…,"reason":…}]}`.
struct RejectedList {
  private(set) var events: [RejectedEvent] = []
  /// False where the body begins as JSON and is none to its end. What it names as far as it goes
  /// counts all the same: those events were not taken.
  private(set) var isWhole = true

  init(_ body: [UInt8]) {
    // An acknowledgement without a body, or in words, is an acknowledgement.
    guard let first = body.first(where: { !RejectedList.isSpace($0) }),
      first == 0x7b || first == 0x5b
    else { return }
    // A key that stands twice is no reason to hear nobody: the document decides for the last.
    if let document = try? JSONDocument(parsing: body) {
      for entry in document.root["rejected"]?.elements ?? [] { add(entry.value) }
      return
    }
    isWhole = false
    addTorn(body)
  }

  private mutating func add(_ entry: JSONValue) {
    guard let id = entry["id"]?.stringValue.flatMap(EventID.init(_:)) else { return }
    events.append(
      RejectedEvent(id: id, reason: AnswerFacts.clip(entry["reason"]?.stringValue ?? "")))
  }

  /// The entries that are there in full.
  private mutating func addTorn(_ body: [UInt8]) {
    let name = Array("\"rejected\"".utf8)
    guard var at = RejectedList.end(of: name, in: body) else { return }
    for mark in [UInt8(0x3a), 0x5b] {
      while at < body.count, RejectedList.isSpace(body[at]) { at += 1 }
      guard at < body.count, body[at] == mark else { return }
      at += 1
    }
    while at < body.count {
      if body[at] == 0x7b {
        guard let end = RejectedList.endOfObject(from: at, in: body),
          // try? because what cannot be read ends the list.
          let entry = try? JSONValue.parse(Array(body[at..<end]))
        else { return }
        add(entry)
        at = end
      } else if body[at] == 0x2c || RejectedList.isSpace(body[at]) {
        at += 1
      } else {
        return
      }
    }
  }

  private static func end(of name: [UInt8], in body: [UInt8]) -> Int? {
    guard body.count >= name.count else { return nil }
    for start in 0...(body.count - name.count) where body[start] == name[0] {
      if body[start..<start + name.count].elementsEqual(name) { return start + name.count }
    }
    return nil
  }

  private static func endOfObject(from start: Int, in body: [UInt8]) -> Int? {
    var depth = 0
    var isInString = false
    var at = start
    while at < body.count {
      switch (body[at], isInString) {
      case (0x5c, true): at += 1  // What is escaped ends nothing.
      case (0x22, _): isInString.toggle()
      case (0x7b, false): depth += 1
      case (0x7d, false):
        depth -= 1
        if depth == 0 { return at + 1 }
      default: break
      }
      at += 1
    }
    return nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }
}
