import JSONText

/// A single value on its way into its slot.
struct SingleSlot: SingleValueEncodingContainer {
  let slot: Slot
  let codingPath: [CodingKey]
  let context: EncodingContext
  let depth: Int

  private func write(_ value: JSONValue) throws {
    try context.check()
    guard slot.set(value) else { throw context.fail(.twice, at: codingPath) }
  }

  func encodeNil() throws { try write(.null) }
  func encode(_ value: Bool) throws { try write(.bool(value)) }
  func encode(_ value: String) throws { try write(.string(value)) }
  func encode(_ value: Double) throws { try write(context.number(value, at: { codingPath })) }
  func encode(_ value: Float) throws { try write(context.number(value, at: { codingPath })) }
  func encode(_ value: Int) throws { try write(.number(JSONNumber(value))) }
  func encode(_ value: Int8) throws { try write(.number(JSONNumber(Int64(value)))) }
  func encode(_ value: Int16) throws { try write(.number(JSONNumber(Int64(value)))) }
  func encode(_ value: Int32) throws { try write(.number(JSONNumber(Int64(value)))) }
  func encode(_ value: Int64) throws { try write(.number(JSONNumber(value))) }
  func encode(_ value: UInt) throws { try write(.number(JSONNumber(UInt64(value)))) }
  func encode(_ value: UInt8) throws { try write(.number(JSONNumber(UInt64(value)))) }
  func encode(_ value: UInt16) throws { try write(.number(JSONNumber(UInt64(value)))) }
  func encode(_ value: UInt32) throws { try write(.number(JSONNumber(UInt64(value)))) }
  func encode(_ value: UInt64) throws { try write(.number(JSONNumber(value))) }
  func encode<Value: Encodable>(_ value: Value) throws {
    try write(context.nested(value, at: codingPath, depth: depth))
  }
}
