// swift-tools-version:5.9
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v12)],
  dependencies: [.package(name: "telemetry-workbench", path: "..")],
  targets: [
    .target(
      name: "CLimits",
      cSettings: [.unsafeFlags(["-O2"])],
      linkerSettings: [
        .linkedLibrary("sqlite3"), .linkedLibrary("z"), .linkedLibrary("crypto"),
        .linkedLibrary("pthread"),
      ]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "CLimits",
        .product(name: "JSONText", package: "telemetry-workbench"),
        .product(name: "TelemetrySDK", package: "telemetry-workbench"),
        .product(name: "MockBatchServer", package: "telemetry-workbench"),
      ]),
  ]
)
