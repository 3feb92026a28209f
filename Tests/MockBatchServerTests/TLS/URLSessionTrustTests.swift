#if os(Linux)
  import Foundation
  import FoundationNetworking
  import Glibc
  import XCTest

  @testable import MockBatchServer

  /// `URLSession` on Linux trusts the system's bundle of authorities and nothing else: these tests run
  /// it in a process of its own that sees a bundle with the server's CA appended.
  final class URLSessionTrustTests: XCTestCase {
    private static let urlKey = "TRUST_TEST_URL"
    private static let wantedKey = "TRUST_TEST_WANTED"
    private static let bundles = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    ]
    private var folder = URL(fileURLWithPath: NSTemporaryDirectory())

    override func setUpWithError() throws {
      folder = folder.appendingPathComponent("trust-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws { try FileManager.default.removeItem(at: folder) }

    func testURLSession_whenTheSystemTrustsTheCA_getsItsAnswer() throws {
      try checkWithTrust(fault: nil, wanted: "answer")
    }

    func testURLSession_whenTheCertificateNamesAnotherHost_refusesInSpiteOfTheCA() throws {
      try checkWithTrust(fault: .wrongHost, wanted: "refusal")
    }

    func testURLSession_whenTheCertificateIsOver_refusesInSpiteOfTheCA() throws {
      try checkWithTrust(fault: .expired, wanted: "refusal")
    }

    func testURLSession_whenTheSystemDoesNotKnowTheCA_refuses() throws {
      let server = try BatchServer(configuration: .init(tls: .init())).start()
      defer { server.stop() }
      XCTAssertNil(try outcome("https://localhost:\(server.port)/__admin/health"))
    }

    /// The other process of the tests above.
    func testChild_whenStartedByItsParent_asksTheServer() throws {
      let environment = ProcessInfo.processInfo.environment
      guard let url = environment[Self.urlKey], let wanted = environment[Self.wantedKey] else {
        throw XCTSkip("the other tests of this class start it")
      }
      XCTAssertEqual(try outcome(url) == 200 ? "answer" : "refusal", wanted)
    }

    private func checkWithTrust(fault: TLSOptions.Fault?, wanted: String) throws {
      guard let bundle = Self.bundles.first(where: { access($0, R_OK) == 0 }) else {
        throw XCTSkip("the system has no bundle of authorities")
      }
      guard try status(of: "true", []) == 0 else {
        throw XCTSkip("this system refuses unshare -m")
      }
      let authority = folder.appendingPathComponent("ca.pem")
      let options = TLSOptions(fault: fault, caFile: authority.path)
      let server = try BatchServer(configuration: .init(tls: options)).start()
      defer { server.stop() }
      let both = folder.appendingPathComponent("both.pem")
      let known = try Data(contentsOf: URL(fileURLWithPath: bundle))
      try (known + Data("\n".utf8) + Data(contentsOf: authority)).write(to: both)
      setenv(Self.urlKey, "https://localhost:\(server.port)/__admin/health", 1)
      setenv(Self.wantedKey, wanted, 1)
      defer {
        unsetenv(Self.urlKey)
        unsetenv(Self.wantedKey)
      }
      let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let name =
        "MockBatchServerTests.URLSessionTrustTests/testChild_whenStartedByItsParent_asksTheServer"
      let status = try status(
        of: #"mount --bind "$0" "$1" || exit 99; exec "$2" "$3""#,
        [both.path, bundle, program, name])
      if status == 99 << 8 { throw XCTSkip("this system refuses mount --bind") }
      XCTAssertEqual(status, 0, "the other process; \(wanted) was wanted")
    }

    /// The status of the answer; nil where there is none for want of trust.
    private func outcome(_ url: String) throws -> Int? {
      let session = URLSession(configuration: .ephemeral)
      defer { session.finishTasksAndInvalidate() }
      let result = Guarded<(status: Int?, error: Error?)>((nil, nil))
      let ended = expectation(description: "the answer")
      let task = session.dataTask(with: try XCTUnwrap(URL(string: url))) { _, response, error in
        result.access { $0 = ((response as? HTTPURLResponse)?.statusCode, error) }
        ended.fulfill()
      }
      task.resume()
      wait(for: [ended], timeout: 60)
      let (status, error) = result.access { $0 }
      // Linux tells an error of trust by its words only; the code is -1.
      if let error { XCTAssertTrue("\(error)".contains("certificate"), "\(error)") }
      return status
    }

    /// Runs a line of shell in a mount namespace of its own.
    private func status(of line: String, _ arguments: [String]) throws -> Int32 {
      let words = ["/usr/bin/env", "unshare", "-m", "/bin/sh", "-c", line] + arguments
      var list: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { list.forEach { free($0) } }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      defer { posix_spawn_file_actions_destroy(&actions) }
      for descriptor: Int32 in 0...2 {
        posix_spawn_file_actions_addopen(
          &actions, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0)
      }
      var child: pid_t = 0
      let failure = posix_spawn(&child, words[0], &actions, nil, &list, environ)
      guard failure == 0 else {
        throw SocketError(operation: "spawn", code: failure, subject: line)
      }
      var status: Int32 = 0
      while waitpid(child, &status, 0) == -1 {
        guard errno == EINTR else {
          throw SocketError(operation: "waitpid", code: errno, subject: line)
        }
      }
      return status
    }
  }
#endif
