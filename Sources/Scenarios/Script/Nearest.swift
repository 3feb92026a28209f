import MockBatchServer

/// Finds what a mistyped word was probably meant to be, as fault plans do.
enum Nearest {
  /// The candidate with the fewest edits, where they are few for the word's length; else nil.
  static func match(_ word: String, among candidates: [String]) -> String? {
    MockBatchServer.Nearest.word(to: word, among: candidates.sorted())
  }
}
