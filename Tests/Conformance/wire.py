"""The 33 kinds of cases of h1spec, on the wire against a running server.

usage: wire.py PORT
"""

import socket
import sys

GOOD = b"GET /__admin/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
PATH = b"/__admin/requests/count"


def pieces(*parts):
    return list(parts)


def post(fields, body):
    return b"POST " + PATH + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n" + fields + b"\r\n" + body


def whole(data):
    return [data]


OK, BAD = range(200, 300), range(400, 600)

CASES = [
    ("fragmented method", pieces(b"G", b"ET" + GOOD[3:] + b"\r\n"), OK),
    ("fragmented target, start", pieces(b"GET ", GOOD[4:] + b"\r\n"), OK),
    ("fragmented target, middle", pieces(b"GET /__ad", GOOD[9:] + b"\r\n"), OK),
    ("fragmented target, end", pieces(b"GET /__admin/health", GOOD[19:] + b"\r\n"), OK),
    ("fragmented version", pieces(GOOD[:25], GOOD[25:] + b"\r\n"), OK),
    ("fragmented request line", pieces(GOOD[:28], GOOD[28:] + b"\r\n"), OK),
    ("fragmented line end, before", pieces(GOOD[:28], b"\r", GOOD[29:] + b"\r\n"), OK),
    ("fragmented line end, between", pieces(GOOD[:29], GOOD[29:] + b"\r\n"), OK),
    ("fragmented field name", pieces(GOOD[:32], GOOD[32:] + b"\r\n"), OK),
    ("fragmented field, behind the colon", pieces(GOOD[:35], GOOD[35:] + b"\r\n"), OK),
    ("fragmented field value, start", pieces(GOOD[:37], GOOD[37:] + b"\r\n"), OK),
    ("fragmented field value, middle", pieces(GOOD[:40], GOOD[40:] + b"\r\n"), OK),
    ("fragmented field value, end", pieces(GOOD[:-2], GOOD[-2:] + b"\r\n"), OK),
    ("fragmented byte by byte", [bytes([b]) for b in GOOD + b"\r\n"], OK),
    ("fragmented end of the head", pieces(GOOD + b"\r", b"\n"), OK),
    ("no version", whole(b"GET /\r\nHost: 127.0.0.1\r\n\r\n"), BAD),
    ("expectation", whole(post(b"Expect: 100-continue\r\nContent-Length: 2\r\n", b"{}")), OK),
    ("valid GET", whole(GOOD + b"\r\n"), OK),
    ("valid GET, odd case and blanks", whole(b"GET /__admin/health HTTP/1.1\r\nhoSt:\t127.0.0.1   \r\neMpty:\r\n\r\n"), OK),
    ("bad character in a field name", whole(GOOD + b"X[]: test\r\n\r\n"), BAD),
    ("no Host", whole(b"GET /__admin/health HTTP/1.1\r\n\r\n"), BAD),
    ("two Hosts", whole(GOOD + b"Host: 127.0.0.1\r\n\r\n"), BAD),
    ("overflowing negative length", whole(post(b"Content-Length: -123456789123456789123456789\r\n", b"")), BAD),
    ("negative length", whole(post(b"Content-Length: -1234\r\n", b"")), BAD),
    ("length that is no number", whole(post(b"Content-Length: abc\r\n", b"")), BAD),
    ("empty value", whole(GOOD + b"X-Empty-Header: \r\n\r\n"), OK),
    ("control character in a value", whole(GOOD + b"X-Bad-Control-Char: test\x07\r\n\r\n"), BAD),
    ("bad version", whole(b"GET / HTTP/9.9\r\nHost: 127.0.0.1\r\n\r\n"), BAD),
    ("bytes before the request", whole(b"Extra lineGET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), BAD),
    ("bad line end", whole(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\rSome-Header: Test\r\n\r\n"), BAD),
    ("valid POST", whole(post(b"Content-Length: 2\r\n", b"{}")), OK),
    ("chunked POST", whole(post(b"Transfer-Encoding: chunked\r\n", b"1\r\n{\r\n1;a=b\r\n}\r\n0\r\nX: y\r\n\r\n")), OK),
    ("both lengths", whole(post(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n")), BAD),
]


def statuses(port, parts):
    """Sends the parts, then our end of file; the final statuses, until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            client.sendall(part)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    found = []
    while answer:
        head, separator, rest = answer.partition(b"\r\n\r\n")
        if not separator:
            break
        status = int(head.split(b" ")[1])
        length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                       if line.startswith(b"content-length:")), 0)
        if status >= 200:
            found.append(status)
        answer = rest[length:]
    return found


def main():
    port = int(sys.argv[1])
    assert len(CASES) == 33
    failed = 0
    for name, parts, wanted in CASES:
        found = statuses(port, parts)
        # A refused request is the connection's last word, whatever follows it.
        good = len(found) == 1 and found[0] in wanted
        if not good:
            failed += 1
            print(f"FAILED {name}: {found}")
    print(f"h1spec kinds on the wire: {len(CASES)}")
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
