/// Random numbers that depend on nothing but their key, so that concurrency cannot change them:
/// seed, rule or toxic, what the request holds, and how often that has come.
package struct KeyedDraw: Sendable {
  private var state: UInt64

  package init(seed: UInt64, name: String, identity: UInt64, attempt: Int) {
    var mixed = KeyedDraw.mix(seed ^ 0x9e37_79b9_7f4a_7c15)
    mixed = KeyedDraw.mix(mixed ^ KeyedDraw.hash(name))
    mixed = KeyedDraw.mix(mixed ^ identity)
    state = KeyedDraw.mix(mixed ^ UInt64(truncatingIfNeeded: attempt))
  }

  /// The next number of this key.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return KeyedDraw.mix(state)
  }

  /// Uniform in 0 ..< 1.
  package mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// SplitMix64's finaliser.
  @inline(__always)
  static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// FNV-1a, for names.
  static func hash(_ text: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}
