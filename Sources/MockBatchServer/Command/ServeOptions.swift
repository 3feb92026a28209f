/// The arguments of `workbench serve`.
struct ServeOptions: Equatable {
  enum Log: String, CaseIterable { case none, json }

  var host = "127.0.0.1"
  var port = 0
  var adminPort: Int?
  var adminToken: String?
  var adminHosts: [String] = []
  var readyFile: String?
  var tokens: [String] = []
  var planFile: String?
  var ledgerFile: String?
  var log = Log.none
  var tls: TLSOptions?
  var drainSeconds = 10
  var idleSeconds = 75
  /// Nil: one for every two cores, for the clients run on the same machine.
  var threads: Int?
  var wantsHelp = false

  /// A wrong argument, in one line.
  struct Mistake: Error, Equatable { var text: String }

  /// Reads arguments strictly; values follow as `--name value` or `--name=value`.
  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var certificate: String?
    var key: String?
    var caFile: String?
    var fault: TLSOptions.Fault?
    var wantsTLS = false
    while let argument = rest.popFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      var inline = parts.count == 2 ? String(parts[1]) : nil
      func value() throws -> String {
        if let given = inline {
          inline = nil
          return given
        }
        guard let next = rest.popFirst() else { throw Mistake(text: "\(name) needs a value") }
        return next
      }
      switch name {
      case "--help", "-h": wantsHelp = true
      case "--host": host = try value()
      case "--port": port = try ServeOptions.port(name, value())
      case "--admin-port": adminPort = try ServeOptions.port(name, value())
      case "--admin-token": adminToken = try ServeOptions.filled(name, value())
      case "--admin-host": adminHosts.append(try ServeOptions.filled(name, value()))
      case "--ready-file": readyFile = try ServeOptions.filled(name, value())
      case "--token": tokens.append(try ServeOptions.filled(name, value()))
      case "--plan": planFile = try ServeOptions.filled(name, value())
      case "--ledger": ledgerFile = try ServeOptions.filled(name, value())
      case "--log": log = try ServeOptions.choice(name, value(), Log.self)
      case "--drain-seconds": drainSeconds = try ServeOptions.number(name, value(), 0...3_600)
      case "--idle-seconds": idleSeconds = try ServeOptions.number(name, value(), 1...86_400)
      case "--threads":
        threads = try ServeOptions.number(name, value(), 1...SocketServer.maxThreads)
      case "--tls": wantsTLS = true
      case "--tls-cert": certificate = try ServeOptions.filled(name, value())
      case "--tls-key": key = try ServeOptions.filled(name, value())
      case "--tls-ca-file": caFile = try ServeOptions.filled(name, value())
      case "--tls-fault": fault = try ServeOptions.choice(name, value(), TLSOptions.Fault.self)
      default: throw Mistake(text: "unknown argument \(name) (see --help)")
      }
      if inline != nil { throw Mistake(text: "\(name) takes no value") }
    }
    tls = try ServeOptions.tls(
      wantsTLS: wantsTLS, certificate: certificate, key: key, caFile: caFile, fault: fault)
  }

  private static func tls(
    wantsTLS: Bool, certificate: String?, key: String?, caFile: String?, fault: TLSOptions.Fault?
  ) throws -> TLSOptions? {
    switch (certificate, key) {
    case (let certificate?, let key?):
      guard caFile == nil else {
        throw Mistake(text: "--tls-ca-file goes with a generated certificate, not with --tls-cert")
      }
      return TLSOptions(certificate: .files(certificate: certificate, key: key), fault: fault)
    case (nil, nil):
      guard wantsTLS || caFile != nil || fault != nil else { return nil }
      return TLSOptions(certificate: .generated, fault: fault, caFile: caFile)
    default: throw Mistake(text: "--tls-cert and --tls-key go together")
    }
  }

  private static func number(
    _ name: String, _ text: String, _ range: ClosedRange<Int>
  ) throws -> Int {
    guard let number = Int(text), range.contains(number) else {
      throw Mistake(
        text: "\(name) \(text): not a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private static func port(_ name: String, _ text: String) throws -> Int {
    try number(name, text, 0...65_535)
  }

  private static func filled(_ name: String, _ text: String) throws -> String {
    guard !text.isEmpty else { throw Mistake(text: "\(name) must not be empty") }
    return text
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ text: String, _ kind: Choice.Type
  ) throws -> Choice where Choice.RawValue == String {
    guard let choice = Choice(rawValue: text) else {
      let known = kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw Mistake(text: "\(name) \(text): not one of \(known)")
    }
    return choice
  }

  static let help = """
    usage: workbench serve [options]

    Starts a strict server for POST /v1/telemetry/batch and serves until SIGTERM or SIGINT; then
    requests in progress are answered first. When it accepts connections, one JSON line with url,
    adminURL, port and pid goes to standard output and, if wanted, to the ready file.

    where
      --host ADDRESS       numeric address, or localhost for IPv4 and IPv6 (127.0.0.1)
      --port N             port of the contract; 0 takes any free one (0)
      --admin-port N       a port of its own for /__admin; without it only the contract's
      --ready-file FILE    written once the server accepts; a stale one is deleted at start

    what
      --plan FILE          fault plan, JSON
      --token TOKEN        accept this bearer token; repeatable; without it any token will do
      --ledger FILE        SQLite file that outlives the server; without it memory
      --admin-token TOKEN  required by /__admin; needed when --host is no loopback address
      --admin-host NAME    a name that /__admin may be called by, besides localhost and addresses;
                           repeatable

    TLS
      --tls                a certificate for localhost, made at start
      --tls-ca-file FILE   where its CA goes, for curl --cacert; implies --tls
      --tls-cert FILE      your certificate chain, PEM; with --tls-key FILE
      --tls-fault FAULT    expired, wrong-host or handshake-reset; implies --tls

    how
      --log json           a JSON line for everything that happens, to standard error
      --threads N          threads that serve connections (one for every two cores)
      --idle-seconds N     how long a connection may wait for its next request (75)
      --drain-seconds N    how long requests in progress may take after SIGTERM (10)
      --help               this text

    exit status: 0 stopped as asked, 3 wrong arguments, unreadable or wrong plan, 5 cannot start

    """
}
