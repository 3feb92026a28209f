"""Feeds every request of the corpus to this server's parser and to h11 and compares verdicts.

usage: differential.py WORKBENCH
"""

import json
import subprocess
import sys

import h11

from corpus import build
from exceptions import EXCEPTIONS


def h11_verdict(data):
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=32768)
    requests, current = [], None
    connection.receive_data(data)
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError:
            return requests, "refuse"
        if event is h11.NEED_DATA:
            rest = connection.trailing_data[0]
            return requests, "incomplete" if current or rest else "open"
        if event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
            return requests, "close"
        if isinstance(event, h11.Request):
            current = [event.method.decode(), event.target.decode(), b"",
                       [[n.decode(), v.decode("latin-1")] for n, v in event.headers]]
        elif isinstance(event, h11.Data):
            current[2] += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            requests.append([current[0], current[1], current[2].hex(), current[3],
                             [[n.decode(), v.decode("latin-1")] for n, v in event.headers]])
            current = None
            connection.send(h11.Response(status_code=404, headers=[("content-length", "0")]))
            connection.send(h11.EndOfMessage())
            if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                return requests, "close"
            connection.start_next_cycle()


def our_verdicts(workbench, cases):
    lines = "".join(data.hex() + "\n" for _, _, data in cases)
    output = subprocess.run([workbench, "parse-http"], input=lines, capture_output=True, text=True, check=True)
    for line in output.stdout.splitlines():
        answer = json.loads(line)
        requests = [[r["method"], r["target"], r["body"], r["fields"], r["trailers"]]
                    for r in answer.get("requests", [])]
        end = answer["end"]
        yield requests, "refuse" if end.isdigit() else end


def same_requests(ours, theirs):
    """h11 rewrites the fields that frame the body, and the server repairs values that are no UTF-8: those
    fields are not compared, everything else is."""
    def clean(requests):
        return [[m, t, b, [f for f in fields if f[1].isascii()
                           and f[0] not in ("content-length", "transfer-encoding")], trailers]
                for m, t, b, fields, trailers in requests]
    return clean(ours) == clean(theirs)


def main():
    cases = build()
    names = [(kind, name) for kind, name, _ in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    assert len(cases) >= 300, len(cases)
    passed, failures, used = 0, [], set()
    for (kind, name, data), ours in zip(cases, our_verdicts(sys.argv[1], cases), strict=True):
        theirs = h11_verdict(data)
        agrees = ours[1] == theirs[1] and (ours[1] == "refuse" or same_requests(ours[0], theirs[0]))
        if ours[1] == theirs[1] == "refuse":
            agrees = same_requests(ours[0], theirs[0])
        if agrees:
            passed += 1
            continue
        wanted = EXCEPTIONS.get(kind)
        verdict = "refuse" if ours[1] == "refuse" else "accept"
        if wanted and wanted[0] == verdict:
            used.add(kind)
            passed += 1
            continue
        failures.append(f"{kind}: {name}\n    bytes  {data[:120]!r}\n    server {ours}\n    h11    {theirs}"[:1200])
    for kind in EXCEPTIONS.keys() - used:
        failures.append(f"exception {kind!r}: nothing differs any more")
    for failure in failures:
        print("FAILED", failure)
    print(f"differential: {len(cases)} requests, {len(used)} documented kinds differ")
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
