import JSONText

/// An object on its way: members in the order in which they are written.
struct KeyedSlot<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: Slot
  let codingPath: [CodingKey]
  let context: EncodingContext
  /// This container and those around it.
  let depth: Int

  private func write(_ value: JSONValue, _ key: Key) throws {
    try context.check()
    slot.append(key.stringValue, .value(value))
  }

  private func path(_ key: any CodingKey) -> [CodingKey] { codingPath + [key] }

  func encodeNil(forKey key: Key) throws { try write(.null, key) }
  func encode(_ value: Bool, forKey key: Key) throws { try write(.bool(value), key) }
  func encode(_ value: String, forKey key: Key) throws { try write(.string(value), key) }
  func encode(_ value: Double, forKey key: Key) throws {
    try write(context.number(value, at: { path(key) }), key)
  }
  func encode(_ value: Float, forKey key: Key) throws {
    try write(context.number(value, at: { path(key) }), key)
  }
  func encode(_ value: Int, forKey key: Key) throws {
    try write(.number(JSONNumber(value)), key)
  }
  func encode(_ value: Int8, forKey key: Key) throws {
    try write(.number(JSONNumber(Int64(value))), key)
  }
  func encode(_ value: Int16, forKey key: Key) throws {
    try write(.number(JSONNumber(Int64(value))), key)
  }
  func encode(_ value: Int32, forKey key: Key) throws {
    try write(.number(JSONNumber(Int64(value))), key)
  }
  func encode(_ value: Int64, forKey key: Key) throws {
    try write(.number(JSONNumber(value)), key)
  }
  func encode(_ value: UInt, forKey key: Key) throws {
    try write(.number(JSONNumber(UInt64(value))), key)
  }
  func encode(_ value: UInt8, forKey key: Key) throws {
    try write(.number(JSONNumber(UInt64(value))), key)
  }
  func encode(_ value: UInt16, forKey key: Key) throws {
    try write(.number(JSONNumber(UInt64(value))), key)
  }
  func encode(_ value: UInt32, forKey key: Key) throws {
    try write(.number(JSONNumber(UInt64(value))), key)
  }
  func encode(_ value: UInt64, forKey key: Key) throws {
    try write(.number(JSONNumber(value)), key)
  }
  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try write(context.nested(value, at: path(key), depth: depth), key)
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoder(SuperKey()) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  /// An encoder for the member; goes on with a container that the key has already.
  private func encoder(_ key: any CodingKey) -> SlotEncoder {
    let member: Slot
    if let earlier = slot.nested(key.stringValue) {
      member = earlier
    } else {
      member = Slot()
      slot.append(key.stringValue, .slot(member))
    }
    return SlotEncoder(slot: member, codingPath: path(key), context: context, depth: depth)
  }
}
