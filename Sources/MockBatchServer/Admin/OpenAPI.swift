import JSONText

/// The OpenAPI 3.1 text of the contract and the admin, made from the tables that are routed by.
enum OpenAPI {
  static func document(for engine: BatchEngine) -> JSONValue {
    var paths = JSONObject()
    paths[BatchRoute.path] = batch(engine.current.contract.rules)
    for endpoint in AdminEndpoints.all {
      let path = AdminHandler.prefix + endpoint.path
      var item = paths[path]?.objectValue ?? [:]
      item[endpoint.method.lowercased()] = operation(endpoint)
      paths[path] = .object(item)
    }
    paths[AdminHandler.prefix + "/session"] = ["post": session]
    var schemas = PlanSchema.schemas(
      of: PatternObjects.request, prefix: "#/components/schemas/")
    for (name, schema) in contractSchemas(engine.current.contract.rules) { schemas[name] = schema }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "MockBatchServer", "version": "1",
        "description": "The telemetry batch contract, and the admin of its mock server.",
      ],
      "paths": .object(paths),
      "components": [
        "schemas": .object(schemas),
        "securitySchemes": ["bearer": ["type": "http", "scheme": "bearer"]],
      ],
    ]
  }

  private static func operation(_ endpoint: AdminEndpoint) -> JSONValue {
    var parameters = endpoint.query.map { parameter -> JSONValue in
      [
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.about),
        "schema": ["type": "string"],
      ]
    }
    if let brace = endpoint.path.firstIndex(of: "{") {
      let name = String(endpoint.path[brace...].dropFirst().dropLast())
      parameters.append([
        "name": .string(name), "in": "path", "required": true, "schema": ["type": "string"],
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
    if let body = endpoint.body {
      operation["requestBody"] = [
        "required": true, "content": ["application/json": ["schema": body]],
      ]
    }
    return .object(operation)
  }

  private static let session: JSONValue = [
    "summary": "Exchanges the admin's token for a cookie.", "tags": ["admin"],
    "security": [["bearer": []]],
    "responses": [
      "204": ["description": "The cookie is set."],
      "401": [
        "description": "Not the token.", "content": ["application/problem+json": [:]],
      ],
      "403": [
        "description": "A foreign Host or Origin.", "content": ["application/problem+json": [:]],
      ],
    ],
  ]

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
          "ts": [
            "type": "string",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$",
          ],
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
