"""Writes the wrk scripts and one body of each size for scripts/bench-server.

usage: bench_bodies.py FOLDER
"""

import gzip
import json
import sys
import uuid

# 64 small batches and 8 large ones, sent in turn again and again: validated, journaled, deduplicated.
KINDS = [("small", 64, 5, ""), ("large", 8, 1000, "The driver changed the order of the stops")]

SCRIPT = """local requests = {}
local headers = {['Content-Type'] = 'application/json', ['Content-Encoding'] = 'gzip', ['Authorization'] = 'Bearer T1'}
local bodies = {
%s
}
function init()
  for i, b in ipairs(bodies) do requests[i] = wrk.format('POST', '/v1/telemetry/batch', headers, b) end
end
local n = 0
function request()
  n = n %% #requests + 1
  return requests[n]
end
function done(summary, latency)
  io.write(string.format('RESULT %%.0f %%.3f %%d %%d\\n', summary.requests / summary.duration * 1e6,
    latency:percentile(99) / 1000, summary.errors.status, summary.requests))
end
"""


def text(events, note):
    payload = {"screen": "Orders", "ms": 128}
    if note:
        payload["note"] = note
    return json.dumps({"events": [
        {"id": str(uuid.uuid4()), "ts": "2026-05-04T09:15:02.114Z", "type": "navigation",
         "payload": dict(payload, ms=128 + i), "sessionId": "6f1d2c3b-1111-4222-8333-444455556666"}
        for i in range(events)]}).encode()


def literal(data):
    return '"' + "".join(f"\\{b:03d}" for b in data) + '"'


def main():
    folder = sys.argv[1]
    for name, count, events, note in KINDS:
        texts = [text(events, note) for _ in range(count)]
        bodies = [gzip.compress(t, mtime=0) for t in texts]
        with open(f"{folder}/{name}.lua", "w") as file:
            file.write(SCRIPT % ",\n".join(map(literal, bodies)))
        with open(f"{folder}/{name}.gz", "wb") as file:
            file.write(bodies[0])
        print(f"{name}: {events} events, {len(texts[0])} bytes of JSON, {len(bodies[0])} bytes on the wire")


if __name__ == "__main__":
    main()
