// swift-tools-version:5.9
import PackageDescription

/// Strict concurrency in every target. Warnings become errors on the command line (`make test`,
/// CI): SwiftPM refuses dependencies whose manifest carries unsafe flags.
let swiftSettings: [SwiftSetting] = [.enableExperimentalFeature("StrictConcurrency")]
let openSSL: Target.Dependency = .target(name: "COpenSSL", condition: .when(platforms: [.linux]))

let epoll: Target.Dependency = .target(name: "CEpoll", condition: .when(platforms: [.linux]))

let package = Package(
  name: "telemetry-workbench",
  platforms: [.iOS(.v15), .macOS(.v12)],
  products: [
    .library(name: "TelemetrySDK", targets: ["TelemetrySDK"]),
    .library(name: "JSONText", targets: ["JSONText"]),
    .library(name: "MockBatchServer", targets: ["MockBatchServer"]),
    .executable(name: "workbench", targets: ["workbench"]),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CEpoll"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),

    .target(name: "JSONText", swiftSettings: swiftSettings),
    .target(
      name: "TelemetrySDK", dependencies: ["JSONText", "CSQLite", "CZlib", openSSL],
      swiftSettings: swiftSettings),
    .target(
      name: "MockBatchServer", dependencies: ["JSONText", "CSQLite", "CZlib", epoll, openSSL],
      swiftSettings: swiftSettings),
    .target(name: "CDiskHooks", dependencies: ["CSQLite"]),
    .target(
      name: "Scenarios",
      dependencies: [
        "TelemetrySDK", "MockBatchServer", "JSONText", "CDiskHooks", "CZlib", openSSL,
      ],
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "workbench", dependencies: ["Scenarios", "MockBatchServer"],
      swiftSettings: swiftSettings),

    // Storage operations that count, fail, kill and are recorded: for tests, in no product.
    .target(name: "StorageShim", dependencies: ["CSQLite"], path: "Tests/StorageShim"),
    .executableTarget(
      name: "crashlab", dependencies: ["TelemetrySDK", "TelemetryTestSupport", "StorageShim"],
      path: "Tests/CrashLab", swiftSettings: swiftSettings),

    // What an event would cost on disk in other forms: figures for docs/decisions.md.
    .executableTarget(
      name: "storedform",
      dependencies: ["TelemetrySDK", "TelemetryTestSupport", "JSONText", "CZlib"],
      path: "Tests/StoredForm", swiftSettings: swiftSettings),

    .target(
      name: "TelemetryTestSupport",
      dependencies: ["TelemetrySDK", "JSONText", "CZlib", "StorageShim"],
      path: "Tests/TelemetryTestSupport", swiftSettings: swiftSettings),
    .target(
      name: "ThreadsSupport", path: "Tests/ThreadsSupport", swiftSettings: swiftSettings),
    .testTarget(
      name: "JSONTextTests", dependencies: ["JSONText"], swiftSettings: swiftSettings),
    .testTarget(
      name: "TelemetrySDKTests",
      dependencies: [
        "TelemetrySDK", "JSONText", "TelemetryTestSupport", "StorageShim", "ThreadsSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "MockBatchServerTests",
      dependencies: ["MockBatchServer", "JSONText", "ThreadsSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ScenariosTests",
      dependencies: [
        "Scenarios", "MockBatchServer", "TelemetrySDK", "JSONText", "workbench", "ThreadsSupport",
      ],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ReadmeTests", dependencies: ["TelemetrySDK", "MockBatchServer"],
      swiftSettings: swiftSettings),
    .testTarget(name: "TidyTests", swiftSettings: swiftSettings),
  ]
)

// `PACKAGE_PART=sdk`, `=server` or `=scenarios` leaves the rest out: faster builds while working on
// one part.
let parts: [String: [String]] = [
  "sdk": ["MockBatchServer", "Scenarios", "workbench", "Readme", "Tidy", "JSONTextTests"],
  "server": [
    "TelemetrySDK", "TelemetryTestSupport", "Scenarios", "workbench", "Readme", "Tidy", "Store",
    "stored", "Crash", "crash", "Storage", "JSONTextTests",
  ],
  "scenarios": [
    "TelemetrySDKTests", "TelemetryTestSupport", "MockBatchServerTests", "ReadmeTests",
    "StorageShim", "crashlab", "stored", "JSONTextTests",
  ],
]
if let part = Context.environment["PACKAGE_PART"], let leftOut = parts[part] {
  package.targets.removeAll { target in leftOut.contains { target.name.hasPrefix($0) } }
  package.products.removeAll { product in leftOut.contains { product.name.hasPrefix($0) } }
}
