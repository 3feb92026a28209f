/// How soon the provider is asked because the app said that there is another token.
///
/// At once, and after that no sooner than a second: twice as long each time, up to five minutes,
/// while changes keep coming right after the asks. An app that reports a change whenever its
/// provider is asked would else be asked for ever; and a change that comes too soon is not
/// forgotten.
struct AskPace: Sendable, Equatable {
  /// A change is still to be asked about.
  private(set) var isWanted = false
  private var notBefore: Moment?
  /// When a change was last asked about.
  private var lastAsk: Moment?
  private var intervalMs = firstMs

  mutating func changed(now: Moment) {
    isWanted = true
    // Quiet beyond the wait: it was no loop.
    if let lastAsk, now >= lastAsk.adding(milliseconds: intervalMs + intervalMs / 2) {
      intervalMs = AskPace.firstMs
    }
  }

  /// When the change may be asked about; nil where none is, or at once.
  var due: Moment? { isWanted ? notBefore : nil }

  func mayAsk(now: Moment) -> Bool { due.map { $0 <= now } ?? true }

  mutating func asked(now: Moment) {
    guard isWanted else { return }
    isWanted = false
    notBefore = now.adding(milliseconds: intervalMs)
    lastAsk = now
    intervalMs = min(intervalMs * 2, AskPace.capMs)
  }

  /// Something other than the app's word is a reason to ask.
  mutating func occasion() { notBefore = nil }

  static let firstMs: Int64 = 1_000
  static let capMs: Int64 = 300_000
}
