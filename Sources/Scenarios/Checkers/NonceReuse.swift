extension Checker {
  /// No nonce was used twice under one key: with AES-GCM a single reuse gives both texts away
  /// (NIST SP 800-38D, section 8). The same sealed bytes seen twice are no reuse.
  package static let nonceReuse = Checker(
    "nonceReuse", needs: "a sealed record in the files, and files that can be read",
    looksAtServer: false
  ) { evidence, _ in
    var digests: [String: Set<String>] = [:]
    // A bit that the script flips makes other bytes of that record without sealing anything.
    let flipped = evidence.conditions.filter { $0.name == "flipped" }.map(\.value)
    for seal in evidence.seals {
      let place = "\(seal.key).\(seal.nonce)"
      digests[place, default: []].insert(seal.digest)
      if let seen = digests[place], seen.count > 1 + flipped.filter({ $0 == place }).count {
        return .fail("nonce \(seal.nonce) was used twice under key \(seal.key)")
      }
    }
    // Damage that the script itself did is no surprise.
    if let file = evidence.unreadableSeals.first, !evidence.hadCondition("disk", "corrupt") {
      return .unknown("sealed records could not be read: \(file)")
    }
    guard !digests.isEmpty else { return .unknown("no sealed record was seen") }
    return .pass("\(digests.count) sealed records, each with a nonce of its own")
  }
}
