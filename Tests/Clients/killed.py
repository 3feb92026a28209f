"""Kills `workbench serve --ledger F` with SIGKILL amid its work, again and again, and starts it anew on the
same file: what it answered it still knows, nothing was taken twice, its counters agree with each other.

usage: killed.py WORKBENCH [ROUNDS] [SEED]
"""

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import uuid

from batch import HEADERS, PATH, body, event

CLIENTS = 8


def start(workbench, folder):
    """The server's first line on stdout comes when it accepts."""
    server = subprocess.Popen([workbench, "serve", "--port", "0", "--ledger", os.path.join(folder, "ledger.db")],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    guard = threading.Timer(60, server.kill)
    guard.start()
    line = server.stdout.readline()
    guard.cancel()
    if not line:
        raise SystemExit(f"FAILED: the server did not start (status {server.wait()})")
    return server, json.loads(line)["port"]


def call(port, method, path, data=None, headers={}):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, data, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


class Client(threading.Thread):
    """Sends batches until the server is gone: new ones, and now and then the one without an answer."""

    def __init__(self, port, owed, answered_one):
        super().__init__()
        self.port, self.owed, self.answered_one = port, owed, answered_one
        self.answered, self.failures = [], []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            while True:
                self.owed = self.owed or [event(str(uuid.uuid4())) for _ in range(3)]
                connection.request("POST", PATH, body(self.owed), HEADERS)
                response = connection.getresponse()
                answer = json.loads(response.read())
                # An owed batch may have been taken before the kill, wholly or not at all.
                if response.status != 200 or (answer["accepted"], answer["duplicates"]) not in ((3, 0), (0, 3)):
                    self.failures.append(f"answer {response.status} {answer}")
                    return
                self.answered += [e["id"] for e in self.owed]
                self.owed = []
                self.answered_one()
        except (OSError, http.client.HTTPException, ValueError):
            pass  # The kill; the batch is owed.
        finally:
            connection.close()


def round_of(workbench, folder, owed, chance):
    """One life of the server; kills it after some answers."""
    server, port = start(workbench, folder)
    limit, lock, answers = chance.randint(1, 150), threading.Lock(), [0]

    def answered_one():
        with lock:
            answers[0] += 1
            if answers[0] == limit:
                os.kill(server.pid, signal.SIGKILL)

    clients = [Client(port, batch, answered_one) for batch in owed]
    guard = threading.Timer(120, server.kill)
    guard.start()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    expired = not guard.is_alive()
    guard.cancel()
    server.kill()
    server.stdout.close()
    server.wait()
    failures = [f for c in clients for f in c.failures] + (["the kill never came"] if expired else [])
    return [c.owed for c in clients], [e for c in clients for e in c.answered], failures


def check(workbench, folder, answered):
    server, port = start(workbench, folder)
    try:
        known, offset = {}, 0
        while offset is not None:
            _, ledger = call(port, "GET", f"/__admin/ledger?limit=100000&offset={offset}")
            known.update({e["id"]: e for e in ledger["events"]})
            offset = ledger["next"]
        counts = ledger["counts"]
        failures = [f"{i} was answered and is not known" for i in answered if i not in known]
        failures += [f"{i} was stored {e['timesStored']} times" for i, e in known.items() if e["timesStored"] != 1]
        parts = counts["stored"] + counts["duplicatesWithin"] + counts["duplicatesAcross"] + counts["rejected"]
        if counts["received"] != parts or counts["unique"] != len(known) or counts["conflicting"]:
            failures.append(f"the counters disagree: {counts}, {len(known)} events")
        if counts["received"] != sum(e["timesSeen"] for e in known.values()):
            failures.append(f"counters and events disagree: {counts}")
        return counts, failures
    finally:
        server.kill()
        server.stdout.close()
        server.wait()


def main():
    workbench = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seed = sys.argv[3] if len(sys.argv) > 3 else "1"
    chance, owed, answered, failures = random.Random(seed), [[] for _ in range(CLIENTS)], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            owed, now, failed = round_of(workbench, folder, owed, chance)
            answered += now
            failures += failed
        counts, failed = check(workbench, folder, answered)
    failures += failed
    if not answered:
        failures.append("nothing was answered")
    for failure in failures[:20]:
        print("FAILED", failure)
    print(f"killed server: {rounds} kills, seed {seed}, {len(answered)} events answered, ledger {counts}: "
          + ("failed" if failures else "ok"))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
