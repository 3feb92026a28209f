/// Searching the dead device's files for what was recorded.
extension CaseRunner {
  func lookForSecrets() throws {
    history.append(.scanned(SecrecyScan.run(folder: phone.folder, needles: needles)))
    history.append(.seals(SealScan.run(folder: phone.folder)))
  }
}
