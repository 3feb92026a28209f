private let pool = InflaterPool()

/// Whatever comes: no crash, never more than the limits allow, and the same answer twice (the state
/// of an inflater outlives a body).
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzInflate(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  // Most inputs are no gzip; that the inflater says so without a crash is what is tested.
  let once = try? pool.gunzip(bytes, maxBytes: 65_536, maxRatio: 1_000)
  let twice = try? pool.gunzip(bytes, maxBytes: 65_536, maxRatio: 1_000)
  guard once == twice, (once?.count ?? 0) <= 65_536 else { fatalError("not the same twice") }
  return 0
}
