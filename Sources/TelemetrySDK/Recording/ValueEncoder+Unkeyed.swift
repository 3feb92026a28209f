import JSONText

/// An array on its way.
struct UnkeyedSlot: UnkeyedEncodingContainer {
  let slot: Slot
  let codingPath: [CodingKey]
  let context: EncodingContext
  /// This container and those around it.
  let depth: Int

  var count: Int { slot.elements.count }

  private func write(_ value: JSONValue) throws {
    try context.check()
    slot.append(.value(value))
  }

  private var path: [CodingKey] { codingPath + [IndexKey(count)] }

  func encodeNil() throws { try write(.null) }
  func encode(_ value: Bool) throws { try write(.bool(value)) }
  func encode(_ value: String) throws { try write(.string(value)) }
  func encode(_ value: Double) throws { try write(context.number(value, at: { path })) }
  func encode(_ value: Float) throws { try write(context.number(value, at: { path })) }
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
    try write(context.nested(value, at: path, depth: depth))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder() }

  private func encoder() -> SlotEncoder {
    let path = self.path
    let element = Slot()
    slot.append(.slot(element))
    return SlotEncoder(slot: element, codingPath: path, context: context, depth: depth)
  }
}
