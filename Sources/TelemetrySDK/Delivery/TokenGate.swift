/// Which token may be used, and when the provider may be asked.
///
/// Single flight. After a 401 the provider is asked once at once; a second 401 in a row holds
/// until one of the five occasions (foreground, path restored, flush, token changed, probe), so
/// that a provider with ever fresh tokens and a server that refuses them all make no loop.
package struct TokenGate: Sendable, Equatable {
  package private(set) var current: AccessToken?
  /// Tokens that got a 401, the latest last: never used again. Several, because a provider may
  /// turn between two.
  private var refused: [String] = []
  /// 401 answers in a row.
  package private(set) var refusals = 0
  /// True while no usable token is known and no occasion came to ask again.
  package private(set) var isHolding = false
  /// Set while the provider is asked.
  package private(set) var asking: Asking?

  package struct Asking: Sendable, Equatable {
    package var generation: UInt64
    package var deadline: Moment
    /// The app has said since that there is another token: the answer may be of the user before.
    package var isStale = false

    package init(generation: UInt64, deadline: Moment) {
      self.generation = generation
      self.deadline = deadline
    }
  }
  /// The latest answer was stale. Not two in a row: a provider that reports a change whenever it
  /// is asked would never be heard.
  private var droppedOne = false

  package init() {}

  /// True where the provider should be asked now.
  package var wantsAsking: Bool { current == nil && asking == nil && !isHolding }

  package mutating func asked(generation: UInt64, deadline: Moment) {
    asking = Asking(generation: generation, deadline: deadline)
  }

  /// The provider's answer; nil also where it did not answer in time. False where it was asked
  /// for before the token changed: then it does not count, and the provider is to be asked again.
  package mutating func answered(_ token: AccessToken?) -> Bool {
    let isStale = asking?.isStale ?? false
    asking = nil
    droppedOne = isStale
    guard !isStale else { return false }
    take(token)
    return true
  }

  private mutating func take(_ token: AccessToken?) {
    guard let token, !refused.contains(token.value) else {
      current = nil
      isHolding = true
      return
    }
    current = token
    isHolding = false
  }

  /// The server answered 401 to this token.
  package mutating func unauthorized(_ token: AccessToken) {
    refused.removeAll { $0 == token.value }
    refused.append(token.value)
    if refused.count > TokenGate.maxRefused { refused.removeFirst() }
    refusals = min(refusals + 1, TokenGate.maxRefusals)
    // A newer token that came meanwhile is still good to try.
    guard current?.value == token.value else { return }
    current = nil
    isHolding = refusals > 1
  }

  /// Any answer that shows the token to be good.
  package mutating func accepted() { refusals = 0 }

  /// One of the five occasions to ask again.
  package mutating func occasion() { isHolding = false }

  /// The app says that there is another token.
  package mutating func changed() {
    current = nil
    isHolding = false
    if !droppedOne { asking?.isStale = true }
  }

  private static let maxRefusals = 1_000
  private static let maxRefused = 16
}
