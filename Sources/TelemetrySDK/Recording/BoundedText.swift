/// Cuts texts of unknown length.
enum BoundedText {
  /// The longest beginning of at most `maxBytes` UTF-8 bytes that ends between scalars.
  static func prefix(_ text: String, maxBytes: Int) -> String {
    guard text.utf8.count > maxBytes else { return text }
    var kept = String.UnicodeScalarView()
    var bytes = 0
    for scalar in text.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > maxBytes { break }
      kept.append(scalar)
    }
    return String(kept)
  }
}
