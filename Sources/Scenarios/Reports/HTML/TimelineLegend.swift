/// What the signs of a timeline mean; stands at the first one.
enum TimelineLegend {
  static let html: String = {
    var html = "<p class=\"legend\">"
    let requests = [
      ("ok", "2xx"), ("later", "429, 5xx"), ("refused", "4xx"), ("lost", "no answer"),
    ]
    for (kind, words) in requests {
      html += sign("<circle class=\"request \(kind)\" r=\"4.5\"/>", words)
    }
    let marks = [
      ("kill", "kill"), ("start", "start"), ("fault", "fault, by its rule"), ("trigger", "trigger"),
      ("condition", "change"), ("failed", "expectation that failed"),
    ]
    for (kind, words) in marks {
      html += sign("<g class=\"mark \(kind)\">\(TimelineSVG.shape(kind))</g>", words)
    }
    let bands = [
      ("offline", "no network"), ("away", "background"), ("trouble", "disk, key, power, token, …"),
    ]
    for (kind, words) in bands {
      html += sign(
        "<rect class=\"band \(kind)\" x=\"-7\" y=\"-5\" width=\"14\" height=\"10\"/>", words)
    }
    for (kind, words) in [("depth", "durable and waiting"), ("memory", "buffered in memory")] {
      html += sign("<path class=\"\(kind)\" d=\"M7 5H-7V-1H0V-5H7\"/>", words)
    }
    return html + "<span>Time is stretched where much happens.</span></p>"
  }()

  private static func sign(_ drawing: String, _ words: String) -> String {
    "<span><svg viewBox=\"-8 -8 16 16\">\(drawing)</svg>\(words)</span>"
  }
}

/// A failure's lines as HTML. The caret of a script's line becomes a highlight in the line itself:
/// it stays in its place where a narrow screen wraps the line.
enum MessageText {
  static func html(_ lines: [String]) -> String {
    var shown: [String] = []
    for (index, line) in lines.enumerated() {
      let caret = line.unicodeScalars.count - 1
      if index > 0, line.hasSuffix("^"), line.dropLast().allSatisfy({ $0 == " " }),
        caret < lines[index - 1].unicodeScalars.count
      {
        shown[shown.count - 1] = marked(Array(lines[index - 1].unicodeScalars), at: caret)
      } else {
        shown.append(XMLText.content(line))
      }
    }
    return shown.joined(separator: "\n")
  }

  /// The word that begins there is marked; a sign that begins no word alone.
  private static func marked(_ scalars: [Unicode.Scalar], at start: Int) -> String {
    let isQuoted = scalars[start] == "\""
    var end = start + 1
    while end < scalars.count, isQuoted || scalars[start].properties.isAlphabetic {
      end += 1
      if isQuoted ? scalars[end - 1] == "\"" : !scalars[end - 1].properties.isAlphabetic { break }
    }
    func text(_ part: ArraySlice<Unicode.Scalar>) -> String {
      var view = String.UnicodeScalarView()
      view.append(contentsOf: part)
      return XMLText.content(String(view))
    }
    return text(scalars[..<start]) + "<mark>" + text(scalars[start..<end]) + "</mark>"
      + text(scalars[end...])
  }
}
