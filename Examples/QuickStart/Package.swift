// swift-tools-version:5.9
import PackageDescription

let package = Package(
  name: "QuickStart",
  platforms: [.iOS(.v15), .macOS(.v12)],
  dependencies: [.package(name: "telemetry-workbench", path: "../..")],
  targets: [
    .executableTarget(
      name: "QuickStart",
      dependencies: [
        .product(name: "TelemetrySDK", package: "telemetry-workbench"),
        .product(name: "JSONText", package: "telemetry-workbench"),
      ])
  ]
)
