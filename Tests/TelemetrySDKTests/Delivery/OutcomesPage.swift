import Foundation

@testable import TelemetrySDK

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// docs/reference/outcomes.md, made from the decisions of the code.
enum OutcomesPage {
  static let path = "docs/reference/outcomes.md"

  static var text: String {
    var lines = [
      "# What delivery does with each outcome of a request", "",
      "Generated from `DeliveryDecision` and compared with it by a test; rewrite with",
      "`UPDATE_DOCS=1 swift test --filter OutcomePageTests`.", "", "## Decisions", "",
      "| decision | what happens | why |", "|---|---|---|",
    ]
    for decision in DeliveryDecision.allCases {
      let (what, why) = explanation(decision)
      lines.append("| `\(decision.rawValue)` | \(what) | \(why) |")
    }
    lines += [
      "", "## HTTP statuses", "", "| status | answer | decision |", "|---|---|---|",
    ]
    for isHTML in [false, true] {
      for (range, decision) in ranges(isHTML: isHTML) {
        let name =
          range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)–\(range.upperBound)"
        lines.append(
          "| \(name) | \(isHTML ? "`text/html`" : "any other") | `\(decision.rawValue)` |")
      }
    }
    lines += [
      "", "## Transport errors", "",
      "Codes of `URLError`; every other code is treated alike. On a connection that had carried a",
      "request before and was lost before any answer byte, the decision is `retryQuickly`, once.",
      "", "| code | name | decision | why |", "|---|---|---|---|",
    ]
    for entry in transportErrors {
      let decision = DeliveryDecision.decide(
        .failed(code: entry.code, lostReusedConnection: false))
      lines.append("| \(entry.code) | \(entry.name) | `\(decision.rawValue)` | \(entry.why) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Runs of equal decisions from 0 to 999.
  static func ranges(isHTML: Bool) -> [(ClosedRange<Int>, DeliveryDecision)] {
    var runs: [(ClosedRange<Int>, DeliveryDecision)] = []
    for status in 0...999 {
      let decision = DeliveryDecision.decide(status: status, isHTML: isHTML)
      if let (range, last) = runs.last, last == decision {
        runs[runs.count - 1] = (range.lowerBound...status, last)
      } else {
        runs.append((status...status, decision))
      }
    }
    return runs
  }

  private static func explanation(_ decision: DeliveryDecision) -> (what: String, why: String) {
    switch decision {
    case .delivered:
      return (
        "rows deleted; ids under `rejected` to quarantine", "the server has them, or has said no"
      )
    case .notOurServer:
      return (
        "rows kept, own backoff; redirects are never followed",
        "a captive portal or a proxy answered; the token must not leave the host"
      )
    case .retryLater:
      return (
        "rows kept; `Retry-After` where usable, else own backoff", "the server asked for time"
      )
    case .retryConnection:
      return (
        "rows kept, own backoff, cut short by a restored path or foreground",
        "nothing is known about the body's fate; ids make a repeat harmless"
      )
    case .retryQuickly:
      return (
        "sent again at once, one time; then as `retryConnection`",
        "an idle connection that the server has dropped says nothing about the server"
      )
    case .refreshToken:
      return (
        "rows kept; the provider is asked; only a different token sends again",
        "the same request with the same token gives the same answer (RFC 9110, 15.5.2)"
      )
    case .split:
      return (
        "the body is never sent again; halves of it are; a single event goes to quarantine",
        "the same body stays too large (RFC 9110, 15.5.14)"
      )
    case .refuse:
      return (
        "rows to quarantine, counted; halved where `isolatesRefusedBodies`; three in a row pause",
        "the body is at fault (RFC 9110, 15.5); repeating it helps nobody"
      )
    case .notUnderstood:
      return ("rows kept, own backoff", "no such status; nothing may be lost over it")
    }
  }

  struct TransportError {
    let code: Int
    let name: String
    let why: String
  }

  private static let offline = "no network just now"
  private static let server = "the server cannot be reached just now"
  private static let cut = "the exchange broke off; the ids make a repeat harmless"
  private static let odd = "not an HTTP answer; a proxy or a passing fault"
  private static let tls = "an intercepting network or a certificate that will be renewed"
  private static let setup = "the app or its settings; an update can mend it, loss cannot"
  private static let local = "not met by a data task; kept rather than lost"

  static let transportErrors: [TransportError] = [
    ("unknown", -1, cut), ("backgroundSessionRequiresSharedContainer", -995, local),
    ("backgroundSessionInUseByAnotherProcess", -996, local),
    ("backgroundSessionWasDisconnected", -997, local),
    ("cancelled", -999, "cancelled by ourselves or by the system"), ("badURL", -1000, setup),
    ("timedOut", -1001, cut), ("unsupportedURL", -1002, "also garbage instead of an answer"),
    ("cannotFindHost", -1003, server), ("cannotConnectToHost", -1004, server),
    ("networkConnectionLost", -1005, cut), ("dnsLookupFailed", -1006, server),
    ("httpTooManyRedirects", -1007, odd), ("resourceUnavailable", -1008, server),
    ("notConnectedToInternet", -1009, offline),
    ("redirectToNonExistentLocation", -1010, odd), ("badServerResponse", -1011, odd),
    ("userCancelledAuthentication", -1012, odd), ("userAuthenticationRequired", -1013, odd),
    ("zeroByteResource", -1014, odd), ("cannotDecodeRawData", -1015, odd),
    ("cannotDecodeContentData", -1016, odd), ("cannotParseResponse", -1017, odd),
    ("internationalRoamingOff", -1018, offline), ("callIsActive", -1019, offline),
    ("dataNotAllowed", -1020, offline), ("requestBodyStreamExhausted", -1021, cut),
    ("appTransportSecurityRequiresSecureConnection", -1022, setup),
    ("fileDoesNotExist", -1100, local), ("fileIsDirectory", -1101, local),
    ("noPermissionsToReadFile", -1102, local), ("dataLengthExceedsMaximum", -1103, odd),
    ("secureConnectionFailed", -1200, tls), ("serverCertificateHasBadDate", -1201, tls),
    ("serverCertificateUntrusted", -1202, tls),
    ("serverCertificateHasUnknownRoot", -1203, tls),
    ("serverCertificateNotYetValid", -1204, tls), ("clientCertificateRejected", -1205, tls),
    ("clientCertificateRequired", -1206, tls), ("cannotLoadFromNetwork", -2000, offline),
    ("cannotCreateFile", -3000, local), ("cannotOpenFile", -3001, local),
    ("cannotCloseFile", -3002, local), ("cannotWriteToFile", -3003, local),
    ("cannotRemoveFile", -3004, local), ("cannotMoveFile", -3005, local),
    ("downloadDecodingFailedMidStream", -3006, local),
    ("downloadDecodingFailedToComplete", -3007, local),
  ].map { TransportError(code: $0.1, name: $0.0, why: $0.2) }

  /// This platform's own codes, by symbol.
  static let platformCodes: [URLError.Code] = [
    .unknown, .cancelled, .badURL, .timedOut, .unsupportedURL, .cannotFindHost,
    .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed, .httpTooManyRedirects,
    .resourceUnavailable, .notConnectedToInternet, .redirectToNonExistentLocation,
    .badServerResponse, .userCancelledAuthentication, .userAuthenticationRequired,
    .zeroByteResource, .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse,
    .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .secureConnectionFailed,
    .serverCertificateHasBadDate, .serverCertificateUntrusted,
    .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
    .clientCertificateRequired, .cannotLoadFromNetwork, .cannotCreateFile, .cannotOpenFile,
    .cannotCloseFile, .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile,
    .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
    .internationalRoamingOff, .callIsActive, .dataNotAllowed, .requestBodyStreamExhausted,
    .dataLengthExceedsMaximum,
  ]
}
