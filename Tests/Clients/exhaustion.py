"""Clients that vanish without a word, and more clients than the server has descriptors for.

1. 1,000 clients send one request each and stay silent: behind the idle time the server has its descriptors
   and threads back.
2. 300 clients come to a server that may open 128 files: it lives, takes no more than a fifth of a core while
   they stay, and answers again once they are gone.

usage: exhaustion.py WORKBENCH
"""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
import time

IDLE_SECONDS = 5
WATCHED_SECONDS = 3
ASK = b"GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def start(workbench, *options, files=None):
    """The server's first line on stdout comes when it accepts."""
    def limit():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    server = subprocess.Popen([workbench, "serve", "--port", "0", *options], preexec_fn=limit,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    guard = threading.Timer(60, server.kill)
    guard.start()
    line = server.stdout.readline()
    guard.cancel()
    if not line:
        raise SystemExit(f"FAILED: the server did not start (status {server.wait()})")
    return server, json.loads(line)["port"]


def stop(server):
    server.terminate()
    server.stdout.close()
    return server.wait(timeout=60)


def held(pid):
    """Open descriptors and threads of a process."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def ask(client):
    client.sendall(ASK)
    return client.recv(65536)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60)


def answers(port):
    with connect(port) as client:
        return ask(client).startswith(b"HTTP/1.1 200 ")


def expect(what, condition):
    if not condition:
        raise SystemExit(f"FAILED {what}")


def silent_clients(workbench, count):
    server, port = start(workbench, "--idle-seconds", str(IDLE_SECONDS))
    expect("the first request", answers(port))
    before = held(server.pid)
    clients = [connect(port) for _ in range(count)]
    for client in clients:
        expect("a request", ask(client).startswith(b"HTTP/1.1 200 "))
    during = held(server.pid)
    for client in clients:
        expect("the idle time's end", client.recv(1) == b"")
    after = held(server.pid)
    for client in clients:
        client.close()
    expect(f"descriptors while {count} clients stay: {during[0]}", during[0] >= count)
    # The runtime's own threads come and go; none belongs to a connection.
    expect(f"descriptors {before[0]} before, {after[0]} after", after[0] <= before[0])
    expect(f"threads {before[1]} before, {during[1]} meanwhile, {after[1]} after", max(during[1], after[1]) <= before[1] + 2)
    expect("a request afterwards", answers(port))
    expect("a clean end", stop(server) == 0)
    print(f"{count} silent clients: descriptors {before[0]}, {during[0]}, {after[0]}, threads {before[1]}, "
          f"{during[1]}, {after[1]} before, meanwhile and after: ok")


def more_clients_than_files(workbench, count, files):
    server, port = start(workbench, files=files)
    expect("the first request", answers(port))
    clients, served = [], 0
    for _ in range(count):
        try:
            client = connect(port)
            clients.append(client)
            served += ask(client).startswith(b"HTTP/1.1 200 ")
        except OSError:
            pass  # Shed: reset as soon as it was accepted.
    began, start_cpu = time.monotonic(), processor_seconds(server.pid)
    # Not a wait for something to happen: the time over which the load is watched.
    time.sleep(WATCHED_SECONDS)
    share = (processor_seconds(server.pid) - start_cpu) / (time.monotonic() - began)
    expect("the server's life", server.poll() is None)
    expect(f"clients served: {served} of {count}", 0 < served < count)
    expect(f"processor time while {count} clients stay: {share:.0%}", share < 0.2)
    for client in clients:
        client.close()
    began = time.monotonic()
    while True:
        try:
            if answers(port):
                break
        except OSError:
            pass
        expect("recovery within a minute", time.monotonic() - began < 60)
    expect("a clean end", stop(server) == 0)
    print(f"{count} clients, {files} files: {served} served, {share:.1%} of a core, recovered: ok")


def main():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    silent_clients(sys.argv[1], 1000)
    more_clients_than_files(sys.argv[1], 300, 128)


if __name__ == "__main__":
    main()
