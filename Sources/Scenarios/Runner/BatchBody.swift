import JSONText
import MockBatchServer

/// Reads ids out of bodies, as a witness who trusts neither device nor server.
enum BatchBody {
  /// Bytes a body may have after decompression; larger ones are no batch of ours.
  private static let maxBytes = 16_000_000
  private static let maxRatio = 1_100
  private static let inflaters = InflaterPool()

  /// Ids of a gzip or plain batch in their order; nil where it is none.
  static func ids(in body: [UInt8]) -> [String]? {
    var json = body
    if body.starts(with: [0x1f, 0x8b]) {
      // What does not decompress is the engine's to judge; there are no ids to see.
      guard let plain = try? inflaters.gunzip(body, maxBytes: maxBytes, maxRatio: maxRatio) else {
        return nil
      }
      json = plain
    }
    // The same for what is not JSON.
    guard let document = try? JSONDocument(parsing: json) else { return nil }
    let events = document.root["events"]?.elements ?? document.root.elements
    return events.compactMap { $0["id"]?.string?.lowercased() }
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
