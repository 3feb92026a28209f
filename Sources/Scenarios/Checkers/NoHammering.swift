extension Checker {
  /// Tries in vain that a minute may have. A backoff from 2 s on makes seven or so; a few more come
  /// with the app's own flushes, the network and the foreground.
  private static let mostInVain = 20
  private static let windowNs: Int64 = 60_000_000_000

  /// Nobody was called in vain again and again: by the device's own count, also where a portal
  /// answered in the server's place, or nobody did.
  package static let noHammering = Checker.property(
    "noHammering", needs: "a request that ended in vain for the device", looksAtServer: false
  ) { evidence in
    let vain = evidence.triesInVain.map(\.atNs).sorted()
    guard !vain.isEmpty else { return .unknown("no request ended in vain") }
    var first = 0
    var most = 0
    for (last, moment) in vain.enumerated() {
      while moment - vain[first] > windowNs { first += 1 }
      most = max(most, last - first + 1)
      if most > mostInVain {
        return .fail(
          "\(most) requests in vain within the minute before \(ScenarioTime.text(moment)), at most"
            + " \(mostInVain) are expected")
      }
    }
    return .pass("\(vain.count) requests in vain, at most \(most) within a minute")
  }
}

extension Evidence {
  /// Neither taken by the server nor refused in a way that asks for another body.
  var triesInVain: [Try] {
    tries.filter { tried in
      guard let status = Int(tried.outcome), reachedServer(tried) else { return true }
      switch status {
      case 200..<300: return false
      case 401, 403, 408, 429: return true
      default: return !(400..<500).contains(status)
      }
    }
  }
}
