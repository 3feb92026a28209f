"""Requests written for the parser: what must be read, what must be refused, and why.

Each case is (kind, name, bytes). `kind` groups cases that share a rule; `exceptions.py` names the
kinds where this server and h11 are known to judge differently, with the reason.
"""

CRLF = "\r\n"


def request(line="GET / HTTP/1.1", fields=("Host: a",), body="", eol=CRLF):
    text = line + eol + "".join(field + eol for field in fields) + eol + body
    return text.encode("latin-1")


def chunked(body, fields=()):
    return request("POST / HTTP/1.1", ("Host: a", "Transfer-Encoding: chunked") + tuple(fields), body)


def build():
    cases = []

    def add(kind, name, data):
        cases.append((kind, name, data))

    # Methods: any token is a method, and nothing else.
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE",
                   "get", "M-SEARCH", "A", "X" * 30, "!#$%&'*+-.^_`|~", "123", "G3T"]:
        add("method", f"method {method}", request(f"{method} / HTTP/1.1"))
    for method in ["", "G ET", "G\tET", "GET(", "G@T", "G,T", "G/T", "G:T", "G;T", "G<T", "G=T",
                   "G?T", "G[T", "G\\T", "G{T", "G\"T", "G\x7fT", "G\x00T", "G\xe9T", "\x01GET"]:
        add("bad method", f"method {method!r}", request(f"{method} / HTTP/1.1"))

    # Targets.
    for target in ["/", "/a", "/a/b/c", "/a?b=c", "/?", "/??", "/a;b=c", "/%20", "/%C3%A9", "//", "/.",
                   "/..", "/a:b@c", "/~user", "/a+b", "/a,b", "/'a'", "/(a)", "/$a", "/!", "/*",
                   "/a=b&c=d", "http://a/", "http://a", "http://a:80/x?y", "HTTP://a/", "https://a/b",
                   "http://a?x", "http://[::1]/", "http://[::1]:8080/x", "/" + "x" * 2000]:
        add("target", f"target {target[:40]}", request(f"GET {target} HTTP/1.1"))
    add("target", "asterisk", request("OPTIONS * HTTP/1.1"))
    for target in ["a", "?x", "a/b", "*", "ftp://a/", "http://", "http:///x", "http:/a", "a:80",
                   "http://u@a/", "http://a:b/", "http://[::1/", "http://a b/"]:
        add("target form", f"target {target}", request(f"GET {target} HTTP/1.1"))
    for target in ["/#", "/a#b", "/<", "/>", "/\"", "/\\", "/^", "/`", "/{", "/|", "/}", "/[", "/]",
                   "/%", "/%a", "/%zz", "/%2", "/a%g0"]:
        add("target characters", f"target {target}", request(f"GET {target} HTTP/1.1"))
    for target in ["/\x00", "/\x01", "/\x1f", "/\x7f", "/\t", "/\xe9", "/\xff", "/a b"]:
        add("target bytes", f"target {target!r}", request(f"GET {target} HTTP/1.1"))
    add("authority", "CONNECT", request("CONNECT a:443 HTTP/1.1", ("Host: a:443",)))

    # Request lines.
    for line in ["GET /", "GET", "/ HTTP/1.1", "GET / HTTP", "GET / HTTP/", "GET / HTTP/1",
                 "GET / HTTP/1.", "GET / HTTP/.1", "GET / HTTP/1.1.1", "GET / HTTP/11", "GET / HTTP/1.10",
                 "GET / HTTP/01.1", "GET / http/1.1", "GET / HTTP/1,1", "GET / HTTPS/1.1", "GET / HTP/1.1",
                 "GET / HTTP/a.b", "GET / HTTP/-1.1", "GET / HTTP/1.1 x", "GET / HTTP 1.1",
                 "GET\t/\tHTTP/1.1", "  GET / HTTP/1.1", "GET  / HTTP/1.1", "GET /  HTTP/1.1"]:
        add("request line", f"line {line!r}", request(line))
    add("request line space", "blank behind the version", request("GET / HTTP/1.1 "))
    for version in ["0.9", "2.0", "3.0", "9.9"]:
        add("version", f"version {version}", request(f"GET / HTTP/{version}"))
    for version in ["1.2", "1.9"]:
        add("later minor", f"version {version}", request(f"GET / HTTP/{version}"))
    for fields in [(), ("Host: a",), ("Connection: close",), ("Connection: keep-alive",)]:
        kind = "kept 1.0" if "keep-alive" in "".join(fields) else "http/1.0"
        add(kind, f"1.0 {fields}", request("GET / HTTP/1.0", fields))

    # Line ends.
    add("bare line feed", "all lines", request(eol="\n"))
    add("bare line feed", "one field", b"GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n")
    add("bare line feed", "request line", b"GET / HTTP/1.1\nHost: a\r\n\r\n")
    add("bare line feed", "last line", b"GET / HTTP/1.1\r\nHost: a\r\n\n")
    add("bare carriage return", "in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n")
    add("bare carriage return", "in a name", b"GET / HTTP/1.1\r\nHost: a\r\nX\rY: b\r\n\r\n")
    add("bare carriage return", "in the target", b"GET /\r HTTP/1.1\r\nHost: a\r\n\r\n")
    add("doubled carriage return", "behind a value", b"GET / HTTP/1.1\r\nHost: a\r\r\n\r\n")
    add("doubled carriage return", "before the end", b"GET / HTTP/1.1\r\nHost: a\r\n\r\r\n")
    for count in [1, 2]:
        add("leading empty lines", f"{count} empty lines", CRLF.encode() * count + request())
    add("leading empty lines", "bare line feed", b"\n" + request())

    # Field names and values.
    for name in ["X", "x-a", "X_A", "X.A", "!#$%&'*+-.^_`|~", "1", "A" * 200]:
        add("field name", f"name {name[:20]}", request(fields=("Host: a", f"{name}: v")))
    for name in ["", "X ", " X", "X Y", "X\t", "X(", "X/", "X@", "X[", "X\"", "X\x00", "X\x7f", "X\xe9",
                 "X;", "X,", "X<", "X=", "X?", "X{", "\tX"]:
        add("folding" if name[:1] in (" ", "\t") else "bad field name", f"name {name!r}", request(fields=("Host: a", f"{name}: v")))
    add("bad field name", "no colon", request(fields=("Host: a", "X")))
    for value in ["v", "", " ", "\t", "  v  ", "\tv\t", "a b", "a\tb", "a,b", "\"q\"", "a:b", "\xe9",
                  "\xff\x80", "v" * 4000, ":", "=", "(c)"]:
        add("field value", f"value {value[:20]!r}", request(fields=("Host: a", f"X:{value}")))
    for value in ["a\x00b", "\x00", "a\x0bb", "a\x0cb"]:
        add("field value bytes", f"value {value!r}", request(fields=("Host: a", f"X: {value}")))
    for value in ["a\x01b", "a\x07b", "a\x08b", "a\x0eb", "a\x1bb", "a\x1fb", "a\x7fb"]:
        add("control characters", f"value {value!r}", request(fields=("Host: a", f"X: {value}")))
    for fold in [" folded", "\tfolded", "   more folded"]:
        add("folding", f"fold {fold!r}", request(fields=("Host: a", "X: y", fold)))
    add("folding first", "first field", request(fields=(" Host: a", "Host: a")))
    for count in [1, 2, 50, 99]:
        add("many fields", f"{count} more", request(fields=("Host: a",) + ("X: y",) * count))

    # Host.
    for host in ["a", "a.b", "a:80", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:80", "", "a-b", "A"]:
        add("host", f"host {host}", request(fields=(f"Host: {host}",)))
    add("host", "case of the name", request(fields=("hOsT: a",)))
    add("host count", "none", request(fields=()))
    add("host count", "two", request(fields=("Host: a", "Host: b")))
    add("host count", "two alike", request(fields=("Host: a", "Host: a")))
    add("host count", "two in 1.0", request("GET / HTTP/1.0", ("Host: a", "Host: b")))
    for host in ["a b", "a/b", "u@a", "a:b", "[::1", "::1]", "a,b", "http://a", "a?b", "a#b", "[x]", "a:80:80"]:
        add("host value", f"host {host}", request(fields=(f"Host: {host}",)))

    # Content-Length.
    for length, body in [("0", ""), ("1", "x"), ("3", "abc"), ("03", "abc"), ("000", ""), (" 3 ", "abc"),
                         ("3, 3", "abc"), ("3,3,3", "abc"), ("0,0", "")]:
        add("length", f"length {length!r}",
            request("POST / HTTP/1.1", ("Host: a", f"Content-Length: {length}"), body))
    for length in ["", "-1", "+3", "-0", "0x3", "3.0", "3e0", "abc", "3 3", "3;3", "3,4", "3,", ",3",
                   "3,,3", "\"3\"", "3a", "a3", "٣".encode().decode("latin-1"), "1_0"]:
        add("bad length", f"length {length!r}",
            request("POST / HTTP/1.1", ("Host: a", f"Content-Length: {length}"), "abc"))
    for digits in [20, 21, 40]:
        add("overflowing length", f"{digits} digits",
            request("POST / HTTP/1.1", ("Host: a", "Content-Length: " + "9" * digits), "abc"))
    add("length", "two alike",
        request("POST / HTTP/1.1", ("Host: a", "Content-Length: 3", "Content-Length: 3"), "abc"))
    add("bad length", "two that differ",
        request("POST / HTTP/1.1", ("Host: a", "Content-Length: 3", "Content-Length: 4"), "abcd"))
    add("bad length", "blank before the colon",
        request("POST / HTTP/1.1", ("Host: a", "Content-Length : 3"), "abc"))
    add("short body", "body too short", request("POST / HTTP/1.1", ("Host: a", "Content-Length: 9"), "abc"))
    add("length", "GET with a body", request("GET / HTTP/1.1", ("Host: a", "Content-Length: 3"), "abc"))
    add("length", "nothing said", request("POST / HTTP/1.1"))

    # Transfer-Encoding and smuggling.
    whole = "3\r\nabc\r\n0\r\n\r\n"
    for coding in ["chunked", "Chunked", "CHUNKED", " chunked ", "\tchunked"]:
        add("chunked", f"coding {coding!r}",
            request("POST / HTTP/1.1", ("Host: a", f"Transfer-Encoding:{coding}"), whole))
    for coding in ["", "identity", "gzip", "xchunked", "chunkedx", "chunked;q=1", "\"chunked\"", "chunk",
                   "chunked, identity", "chunked, chunked", "gzip, chunked", "chunked, gzip", "\x0bchunked"]:
        add("other codings", f"coding {coding!r}",
            request("POST / HTTP/1.1", ("Host: a", f"Transfer-Encoding: {coding}"), whole))
    add("other codings", "two fields",
        request("POST / HTTP/1.1", ("Host: a", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), whole))
    add("empty list element", "chunked with a comma",
        request("POST / HTTP/1.1", ("Host: a", "Transfer-Encoding: ,chunked"), whole))
    for fields in [("Content-Length: 3", "Transfer-Encoding: chunked"),
                   ("Transfer-Encoding: chunked", "Content-Length: 3"),
                   ("Transfer-Encoding: chunked", "Content-Length: 0"),
                   ("Content-Length: 13", "Transfer-Encoding: chunked")]:
        add("both lengths", f"{fields}", request("POST / HTTP/1.1", ("Host: a",) + fields, whole))
    add("both lengths", "length and identity",
        request("POST / HTTP/1.1", ("Host: a", "Content-Length: 3", "Transfer-Encoding: identity"), "abc"))
    add("bad field name", "coding with a blank before the colon",
        request("POST / HTTP/1.1", ("Host: a", "Transfer-Encoding : chunked"), whole))
    add("folding", "folded coding",
        request("POST / HTTP/1.1", ("Host: a", "Transfer-Encoding:", " chunked"), whole))
    add("chunked in 1.0", "chunked", request("POST / HTTP/1.0", ("Transfer-Encoding: chunked",), whole))
    add("similar name", "underscore",
        request("POST / HTTP/1.1", ("Host: a", "Transfer_Encoding: chunked", "Content-Length: 3"), "abc"))

    # Chunks.
    for size, data in [("1", "x"), ("a", "x" * 10), ("A", "x" * 10), ("0a", "x" * 10), ("000000a", "x" * 10),
                       ("10", "x" * 16), ("fF", "x" * 255), ("1000", "x" * 4096)]:
        add("chunk", f"size {size}", chunked(f"{size}\r\n{data}\r\n0\r\n\r\n"))
    for count in [2, 10, 100]:
        add("chunk", f"{count} chunks of one byte", chunked("1\r\nx\r\n" * count + "0\r\n\r\n"))
    for end in ["0", "00", "000000"]:
        add("chunk", f"last chunk {end}", chunked(f"{end}\r\n\r\n"))
    for text in ["x\r\n", "\r\n", "-1\r\nx\r\n", "+1\r\nx\r\n", "0x1\r\nx\r\n", "g\r\n", "1,\r\nx\r\n",
                 " 1\r\nx\r\n", "1\r\nxy\r\n", "1\r\nx", "3\r\nab\r\n", "1.0\r\nx\r\n", "\"1\"\r\nx\r\n",
                 "1\r\nx\rz\n0\r\n\r\n"]:
        add("bad chunk", f"{text!r}", chunked(text + "0\r\n\r\n"))
    add("chunk line feed", "behind the size", chunked("1\nx\r\n0\r\n\r\n"))
    add("chunk line feed", "behind the data", chunked("1\r\nx\n0\r\n\r\n"))
    add("blank behind a size", "one blank", chunked("1 \r\nx\r\n0\r\n\r\n"))
    add("blank behind a size", "tab", chunked("1\t\r\nx\r\n0\r\n\r\n"))
    for size in ["1" * 17, "f" * 20, "1" * 21, "0" * 17 + "1"]:
        add("overflowing chunk", f"size {size}", chunked(f"{size}\r\nx\r\n0\r\n\r\n"))
    add("huge chunk", "16 digits", chunked("f" * 16 + "\r\nx\r\n"))
    for extension in [";a", ";a=b", ";a=\"b\"", ";a;b", ";a=b;c=d", " ;a", " ; a = b", ";a=\"\\\"\"",
                      ";a=\"b c;d\""]:
        kind = "blank before an extension" if extension[0] == " " else "extension"
        add(kind, f"extension {extension}", chunked(f"1{extension}\r\nx\r\n0{extension}\r\n\r\n"))
    for extension in [";", ";=b", ";a=", ";a=\"b", ";a b", ";a=b c", ";;a", ";a=\"b\"c", "; "]:
        add("bad extension", f"extension {extension}", chunked(f"1{extension}\r\nx\r\n0\r\n\r\n"))
    for fields in ["X: y\r\n", "X: y\r\nZ: w\r\n", "X:\r\n", "Content-Length: 5\r\n", "Host: b\r\n"]:
        add("trailers", f"trailers {fields!r}", chunked("1\r\nx\r\n0\r\n" + fields + "\r\n"))
    for fields in ["X\r\n", ": y\r\n", "X : y\r\n", "X: \x00\r\n", "X(: y\r\n"]:
        add("bad trailers", f"trailers {fields!r}", chunked("1\r\nx\r\n0\r\n" + fields + "\r\n"))
    add("bare line feed", "in trailers", chunked("1\r\nx\r\n0\r\nX: y\n\r\n"))
    add("unfinished", "no last chunk", chunked("1\r\nx\r\n"))
    add("unfinished", "no end of trailers", chunked("1\r\nx\r\n0\r\nX: y\r\n"))

    # Connections and pipelines.
    get, post = request("GET /1 HTTP/1.1"), request("POST /2 HTTP/1.1", ("Host: a", "Content-Length: 2"), "ok")
    add("pipeline", "two", get + post)
    add("pipeline", "ten", (get + post) * 5)
    add("pipeline", "chunked then plain", chunked(whole) + get)
    add("pipeline", "good then bad", get + b"BAD\r\n\r\n")
    add("pipeline", "body that looks like a request",
        request("POST / HTTP/1.1", ("Host: a", f"Content-Length: {len(get)}"), get.decode()) + post)
    for value in ["close", "Close", "x, close", "close, x", "keep-alive", "upgrade", "closed", ""]:
        add("connection", f"connection {value}", request(fields=("Host: a", f"Connection: {value}")) + get)
    add("connection", "1.0 then another", request("GET / HTTP/1.0") + get)
    add("kept 1.0", "then another", request("GET / HTTP/1.0", ("Connection: keep-alive",)) + get)
    add("unfinished", "half a line", b"GET / HT")
    add("unfinished", "half a head", b"GET / HTTP/1.1\r\nHost: a\r\n")
    add("expectation", "100-continue",
        request("POST / HTTP/1.1", ("Host: a", "Expect: 100-continue", "Content-Length: 2"), "ok"))
    add("other expectation", "unknown",
        request("POST / HTTP/1.1", ("Host: a", "Expect: 200-ok", "Content-Length: 2"), "ok"))
    for junk in [b"\x16\x03\x01\x02\x00\x01", b"\x00\x00\x00\x00", b"\x80\x80\r\n\r\n", b"{}\r\n\r\n",
                 b"SSH-2.0-x\r\n", b"EHLO a\r\n\r\n"]:
        add("early junk" if junk.startswith(b"SSH") else "junk", f"{junk!r}", junk)
    add("preface", "HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    return cases
