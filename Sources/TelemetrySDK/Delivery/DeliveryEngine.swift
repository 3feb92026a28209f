/// The brain of delivery: inputs and the time go in, effects come out. No I/O, no clock.
package struct DeliveryEngine: Sendable {
  package init() {}

  package mutating func handle(_ input: DeliveryInput, now: Moment) -> [DeliveryEffect] { [] }
}
