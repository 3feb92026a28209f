import TelemetrySDK

/// Looking at the device's files: for what was recorded, for nonces, for their size.
///
/// A dead device's files are looked at after every death, and a living one's at the 1st, 2nd, 4th,
/// 8th, … recording and before the drain: what is deleted after its delivery has been seen then.
///
/// Whoever closes a database's file loses the locks that its process holds there (`fcntl`). So a
/// script's own lock is taken anew after each look; the device is dead or at rest meanwhile. In the
/// virtual lane the device's locks go the same way, but there is no other process that they would
/// keep out.
extension CaseRunner {
  func lookForSecrets() throws {
    for text in witness.takeOverheard() { needles.add(text: text) }
    history.append(
      .scanned(
        SecrecyScan.run(
          folder: phone.folder, needles: needles, beside: [settings.folder + "/device.log"],
          baseline: untouchedFiles)))
    let seals = SealScan.run(folder: phone.folder)
    let fresh = sealNames.take(seals.sightings)
    if !fresh.isEmpty || !seals.unreadable.isEmpty {
      history.append(.seals(fresh, unreadable: seals.unreadable))
    }
    if databaseLock != nil { try lockDatabase(true) }
  }

  /// What the device's files hold before anything was recorded: the words of a schema are no
  /// secrets. Kept from the first start on.
  func keepUntouchedFiles() {
    guard untouchedFiles.isEmpty, offers == 0 else { return }
    untouchedFiles = FolderFiles(below: phone.folder).files.compactMap { file in
      // A file that cannot be read now excuses nothing later.
      try? SystemCalls.readFile(phone.folder + "/" + file.path, limit: SecrecyScan.maxFileBytes)
    }
  }

  /// After a recording: looks at the 1st, 2nd, 4th, 8th, …
  func lookNowAndThen() throws {
    offers += 1
    if offers & (offers - 1) == 0 { try lookForSecrets() }
  }

  /// Whether the device's files may have grown since the last call. Only a device in this process
  /// tells.
  func takeGrowth() -> Bool {
    guard settings.lane == .virtual else { return true }
    return filesGrew.withLock { grew in
      defer { grew = false }
      return grew
    }
  }

  /// Writes down the size of the device's files where it is the largest so far.
  func measureFiles() {
    let bytes = FolderFiles(below: phone.folder).bytes
    guard bytes > largestMeasured else { return }
    largestMeasured = bytes
    history.append(.measured(bytes: bytes))
  }
}

/// Keys and nonces come from the system and differ in every run. What matters is which are the
/// same, so each is named by the order in which it was first seen: histories stay comparable.
struct SealNames {
  private var keys: [String: Int] = [:]
  private var nonces: [String: Int] = [:]
  private var digests: [String: Int] = [:]
  private var seen: Set<SealSighting> = []

  /// The sightings that are new, with their names.
  mutating func take(_ seals: [SealSighting]) -> [SealSighting] {
    seals.filter { seen.insert($0).inserted }.map { seal in
      SealSighting(
        key: SealNames.number(seal.key, &keys), nonce: SealNames.number(seal.nonce, &nonces),
        digest: SealNames.number(seal.digest, &digests))
    }
  }

  /// The name of a record's key and nonce.
  mutating func place(of seal: SealSighting) -> String {
    "\(SealNames.number(seal.key, &keys)).\(SealNames.number(seal.nonce, &nonces))"
  }

  private static func number(_ text: String, _ known: inout [String: Int]) -> String {
    let number = known[text] ?? known.count + 1
    known[text] = number
    return "\(number)"
  }
}
