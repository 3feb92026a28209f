/// Whatever comes: no crash, and what was read is written and read back unchanged.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  let limits = JSONLimits(maxDepth: 64, maxBytes: 1_000_000)
  // Most inputs are no JSON; that the parser says so without a crash is what is tested.
  guard let value = try? JSONValue.parse(bytes, limits: limits) else { return 0 }
  let again = try? JSONValue.parse(JSONWriter.bytes(value), limits: limits)
  guard again == value else { fatalError("a value changed on its way through text") }
  return 0
}
