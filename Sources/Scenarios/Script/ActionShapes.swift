extension ScenarioShape {
  /// Everything a step can do.
  package static let actions: [ActionShape] =
    deviceActions + systemActions + serverActions + [
      ActionShape(
        "expect", .list(of: .expectation, min: 1, max: 64),
        about: "Checks at this moment, before the end.",
        example: #"{"at":"9h15m","expect":[{"delivered":"shift"}]}"#)
    ]

  private static let deviceActions: [ActionShape] = [
    ActionShape(
      "record", .object(record),
      about: "The app records events, at once or spread over time. Events due while the app is"
        + " dead are not offered.",
      example:
        #"{"at":"1m","record":{"as":"shift","count":960,"every":"30s","type":"navigation","payload":{"screen":"Orders"}}}"#
    ),
    ActionShape(
      "app", .choice(["foreground", "background"]),
      about: "The app comes to the foreground or leaves it.",
      example: #"{"at":"2h","app":"background"}"#),
    ActionShape(
      "backgroundTask", .choice(["granted", "expired"]),
      about: "The system wakes the app for a background task of at most 30 s, or takes back all"
        + " background time that the SDK holds.",
      example: #"{"at":"3h","backgroundTask":"granted"}"#),
    ActionShape(
      "flush",
      .object(
        ObjectShape(
          "flush",
          [
            FieldShape("timeout", .duration, byDefault: "30s", "How long the caller waits.")
          ])),
      about: "The app asks for delivery now.", example: #"{"at":"10m","flush":{"timeout":"10s"}}"#),
    ActionShape(
      "deviceToken", .object(deviceToken),
      about: "Changes what the app's token provider answers.",
      example: #"{"at":"1h","deviceToken":{"value":"T2","account":"anna"}}"#),
    ActionShape(
      "key", .choice(["rotate", "lost", "unavailable", "available"]),
      about: "The encryption key is rotated, gone, or not readable for a while.",
      example: #"{"at":"1h","key":"rotate"}"#),
    ActionShape(
      "session", .choice(["new"]), about: "The app asks for a new session.",
      example: #"{"at":"1h","session":"new"}"#),
    ActionShape(
      "consent", .boolean,
      about: "The user gives or withdraws consent. The app remembers it: one that is dead just now"
        + " tells the SDK at its next start.",
      example: #"{"at":"1h","consent":false}"#),
    ActionShape(
      "purge", .choice(["all"]), about: "The app purges what is stored.",
      example: #"{"at":"1h","purge":"all"}"#),
    ActionShape(
      "quarantine", .choice(["requeue", "clear"]),
      about: "The app puts quarantined events back in the queue, or clears them.",
      example: #"{"at":"1h","quarantine":"requeue"}"#),
  ]

  private static let systemActions: [ActionShape] = [
    ActionShape(
      "network", .choice(networks),
      companions: [
        FieldShape(
          "portal", .choice(["200", "302"]), byDefault: "200",
          "With `captive`: the portal's answer, a page or a redirect.")
      ],
      about: "`offline`: no path, connects refused, open connections reset. `lying`: the path is"
        + " said to be there, the rest as offline. `hidden`: no path is said to be there, yet"
        + " connections are made, as with some VPNs. `captive`: a portal answers everything."
        + " `wifi` (also `online`), `cellular`, `expensive`: flags only.",
      example: #"{"at":"0s","network":"offline"}"#),
    ActionShape(
      "lowPower", .boolean, about: "Low Power Mode on or off.",
      example: #"{"at":"0s","lowPower":true}"#),
    ActionShape(
      "clock",
      .object(
        ObjectShape(
          "clock",
          [
            FieldShape("wallJump", .signedDuration, required: true, "How far the wall clock jumps.")
          ])),
      about: "The device's wall clock jumps; scenario time does not.",
      example: #"{"at":"1h","clock":{"wallJump":"-26h"}}"#),
    ActionShape(
      "disk", .choice(["full", "locked", "protected", "corrupt", "ok"]),
      about:
        "`full`: nothing can be written. `locked`: another connection holds the database."
        + " `protected`: files cannot be opened, as before the first unlock after a boot."
        + " `corrupt`: the database is damaged. `ok`: all is well again.",
      example: #"{"at":"1h","disk":"full"}"#),
    ActionShape(
      "database", .choice(DatabaseChange.allCases.map(\.rawValue)),
      about: "`bitFlip`: one bit of the oldest stored event is lost. `olderVersion`: the file is of"
        + " the app's first version. `newerVersion`: the file is of a version that this app does"
        + " not know; `ownVersion`: it is of this one again. Not together with `reboot`.",
      example: #"{"at":"1h","database":"bitFlip"}"#),
    ActionShape(
      "kill", .choice(["SIGKILL"]), companions: [restartAfter],
      about: "The system kills the app.",
      example: #"{"at":"3h","kill":"SIGKILL","restartAfter":"10s"}"#),
    ActionShape(
      "restart", .choice(["app"]), about: "The app is started again after a kill.",
      example: #"{"at":"4h","restart":"app"}"#),
    ActionShape(
      "reboot", .choice(["powerLoss"]), companions: [restartAfter],
      about: "The battery dies: the app is gone, with it what was written and never synced; the"
        + " device boots anew.",
      example: #"{"at":"3h","reboot":"powerLoss","restartAfter":"2m"}"#),
  ]

  private static let serverActions: [ActionShape] = [
    ActionShape(
      "serverToken",
      .object(
        ObjectShape(
          "serverToken", needsOneOf: ["accept", "expire"],
          [
            FieldShape("accept", .text(maxLength: 200), "A token the server accepts from now on."),
            FieldShape("account", .name, byDefault: "\"\"", "The account of the accepted token."),
            FieldShape("expire", .text(maxLength: 200), "A token the server refuses from now on."),
          ])),
      about: "The server accepts or refuses a token from now on.",
      example: #"{"at":"1h","serverToken":{"accept":"T2","expire":"T1"}}"#),
    ActionShape(
      "server", .choice(["restart"]),
      about: "The server stops and starts again: requests under way are lost, the ledger is read"
        + " from its file, the fault plan goes on where it was.",
      example: #"{"at":"1h","server":"restart"}"#),
    ActionShape(
      "gate",
      .object(
        ObjectShape(
          "gate",
          [
            FieldShape("name", .name, required: true, "The gate's name in the fault plan."),
            FieldShape(
              "state", .choice(["open", "held"]), required: true, "What it is from now on."),
          ])),
      about: "Opens or holds a gate of the fault plan.",
      example: #"{"at":"1h","gate":{"name":"hold","state":"open"}}"#),
  ]
}
