import JSONText

/// An event as the `beforeSend` hook sees it.
public struct TelemetryEvent: Sendable, Hashable {
  /// The event's identity; cannot be changed.
  public let id: EventID
  /// What kind of event it is.
  public var type: String
  /// Its content. Default attributes are in it already.
  public var payload: JSONObject

  package init(id: EventID, type: String, payload: JSONObject) {
    self.id = id
    self.type = type
    self.payload = payload
  }
}
