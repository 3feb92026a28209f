/// Searching the dead device's files for what was recorded.
extension CaseRunner {
  func lookForSecrets() throws {
    history.append(.scanned(SecrecyScan.run(folder: phone.folder, needles: needles)))
    history.append(.seals(CaseRunner.numbered(SealScan.run(folder: phone.folder))))
  }

  /// Keys and nonces come from the system and differ in every run. What matters is which are the
  /// same, so each is named by the order in which it was seen: histories stay comparable.
  static func numbered(_ seals: [SealSighting]) -> [SealSighting] {
    var keys: [String: Int] = [:]
    var nonces: [String: Int] = [:]
    var digests: [String: Int] = [:]
    func number(_ text: String, _ known: inout [String: Int]) -> String {
      let number = known[text] ?? known.count + 1
      known[text] = number
      return "\(number)"
    }
    return seals.map { seal in
      SealSighting(
        key: number(seal.key, &keys), nonce: number(seal.nonce, &nonces),
        digest: number(seal.digest, &digests))
    }
  }
}
