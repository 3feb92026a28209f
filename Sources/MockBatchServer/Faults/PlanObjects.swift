/// The objects of a fault plan and their keys: the one definition that the reader, the JSON schema
/// and the reference page share.
enum PlanObjects {
  static let milliseconds = "A duration with units: \"80ms\", \"20s\", \"1h30m\"."
  static let counter = PlanShape.integer(0...Int64(Int32.max))
  static let positive = PlanShape.integer(1...Int64(Int32.max))
  static let byteSize = PlanShape.either([
    .integer(0...ContractRules.largestLimit), .size(max: ContractRules.largestLimit),
  ])
  static let fraction = PlanShape.number(0...1)

  static let plan = PlanObject(
    name: "plan", about: "What the server does, and does wrong.",
    keys: [
      PlanKey("$schema", .string, "For editors; not read."),
      PlanKey("version", .integer(1...1), required: true, "The format of this file: 1."),
      PlanKey("about", .string, "A note for people."),
      PlanKey("seed", .seed, default: "0", "Seeds every random draw of the plan."),
      PlanKey("contract", .object(contract), "What the batch endpoint asks of its clients."),
      PlanKey(
        "rules", .array(.object(rule), minimum: 0),
        "Tried in the order of priority, then of the file."),
      PlanKey("toxics", .array(.object(toxic), minimum: 0), "Poor connections."),
      PlanKey(
        "timeline", .array(.object(timelineEntry), minimum: 0),
        "What the listening socket does, and when."),
    ])

  static let contract = PlanObject(
    name: "contract", about: "What the batch endpoint asks of its clients.",
    keys: [
      PlanKey(
        "tokens", .array(.object(token), minimum: 1),
        "Bearer tokens that are accepted. Absent: any token that is not empty."),
      PlanKey(
        "envelope", .either([.choice(["array"]), .object(envelope)]),
        default: "{\"object\":\"events\"}", "Where the events stand in the body."),
      PlanKey(
        "maxBodyBytes", byteSize, default: "256000",
        "Bytes of JSON after decompression; above it 413."),
      PlanKey(
        "maxWireBytes", byteSize, default: "1000000",
        "Bytes of the body as sent; above it 413."),
      PlanKey("maxEvents", positive, default: "1000", "Events of a batch; above it 413."),
      PlanKey(
        "maxRatio", positive, default: "1000",
        "Decompressed bytes per compressed byte, checked from 64 KB on; above it 413."),
      PlanKey("maxDepth", .integer(1...512), default: "128", "Nested arrays and objects."),
      PlanKey(
        "identityBody", .either([.choice(["accept"]), .integer(400...499)]), default: "415",
        "A body without Content-Encoding: accepted, or the status of the refusal."),
      PlanKey(
        "gzipBody", .either([.choice(["accept"]), .integer(400...499)]), default: "\"accept\"",
        "A gzip body: accepted, or the status of the refusal."),
      PlanKey(
        "emptyBatch", .either([.choice(["accept"]), .integer(400...499)]), default: "400",
        "A batch without events: accepted, or the status of the refusal."),
      PlanKey(
        "invalidEvents", .choice(["refuseBatch", "rejectEvent"]), default: "\"refuseBatch\"",
        "One malformed event: the batch is refused, or the event listed under `rejected`."),
      PlanKey(
        "conflicts", .choice(["duplicate", "reject"]), default: "\"duplicate\"",
        "A known id with other content: counted and answered as a duplicate, or rejected."),
      PlanKey(
        "dedupWindow", .duration, default: "\"30d\"",
        "How long an id is remembered for deduplication."),
      PlanKey(
        "rejectTypes", .array(.string, minimum: 0), default: "[]",
        "Events of these types are listed under `rejected`."),
    ])

  static let envelope = PlanObject(
    name: "envelope", about: "The batch is an object with the events under this key.",
    keys: [PlanKey("object", .string, required: true, "The key of the array of events.")])

  static let token = PlanObject(
    name: "token", about: "One accepted bearer token.",
    keys: [
      PlanKey("value", .string, required: true, "The token itself."),
      PlanKey("account", .string, "Whose token it is, for the journal and the ledger."),
      PlanKey(
        "expiresAt", .duration, "Refused with 401 from this time after the plan's activation."),
    ])

  static let rule = PlanObject(
    name: "rule", about: "Answers in place of the contract, for the requests it matches.",
    keys: [
      PlanKey("id", .string, "A name for journal and events. Default: `rule-` and its position."),
      PlanKey("about", .string, "A note for people."),
      PlanKey(
        "priority", .integer(Int64(Int32.min)...Int64(Int32.max)), default: "5",
        "Lower is tried first."),
      PlanKey("request", .object(PatternObjects.request), "Which requests. Absent: all."),
      PlanKey("when", .object(window), "When, how often, how likely. Absent: always."),
      PlanKey(
        "responses", .array(.object(ResponseObjects.response), minimum: 1), required: true,
        "Given one after the other."),
      PlanKey(
        "onExhausted", .choice(["nextRule", "repeat", "last"]),
        default: "\"nextRule\", or \"repeat\" where `times` exceeds the responses",
        "What follows the last response, while `times` is not reached."),
    ])

  static let window = PlanObject(
    name: "when", about: "When a rule applies. Times count from the plan's activation.",
    keys: [
      PlanKey("skip", counter, default: "0", "Matching requests inside the window let pass first."),
      PlanKey("times", counter, "Applied this often at most; then the next rule."),
      PlanKey("probability", fraction, default: "1", "Applied with this probability."),
      PlanKey("from", .duration, default: "\"0s\"", "Not before."),
      PlanKey("until", .duration, "Not from here on."),
    ])

  static let toxic = PlanObject(
    name: "toxic", about: "A property of poor connections.",
    keys: [
      PlanKey("name", .string, "A name for journal and events. Default: its type."),
      PlanKey("type", .choice(ToxicType.allCases.map(\.rawValue)), required: true, "What it does."),
      PlanKey(
        "stream", .choice(["upstream", "downstream"]), default: "\"downstream\"",
        "Which direction: from the client, or to it."),
      PlanKey("toxicity", fraction, default: "1", "The part of connections that have it."),
      PlanKey("attributes", .object(toxicAttributes), "Its numbers."),
    ])

  static let toxicAttributes = PlanObject(
    name: "attributes", about: "Numbers of a toxic, each for the types that read it.",
    keys: [
      PlanKey("latency", counter, "latency: milliseconds."),
      PlanKey("jitter", counter, "latency: plus or minus milliseconds."),
      PlanKey("rate", positive, "bandwidth: KB per second."),
      PlanKey("delay", counter, "slow_close: milliseconds. slicer: microseconds between slices."),
      PlanKey("timeout", counter, "timeout, reset_peer: milliseconds until close or reset."),
      PlanKey("bytes", counter, "limit_data: bytes until the connection is closed."),
      PlanKey("average_size", positive, "slicer: bytes of a slice."),
      PlanKey("size_variation", counter, "slicer: plus or minus bytes."),
    ])

  static let timelineEntry = PlanObject(
    name: "timeline entry", about: "From a time on, the listener does this.",
    keys: [
      PlanKey("at", .duration, required: true, "Time after the plan's activation."),
      PlanKey(
        "listener", .choice(ListenerState.allCases.map(\.rawValue)), required: true,
        "accept: connects. refuse: connection refused. blackhole: no answer to connecting."),
    ])
}
