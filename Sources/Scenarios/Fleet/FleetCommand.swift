import Foundation

/// `workbench bench fleet`: simulates a fleet after an outage and draws its arrivals.
package enum FleetCommand {
  static let usage =
    "usage: workbench bench fleet [--engines N] [--outage SECONDS] [--seed N] [--svg FILE]"

  package static func run(arguments: [String]) -> Int32 {
    SystemCalls.prepareStandardDescriptors()
    do {
      guard arguments.first == "fleet" else { throw UsageError("no such bench\n\(usage)") }
      let parsed = try Arguments(
        Array(arguments.dropFirst()), valued: ["--engines", "--outage", "--seed", "--svg"],
        flags: [])
      guard parsed.paths.isEmpty else { throw UsageError("unexpected \(parsed.paths)\n\(usage)") }
      let engines = try parsed.integer("--engines", in: 1...1_000_000) ?? 10_000
      let outage = try parsed.integer("--outage", in: 60...604_800) ?? 21_600
      let seed = try parsed.integer("--seed", in: 0...Int64.max) ?? 1
      let report = FleetSimulation.run(
        engines: Int(engines), outageSeconds: Int(outage), seed: UInt64(seed))
      let file = parsed.value("--svg") ?? "build/fleet.svg"
      try write(FleetChart.svg(report), to: file)
      return judge(report, file)
    } catch let error as UsageError {
      Console.error("workbench bench: \(error)")
      return ExitCode.invalid.rawValue
    } catch {
      Console.error("workbench bench: \(error)")
      return ExitCode.runnerFailed.rawValue
    }
  }

  private static func write(_ text: String, to file: String) throws {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try text.write(toFile: file, atomically: true, encoding: .utf8)
  }

  private static func judge(_ report: FleetSimulation.Report, _ file: String) -> Int32 {
    let percent = (report.peakShare * 10_000).rounded() / 100
    Console.out(
      """
      \(report.engines) devices, \(report.requests) requests
      peak of the first minute: \(report.peak) requests/s, \(percent) % of the fleet (limit 3 %)
      delivered: \(report.engines - report.undelivered), the last \(report.lastDeliverySecond) s \
      after the recovery (limit 900 s)
      picture: \(file)
      """)
    let holds = report.peakShare <= FleetChart.allowedShare && report.undelivered == 0
    return holds ? ExitCode.pass.rawValue : ExitCode.broken.rawValue
  }
}
