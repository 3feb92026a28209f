import Foundation
import JSONText

/// Reading a 250 KB batch, next to Foundation.
enum JSONRows {
  static func rows() throws -> [Row] {
    var events: [String] = []
    var size = 0
    let payload = String(decoding: JSONWriter.bytes(RecordRows.payload), as: UTF8.self)
    while size < 250_000 {
      let event =
        #"{"id":"\#(UUID().uuidString.lowercased())","ts":"2026-05-04T09:15:02.114Z","type":"navigation","payload":\#(payload),"sessionId":"6f1d"}"#
      events.append(event)
      size += event.utf8.count + 1
    }
    let bytes = Array("{\"events\":[\(events.joined(separator: ","))]}".utf8)
    let data = Data(bytes)
    let times = 20
    let foundation = try best {
      let start = seconds()
      for _ in 0..<times { _ = try JSONSerialization.jsonObject(with: data) }
      return seconds() - start
    }
    let materialised = try best {
      let start = seconds()
      for _ in 0..<times { _ = try JSONValue.parse(bytes) }
      return seconds() - start
    }
    let ratio = foundation / materialised
    return [
      Row(
        name: "JSON, 250 KB, whole value", figure: format(ratio) + "× as fast as JSONSerialization",
        target: "≥ 3×", met: ratio >= 3, detail: "")
    ]
  }
}
