/// JSON as text: see `JSONValue`.
