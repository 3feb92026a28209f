#if os(macOS) || os(Linux)
  /// What is no batch at all.
  enum MethodChecks {
    static let all = [get, allow, put, delete, path]

    private static let why =
      "A 2xx to the wrong request hides a wrong URL or method until all events are gone."

    private static func method(_ run: CheckRun, _ method: String) throws -> Reply {
      var request = run.request(body: [], about: "")
      request.method = method
      if method == "PUT" { request = with(run.batch(run.events(1)), method: "PUT") }
      return try run.send(request)
    }

    private static func with(_ request: ProbeRequest, method: String) -> ProbeRequest {
      var request = request
      request.method = method
      return request
    }

    private static func refused(_ run: CheckRun, _ name: String) throws -> Finding {
      let reply = try method(run, name)
      let complaint = Judging.refusalComplaint(reply, allowed: [405], what: name)
      return complaint.map(Finding.fail) ?? .pass("\(name) was answered 405")
    }

    private static let get = ContractCheck(
      "method.get", "GET is answered 405.", why: why
    ) { run in try refused(run, "GET") }

    private static let put = ContractCheck(
      "method.put", "PUT is answered 405.", why: why
    ) { run in try refused(run, "PUT") }

    private static let delete = ContractCheck(
      "method.delete", "DELETE is answered 405.", why: why
    ) { run in try refused(run, "DELETE") }

    private static let allow = ContractCheck(
      "method.allow", "A 405 names POST in Allow (RFC 9110, 15.5.6).",
      why: "Whoever debugs a wrong method is told the right one."
    ) { run in
      guard let answer = try method(run, "GET").answer, answer.status == 405 else {
        return .notObservable("GET was not answered 405 (method.get)")
      }
      guard let allow = answer.header("Allow") else { return .fail("the 405 has no Allow") }
      let methods = allow.split(separator: ",").map { String($0).trimmed }
      return methods.contains("POST")
        ? .pass("Allow is \(allow)") : .fail("Allow is \"\(allow)\", without POST")
    }

    private static let path = ContractCheck(
      "path.unknown", "A batch to another path is not answered 2xx.", why: why
    ) { run in
      var request = run.batch(run.events(1))
      let path = run.session.options.target.path.prefix { $0 != "?" }
      request.path = "\(path)-verify-\(run.session.factory.run)"
      request.about += " to an unknown path"
      return try run.refuse(request, [404, 405, 410], what: "a batch to an unknown path")
    }
  }
#endif
