/// Finds what a mistyped word was probably meant to be.
enum Nearest {
  /// The candidate with the fewest edits, where they are few for the word's length; else nil.
  static func match(_ word: String, among candidates: [String]) -> String? {
    let limit = max(1, min(4, (word.count + 1) / 2))
    var best: (distance: Int, candidate: String)?
    // Longer words than this are no slip of the finger, and the comparison is quadratic.
    guard word.count <= 64 else { return nil }
    for candidate in candidates.sorted() {
      let edits = distance(Array(word.lowercased()), Array(candidate.lowercased()))
      if edits <= limit, edits < (best?.distance ?? Int.max) { best = (edits, candidate) }
    }
    return best?.candidate
  }

  /// Insertions, deletions, substitutions and swaps of neighbours.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var older: [Int] = []
    var previous = Array(0...right.count)
    for (row, leftCharacter) in left.enumerated() {
      var current = [row + 1]
      for (column, rightCharacter) in right.enumerated() {
        var cost = previous[column] + (leftCharacter == rightCharacter ? 0 : 1)
        cost = min(cost, previous[column + 1] + 1, current[column] + 1)
        let swapped =
          row > 0 && column > 0 && leftCharacter == right[column - 1]
          && left[row - 1] == rightCharacter
        if swapped { cost = min(cost, older[column - 1] + 1) }
        current.append(cost)
      }
      older = previous
      previous = current
    }
    return previous[right.count]
  }
}
