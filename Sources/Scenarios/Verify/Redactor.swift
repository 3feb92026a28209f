/// Takes tokens out of every text that leaves the verifier, in the spellings a server may echo.
struct Redactor: Sendable {
  static let mark = "•••"

  private let spellings: [String]

  init(secrets: [String]) {
    var all: Set<String> = []
    for secret in secrets where !secret.isEmpty {
      all.insert(secret)
      all.insert(secret.substituting("/", with: "\\/"))
      all.insert(Redactor.percentEncoded(secret))
      all.insert(Base64.text(Array(secret.utf8)))
    }
    // The longest first, so that no part of one is left over.
    spellings = all.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  func clean(_ text: String) -> String {
    var result = text
    for spelling in spellings where result.contains(spelling) {
      result = result.substituting(
        spelling, with: Redactor.mark, wholeWords: Redactor.isShort(spelling))
    }
    return result
  }

  /// Whether any spelling of a secret is in the text.
  func finds(in text: String) -> Bool { clean(text) != text }

  /// Test tokens such as `T1` stand inside other words by chance; as a word of their own they
  /// are meant.
  private static func isShort(_ spelling: String) -> Bool { spelling.utf8.count < 8 }

  private static func percentEncoded(_ text: String) -> String {
    let plain = Array("-._~".utf8)
    return text.utf8.reduce(into: "") { result, byte in
      let isLetter = (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
      if isLetter || (0x30...0x39).contains(byte) || plain.contains(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
  }
}

extension String {
  /// The text with every occurrence of `part` replaced; of whole words only, where asked for.
  func substituting(_ part: String, with other: String, wholeWords: Bool = false) -> String {
    guard !part.isEmpty else { return self }
    var result: [UInt8] = []
    let bytes = Array(utf8)
    let wanted = Array(part.utf8)
    var index = 0
    while index < bytes.count {
      let end = index + wanted.count
      if bytes[index] == wanted[0], end <= bytes.count, bytes[index..<end].elementsEqual(wanted),
        !wholeWords
          || !(index > 0 && bytes[index - 1].isWordByte)
            && !(end < bytes.count && bytes[end].isWordByte)
      {
        result += Array(other.utf8)
        index = end
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isWordByte: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5a).contains(self) || (0x61...0x7a).contains(self)
      || self == 0x5f || self >= 0x80
  }
}

/// RFC 4648, section 4.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func text(_ bytes: [UInt8]) -> String {
    var result: [UInt8] = []
    result.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = 0
      for offset in 0..<3 {
        value = value << 8 | (offset < group.count ? Int(group[start + offset]) : 0)
      }
      for position in 0..<4 {
        let digit = alphabet[value >> (18 - 6 * position) & 63]
        result.append(position <= group.count ? digit : 0x3d)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
