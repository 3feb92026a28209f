import Foundation
import JSONText

/// The admin endpoints of a target that is a server of ours, through HTTP only.
struct RemoteAdmin: Sendable {
  private static let answerWithinNs: Int64 = 10_000_000_000
  /// Entries of journal and ledger in one answer.
  private static let page = 500

  let target: Target
  let token: String?
  private let client: ProbeClient

  init(target: Target, token: String?) {
    self.target = target
    self.token = token
    client = ProbeClient(caFile: RemoteAdmin.systemBundle)
  }

  /// The authorities that `URLSession` trusts on this system, so that runner and device agree about
  /// the target.
  private static var systemBundle: String? {
    let known = [
      "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/ssl/ca-bundle.pem",
    ]
    return known.first { FileManager.default.isReadableFile(atPath: $0) }
  }

  /// The server's state; nil where the target has no admin endpoints for us. Throws
  /// `TargetUnavailable` where nothing answers.
  func health() throws -> JSONValue? {
    let answer = try call("GET", "/health")
    guard answer.isSuccess, let json = answer.json, json["ledger"] != nil else { return nil }
    return json
  }

  private func call(_ method: String, _ path: String, body: [UInt8] = []) throws -> HTTPAnswer {
    var request = ProbeRequest()
    request.method = method
    request.path = "/__admin" + path
    request.contentEncoding = nil
    request.body = body
    let reply = client.perform(
      request, to: target, authorization: token.map { "Bearer \($0)" },
      by: Deadline.after(ns: RemoteAdmin.answerWithinNs))
    switch reply {
    case .answer(let answer): return answer
    case .fault(let fault):
      throw TargetUnavailable(sentence: "\(target.origin): \(fault.text)")
    }
  }

  private func json(_ method: String, _ path: String, body: [UInt8] = []) throws -> JSONValue {
    let answer = try call(method, path, body: body)
    guard answer.isSuccess, let json = answer.json else {
      let detail = answer.json?["detail"]?.stringValue ?? answer.text
      throw RunnerFailure(
        "\(target.origin)/__admin\(path) answered \(answer.status): \(detail.prefix(300))")
    }
    return json
  }

  // MARK: The plan

  /// The plan in force, to be put back later.
  func plan() throws -> [UInt8] { JSONWriter.bytes(try json("GET", "/plan")) }

  func use(plan: [UInt8]) throws { _ = try json("PUT", "/plan", body: plan) }

  // MARK: The journal

  struct JournalMark: Equatable {
    /// Entries that came since the server's start or its last reset.
    var count: Int
  }

  /// Where the journal ends now.
  func journalMark() throws -> JournalMark {
    let list = try json("GET", "/requests?offset=0&limit=1&bodies=false")
    return JournalMark(count: (list["total"]?.intValue ?? 0) + (list["dropped"]?.intValue ?? 0))
  }

  /// Entries since the mark, oldest first, each with its body; and how many of them were dropped
  /// before anybody looked.
  func journal(since mark: JournalMark) throws -> (entries: [JSONValue], missed: Int) {
    var entries: [JSONValue] = []
    var position = mark.count
    var missed = 0
    while true {
      let dropped = try json("GET", "/requests?offset=0&limit=1&bodies=false")["dropped"]?.intValue
      let offset = position - (dropped ?? 0)
      if offset < 0 {
        missed -= offset
        position -= offset
      }
      let list = try json(
        "GET", "/requests?offset=\(max(0, offset))&limit=\(RemoteAdmin.page)&bodies=false")
      let found = list["requests"]?.arrayValue ?? []
      guard !found.isEmpty else { return (entries, missed) }
      position += found.count
      for entry in found {
        guard let id = entry["id"]?.intValue else { continue }
        entries.append(try json("GET", "/requests/\(id)"))
      }
    }
  }

  // MARK: The ledger

  /// What the ledger holds of these events.
  func holdings(of ids: Set<String>) throws -> [Holding] {
    var holdings: [Holding] = []
    var offset = 0
    while true {
      let list = try json("GET", "/ledger?offset=\(offset)&limit=\(RemoteAdmin.page)")
      let found = list["events"]?.arrayValue ?? []
      guard !found.isEmpty else { return holdings }
      offset += found.count
      for entry in found {
        guard let id = entry["id"]?.stringValue, ids.contains(id) else { continue }
        holdings.append(
          Holding(
            id: id, stored: entry["timesStored"]?.intValue ?? 0,
            seen: entry["timesSeen"]?.intValue ?? 0))
      }
    }
  }
}
