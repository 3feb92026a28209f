import Foundation

extension TelemetryConfiguration {
  /// What is wrong with the values, one text each, naming the value; empty where all is well.
  public func problems() -> [String] {
    var problems: [String] = []
    func check(_ holds: Bool, _ text: String) { if !holds { problems.append(text) } }
    func atLeast(_ name: String, _ value: some BinaryInteger, _ bound: Int) {
      check(value >= bound, "\(name) is \(value), must be at least \(bound)")
    }
    checkEndpoint(&problems)
    check(!directory.isEmpty, "directory is empty")
    check(!directory.utf8.contains(0), "directory contains a NUL character")
    atLeast("queueCapBytes", queueCapBytes, 4_000_000)
    atLeast("quarantineCapBytes", quarantineCapBytes, 0)
    check(
      quarantineCapBytes <= queueCapBytes / 2,
      "quarantineCapBytes is \(quarantineCapBytes), must be at most half of queueCapBytes")
    atLeast("walBudgetBytes", walBudgetBytes, 200_000)
    check(
      walBudgetBytes <= queueCapBytes / 4,
      "walBudgetBytes is \(walBudgetBytes), must be at most a quarter of queueCapBytes")
    atLeast("maxAgeMs", maxAgeMs, 60_000)
    atLeast("memoryBufferBytes", memoryBufferBytes, 0)
    atLeast("recordWaitMs", recordWaitMs, 0)
    atLeast("syncIntervalMs", syncIntervalMs, 1)
    atLeast("keyMaxSeals", keyMaxSeals, 1)
    check(
      keyMaxSeals <= 1 << 32,
      "keyMaxSeals is \(keyMaxSeals), must be at most 2^32 (NIST SP 800-38D)")
    atLeast("keyMaxAgeMs", keyMaxAgeMs, 60_000)
    atLeast("batchLimitBytes", batchLimitBytes, 1_000)
    check(
      batchLimitBytes <= 10_000_000,
      "batchLimitBytes is \(batchLimitBytes), must be at most 10000000")
    atLeast("batchMaxEvents", batchMaxEvents, 1)
    check(
      batchMaxEvents <= 10_000, "batchMaxEvents is \(batchMaxEvents), must be at most 10000")
    check((1...9).contains(gzipLevel), "gzipLevel is \(gzipLevel), must be 1 to 9")
    check(
      (1...TelemetryConfiguration.deepestPayload).contains(maxPayloadDepth),
      "maxPayloadDepth is \(maxPayloadDepth), must be 1 to \(TelemetryConfiguration.deepestPayload)"
    )
    checkTimes(&problems)
    atLeast("slowLinkBytesPerSecond", slowLinkBytesPerSecond, 1)
    atLeast("refusalsBeforePause", refusalsBeforePause, 1)
    return problems
  }

  /// The wire contract ends at 128 levels; envelope, list and event are three of them.
  private static let deepestPayload = 125

  private func checkEndpoint(_ problems: inout [String]) {
    guard let url = URL(string: endpoint), let scheme = url.scheme?.lowercased(),
      scheme == "https" || scheme == "http", url.host?.isEmpty == false
    else {
      problems.append("endpoint is \"\(endpoint)\", must be an absolute http or https URL")
      return
    }
    if url.user != nil || url.password != nil {
      problems.append("endpoint carries a user or password, which would be stored and logged")
    }
  }

  private func checkTimes(_ problems: inout [String]) {
    let yearMs: Int64 = 366 * 86_400_000
    let times: [(String, Int64)] = [
      ("flushIntervalMs", flushIntervalMs), ("lowPowerIntervalMs", lowPowerIntervalMs),
      ("probeIntervalMs", probeIntervalMs), ("requestTimeoutMs", requestTimeoutMs),
      ("resourceTimeoutMs", resourceTimeoutMs), ("tokenTimeoutMs", tokenTimeoutMs),
      ("backoffBaseMs", backoffBaseMs), ("backoffCapMs", backoffCapMs),
      ("retryAfterCapMs", retryAfterCapMs), ("refusalPauseMs", refusalPauseMs),
      ("refusalPauseCapMs", refusalPauseCapMs), ("sessionTimeoutMs", sessionTimeoutMs),
    ]
    for (name, value) in times where value < 1 || value > yearMs {
      problems.append("\(name) is \(value), must be 1 to \(yearMs) ms")
    }
    for (name, value) in [
      ("restoreThrottleMs", restoreThrottleMs), ("restoreJitterMs", restoreJitterMs),
    ] where value < 0 || value > yearMs {
      problems.append("\(name) is \(value), must be 0 to \(yearMs) ms")
    }
    let ordered: [(String, Int64, String, Int64)] = [
      ("backoffBaseMs", backoffBaseMs, "backoffCapMs", backoffCapMs),
      ("requestTimeoutMs", requestTimeoutMs, "resourceTimeoutMs", resourceTimeoutMs),
      ("refusalPauseMs", refusalPauseMs, "refusalPauseCapMs", refusalPauseCapMs),
    ]
    for (small, smallValue, large, largeValue) in ordered where smallValue > largeValue {
      problems.append("\(small) is \(smallValue), must be at most \(large) (\(largeValue))")
    }
  }
}
