/// A function to call, kept as a value of a nominal type.
///
/// A bare closure in generic storage (`Guarded<(…) -> Void>`) is wrapped in one more thunk each
/// time it is read there and written back: every call becomes slower than the last, and after some
/// ten thousand the chain overflows the stack.
package struct Callback<Argument>: Sendable {
  package let call: @Sendable (Argument) -> Void

  package init(_ call: @escaping @Sendable (Argument) -> Void) { self.call = call }
}
