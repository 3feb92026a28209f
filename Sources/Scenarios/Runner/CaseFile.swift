/// The name under which a case leaves files.
enum CaseFile {
  /// Bytes of the title at most: file systems take 255, and an ending follows.
  private static let longest = 160

  /// Title and lane where these can be a file's name. Where something had to be changed or cut, a
  /// digest of the whole title keeps two cases apart.
  static func name(title: String, lane: String) -> String {
    var name = String(
      String.UnicodeScalarView(
        title.unicodeScalars.map { isPlain($0) ? $0 : "_" }))
    while name.utf8.count > longest { name.removeLast() }
    if name != title || name.hasPrefix(".") {
      let digest = ContentDigest.text(type: title, time: "", payload: [])
      name = "_" + name + "-" + digest.suffix(8)
    }
    return "\(name)-\(lane)"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
    return !isControl && !"/\\:".unicodeScalars.contains(scalar)
  }
}
