/// Something that happened inside the SDK and must not pass in silence.
///
/// Carries no value of a payload, no token and no account name. The paths of `valueReplaced` and
/// `notEncodable` are made of the payload's member names: where those are data of their own, such as
/// a dictionary by address, keep the paths out of logs.
public enum DiagnosticEvent: Sendable, Hashable {
  /// The store is open and takes events; `queued` events waited in it.
  case opened(queued: Int)
  /// The configuration is invalid and the SDK stays off. One text for each wrong value.
  case invalidConfiguration([String])
  /// An event was not taken.
  case rejected(RejectReason)
  /// A payload value had no JSON form and went out as null; the path names it.
  case valueReplaced(path: String)
  /// An `Encodable` payload was not taken: where in it, and why.
  case notEncodable(path: String, why: String)
  /// The store takes no writes; events are buffered.
  case storageBlocked(BufferReason)
  /// The store takes writes again.
  case storageRecovered
  /// Events left the queue undelivered.
  case dropped(count: Int, reason: DropReason)
  /// Events in memory that the store did not take before `shutdown()`; counted as rejected.
  case lostAtShutdown(count: Int)
  /// Events went to quarantine.
  case quarantined(count: Int, reason: String)
  /// A purge did not go through before the end: what is stored stays.
  case purgeUnfinished
  /// A success whose body is no JSON to the end: the events that it names as far as it goes are
  /// quarantined, all others count as delivered.
  case answerUnreadable
  /// A damaged database was moved aside; so many events were lost with it.
  case corruptFileMovedAside(lost: Int)
  /// A database of a newer version was left alone.
  case newerSchemaLeftAlone(version: Int)
  /// New events are sealed with a new key.
  case keyRotated
  /// A request went out.
  case requestStarted(events: Int, bytes: Int)
  /// A request ended, and what delivery made of it (see docs/reference/outcomes.md).
  case requestEnded(DeliveryOutcome, decision: String)
  /// So many events were acknowledged and deleted.
  case delivered(count: Int)
  /// Delivery waits so long before the next try.
  case backingOff(milliseconds: Int64)
  /// Three bodies in a row were refused; delivery pauses so long.
  case pausedByRefusals(milliseconds: Int64)
  /// The provider has no usable token.
  case waitingForToken
  /// An account's name of so many bytes was not taken; see `AccessToken.maxAccountBytes`.
  case accountTooLong(bytes: Int)
  /// A batch limit learned from 413, in bytes of JSON.
  case batchLimitLearned(bytes: Int)
  /// A new session began.
  case sessionStarted(String)
  /// Diagnostics were dropped because nobody read them.
  case diagnosticsDropped(count: Int)
}
