/// The objects of a rule's responses.
enum ResponseObjects {
  static let response = PlanObject(
    name: "response",
    about: "One answer. Without `status`, `fault`, `redirect` and `captivePortal` it is the "
      + "contract's own answer, delayed and shaped as told.",
    keys: [
      PlanKey("status", .integer(200...599), "The status."),
      PlanKey(
        "headers", .map(.either([.string, .array(.string, minimum: 1)])),
        "Header fields; a list gives several lines."),
      PlanKey("body", .string, "The body as text."),
      PlanKey("jsonBody", .any, "The body as JSON."),
      PlanKey("base64Body", .base64, "The body as bytes."),
      PlanKey("retryAfter", .object(retryAfter), "A Retry-After header."),
      PlanKey(
        "delay", .either([.duration, .object(delay)]), "Waits before the answer's first byte."),
      PlanKey("dribble", .object(dribble), "Sends the body in pieces over a time."),
      PlanKey(
        "fault", .choice(Fault.allCases.map(\.rawValue)), "Something is wrong with the answer."),
      PlanKey(
        "commit", .either([.choice(["none", "all"]), .object(commitFirst)]),
        default: "\"all\" for 2xx, else \"none\"", "What the ledger takes before the answer."),
      PlanKey("redirect", .string, "302 (or the given `status`) with this Location."),
      PlanKey(
        "captivePortal", .bool, "200 with the HTML of a sign-in page, as hotel networks answer."),
      PlanKey("contentLength", PlanObjects.counter, "A Content-Length that may be wrong."),
      PlanKey(
        "truncateAfter", PlanObjects.counter,
        "Closes after this many bytes of the body; Content-Length tells the full length."),
      PlanKey(
        "effects", .array(.object(effect), minimum: 0), "What else happens, phase by phase."),
    ],
    exclusive: [
      ["body", "jsonBody", "base64Body", "captivePortal"], ["redirect", "captivePortal"],
      ["fault", "dribble"], ["fault", "truncateAfter"], ["fault", "contentLength"],
    ])

  static let commitFirst = PlanObject(
    name: "commit", about: "The ledger takes the first events of the batch.",
    keys: [PlanKey("first", PlanObjects.counter, required: true, "How many.")])

  static let retryAfter = PlanObject(
    name: "retryAfter", about: "A Retry-After header: a time, or text as it is.",
    keys: [
      PlanKey("in", .duration, "How long from now; rounded up to a second."),
      PlanKey(
        "form", .choice(["seconds", "imf", "rfc850", "asctime"]), default: "\"seconds\"",
        "Delta-seconds or one of HTTP's three forms of dates (RFC 9110, section 5.6.7)."),
      PlanKey("raw", .string, "The header's value as it is, however wrong."),
    ],
    exclusive: [["in", "raw"], ["form", "raw"]])

  static let delay = PlanObject(
    name: "delay", about: "A random delay.",
    keys: [
      PlanKey("type", .choice(["fixed", "uniform", "lognormal"]), required: true, "The kind."),
      PlanKey("duration", .duration, "fixed: how long."),
      PlanKey("lower", .duration, "uniform: at least."),
      PlanKey("upper", .duration, "uniform: at most."),
      PlanKey("median", .duration, "lognormal: the median."),
      PlanKey("sigma", .number(0...10), "lognormal: the spread."),
      PlanKey("max", .duration, "lognormal: cut here."),
    ])

  static let dribble = PlanObject(
    name: "dribble", about: "The body in pieces, evenly over a time.",
    keys: [
      PlanKey("chunks", .integer(1...100_000), required: true, "How many pieces."),
      PlanKey("duration", .duration, required: true, "From the first to the last piece."),
    ])

  static let effect = PlanObject(
    name: "effect", about: "Something that happens at a phase of the request.",
    keys: [
      PlanKey("at", .choice(Phase.allCases.map(\.rawValue)), required: true, "The phase."),
      PlanKey(
        "type", .choice(EffectType.allCases.map(\.rawValue)), required: true, "What happens."),
      PlanKey("name", .string, "gate: its name."),
      PlanKey(
        "timeout", .duration, "gate: goes on after this time. stall: closes after this time."),
      PlanKey("delay", .either([.duration, .object(delay)]), "delay, slowClose: how long."),
      PlanKey("rate", PlanObjects.positive, "bandwidth: KB per second of the answer's body."),
      PlanKey("bytes", PlanObjects.counter, "limitData, garbage: how many bytes."),
      PlanKey("afterBytes", PlanObjects.counter, "At responseBody: after this much of the body."),
    ])
}

/// The objects of request patterns, in plans and in the admin's searches.
enum PatternObjects {
  static let request = PlanObject(
    name: "request", about: "Which requests. Every given key must hold.",
    keys: [
      PlanKey("method", .string, "The method; ANY for all."),
      PlanKey("url", .string, "Path and query, exactly."),
      PlanKey("urlPath", .string, "The path, exactly."),
      PlanKey("urlPattern", .pattern, "Path and query as a regular expression."),
      PlanKey("urlPathPattern", .pattern, "The path as a regular expression."),
      PlanKey("queryParameters", .map(textOrMatcher), "Parameters by name."),
      PlanKey("headers", .map(textOrMatcher), "Header fields by name."),
      PlanKey(
        "bodyPatterns", .array(.object(body), minimum: 1), "On the decoded body; all must hold."),
      PlanKey("eventId", textOrMatcher, "At least one event has such an id."),
      PlanKey("eventType", textOrMatcher, "At least one event has such a type."),
      PlanKey("attempt", range, "How often this set of event ids has come, from 1."),
      PlanKey("connection", range, "The connection's number, from 1."),
      PlanKey("requestOnConnection", range, "Which request of its connection, from 0."),
      PlanKey("incarnation", textOrMatcher, "The client's incarnation header."),
    ],
    exclusive: [["url", "urlPath", "urlPattern", "urlPathPattern"]])

  static let range = PlanShape.either([PlanObjects.counter, .object(bounds)])
  static let bounds = PlanObject(
    name: "range", about: "Both ends included.",
    keys: [
      PlanKey("min", PlanObjects.counter, default: "0", "At least."),
      PlanKey("max", PlanObjects.counter, "At most."),
    ])

  static let textOrMatcher = PlanShape.either([.string, .object(matcher)])
  static let matcherKeys = [
    PlanKey("equalTo", .string, "The text, exactly."),
    PlanKey("caseInsensitive", .bool, default: "false", "equalTo ignores case."),
    PlanKey("contains", .string, "The text contains this."),
    PlanKey("doesNotContain", .string, "The text does not contain this."),
    PlanKey("matches", .pattern, "The whole text as a regular expression."),
    PlanKey("doesNotMatch", .pattern, "The whole text does not match this."),
    PlanKey("absent", .bool, "true: it must not be there. false: it must."),
  ]
  static let matcher = PlanObject(
    name: "matcher", about: "What a text must be. Every given key must hold.", keys: matcherKeys)

  static let body = PlanObject(
    name: "body pattern", about: "What the decoded body must be. Every given key must hold.",
    keys: [
      PlanKey("equalTo", .string, "The text, exactly."),
      PlanKey("contains", .string, "The text contains this."),
      PlanKey("doesNotContain", .string, "The text does not contain this."),
      PlanKey("matches", .pattern, "The whole text as a regular expression."),
      PlanKey("doesNotMatch", .pattern, "The whole text does not match this."),
      PlanKey("equalToJson", .any, "The same JSON value; text is read as JSON."),
      PlanKey("ignoreArrayOrder", .bool, default: "false", "equalToJson: order is free."),
      PlanKey(
        "ignoreExtraElements", .bool, default: "false", "equalToJson: more members may be there."),
      PlanKey(
        "matchesJsonPath", .either([.path, .object(jsonPath)]), "Something is found there."),
    ])
  static let jsonPath = PlanObject(
    name: "matchesJsonPath", about: "A value found there must match.",
    keys: [PlanKey("expression", .path, required: true, "The JSONPath expression.")] + matcherKeys)
}
