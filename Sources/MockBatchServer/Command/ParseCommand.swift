import JSONText

/// Hidden: reads requests as hexadecimal lines from standard input and prints what the parser makes
/// of each, so that another implementation can be compared with it byte for byte.
public enum ParseCommand {
  /// Reads to the end of the input; returns the exit status.
  public static func run() -> Int32 {
    StandardStreams.makeSafe()
    while let line = readLine() {
      guard let bytes = decode(line) else {
        StandardStreams.write("not hexadecimal\n", to: StandardStreams.error)
        return 2
      }
      let whole = verdict(bytes, pieceBytes: max(1, bytes.count))
      let alike = [1, 3, 17].allSatisfy { verdict(bytes, pieceBytes: $0) == whole }
      let result: JSONValue = alike ? whole : ["end": "depends on how the bytes were split"]
      let text = String(decoding: JSONWriter.bytes(result), as: UTF8.self) + "\n"
      StandardStreams.write(text, to: StandardStreams.output)
    }
    return 0
  }

  /// The requests of a connection that brings these bytes and no more, and how it ends.
  static func verdict(_ bytes: [UInt8], pieceBytes: Int) -> JSONValue {
    var parser = RequestParser(limits: HTTPLimits())
    var window = InputWindow()
    var requests: [JSONValue] = []
    var current: HTTPRequest?
    var end: JSONValue?
    for start in stride(from: 0, to: bytes.count, by: pieceBytes) where end == nil {
      Array(bytes[start..<min(bytes.count, start + pieceBytes)]).withUnsafeBytes { piece in
        window.lend(piece)
        while end == nil {
          switch window.parse(&parser) {
          case .needMore:
            window.settle()
            return
          case .head(let head): current = head
          case .body(let body, let trailers):
            if let head = current { requests.append(describe(head, body, trailers)) }
            if !parser.keepsConnection { end = "close" }
          case .bodyTooLarge: end = "413"
          case .failed(let failure): end = .string("\(failure.status)")
          }
        }
        window.drop()
      }
    }
    let isWhole = !parser.isInsideHead && !parser.isInsideBody
    return ["requests": .array(requests), "end": end ?? (isWhole ? "open" : "incomplete")]
  }

  private static func describe(
    _ head: HTTPRequest, _ body: [UInt8], _ trailers: HTTPHeaders
  ) -> JSONValue {
    [
      "method": .string(head.method), "target": .string(head.target), "body": .string(hex(body)),
      "fields": fields(head.headers), "trailers": fields(trailers),
    ]
  }

  private static func fields(_ headers: HTTPHeaders) -> JSONValue {
    .array(headers.map { .array([.string($0.name.lowercased()), .string($0.value)]) })
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func decode(_ line: String) -> [UInt8]? {
    let digits = line.utf8.map(ASCII.hexValue)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[index], let low = digits[index + 1] else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    return bytes
  }
}
