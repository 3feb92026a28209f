"""Many connections send batches, resets, duplicates and bad bodies; the server's counters must equal this
client's own books, and descriptors and memory must come back.

usage: soak.py PORT PID CONNECTIONS BATCHES SEED
"""

import http.client
import json
import os
import random
import socket
import struct
import sys
import time
from collections import Counter

from batch import HEADERS, PATH, body, event

PROCESSES = 4


class Client:
    def __init__(self, port):
        self.port, self.socket, self.rest = port, None, b""

    def connect(self):
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=120)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.rest = b""

    def send(self, data, cut=None):
        self.connect()
        head = f"POST {PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(data)}\r\n"
        head += "".join(f"{k}: {v}\r\n" for k, v in HEADERS.items()) + "\r\n"
        wire = head.encode() + data
        self.socket.sendall(wire if cut is None else wire[:int(len(wire) * cut)])

    def answer(self):
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length:"))
        while len(self.rest) < length:
            self.more()
        content, self.rest = self.rest[:length], self.rest[length:]
        if b"connection: close" in lines:
            self.close()
        return int(head.split(b" ")[1]), json.loads(content)

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the server closed")
        self.rest += piece

    def reset(self):
        if self.socket:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close()

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def worker(port, connections, batches, seed, pipe):
    chance, books = random.Random(seed), Counter()
    clients, sent = [Client(port) for _ in range(connections)], []
    for client in clients:
        client.connect()
    for _ in range(batches):
        client, draw = chance.choice(clients), chance.random()
        if draw < 0.05:
            # Cut somewhere in the head or body, then an RST: the server must count nothing.
            client.send(body([event()]), cut=chance.uniform(0.1, 0.95))
            client.reset()
            books["cut"] += 1
            continue
        if draw < 0.10:
            bad = bytearray(body([event()]))
            bad[-5] ^= 0x55
            client.send(bytes(bad))
            status, _ = client.answer()
            books["bad"] += status == 400
            books["wrong answers"] += status != 400
            continue
        if draw < 0.25 and sent:
            events, again = chance.choice(sent), True
        else:
            events, again = [event() for _ in range(chance.randint(1, 4))], False
        client.send(body(events))
        status, answer = client.answer()
        books["batches"] += 1
        books["events"] += len(events)
        books["duplicates"] += len(events) if again else 0
        expected = {"accepted": 0 if again else len(events), "duplicates": len(events) if again else 0}
        if status != 200 or any(answer[k] != v for k, v in expected.items()):
            books["wrong answers"] += 1
            print("WRONG", status, answer, expected)
        if not again:
            sent.append(events)
            if len(sent) > 200:
                sent.pop(0)
    for client in clients:
        client.close()
    os.write(pipe, json.dumps(books).encode())
    os._exit(0)


def admin(port, path, method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, "/__admin" + path)
    data = connection.getresponse().read()
    connection.close()
    return json.loads(data) if data else None


def state(pid):
    with open(f"/proc/{pid}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return len(os.listdir(f"/proc/{pid}/fd")), memory


def settled(pid, descriptors):
    """Descriptors come back as soon as the server has read the last ends of file."""
    for _ in range(600):
        if state(pid)[0] <= descriptors:
            break
        time.sleep(0.1)
    return state(pid)


def run(port, connections, batches, seed):
    totals, children = Counter(), []
    for index in range(PROCESSES):
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            worker(port, connections // PROCESSES, batches // PROCESSES, f"{seed}/{index}", writing)
        os.close(writing)
        children.append((child, reading))
    for child, reading in children:
        data = b""
        while piece := os.read(reading, 65536):
            data += piece
        os.close(reading)
        _, status = os.waitpid(child, 0)
        if status or not data:
            raise SystemExit("FAILED: a client process died")
        totals.update(json.loads(data))
    return totals


def main():
    port, pid, connections, batches = map(int, sys.argv[1:5])
    seed = sys.argv[5]
    admin(port, "/health")
    before = state(pid)
    run(port, connections, batches // 10, f"{seed}/warm")
    warm = settled(pid, before[0])
    counts = admin(port, "/ledger")["counts"]
    started = time.monotonic()
    books = run(port, connections, batches, seed)
    seconds = time.monotonic() - started
    after = settled(pid, before[0])
    counts_after = admin(port, "/ledger")["counts"]
    print(f"seed {seed}: {dict(books)} in {seconds:.1f} s")
    print("server before:", counts)
    print("server after: ", counts_after)
    print(f"descriptors {before[0]} -> {after[0]}, memory {warm[1]} -> {after[1]} KB (start {before[1]} KB)")

    def grown(name):
        return counts_after[name] - counts[name]

    failures = []
    for what, ours, theirs in [
        ("batches", books["batches"], grown("batches")),
        ("unique events", books["events"] - books["duplicates"], grown("unique")),
        ("duplicates", books["duplicates"], grown("duplicatesAcross") + grown("duplicatesWithin")),
        ("bad bodies", books["bad"], grown("invalid")),
    ]:
        if ours != theirs:
            failures.append(f"{what}: this client counted {ours}, the server {theirs}")
    if books["wrong answers"]:
        failures.append(f"{books['wrong answers']} wrong answers")
    if after[0] > before[0]:
        failures.append(f"descriptors: {before[0]} before, {after[0]} after")
    for failure in failures:
        print("FAILED", failure)
    print("soak:", "failed" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
