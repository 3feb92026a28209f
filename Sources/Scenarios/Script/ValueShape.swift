/// What a value in a script may be. One definition serves the parser, the JSON schema and the
/// reference page, so that the three cannot differ.
package indirect enum ValueShape: Sendable {
  /// Free text of at most this many characters.
  case text(maxLength: Int)
  /// A short name: letters, digits, `-`, `_`, `.`; what other places refer to.
  case name
  /// A number with a unit of time.
  case duration
  /// The same with an optional sign.
  case signedDuration
  /// A number with a unit of size.
  case size
  case integer(ClosedRange<Int64>)
  case boolean
  case null
  case choice([String])
  case list(of: ValueShape, min: Int, max: Int)
  case object(ObjectShape)
  /// A JSON object that is not looked into, e.g. an event's payload.
  case anyObject
  /// Any JSON value.
  case any
  /// An object whose keys are free and whose values have one shape.
  case map(ValueShape)
  /// The first alternative whose JSON type fits is the one the value is measured by.
  case either([ValueShape])
  /// A step: the action's key decides about the rest.
  case step
  /// Exactly one expectation.
  case expectation
  /// A fault plan, whose own parser looks into it.
  case plan
}

/// One key of an object.
package struct FieldShape: Sendable {
  package var key: String
  package var shape: ValueShape
  package var required: Bool
  /// One sentence for the reference page.
  package var about: String
  /// What holds where the key is absent, for the reference page.
  package var byDefault: String?

  package init(
    _ key: String, _ shape: ValueShape, required: Bool = false, byDefault: String? = nil,
    _ about: String
  ) {
    self.key = key
    self.shape = shape
    self.required = required
    self.about = about
    self.byDefault = byDefault
  }
}

/// The keys an object may have.
package struct ObjectShape: Sendable {
  /// Names the object in messages: "a record step".
  package var title: String
  package var fields: [FieldShape]
  /// At least one of these keys, if any are named.
  package var needsOneOf: [String]
  /// At most one of these keys.
  package var excludes: [String]

  package init(
    _ title: String, needsOneOf: [String] = [], excludes: [String] = [], _ fields: [FieldShape]
  ) {
    self.title = title
    self.fields = fields
    self.needsOneOf = needsOneOf
    self.excludes = excludes
  }

  package var keys: [String] { fields.map(\.key) }
}

/// One thing a step can do: its key, the key's value, and keys that go with it.
package struct ActionShape: Sendable {
  package var key: String
  package var shape: ValueShape
  package var companions: [FieldShape]
  package var about: String
  /// A whole step as it stands in a timeline.
  package var example: String

  package init(
    _ key: String, _ shape: ValueShape, companions: [FieldShape] = [], about: String,
    example: String
  ) {
    self.key = key
    self.shape = shape
    self.companions = companions
    self.about = about
    self.example = example
  }
}

/// One expectation: its key, what stands behind it, the evidence its verdict rests on.
package struct ExpectationShape: Sendable {
  package var key: String
  package var shape: ValueShape
  package var about: String
  package var evidence: String
  package var example: String

  package init(
    _ key: String, _ shape: ValueShape, about: String, evidence: String, example: String
  ) {
    self.key = key
    self.shape = shape
    self.about = about
    self.evidence = evidence
    self.example = example
  }
}
