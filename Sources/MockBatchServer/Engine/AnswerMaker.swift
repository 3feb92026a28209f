import JSONText

/// Makes the answer of a request: the contract's own, or the one a rule gives.
struct AnswerMaker {
  let spec: ResponseSpec?
  /// The contract's answer to a good request, once committed.
  let committed: CommitAnswer?
  /// The contract's refusal.
  let problem: Problem?
  let dates: DateCache
  let wallMs: Int64

  func response() -> HTTPResponse {
    var response = spec.map(scripted) ?? natural()
    if !response.headers.contains("date") {
      response.headers.add("Date", dates.text(wallMs: wallMs))
    }
    return response
  }

  private func natural() -> HTTPResponse {
    if let problem { return problem.response }
    guard let committed else {
      return Problem(.notFound, "no answer was made", status: 500).response
    }
    var headers = dates.jsonHeaders(wallMs: wallMs)
    if HTTPResponse.isBodiless(committed.status) { headers.remove("Content-Type") }
    for (name, value) in committed.headers { headers.set(name, value) }
    return HTTPResponse(status: committed.status, headers: headers, body: committed.body)
  }

  private func scripted(_ spec: ResponseSpec) -> HTTPResponse {
    var response = spec.isNatural ? natural() : base(spec)
    if let body = spec.body {
      response.body = body
      response.headers.set("Content-Type", spec.bodyType ?? "application/octet-stream")
    }
    if let location = spec.redirect { response.headers.set("Location", location) }
    if let retryAfter = spec.retryAfter {
      response.headers.set("Retry-After", retryAfter.value(wallMs: wallMs))
    }
    // The first line of a name replaces what is there, further ones are added.
    var seen = Set<String>()
    for (name, value) in spec.headers {
      if seen.insert(name.lowercased()).inserted { response.headers.remove(name) }
      response.headers.add(name, value)
    }
    return response
  }

  private func base(_ spec: ResponseSpec) -> HTTPResponse {
    if spec.isCaptivePortal {
      return HTTPResponse(
        status: spec.status ?? 200, headers: ["Content-Type": "text/html; charset=utf-8"],
        body: Array(AnswerMaker.portal.utf8))
    }
    let status = spec.status ?? (spec.redirect == nil ? 200 : 302)
    if HTTPResponse.isBodiless(status) { return HTTPResponse(status: status) }
    if spec.redirect != nil { return HTTPResponse(status: status) }
    if (200..<300).contains(status) {
      var response = HTTPResponse(status: status, headers: dates.jsonHeaders(wallMs: wallMs))
      response.body = committed?.body ?? Array(AnswerMaker.nothingTaken.utf8)
      return response
    }
    var problem = Problem(.scriptedFault, "the fault plan answers \(status)", status: status)
    problem.allow = ["POST", "OPTIONS"]
    return problem.response
  }

  private static let nothingTaken = "{\"accepted\":0,\"duplicates\":0,\"rejected\":[]}"
  private static let portal = """
    <!doctype html><html><head><title>Sign in to the network</title></head>\
    <body><h1>Welcome</h1><form><button>Accept and connect</button></form></body></html>
    """
}
