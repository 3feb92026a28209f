import JSONText

/// What the device says, written into the history.
extension CaseRunner {
  func hear(_ message: JSONValue) {
    if let number = message["n"]?.int64Value {
      replies[number] = message
      if let recording, recording.number == number {
        self.recording = nil
        hearReceipts(message, of: recording)
      }
      return
    }
    if let idle = DeviceIdle(message) {
      self.idle = idle
      return
    }
    switch message["event"]?.stringValue ?? "" {
    case "requestStarted":
      let (incarnation, number) = RequestName.parts(message["request"]?.stringValue ?? "")
      history.append(.sending(incarnation: incarnation, number: number))
    case "requestEnded":
      let (incarnation, number) = RequestName.parts(message["request"]?.stringValue ?? "")
      history.append(
        .sent(
          incarnation: incarnation, number: number,
          outcome: message["outcome"]?.stringValue ?? ""))
    case "becameDurable":
      let ids = CaseRunner.ids(message)
      if recording != nil {
        recording?.durable += ids
      } else {
        for id in ids { history.append(.becameDurable(id: id)) }
      }
    case "acknowledged": history.append(.acknowledged(ids: CaseRunner.ids(message)))
    case "erased": history.append(.erased(ids: CaseRunner.ids(message)))
    case "quarantined":
      let ids = CaseRunner.ids(message)
      history.append(
        .quarantined(count: ids.count, reason: message["reason"]?.stringValue ?? "", ids: ids))
    case "dropped":
      history.append(
        .dropped(
          count: message["count"]?.intValue ?? 0, reason: message["reason"]?.stringValue ?? "",
          ids: []))
    case "backgroundTime":
      history.append(
        .condition(
          name: message["of"]?.stringValue ?? "", value: message["what"]?.stringValue ?? ""))
    case "storage": triggers.counted(message["operation"]?.stringValue ?? "")
    case "storageReached": triggers.storageReached(step: message["step"]?.intValue ?? -1)
    case "flushed":
      history.append(
        .note(
          "flush: \(message["ending"]?.stringValue ?? ""), sent \(message["sent"]?.intValue ?? 0),"
            + " remaining \(message["remaining"]?.intValue ?? 0)"))
    case "diagnostic": history.append(.note(message["what"]?.stringValue ?? ""))
    case "invalidConfiguration":
      brokenReason = "the SDK refuses its configuration: \(message["problems"] ?? .null)"
    case "protocolError": brokenReason = message["text"]?.stringValue ?? "protocol error"
    default: brokenReason = "an unknown message: \(message)"
    }
  }

  private static func ids(_ message: JSONValue) -> [String] {
    (message["ids"]?.arrayValue ?? []).compactMap(\.stringValue)
  }

  /// Asks the SDK for its books and writes them down.
  @discardableResult
  func readBooks() throws -> DeviceBooks {
    let reply = try call("status")
    func number(_ key: String) -> Int64 { reply[key]?.int64Value ?? 0 }
    var books = DeviceBooks()
    books.incarnation = phone.incarnation
    books.recorded = number("recorded")
    books.delivered = number("delivered")
    books.queued = number("queued")
    books.quarantined = number("quarantined")
    books.buffered = number("buffered")
    books.inFlight = number("inFlight")
    books.bytesOnDisk = number("bytes")
    books.state = reply["state"]?.stringValue ?? ""
    for member in reply["dropped"]?.objectValue ?? [:] {
      books.dropped.append(
        DeviceBooks.Drop(reason: member.key, count: member.value.int64Value ?? 0))
    }
    history.append(.books(books))
    return books
  }
}
