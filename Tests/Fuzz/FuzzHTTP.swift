/// Whatever comes: no crash, and the same verdict however the bytes are split.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  let whole = Verdict(bytes, pieceBytes: max(1, size))
  let seed = size > 0 ? Int(bytes[0]) % 13 + 1 : 1
  guard whole == Verdict(bytes, pieceBytes: 1), whole == Verdict(bytes, pieceBytes: seed) else {
    fatalError("the verdict depends on how the bytes were split")
  }
  return 0
}

private struct Verdict: Equatable {
  var requests: [HTTPRequest] = []
  var bodies: [[UInt8]] = []
  var end = "open"

  init(_ bytes: [UInt8], pieceBytes: Int) {
    var limits = HTTPLimits()
    limits.maxHeadBytes = 2_048
    limits.maxBodyBytes = 4_096
    var parser = RequestParser(limits: limits)
    var window = InputWindow()
    for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
      let piece = Array(bytes[start..<min(bytes.count, start + pieceBytes)])
      let isOver = piece.withUnsafeBytes { raw -> Bool in
        window.lend(raw)
        defer { window.settle() }
        while true {
          switch window.parse(&parser) {
          case .needMore: return false
          case .head(let head): requests.append(head)
          case .body(let body, _): bodies.append(body)
          case .bodyTooLarge:
            end = "413"
            return true
          case .failed(let failure):
            end = "\(failure.status)"
            return true
          }
        }
      }
      if isOver { return }
    }
  }
}
