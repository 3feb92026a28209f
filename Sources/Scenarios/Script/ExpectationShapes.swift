extension ScenarioShape {
  private static let number = ValueShape.integer(0...1_000_000_000)
  /// An exact number, or a range.
  private static let amount = ValueShape.either([
    number,
    .object(
      ObjectShape(
        "a range", needsOneOf: ["min", "max"],
        [
          FieldShape("min", number, "At least."), FieldShape("max", number, "At most."),
        ])),
  ])

  /// Everything that can be expected.
  package static let expectations: [ExpectationShape] =
    eventExpectations + wireExpectations
    + stateExpectations

  private static let eventExpectations: [ExpectationShape] = [
    ExpectationShape(
      "lost", number,
      about: "Events with a durable receipt that are neither stored on the server nor accounted"
        + " for on the device.",
      evidence: "a durable receipt was read", example: #"{"lost":0}"#),
    ExpectationShape(
      "delivered", .name,
      about: "All events of that record step which got a durable receipt are stored on the server.",
      evidence: "a durable receipt was read", example: #"{"delivered":"shift"}"#),
    ExpectationShape(
      "undelivered", .name, about: "No event of that record step is stored on the server.",
      evidence: "an event of that step was offered", example: #"{"undelivered":"shift"}"#),
    ExpectationShape(
      "duplicatesAfterDedup", number,
      about: "Events that the server stored more than once.",
      evidence: "the server accepted an event", example: #"{"duplicatesAfterDedup":0}"#),
    ExpectationShape(
      "stored", amount, about: "Distinct events stored on the server.",
      evidence: "the server's side was seen", example: #"{"stored":960}"#),
    ExpectationShape(
      "order", .name,
      about: "The events of that step were stored in the order of recording.",
      evidence: "two of them were stored", example: #"{"order":"shift"}"#),
  ]

  private static let wireExpectations: [ExpectationShape] = [
    ExpectationShape(
      "requests", amount, about: "Requests that reached the server.",
      evidence: "the server's side was seen", example: #"{"requests":{"max":12}}"#),
    ExpectationShape(
      "duplicates", amount,
      about: "Events that arrived again and were answered as duplicates.",
      evidence: "the server's side was seen", example: #"{"duplicates":{"min":1}}"#),
    ExpectationShape(
      "retryAfterObeyed", .boolean,
      about: "No request came before a Retry-After had passed.",
      evidence: "an answer carried a usable Retry-After", example: #"{"retryAfterObeyed":true}"#),
    ExpectationShape(
      "finalNotRetried", .boolean,
      about: "No body was sent again after a final 4xx.", evidence: "a final 4xx was answered",
      example: #"{"finalNotRetried":true}"#),
    ExpectationShape(
      "noImmediateResend", .boolean,
      about: "After a failure nothing identical was sent without a delay.",
      evidence: "a request failed", example: #"{"noImmediateResend":true}"#),
    ExpectationShape(
      "accountsKept", .boolean,
      about: "No event was sent under a token of another account.",
      evidence: "two accounts recorded events", example: #"{"accountsKept":true}"#),
    ExpectationShape(
      "allFaultsFired", .boolean,
      about: "Every fault of the plan took effect, every triggered step fired, and no step found"
        + " the device dead that needs it alive. Checked unasked.",
      evidence: "a fault or a trigger is in the script", example: #"{"allFaultsFired":true}"#),
    ExpectationShape(
      "tooLargeNotRepeated", .boolean,
      about: "No body was sent again after a 413. Checked unasked where there was one.",
      evidence: "a body was answered with 413", example: #"{"tooLargeNotRepeated":true}"#),
    ExpectationShape(
      "tokenNotRepeated", .boolean,
      about: "After a 401 nothing was sent with the refused token. Checked unasked where there"
        + " was one.",
      evidence: "a token was answered with 401", example: #"{"tokenNotRepeated":true}"#),
    ExpectationShape(
      "withinDedupWindow", .boolean,
      about: "No event was sent again after the server had forgotten its id.",
      evidence: "an event was sent twice", example: #"{"withinDedupWindow":true}"#),
  ]

  private static let stateExpectations: [ExpectationShape] = [
    ExpectationShape(
      "ledgerBalances", .boolean,
      about: "The SDK's own books balance at every reading, also after a kill.",
      evidence: "the books were read", example: #"{"ledgerBalances":true}"#),
    ExpectationShape(
      "drained", .boolean,
      about: "After healing, the queue got empty within the drain's budget. Checked unasked;"
        + " `false` is for devices that must keep something.",
      evidence: "a drain took place", example: #"{"drained":false}"#),
    ExpectationShape(
      "noCrash", .boolean, about: "The app that hosts the SDK never crashed. Checked unasked.",
      evidence: "a device was started", example: #"{"noCrash":true}"#),
    ExpectationShape(
      "timeGivenBack", .boolean,
      about: "Background time was given back exactly once, and soon where the system took it back."
        + " Checked unasked where some was granted.",
      evidence: "background time was granted", example: #"{"timeGivenBack":true}"#),
    ExpectationShape(
      "contentKept", .boolean,
      about: "Every event arrived with the type, time and payload that were recorded, each time."
        + " Checked unasked where an event was seen at both ends.",
      evidence: "an event was seen at both ends", example: #"{"contentKept":true}"#),
    ExpectationShape(
      "noHammering", .boolean,
      about: "No minute had more than 20 requests in vain, those included that a portal or nobody"
        + " answered. Checked unasked where there were some.",
      evidence: "a request ended in vain for the device", example: #"{"noHammering":true}"#),
    ExpectationShape(
      "noPlaintext", .boolean,
      about: "No recorded text is readable in the device's files.",
      evidence: "the files were scanned for recorded text", example: #"{"noPlaintext":true}"#),
    ExpectationShape(
      "quarantined", amount, about: "Events in quarantine at the end.",
      evidence: "the books were read", example: #"{"quarantined":1}"#),
    ExpectationShape(
      "queued", amount, about: "Events in the queue at the end.",
      evidence: "the books were read", example: #"{"queued":0}"#),
    ExpectationShape(
      "dropped", .map(amount), about: "Events dropped for a reason, in all.",
      evidence: "the books were read", example: #"{"dropped":{"queueFull":{"min":1}}}"#),
    ExpectationShape(
      "diskWithin", .size, about: "The device's files never took more than this.",
      evidence: "the files were measured", example: #"{"diskWithin":"20MB"}"#),
    ExpectationShape(
      "state", .text(maxLength: 60), about: "The SDK's own state at the end.",
      evidence: "the state was read", example: #"{"state":"idle"}"#),
  ]
}
