import Foundation
import TelemetryTestSupport
import XCTest

@testable import TelemetrySDK

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `URLSessionTransport` against an intercepting class: what goes out and what comes back.
final class TransportTests: XCTestCase {
  private func send(_ path: String, body: [UInt8] = [1, 2, 3]) -> Result<
    BatchAnswer, TransportFailure
  > {
    let transport = URLSessionTransport(protocolClasses: [CannedProtocol.self])
    let result = Guarded<Result<BatchAnswer, TransportFailure>?>(nil)
    let done = expectation(description: "answer")
    let task = transport.send(
      BatchRequest(
        generation: 1, url: "https://canned.example\(path)",
        headers: [("Authorization", "Bearer T"), ("Content-Encoding", "gzip")], body: body)
    ) { answer in
      result.withLock { $0 = answer }
      done.fulfill()
    }
    if path == "/hang" { task.cancel() }
    wait(for: [done], timeout: 60)
    return result.withLock { $0 } ?? .failure(TransportFailure(code: 1, description: "none"))
  }

  func testRequest_whenSent_carriesMethodHeadersAndTheWholeBody() throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let answer = try send("/echo", body: body).get()
    XCTAssertEqual(answer.status, 200)
    XCTAssertEqual(answer.headers.first { $0.name.lowercased() == "x-method" }?.value, "POST")
    XCTAssertEqual(answer.headers.first { $0.name.lowercased() == "x-auth" }?.value, "Bearer T")
    XCTAssertEqual(answer.body, body)
  }

  func testSession_whenMadeFromAConfiguration_waitsLongerThanTheEngine() {
    var configuration = TelemetryConfiguration(endpoint: "https://x.test/b", directory: "/x")
    configuration.requestTimeoutMs = 60_000
    configuration.resourceTimeoutMs = 240_000
    let session = URLSessionTransport(configuration).configuration()
    XCTAssertGreaterThan(session.timeoutIntervalForRequest, 240)
    XCTAssertGreaterThan(session.timeoutIntervalForResource, 240)
  }

  func testRedirect_whenAnswered_isNotFollowed() throws {
    let answer = try send("/redirect").get()
    XCTAssertEqual(answer.status, 302)
    XCTAssertEqual(CannedProtocol.followed.withLock { $0 }, 0)
  }

  func testAnswer_whenLargerThanFourMegabytes_isCutOff() throws {
    let answer = try send("/large").get()
    XCTAssertEqual(answer.status, 200)
    XCTAssertEqual(answer.body.count, 4_000_000)
  }

  func testFailure_whenTheConnectionIsLost_keepsItsCode() {
    guard case .failure(let failure) = send("/lost") else { return XCTFail("an answer came") }
    XCTAssertEqual(failure.code, -1005)
    XCTAssertFalse(failure.lostReusedConnection)
  }

  func testCancel_whenNothingHasCome_endsWithAFailure() {
    guard case .failure(let failure) = send("/hang") else { return XCTFail("an answer came") }
    XCTAssertEqual(failure.code, -999)
  }

  func testAddress_whenNone_fails() {
    let transport = URLSessionTransport()
    let result = Guarded<Int?>(nil)
    _ = transport.send(BatchRequest(generation: 1, url: "", headers: [], body: [])) { answer in
      if case .failure(let failure) = answer { result.withLock { $0 = failure.code } }
    }
    XCTAssertEqual(result.withLock { $0 }, -1000)
  }
}

/// Answers by path.
final class CannedProtocol: URLProtocol {
  static let followed = Guarded(0)

  override class func canInit(with request: URLRequest) -> Bool {
    request.url?.host?.hasSuffix(".example") == true
  }
  override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
  override func stopLoading() {}

  override func startLoading() {
    guard let url = request.url, let client else { return }
    switch url.path {
    case "/redirect":
      let target = URL(string: "https://portal.example/login")!
      let response = HTTPURLResponse(
        url: url, statusCode: 302, httpVersion: "HTTP/1.1",
        headerFields: ["Location": target.absoluteString])!
      #if canImport(FoundationNetworking)
        client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client.urlProtocolDidFinishLoading(self)
      #else
        client.urlProtocol(
          self, wasRedirectedTo: URLRequest(url: target), redirectResponse: response)
      #endif
    case "/login": CannedProtocol.followed.withLock { $0 += 1 }
    case "/large": finish(url, [:], Data(repeating: 7, count: 4_500_000))
    case "/lost":
      client.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost))
    case "/hang": break
    default:
      finish(
        url,
        [
          "X-Method": request.httpMethod ?? "",
          "X-Auth": request.value(forHTTPHeaderField: "Authorization") ?? "",
        ], body)
    }
  }

  /// Apple hands the body to an intercepting class as a stream.
  private var body: Data {
    if let body = request.httpBody { return body }
    guard let stream = request.httpBodyStream else { return Data() }
    stream.open()
    defer { stream.close() }
    var body = Data()
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = stream.read(&chunk, maxLength: chunk.count)
      guard count > 0 else { return body }
      body.append(contentsOf: chunk.prefix(count))
    }
  }

  private func finish(_ url: URL, _ headers: [String: String], _ body: Data) {
    let response = HTTPURLResponse(
      url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers)!
    client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    client?.urlProtocol(self, didLoad: body)
    client?.urlProtocolDidFinishLoading(self)
  }
}
