import JSONText

/// `POST /v1/telemetry/batch`.
struct BatchRoute: Route {
  static let path = "/v1/telemetry/batch"
  let ledger: Ledger

  var name: String { "batch" }
  var methods: [String] { ["POST"] }

  func accepts(path: String) -> Bool { path == BatchRoute.path }

  func checkHead(_ request: HTTPRequest, contract: BatchContract, time: RouteTime) throws {
    _ = try contract.checkHead(request, sinceActivationNs: time.sinceActivationNs)
  }

  func prepare(
    _ request: HTTPRequest, contract: BatchContract, time: RouteTime
  ) throws -> PreparedRequest {
    let account = try contract.checkHead(request, sinceActivationNs: time.sinceActivationNs)
    let batch = try contract.decode(request, account: account)
    let ledger = ledger
    return PreparedRequest(
      identity: batch.identity, eventCount: batch.eventCount, account: account,
      keys: { batch.events.map(\.key) },
      commit: { spec, origin in try BatchRoute.commit(batch, spec, origin, ledger) })
  }

  private static func commit(
    _ batch: DecodedBatch, _ spec: CommitSpec, _ origin: CommitOrigin, _ ledger: Ledger
  ) throws -> CommitAnswer {
    let taken: ArraySlice<DecodedBatch.Event>
    switch spec {
    case .none: taken = []
    case .all: taken = batch.events[...]
    case .first(let count): taken = batch.events.prefix(count)
    }
    var result = CommitResult()
    if spec != .none {
      result = try ledger.commit(
        taken, rejected: batch.rejections.count, from: origin)
    }
    return CommitAnswer(result: result, body: answer(batch, result))
  }

  /// `{"accepted":n,"duplicates":n,"rejected":[{"id":…,"reason":…}]}`. `accepted` counts events
  /// taken as new.
  private static func answer(_ batch: DecodedBatch, _ result: CommitResult) -> [UInt8] {
    var body: [UInt8] = []
    body.reserveCapacity(64)
    append("{\"accepted\":", to: &body)
    append(result.stored, to: &body)
    append(",\"duplicates\":", to: &body)
    append(result.duplicates, to: &body)
    append(",\"rejected\":[", to: &body)
    let conflicts = result.rejectedConflicts.map {
      (id: $0.text, reason: "the id is known with other content")
    }
    let all = batch.rejections.map { (id: $0.id, reason: $0.reason) } + conflicts
    for (index, rejection) in all.enumerated() {
      if index > 0 { body.append(UInt8(ascii: ",")) }
      append("{\"id\":", to: &body)
      if let id = rejection.id {
        JSONWriter.appendString(id, to: &body)
      } else {
        append("null", to: &body)
      }
      append(",\"reason\":", to: &body)
      JSONWriter.appendString(rejection.reason, to: &body)
      body.append(UInt8(ascii: "}"))
    }
    append("]}", to: &body)
    return body
  }

  private static func append(_ text: StaticString, to body: inout [UInt8]) {
    body.append(contentsOf: text.asciiBytes)
  }

  private static func append(_ number: Int, to body: inout [UInt8]) {
    ASCII.appendDecimal(number, to: &body)
  }
}
