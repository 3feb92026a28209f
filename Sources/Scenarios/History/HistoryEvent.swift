/// One thing that happened in a run. What the words mean stands in `docs/reference/history.md`.
///
/// Ids are the wire's, in lower case. Requests are numbered from 1 by the server's journal.
package enum HistoryEvent: Sendable, Hashable {
  // What the script did.
  /// A step of the timeline was carried out: its index, and the step in words.
  case step(index: Int, what: String)
  /// A `when` step fired.
  case triggerFired(step: Int)
  /// A condition the script sets: `network`, `app`, `lowPower`, `token`, `disk`, `database`,
  /// `flipped`, `key`, `wall`, `consent`,
  /// `server`, `gate <name>`, `listener`, with its new value. Also each turn of background time:
  /// `assertion` and `task` with `<incarnation>.<number>` and `begun`, `expiring` or `ended`.
  case condition(name: String, value: String)
  /// An `expect` step: these were to hold for what had happened before.
  case asked([ExpectedLine])
  /// A step needed a living device and found none: nothing was done.
  case missed(step: Int, what: String)
  /// Events that were due while the device was dead.
  case notOffered(label: String, count: Int)

  // The device.
  /// A device process started; incarnations count from 1.
  case started(incarnation: Int)
  /// A device process ended: `SIGKILL`, `reboot`, `closed`.
  case died(incarnation: Int, how: String)
  /// An event was handed to the SDK: its serial number in the run, its record step, its account,
  /// and the digest of its content (`ContentDigest`); empty where it is not known.
  case offered(serial: Int, label: String, account: String, content: String = "")
  /// The runner read the receipt.
  case receipt(serial: Int, Receipt)
  /// An event that had been buffered (or whose sync was pending) became durable.
  case becameDurable(id: String)
  /// The device started a request; `number` counts in its incarnation.
  case sending(incarnation: Int, number: Int)
  /// How the request ended for the device: a status, or `timeout`, `connectionLost`, …
  case sent(incarnation: Int, number: Int, outcome: String)
  /// The SDK took the answer as an acknowledgement of these events.
  case acknowledged(ids: [String])
  /// The SDK deleted the events after their acknowledgement.
  case erased(ids: [String])
  /// The SDK put events into quarantine. `ids` may be fewer than `count`, or none.
  case quarantined(count: Int, reason: String, ids: [String])
  /// The SDK dropped events. `ids` may be fewer than `count`, or none.
  case dropped(count: Int, reason: String, ids: [String])
  /// The SDK's own books, as its status told them.
  case books(DeviceBooks)

  // The server.
  /// A request's head came. The account is the one its token belongs to, where it is known.
  case arrived(request: Int, Arrival)
  /// A request's body was read as a batch of these events, in this order; the attempt counts
  /// requests with exactly this set of ids.
  case identified(request: Int, attempt: Int, ids: [String], contents: [String] = [])
  /// The ledger took events.
  case committed(request: Int, Commit)
  /// An answer was sent.
  case answered(request: Int, Answer)
  /// The exchange is over: `keepAlive`, `close`, `reset`, …
  case ended(request: Int, how: String)
  /// A rule of the fault plan was applied: the rule's id, which of its responses, and the fault
  /// in words.
  case faultApplied(rule: String, response: Int, what: String, request: Int)
  /// What the server's ledger holds at the end, read from the ledger itself.
  case held([Holding])

  // What was looked at afterwards.
  /// The device's files were searched for recorded content.
  case scanned(SecrecyFindings)
  /// The device's files were measured, and are larger than ever before.
  case measured(bytes: Int64)
  /// Sealed records that were found in the device's files and were not seen before, and files in
  /// which none could be read, with the reason.
  case seals([SealSighting], unreadable: [String] = [])
  /// The queue was drained before the final checks, or not, within the script's budget.
  case drained(Bool)
  /// The history had no room for so many entries; the last one of such a history.
  case full(refused: Int)
  /// Something for the reader; no checker reads it.
  case note(String)
}

/// What `record` answered.
package enum Receipt: Sendable, Hashable {
  case durable(id: String)
  case buffered(id: String, reason: String)
  case rejected(reason: String)

  /// The id, where the event has one.
  package var id: String? {
    switch self {
    case .durable(let id), .buffered(let id, _): return id
    case .rejected: return nil
    }
  }
}

/// A request's head.
package struct Arrival: Sendable, Hashable {
  package var method: String
  package var path: String
  package var connection: Int
  /// 0 where the client does not say.
  package var incarnation: Int
  /// The device's own number of the request, in its incarnation; 0 where the client does not say.
  package var number: Int
  /// The account of the token; nil where the token is not known.
  package var account: String?
  /// The same for the same token, in the order of their first arrival from 1; 0 without a token.
  package var token: Int

  package init(
    method: String = "POST", path: String = "/v1/telemetry/batch", connection: Int,
    incarnation: Int, number: Int = 0, token: Int = 0, account: String? = nil
  ) {
    self.token = token
    self.method = method
    self.path = path
    self.connection = connection
    self.incarnation = incarnation
    self.number = number
    self.account = account
  }
}

/// What the ledger took from one request.
package struct Commit: Sendable, Hashable {
  /// New to the ledger.
  package var stored: [String]
  /// Known already.
  package var duplicates: [String]
  /// Known already, with other content.
  package var conflicting: [String]

  package init(stored: [String], duplicates: [String] = [], conflicting: [String] = []) {
    self.stored = stored
    self.duplicates = duplicates
    self.conflicting = conflicting
  }
}

/// An answer's head.
package struct Answer: Sendable, Hashable {
  package var status: Int
  /// The header as sent.
  package var retryAfter: String?
  /// The `Date` header as sent.
  package var date: String?
  /// `Content-Type`, where it matters: `text/html` is no acknowledgement.
  package var contentType: String?
  /// Ids listed under `rejected`.
  package var rejected: [String]

  package init(
    status: Int, retryAfter: String? = nil, date: String? = nil, contentType: String? = nil,
    rejected: [String] = []
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.date = date
    self.contentType = contentType
    self.rejected = rejected
  }
}

/// One event in the server's ledger.
package struct Holding: Sendable, Hashable {
  package var id: String
  /// How often it was stored: once, unless the server had forgotten it.
  package var stored: Int
  /// How often it arrived.
  package var seen: Int

  package init(id: String, stored: Int, seen: Int) {
    self.id = id
    self.stored = stored
    self.seen = seen
  }
}

/// The SDK's conservation ledger and what goes with it.
package struct DeviceBooks: Sendable, Hashable {
  package var incarnation = 0
  package var recorded: Int64 = 0
  package var delivered: Int64 = 0
  package var queued: Int64 = 0
  package var quarantined: Int64 = 0
  /// By reason, sorted by it.
  package var dropped: [Drop] = []
  /// In the memory buffer; not part of the balance.
  package var buffered: Int64 = 0
  package var inFlight: Int64 = 0
  package var bytesOnDisk: Int64 = 0
  /// `idle`, `sending`, `backingOff`, …
  package var state = ""

  package struct Drop: Sendable, Hashable {
    package var reason: String
    package var count: Int64
    package init(reason: String, count: Int64) {
      self.reason = reason
      self.count = count
    }
  }

  package init() {}

  /// recorded == delivered + queued + quarantined + Σ dropped.
  package var balances: Bool {
    let parts = [delivered, queued, quarantined] + dropped.map(\.count)
    var sum: Int64 = 0
    for part in parts {
      let (next, overflow) = sum.addingReportingOverflow(part)
      if overflow { return false }
      sum = next
    }
    return sum == recorded
  }
}

/// A sealed record seen in a file: enough to find a nonce that was used twice.
package struct SealSighting: Sendable, Hashable {
  /// The key's id, hexadecimal.
  package var key: String
  /// The nonce, hexadecimal.
  package var nonce: String
  /// A hash of the sealed bytes: the same record read twice is no reuse.
  package var digest: String

  package init(key: String, nonce: String, digest: String) {
    self.key = key
    self.nonce = nonce
    self.digest = digest
  }
}
