import XCTest

@testable import MockBatchServer

final class ServeOptionsTests: XCTestCase {
  func testArguments_whenAllAreGiven_areRead() throws {
    let options = try ServeOptions([
      "--host", "localhost", "--port=8080", "--admin-port", "0", "--ready-file", "r", "--token",
      "a", "--token=b", "--plan", "p", "--ledger", "l", "--log", "json", "--drain-seconds", "3",
      "--tls-ca-file", "c", "--tls-fault", "wrong-host", "--admin-token", "x", "--threads", "3",
      "--idle-seconds", "5", "--admin-host", "desk.local", "--admin-host=desk",
    ])
    XCTAssertEqual(options.host, "localhost")
    XCTAssertEqual(options.port, 8080)
    XCTAssertEqual(options.adminPort, 0)
    XCTAssertEqual(options.tokens, ["a", "b"])
    XCTAssertEqual(options.log, .json)
    XCTAssertEqual(options.drainSeconds, 3)
    XCTAssertEqual(options.threads, 3)
    XCTAssertEqual(options.idleSeconds, 5)
    XCTAssertEqual(options.adminHosts, ["desk.local", "desk"])
    XCTAssertEqual(
      options.tls, TLSOptions(certificate: .generated, fault: .wrongHost, caFile: "c"))
  }

  func testArguments_whenWrong_areRefusedInOneLine() {
    for (arguments, part) in [
      (["--prot", "1"], "unknown argument --prot"), (["--port"], "--port needs a value"),
      (["--port", "x"], "--port x: not a number"), (["--port", "65536"], "65535"),
      (["--port", "-1"], "--port -1"), (["--token", ""], "must not be empty"),
      (["--log", "xml"], "none, json"), (["--tls=x"], "--tls takes no value"),
      (["--tls-cert", "c"], "go together"), (["--tls-fault", "odd"], "expired, wrong-host"),
      (["--tls-cert", "c", "--tls-key", "k", "--tls-ca-file", "f"], "generated"),
      (["--threads", "0"], "1 to 64"), (["--idle-seconds", "0"], "1 to 86400"),
      (["--help=1"], "takes no value"), (["serve"], "unknown argument serve"),
    ] {
      XCTAssertThrowsError(try ServeOptions(arguments)) {
        let text = ($0 as? ServeOptions.Mistake)?.text ?? ""
        XCTAssertTrue(text.contains(part), "\(arguments): \(text)")
        XCTAssertFalse(text.contains("\n"))
      }
    }
  }

  func testHelp_whenRead_namesEveryOptionAndFitsATerminal() {
    for name in [
      "--host", "--port", "--admin-port", "--ready-file", "--plan", "--token", "--ledger",
      "--admin-token", "--tls", "--tls-ca-file", "--tls-cert", "--tls-key", "--tls-fault", "--log",
      "--drain-seconds", "--threads", "--idle-seconds", "--admin-host", "--help",
    ] {
      XCTAssertTrue(ServeOptions.help.contains(name), name)
    }
    for line in ServeOptions.help.split(separator: "\n") { XCTAssertLessThan(line.count, 100) }
  }
}
