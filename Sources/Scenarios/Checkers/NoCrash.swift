extension Checker {
  /// The app that hosts the SDK never crashed.
  package static let noCrash = Checker.property(
    "noCrash", needs: "a device that was started", looksAtServer: false
  ) { evidence in
    guard evidence.lives > 0 else { return .unknown("no device was started") }
    if let crash = evidence.deaths.first(where: { $0.how.hasPrefix("crashed") }) {
      return .fail("the device \(crash.how) at \(ScenarioTime.text(crash.atNs))")
    }
    return .pass("\(evidence.lives) lives of the device, none ended in a crash")
  }
}
