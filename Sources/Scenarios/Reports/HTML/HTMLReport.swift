/// The run as one self-contained HTML page: failures first, then every scenario.
package enum HTMLReport {
  /// Failures that are shown with their timeline; further ones only in the table and below it.
  private static let maxComplaints = 60

  package static func text(_ report: RunReport) -> String {
    let groups = Group.all(report)
    var html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    html += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
    html += "<link rel=\"icon\" href=\"data:,\"><title>\(title(report))</title>"
    html += "<style>\n\(HTMLStyle.css)\n</style></head><body><main>\n"
    html += head(report)
    html += complaints(report)
    html += differences(report)
    html += table(groups)
    html += "<h2>Timelines</h2>\(TimelineLegend.html)\n"
    for group in groups { html += details(group) }
    return html + "</main><script>\n\(HTMLStyle.script)\n</script></body></html>\n"
  }

  /// The cases of one scenario.
  private struct Group {
    var scenario: String
    var anchor: String
    var cases: [CaseReport]
    var about: String { cases.first?.history.header.about ?? "" }

    static func all(_ report: RunReport) -> [Group] {
      var groups: [Group] = []
      var index: [String: Int] = [:]
      for item in report.cases {
        if let known = index[item.scenario] {
          groups[known].cases.append(item)
        } else {
          index[item.scenario] = groups.count
          groups.append(
            Group(scenario: item.scenario, anchor: "s\(groups.count + 1)", cases: [item]))
        }
      }
      return groups
    }

    /// For the filter: name and verdicts in lower case.
    var find: String {
      let words = cases.map { "\($0.lane) \($0.status.rawValue)" }.joined(separator: " ")
      return XMLText.attribute("\(scenario) \(words)".lowercased())
    }
  }

  private static func title(_ report: RunReport) -> String {
    let bad = report.complaints.count
    return bad == 0 ? "All passed" : "\(bad) of \(report.cases.count) need a look"
  }

  private static func pill(_ status: CaseReport.Status, _ text: String, link: String? = nil)
    -> String
  {
    let text = XMLText.content(text)
    guard let link else { return "<span class=\"pill \(status.rawValue)\">\(text)</span>" }
    return "<a class=\"pill \(status.rawValue)\" href=\"#\(link)\">\(text)</a>"
  }

  private static func head(_ report: RunReport) -> String {
    var html = "<h1>\(title(report))</h1><p class=\"dim\">"
    html += "\(ReportText.plural(report.cases.count, "case"))"
    if report.tookMs > 0 { html += " in \(ReportText.milliseconds(report.tookMs))" }
    html += "</p><div class=\"counts\">"
    for status in CaseReport.Status.allCases where report.count(status) > 0 {
      html += pill(status, "\(report.count(status)) \(TerminalReport.word(status).lowercased())")
    }
    return html + "</div>\n"
  }

  private static func complaints(_ report: RunReport) -> String {
    let cards = Card.all(report.complaints)
    guard !cards.isEmpty else { return "" }
    var html = "<h2>What needs a look</h2>\n"
    if cards.prefix(maxComplaints).contains(where: \.hasPicture) { html += TimelineLegend.html }
    for card in cards.prefix(maxComplaints) { html += text(card) }
    if cards.count > maxComplaints {
      html += "<p class=\"dim\">\(cards.count - maxComplaints) more in the table below.</p>\n"
    }
    return html
  }

  /// The same complaint about one scenario in several lanes is one card.
  private struct Card {
    var cases: [CaseReport]
    var lines: [String]
    var hasPicture: Bool { cases.first?.history.entries.isEmpty == false }

    static func all(_ complaints: [CaseReport]) -> [Card] {
      var cards: [Card] = []
      var index: [[String]: Int] = [:]
      for item in complaints {
        let findings = item.complaints.map { "\($0.checker) \($0.verdict.explanation)" }
        let key = [item.scenario, item.status.rawValue, item.trouble ?? ""] + findings
        if let known = index[key] {
          cards[known].cases.append(item)
          continue
        }
        index[key] = cards.count
        var lines: [String] = item.trouble.map { [$0] } ?? []
        for result in item.complaints { lines += FailureText.lines(result, item, indent: "") }
        cards.append(Card(cases: [item], lines: lines))
      }
      return cards
    }
  }

  private static func text(_ card: Card) -> String {
    guard let item = card.cases.first else { return "" }
    let lanes = card.cases.map(\.lane).joined(separator: ", ")
    var html = "<section class=\"card \(item.status.rawValue)\"><div class=\"head\">"
    html += pill(item.status, TerminalReport.word(item.status))
    html += "<h3>\(XMLText.content(item.scenario))</h3>"
    html += "<span class=\"dim\">\(XMLText.content(lanes))</span></div>"
    if !item.history.header.about.isEmpty {
      html += "<p class=\"dim\">\(XMLText.content(item.history.header.about))</p>"
    }
    let lines = card.lines + card.cases.flatMap { FailureText.tail($0, indent: "") }
    html += "<pre>\(MessageText.html(lines))</pre>"
    if !item.history.entries.isEmpty {
      html += TimelineSVG.text(item) + FlowSVG.text(item.history)
    }
    return html + "</section>\n"
  }

  private static func differences(_ report: RunReport) -> String {
    let all = report.comparisons.flatMap { comparison in
      comparison.differences.map { (comparison.scenario, $0) }
    }
    guard !all.isEmpty else { return "" }
    var html = "<h2>Differences between lanes</h2><ul class=\"checks\">"
    for (scenario, difference) in all {
      let status: CaseReport.Status = difference.explanation == nil ? .fail : .skipped
      html += "<li>\(pill(status, difference.explanation == nil ? "finding" : "explained")) "
      html +=
        "<b>\(XMLText.content(scenario))</b> \(XMLText.content(FailureText.text(difference)))</li>"
    }
    return html + "</ul>\n"
  }

  private static func table(_ groups: [Group]) -> String {
    var html = "<h2>Scenarios</h2><p><input id=\"filter\" type=\"search\""
    html += " placeholder=\"filter: name, lane, verdict\" aria-label=\"filter\"></p>"
    html += "<table><thead><tr><th>scenario</th><th>lanes: recorded → delivered, duplicates,"
    html += " requests</th></tr></thead><tbody>\n"
    for group in groups {
      html += "<tr data-find=\"\(group.find)\"><td><a href=\"#\(group.anchor)\">"
      html += "\(XMLText.content(group.scenario))</a></td><td>"
      for item in group.cases {
        let figures = item.figures
        html += "<div>\(pill(item.status, item.lane, link: group.anchor))<span class=\"figures\">"
        html +=
          item.skipped.map { "skipped: \(XMLText.content($0))" }
          ?? "\(figures.recorded) → \(figures.delivered), \(figures.duplicates), \(figures.requests)"
        html += "</span></div>"
      }
      html += "</td></tr>\n"
    }
    return html + "</tbody></table>\n"
  }

  /// One scenario. Where every lane passed, one timeline stands for all: they were compared.
  private static func details(_ group: Group) -> String {
    var html = "<details id=\"\(group.anchor)\" data-find=\"\(group.find)\"><summary>"
    html += "<h3>\(XMLText.content(group.scenario))</h3>"
    for item in group.cases { html += pill(item.status, item.lane) }
    html += "</summary><p>\(XMLText.content(group.about))</p>"
    let shown = group.cases.filter { $0.status != .skipped }
    let allPassed = shown.allSatisfy { $0.status == .pass }
    for item in allPassed ? Array(shown.prefix(1)) : shown {
      html += "<p class=\"dim\">\(XMLText.content(item.lane)), seed \(item.history.header.seed)</p>"
      html += TimelineSVG.text(item) + FlowSVG.text(item.history)
      html += "<ul class=\"checks\">"
      for result in item.results {
        let status = CaseReport.Status(rawValue: result.verdict.outcome.rawValue) ?? .unknown
        html += "<li>\(pill(status, status.rawValue)) <b>\(XMLText.content(result.checker))</b> "
        html += "<span class=\"dim\">\(XMLText.content(result.verdict.explanation))</span></li>"
      }
      html += "</ul>"
    }
    return html + "</details>\n"
  }
}
