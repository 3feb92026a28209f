import JSONText

/// The OpenAPI 3.1 text of the contract and the admin, made from the tables that are routed by.
enum OpenAPI {
  static func document(for handler: AdminHandler) -> JSONValue {
    let rules = handler.engine.current.contract.rules
    let isOpen = handler.settings.token == nil
    var paths = JSONObject()
    paths[BatchRoute.path] = batch(rules)
    for endpoint in AdminEndpoints.all {
      let path = AdminHandler.prefix + endpoint.path
      var item = paths[path]?.objectValue ?? [:]
      item[endpoint.method.lowercased()] = operation(endpoint, isOpen: isOpen)
      paths[path] = .object(item)
    }
    paths[AdminHandler.prefix + "/session"] = ["post": session(isOpen: isOpen)]
    var schemas = PlanSchema.schemas(of: PlanObjects.plan, prefix: "#/components/schemas/")
    for (name, schema) in contractSchemas(rules) { schemas[name] = schema }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "MockBatchServer", "version": "1",
        "description": "The telemetry batch contract, and the admin of its mock server.",
      ],
      "paths": .object(paths),
      "components": [
        "schemas": .object(schemas),
        "securitySchemes": [
          "bearer": ["type": "http", "scheme": "bearer"],
          "cookie": ["type": "apiKey", "in": "cookie", "name": .string(AdminGuardian.cookie)],
        ],
      ],
    ]
  }

  private static func operation(_ endpoint: AdminEndpoint, isOpen: Bool) -> JSONValue {
    var parameters = endpoint.query.map { parameter -> JSONValue in
      [
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.about),
        "schema": parameter.schema,
      ]
    }
    if let brace = endpoint.path.firstIndex(of: "{") {
      let name = String(endpoint.path[brace...].dropFirst().dropLast())
      parameters.append([
        "name": .string(name), "in": "path", "required": true,
        "schema": ["type": "string", "minLength": 1],
      ])
    }
    var responses = JSONObject()
    let refusals = [(401, "The token is required."), (403, "A foreign Host or Origin.")]
    for (status, about) in endpoint.answers + refusals {
      var answer: JSONObject = ["description": .string(about)]
      let anything: JSONValue = [:]
      if status < 300, status != 204 {
        answer["content"] = .object(JSONObject([(endpoint.mediaType, anything)]))
      } else if status >= 400 {
        let type = status == 408 ? "application/json" : "application/problem+json"
        answer["content"] = .object(JSONObject([(type, anything)]))
      }
      responses[String(status)] = .object(answer)
    }
    var operation: JSONObject = [
      "summary": .string(endpoint.about), "tags": ["admin"], "parameters": .array(parameters),
      "responses": .object(responses),
    ]
    if !isOpen { operation["security"] = [["bearer": []], ["cookie": []]] }
    if let body = endpoint.body {
      operation["requestBody"] = [
        "required": true, "content": ["application/json": ["schema": body]],
      ]
    }
    return .object(operation)
  }

  private static func session(isOpen: Bool) -> JSONValue {
    [
      "summary": "Exchanges the admin's token for a cookie.", "tags": ["admin"],
      "security": isOpen ? [] : [["bearer": []]],
      "responses": [
        "204": ["description": "The cookie is set, where a token is asked for."],
        "401": [
          "description": "Not the token.", "content": ["application/problem+json": [:]],
        ],
        "403": [
          "description": "A foreign Host or Origin.", "content": ["application/problem+json": [:]],
        ],
      ],
    ]
  }

  private static func batch(_ rules: ContractRules) -> JSONValue {
    var responses: JSONObject = [
      "200": [
        "description": "The batch was taken.",
        "content": ["application/json": ["schema": ["$ref": "#/components/schemas/answer"]]],
      ]
    ]
    for (status, about) in [
      (400, "The body is not such a batch."), (401, "The token is missing, unknown or expired."),
      (413, "The body or the batch is too large."), (415, "Not gzip, or not JSON."),
    ] {
      responses[String(status)] = [
        "description": .string(about),
        "content": [
          "application/problem+json": ["schema": ["$ref": "#/components/schemas/problem"]]
        ],
      ]
    }
    return [
      "post": [
        "summary": "Delivers a batch of events.", "tags": ["contract"],
        "security": [["bearer": []]],
        "parameters": [
          [
            "name": "Content-Encoding", "in": "header", "required": true,
            "schema": ["enum": ["gzip"]],
          ]
        ],
        "requestBody": [
          "required": true,
          "content": ["application/json": ["schema": ["$ref": "#/components/schemas/batch"]]],
        ],
        "responses": .object(responses),
      ]
    ]
  }

  /// UTC times with milliseconds, of days that the Gregorian calendar has.
  private static let timestampPattern: String = {
    let leapYear = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
    let days = [
      "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])", "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
      "02-(0[1-9]|1[0-9]|2[0-8])",
    ].joined(separator: "|")
    let date = "([0-9]{4}-(\(days))|\(leapYear)-02-29)"
    return "^" + date + "T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$"
  }()

  private static func contractSchemas(_ rules: ContractRules) -> JSONObject {
    let events: JSONValue = [
      "type": "array", "minItems": 1, "maxItems": .number(rules.maxEvents),
      "items": ["$ref": "#/components/schemas/event"],
    ]
    let batch: JSONValue =
      rules.envelopeKey.map { key in
        [
          "type": "object", "required": [.string(key)], "additionalProperties": false,
          "properties": .object([key].reduce(into: JSONObject()) { $0[$1] = events }),
        ]
      } ?? events
    return [
      "batch": batch,
      "event": [
        "type": "object", "required": ["id", "ts", "type", "payload", "sessionId"],
        "additionalProperties": false,
        "properties": [
          "id": ["type": "string", "format": "uuid"],
          "ts": ["type": "string", "pattern": .string(timestampPattern)],
          "type": ["type": "string", "minLength": 1], "payload": ["type": "object"],
          "sessionId": ["type": "string", "minLength": 1],
        ],
      ],
      "answer": [
        "type": "object", "required": ["accepted", "duplicates", "rejected"],
        "properties": [
          "accepted": ["type": "integer", "minimum": 0],
          "duplicates": ["type": "integer", "minimum": 0],
          "rejected": [
            "type": "array",
            "items": [
              "type": "object", "required": ["id", "reason"],
              "properties": ["id": ["type": ["string", "null"]], "reason": ["type": "string"]],
            ],
          ],
        ],
      ],
      "problem": [
        "type": "object", "required": ["type", "title", "status", "detail"],
        "properties": [
          "type": ["type": "string"], "title": ["type": "string"],
          "status": ["type": "integer"], "detail": ["type": "string"],
          "pointer": ["type": "string"],
        ],
      ],
    ]
  }
}
