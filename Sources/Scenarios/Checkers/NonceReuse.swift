extension Checker {
  /// No nonce was used twice under one key: with AES-GCM a single reuse gives both texts away
  /// (NIST SP 800-38D, section 8). The same sealed bytes seen twice are no reuse.
  package static let nonceReuse = Checker(
    "nonceReuse", needs: "a sealed record in the files", looksAtServer: false
  ) { evidence, _ in
    guard !evidence.seals.isEmpty else { return .unknown("no sealed record was seen") }
    var digests: [String: String] = [:]
    for seal in evidence.seals {
      let place = "\(seal.key).\(seal.nonce)"
      if let known = digests[place], known != seal.digest {
        return .fail("nonce \(seal.nonce) was used twice under key \(seal.key)")
      }
      digests[place] = seal.digest
    }
    return .pass("\(digests.count) sealed records, each with a nonce of its own")
  }
}
