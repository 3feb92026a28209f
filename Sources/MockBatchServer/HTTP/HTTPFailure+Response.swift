import JSONText

extension HTTPFailure {
  /// The answer: a problem document (RFC 9457). The performer adds length and connection.
  func response(wallMs: Int64) -> HTTPResponse {
    let problem: JSONValue = [
      "type": "about:blank",
      "title": .string("\(HTTPResponse.reason(status))"),
      "status": .number(JSONNumber(status)),
      "detail": .string(reason),
    ]
    return HTTPResponse(
      status: status,
      headers: [
        "content-type": "application/problem+json",
        "date": HTTPDate.text(seconds: wallMs / 1_000),
      ],
      body: JSONWriter.bytes(problem))
  }
}
