import TelemetrySDK

/// `workbench device`: the process that hosts the SDK for the runner. Hidden: it speaks a protocol
/// of its own over descriptors that only a runner sets up.
package enum DeviceCommand {
  /// Real seconds after which `URLSession` gives up: a guard; deadlines run on the scenario clock.
  private static let guardSeconds = 300.0

  package static func run(arguments: [String]) -> Never {
    SystemCalls.prepareStandardDescriptors()
    let isBridged = arguments.contains("--bridge")
    if isBridged { ForwardingProtocol.startBridge() }
    let executor = ScriptedExecutor()
    let loop = DeviceLoop(executor: executor)
    let transport = URLSessionTransport(
      requestTimeoutSeconds: guardSeconds, resourceTimeoutSeconds: guardSeconds,
      protocolClasses: isBridged ? [ForwardingProtocol.self] : [])
    let host = DeviceHost(
      executor: executor, transport: transport, say: { DeviceLoop.say($0) },
      wake: { loop.wake() })
    loop.run(host)
  }
}
