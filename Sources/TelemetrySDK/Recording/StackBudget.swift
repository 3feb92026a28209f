/// How much stack a recursion through foreign code has used: it is stopped in time, whatever the
/// foreign frames cost.
struct StackBudget {
  /// Half of what an iOS app's secondary threads have.
  static let maxBytes: UInt = 256 * 1_024

  private let start = StackBudget.here()

  /// True once more than `maxBytes` are in use since the value was made, on the same thread.
  /// Stacks grow down on every platform that Swift runs on.
  var isSpent: Bool {
    let here = StackBudget.here()
    return here < start && start - here > StackBudget.maxBytes
  }

  @inline(never)
  private static func here() -> UInt {
    var marker: UInt8 = 0
    return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
  }
}
