import JSONText
import XCTest

@testable import MockBatchServer

extension XCTestCase {
  /// Calls the admin and waits for its answer; status -1 for a stream.
  func call(
    _ handler: AdminHandler, _ method: String, _ path: String, _ body: String = "",
    host: String = "127.0.0.1:80", headers: [(String, String)] = []
  ) -> (status: Int, json: JSONValue, response: HTTPResponse) {
    let request = HTTPRequest(
      method: method, target: "/__admin" + path,
      headers: HTTPHeaders([("Host", host)] + headers), body: Array(body.utf8))
    let response: HTTPResponse
    switch handler.respond(to: request) {
    case .response(let now): response = now
    case .later(let park, _, let answer):
      let done = expectation(description: path)
      park.whenReady { done.fulfill() }
      wait(for: [done], timeout: 60)
      response = answer()
    case .events: return (-1, .null, HTTPResponse(status: 0))
    }
    return (response.status, (try? JSONValue.parse(response.body)) ?? .null, response)
  }
}
