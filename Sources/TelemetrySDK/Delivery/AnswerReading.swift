import JSONText

/// Reads from an answer what delivery decides on.
extension AnswerFacts {
  /// - Parameter receivedMs: The own wall clock.
  init(_ answer: BatchAnswer, receivedMs: Int64) {
    self.init(status: answer.status)
    self.receivedMs = receivedMs
    let contentType = answer.values(of: "content-type").first ?? ""
    isHTML = AnswerFacts.mediaType(contentType) == "text/html"
    retryAfter = answer.values(of: "retry-after")
    dateMs = answer.values(of: "date").first.flatMap {
      HTTPDate.parse($0, referenceMs: receivedMs)
    }
    switch status {
    case 200...299 where !isHTML:
      let list = RejectedList(answer.body)
      rejected = list.events
      isUnreadable = !list.isWhole
    case 400...499: detail = AnswerFacts.detail(answer.body)
    default: break
    }
  }

  /// The type without parameters, in lower case.
  private static func mediaType(_ value: String) -> String {
    let type = value.prefix { $0 != ";" }
    return type.split(whereSeparator: { $0 == " " || $0 == "\t" }).first.map {
      $0.lowercased()
    } ?? ""
  }

  private static func detail(_ body: [UInt8]) -> String {
    // Not every server explains itself in JSON; its words are kept as they are then.
    if let value = try? JSONValue.parse(body),
      let text = value["detail"]?.stringValue ?? value["title"]?.stringValue
    {
      return clip(text)
    }
    return clip(String(decoding: body.prefix(maxDetailBytes), as: UTF8.self))
  }

  /// At most 200 bytes, cut between characters.
  static func clip(_ text: String) -> String {
    var clipped = text
    while clipped.utf8.count > maxDetailBytes {
      clipped = String(clipped.prefix(min(clipped.count - 1, maxDetailBytes)))
    }
    return clipped
  }

  private static let maxDetailBytes = 200
}

extension BatchAnswer {
  /// All values of a header, its name in any case.
  func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }
}
