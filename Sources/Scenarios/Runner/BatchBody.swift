import JSONText
import MockBatchServer

/// A batch as it came over the wire, read by a witness who trusts neither device nor server.
struct BatchBody {
  /// Ids of the events in their order.
  let ids: [String]
  /// The digest of each event's content, in the same order.
  let contents: [String]
  /// Types, sessions and times of the events.
  let texts: Set<String>

  /// Bytes a body may have after decompression; larger ones are no batch of ours.
  private static let maxBytes = 16_000_000
  private static let maxRatio = 1_100
  private static let inflaters = InflaterPool()

  /// Reads a gzip or plain batch; nil where it is none.
  init?(_ body: [UInt8]) {
    var json = body
    if body.starts(with: [0x1f, 0x8b]) {
      guard
        // What does not decompress is the engine's to judge; there are no ids to see.
        let plain = try? BatchBody.inflaters.gunzip(
          body, maxBytes: BatchBody.maxBytes, maxRatio: BatchBody.maxRatio)
      else {
        return nil
      }
      json = plain
    }
    // The same for what is not JSON.
    guard let document = try? JSONDocument(parsing: json) else { return nil }
    let events = document.root["events"]?.elements ?? document.root.elements
    var ids: [String] = []
    var contents: [String] = []
    ids.reserveCapacity(events.count)
    contents.reserveCapacity(events.count)
    var texts: Set<String> = []
    // Events next to each other have most of these in common.
    var latest = ["", "", ""]
    for event in events {
      let own = BatchBody.textKeys.map { event[$0]?.string }
      for (index, text) in own.enumerated() {
        guard let text, text != latest[index] else { continue }
        latest[index] = text
        texts.insert(text)
      }
      guard let id = event["id"]?.string else { continue }
      ids.append(BatchBody.lowercased(id))
      contents.append(
        ContentDigest.text(
          type: own[0] ?? "", time: own[1] ?? "",
          payload: event["payload"].map { json[$0.byteRange] } ?? []))
    }
    self.ids = ids
    self.contents = contents
    self.texts = texts
  }

  private static let textKeys = ["type", "ts", "sessionId"]

  /// Ids mostly are in lower case already.
  private static func lowercased(_ id: String) -> String {
    id.utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5a).contains($0) } ? id : id.lowercased()
  }

  /// Ids listed under `rejected` in an answer.
  static func rejected(in body: [UInt8]) -> [String] {
    // Answers without JSON list nothing.
    guard !body.isEmpty, let value = try? JSONValue.parse(body) else { return [] }
    return (value["rejected"]?.arrayValue ?? []).compactMap {
      $0["id"]?.stringValue?.lowercased()
    }
  }
}
