#!/usr/bin/env python3
"""A batch server with the standard library, and a way to break one rule of the contract at a time.

    batch_server.py [--break RULE] [--late] [--port N] [--tls CERT KEY]

Accepts the token `good-token-5f2c`, calls `expired-token-77aa` expired. Shows what it stored under
/__admin/ledger/{id}; POST /__test/busy makes the next batch a 429, POST /__test/restart forgets
what a restart would (nothing, unless a rule is broken). Prints `ready URL` once it listens and
ends when its standard input ends. With `--late` it stores behind its answers. `--list` prints the rules that can be broken.
"""
import argparse
import json
import re
import socket
import ssl
import sys
import threading
import time
import uuid
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

GOOD = "good-token-5f2c"
EXPIRED = "expired-token-77aa"
PATH = "/v1/telemetry/batch"
MAX_BYTES = 256_000
MAX_EVENTS = 1_000
TIMESTAMP = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

RULES = """
no-json counts-as-text no-date emoji-500 big-integer-400 old-timestamp-400 empty-payload-400
lossy-text lossy-numbers not-stored
missing-token-ok wrong-token-ok empty-token-ok any-scheme-ok unauthorised-403 expired-ok
no-challenge scheme-case unauthorised-stored
identity-ok identity-400 undeclared-ok not-gzip-ok truncated-ok checksum-ok length-ok trailing-ok
concatenated-ok unknown-encoding-400 bomb-ok damaged-stored
media-ok media-missing-ok media-parameters-415
bytes-limit-early bytes-limit-400 count-limit-early count-limit-400 empty-500
invalid-json-500 cut-json-ok utf8-ok envelope-ok
id-missing-ok id-malformed-ok ts-missing-ok ts-malformed-ok type-missing-ok type-wrong-ok
payload-missing-ok payload-wrong-ok session-missing-ok session-wrong-ok uppercase-400 deep-500
no-reason partial-unnamed
no-dedup-within no-dedup-across forgets-race conflict-500 conflict-overwrites
get-200 put-200 delete-200 no-allow any-path
closes-silently slow-408 chunked-400 ignores-expect-417 lengths-ok half-stored reset-doubles reset-500
restart-forgets no-retry-after garbage-retry-after busy-for-ever
echoes-token html redirect not-found hangs rejects-all rejects-foreign huge-chunk
""".split()

BROKEN = ""
LATE = False


class Store:
    """Events by id; counts what is stored and what is seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.turn = threading.Lock()
        self.events = {}
        self.times = {}
        self.cursed = set()
        self.busy = 0
        self.log = []
        self.shown = 0.0

    def note(self, key):
        """A late store shows its changes one by one, in their order."""
        self.shown = max(self.shown, time.monotonic()) + 0.03
        self.log.append((self.shown, key, self.events[key], self.times.get(key, 1)))

    def late(self, key):
        now = time.monotonic()
        seen = [entry[2:] for entry in self.log if entry[1] == key and entry[0] <= now]
        return seen[-1] if seen else (None, 0)

    def add(self, event):
        key = str(event["id"]).lower()
        known = key in self.events
        if known and BROKEN == "conflict-overwrites":
            self.events[key] = event
        if not known:
            self.events[key] = event
        self.note(key)
        return known

    def take(self, events):
        accepted = duplicates = 0
        within = set()
        for event in events:
            key = str(event["id"]).lower()
            known = self.add(event)
            if BROKEN == "no-dedup-across" and key not in within:
                known = False
            if BROKEN == "no-dedup-within" and key in within:
                known = False
            within.add(key)
            if known:
                duplicates += 1
            else:
                accepted += 1
                self.times[key] = self.times.get(key, 0) + 1
            self.note(key)
        return accepted, duplicates


STORE = Store()


class Refused(Exception):
    def __init__(self, status, detail, headers=()):
        self.status, self.detail, self.headers = status, detail, list(headers)


def inflate(body):
    """One gzip member, to the letter."""
    limit = 8_000_000
    machine = zlib.decompressobj(31)
    try:
        text = machine.decompress(body, limit)
        if machine.unconsumed_tail:
            if BROKEN == "bomb-ok":
                return b'{"events":[]}'
            raise Refused(413, "unfolds to more than %d bytes" % limit)
    except zlib.error as error:
        plain = zlib.decompressobj(-15)
        careless = BROKEN in ("checksum-ok", "length-ok", "damaged-stored")
        if careless and body[:2] == b"\x1f\x8b":
            text = plain.decompress(body[10:])
            wrong_sum = zlib.crc32(text) != int.from_bytes(body[-8:-4], "little")
            if BROKEN == "checksum-ok" and wrong_sum:
                return text
            if BROKEN == "length-ok" and not wrong_sum:
                return text
            if BROKEN == "damaged-stored":
                STORE.take(json.loads(text)["events"])
        if BROKEN == "not-gzip-ok" and body[:1] == b"{":
            return body
        raise Refused(400, "not gzip: %s" % error)
    if not machine.eof:
        if BROKEN == "truncated-ok":
            return b'{"events":[]}'
        raise Refused(400, "the gzip body ends too early")
    if machine.unused_data:
        more = machine.unused_data
        if BROKEN == "trailing-ok" and more[:2] != b"\x1f\x8b":
            return text
        if BROKEN == "concatenated-ok" and more[:2] == b"\x1f\x8b":
            return text + zlib.decompress(more, 31)
        raise Refused(400, "bytes behind the gzip body")
    return text


def check_event(event):
    """What is wrong with an event, or None."""

    def fault(name, broken):
        value = event.get(name)
        if value is None:
            return None if BROKEN == name_of(name) + "-missing-ok" else "%s is missing" % name
        if broken(value):
            ending = "-malformed-ok" if name in ("id", "ts") else "-wrong-ok"
            return None if BROKEN == name_of(name) + ending else "%s is wrong" % name
        return None

    def name_of(name):
        return "session" if name == "sessionId" else name

    def no_uuid(value):
        try:
            return len(value) != 36 or not uuid.UUID(value)
        except (ValueError, AttributeError, TypeError):
            return True

    if not isinstance(event, dict):
        return "not an object"
    return (
        fault("id", no_uuid)
        or fault("ts", lambda value: not isinstance(value, str) or not TIMESTAMP.match(value))
        or fault("type", lambda value: not isinstance(value, str))
        or fault("payload", lambda value: not isinstance(value, dict))
        or fault("sessionId", lambda value: not isinstance(value, str))
    )


def parse(text):
    if len(text) > MAX_BYTES - (1 if BROKEN == "bytes-limit-early" else 0):
        raise Refused(400 if BROKEN == "bytes-limit-400" else 413, "too many bytes")
    try:
        body = json.loads(text.decode("utf-8", "replace" if BROKEN == "utf8-ok" else "strict"))
    except UnicodeDecodeError as error:
        raise Refused(400, "not UTF-8: %s" % error)
    except ValueError as error:
        if BROKEN == "invalid-json-500" and not text.startswith(b"{"):
            raise Refused(500, "crashed")
        if BROKEN == "cut-json-ok" and text.startswith(b"{"):
            return []
        raise Refused(400, "not JSON: %s" % error)
    except RecursionError:
        raise Refused(500 if BROKEN == "deep-500" else 400, "too deep")
    events = body.get("events") if isinstance(body, dict) else None
    if not isinstance(events, list):
        if BROKEN == "envelope-ok":
            return []
        raise Refused(400, "no list of events")
    if len(events) > MAX_EVENTS - (1 if BROKEN == "count-limit-early" else 0):
        raise Refused(400 if BROKEN == "count-limit-400" else 413, "too many events")
    return events


def named(ids):
    return [{"id": name, "reason": "bad text"} for name in ids]


def judge(events, text):
    """Splits a batch, or refuses it for a rule that this server breaks."""
    if BROKEN == "empty-500" and not events:
        raise Refused(500, "no first event")
    good, rejected = [], []
    for event in events:
        fault = check_event(event)
        if fault is None:
            good.append(event)
        else:
            rejected.append({"id": event.get("id", ""), "reason": fault})
    for event in good:
        name = str(event.get("id", ""))
        payload = event.get("payload")
        if BROKEN == "emoji-500" and b"\xf0\x9f" in text:
            raise Refused(500, "latin-1")
        if BROKEN == "big-integer-400" and b"18446744073709551615" in text:
            raise Refused(400, "integer too large")
        if BROKEN == "old-timestamp-400" and str(event.get("ts", "")) < "2020":
            raise Refused(400, "too old")
        if BROKEN == "empty-payload-400" and payload == {} and len(events) == 1:
            raise Refused(400, "payload is empty")
        if BROKEN == "uppercase-400" and name != name.lower():
            raise Refused(400, "id is not in lower case")
        if BROKEN == "conflict-500" and isinstance(payload, dict):
            known = STORE.events.get(name.lower())
            if known is not None and known != event:
                raise Refused(500, "constraint violated")
        event.setdefault("id", "none")
    if rejected and len(events) == 1 and BROKEN == "rejects-foreign":
        return [], named([str(uuid.uuid4())])
    if rejected and len(events) == 1:
        raise Refused(422, rejected[0]["reason"])
    if rejected and BROKEN == "partial-unnamed":
        rejected = []
    return good, rejected


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        if self.path == "/__admin/health":
            return self.send(200, {"tokens": "restricted"})
        if self.path.startswith("/__admin/ledger/"):
            return self.look(self.path.rsplit("/", 1)[1].lower())
        return self.other()

    def do_PUT(self):
        self.other()

    def do_DELETE(self):
        self.other()

    def look(self, key):
        with STORE.lock:
            event, times = STORE.events.get(key), STORE.times.get(key, 1)
            if LATE:
                event, times = STORE.late(key)
        if event is None or BROKEN == "not-stored":
            return self.send(404, {"detail": "not stored"})
        if BROKEN == "lossy-text":
            event = json.loads(json.dumps(event).encode("ascii").replace(b"\\u2028", b"?"))
        if BROKEN == "lossy-numbers":
            event = json.loads(json.dumps(event), parse_int=float)
        return self.send(200, {"timesStored": times, "event": event})

    def other(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if BROKEN == self.command.lower() + "-200":
            return self.send(200, {})
        allow = [] if BROKEN == "no-allow" else [("Allow", "POST")]
        return self.send(405 if self.path == PATH else 404, {"detail": "no batch"}, allow)

    def do_POST(self):
        try:
            self.batch()
        except Refused as refused:
            body = {} if BROKEN == "no-reason" else {"detail": refused.detail}
            if BROKEN == "echoes-token" and refused.status == 415:
                body["request"] = dict(self.headers)
            self.send(refused.status, body, refused.headers)

    def batch(self):
        if self.path == "/__test/busy":
            STORE.busy = 1
            return self.send(200, {})
        if self.path == "/__test/restart":
            if BROKEN == "restart-forgets":
                STORE.events.clear()
            return self.send(200, {})
        special = {"html": 200, "redirect": 302, "not-found": 404}.get(BROKEN)
        if special:
            return self.page(special)
        if BROKEN == "hangs":
            return threading.Event().wait()
        if BROKEN == "ignores-expect-417" and self.headers.get("Expect"):
            self.close_connection = True
            raise Refused(417, "no expectations")
        body = self.kept = self.body()
        if self.path != PATH and BROKEN != "any-path":
            raise Refused(404, "nothing here")
        self.authorise()
        self.be_busy()
        if BROKEN == "closes-silently" and getattr(self, "served", 0) == 1:
            self.close_connection = True
            return
        self.served = getattr(self, "served", 0) + 1
        text = self.decode(body)
        good, rejected = judge(parse(text), text)
        self.good = good
        if BROKEN in ("reset-doubles", "reset-500"):
            with STORE.turn:
                accepted, duplicates = self.doubting(good)
        elif BROKEN == "forgets-race":
            accepted, duplicates = self.racing(good)
        else:
            with STORE.lock:
                accepted, duplicates = STORE.take(good)
        self.acknowledge(accepted, duplicates, rejected)

    def racing(self, good):
        """Looks first and writes later: whoever comes in between is not seen."""
        known = [str(event["id"]).lower() in STORE.events for event in good]
        seen = set()
        time.sleep(0.1)
        with STORE.lock:
            accepted = duplicates = 0
            for event, was_known in zip(good, known):
                key = str(event["id"]).lower()
                if was_known or key in seen:
                    duplicates += 1
                else:
                    accepted += 1
                    STORE.events[key] = event
                    STORE.times[key] = STORE.times.get(key, 0) + 1
                seen.add(key)
            return accepted, duplicates

    def doubting(self, good):
        """Looks whether the client waits for the answer, and mishandles the batch if not."""
        keys = [str(event["id"]).lower() for event in good]
        if any(key in STORE.cursed for key in keys):
            raise Refused(500, "the transaction is still open")
        counts = STORE.take(good)
        self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.05)
        self.connection.setblocking(False)
        try:
            gone = self.connection.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            gone = False
        except OSError:
            gone = True
        self.connection.setblocking(True)
        if gone and BROKEN == "reset-500":
            STORE.cursed.update(keys)
        if gone and BROKEN == "reset-doubles":
            for key in keys:
                STORE.events.pop(key, None)
        return counts

    def body(self):
        lengths = self.headers.get_all("Content-Length") or []
        if len(set(lengths)) > 1 and BROKEN != "lengths-ok":
            self.close_connection = True
            raise Refused(400, "two lengths")
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            if BROKEN == "chunked-400":
                self.close_connection = True
                raise Refused(400, "no chunks here")
            return self.chunks()
        length = int(lengths[0]) if lengths else 0
        started = time.monotonic()
        body = self.rfile.read(length)
        if BROKEN == "slow-408" and time.monotonic() - started > 1:
            self.close_connection = True
            raise Refused(408, "too slow")
        if len(body) < length:
            self.close_connection = True
            if BROKEN == "half-stored":
                self.salvage(body)
            raise Refused(400, "half a body")
        return body

    def salvage(self, body):
        text = zlib.decompressobj(31).decompress(body).decode("utf-8", "ignore")
        for name in re.findall(r'"id":"([0-9a-f-]{36})"', text):
            STORE.add({"id": name})

    def chunks(self):
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return body

    def authorise(self):
        field = self.headers.get("Authorization")
        challenge = [] if BROKEN == "no-challenge" else [("WWW-Authenticate", "Bearer")]
        status = 403 if BROKEN == "unauthorised-403" else 401
        if field is None:
            if BROKEN == "missing-token-ok":
                return
            if BROKEN == "unauthorised-stored":
                text = self.decode(self.kept)
                STORE.take(judge(parse(text), text)[0])
            raise Refused(status, "no token", challenge)
        scheme, _, token = field.partition(" ")
        token = token.strip()
        wanted = scheme == "Bearer" if BROKEN == "scheme-case" else scheme.lower() == "bearer"
        if not wanted:
            if BROKEN == "any-scheme-ok" and scheme == "Basic":
                return
            raise Refused(status, "not a bearer token", challenge)
        if token == GOOD:
            return
        if token == "" and BROKEN == "empty-token-ok":
            return
        if token == EXPIRED and BROKEN == "expired-ok":
            return
        if token not in ("", EXPIRED) and BROKEN == "wrong-token-ok":
            return
        raise Refused(status, "token unknown or expired", challenge)

    def be_busy(self):
        if not STORE.busy:
            return
        if BROKEN != "busy-for-ever":
            STORE.busy -= 1
        after = {"no-retry-after": [], "garbage-retry-after": [("Retry-After", "soon")]}
        raise Refused(429, "busy", after.get(BROKEN, [("Retry-After", "1")]))

    def decode(self, body):
        media = self.headers.get("Content-Type")
        if media is None and BROKEN != "media-missing-ok":
            raise Refused(415, "no Content-Type")
        plain = (media or "").partition(";")[0].strip().lower()
        if media and plain != "application/json" and BROKEN != "media-ok":
            raise Refused(415, "not JSON")
        if BROKEN == "media-parameters-415" and ";" in (media or ""):
            raise Refused(415, "no parameters")
        encoding = self.headers.get("Content-Encoding")
        if encoding is None:
            if body[:2] == b"\x1f\x8b" and BROKEN == "undeclared-ok":
                return inflate(body)
            if BROKEN == "identity-ok" and body[:1] == b"{":
                return body
            raise Refused(400 if BROKEN == "identity-400" else 415, "gzip wanted")
        if encoding != "gzip":
            raise Refused(400 if BROKEN == "unknown-encoding-400" else 415, "gzip wanted")
        return inflate(body)

    def acknowledge(self, accepted, duplicates, rejected):
        if BROKEN == "no-json":
            return self.raw(200, b"ok", "text/plain")
        if BROKEN == "counts-as-text":
            accepted = str(accepted)
        if BROKEN == "huge-chunk":
            self.close_connection = True
            head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            return self.wfile.write(head + b"1\r\n{\r\n7fffffffffffffff\r\n")
        if BROKEN == "rejects-all":
            names = [event["id"] for event in self.good]
            return self.send(200, {"accepted": 0, "duplicates": 0, "rejected": named(names)})
        self.send(200, {"accepted": accepted, "duplicates": duplicates, "rejected": rejected})

    def page(self, status):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        more = [("Location", "/login")] if status == 302 else []
        self.raw(status, b"<html>Welcome</html>", "text/html", more)

    def send(self, status, value, headers=()):
        self.raw(status, json.dumps(value).encode(), "application/json", headers)

    def raw(self, status, body, media, headers=()):
        self.send_response_only(status)
        if BROKEN != "no-date":
            self.send_header("Date", self.date_time_string())
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass


def main():
    global BROKEN, LATE
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--break", dest="broken", default="", choices=[""] + RULES)
    arguments.add_argument("--late", action="store_true")
    arguments.add_argument("--port", type=int, default=0)
    arguments.add_argument("--tls", nargs=2)
    arguments.add_argument("--list", action="store_true")
    options = arguments.parse_args()
    if options.list:
        return print("\n".join(RULES))
    BROKEN, LATE = options.broken, options.late
    server = Server(("127.0.0.1", options.port), Handler)
    scheme = "http"
    if options.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready %s://127.0.0.1:%d" % (scheme, server.server_port), flush=True)
    sys.stdin.read()


main()
