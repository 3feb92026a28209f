"""Makes compact-events.json: golden bytes of the compact form, by an implementation of its own.
Run once; the file is kept.

    python3 make_compact.py > compact-events.json
"""

import datetime
import json
import re
import uuid


class Number(str):
    pass


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def head(short, limit, long, count):
    return bytes([short + count]) if count < limit else bytes([long]) + varint(count)


def plain(text):
    data = text.encode()
    return head(0x80, 48, 0xEB, len(data)) + data


UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INSTANT = "%Y-%m-%dT%H:%M:%S.%f"


def string(text):
    if UUID.fullmatch(text):
        return b"\xef" + uuid.UUID(text).bytes
    if UUID.fullmatch(text.lower()) and text == text.upper():
        return b"\xf1" + uuid.UUID(text).bytes
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII):
        try:
            moment = datetime.datetime.strptime(text[:-1], INSTANT)
        except ValueError:
            return plain(text)
        ms = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1)
        if ms >= 0:
            return b"\xf0" + ms.to_bytes(6, "big")
    return plain(text)


def number(literal):
    if re.fullmatch(r"0|[1-9]\d{0,2}", literal) and int(literal) < 128:
        return bytes([int(literal)])
    codes = ["0123456789.-+eE".index(character) for character in literal]
    codes += [15] * (len(codes) % 2)
    pairs = bytes(a << 4 | b for a, b in zip(codes[::2], codes[1::2]))
    return head(0xB0, 32, 0xEC, len(literal) - 1) + pairs


def value(item):
    if item is None:
        return b"\xe8"
    if item is False:
        return b"\xe9"
    if item is True:
        return b"\xea"
    if isinstance(item, Number):
        return number(item)
    if isinstance(item, str):
        return string(item)
    if isinstance(item, list):
        return head(0xE0, 8, 0xEE, len(item)) + b"".join(map(value, item))
    members = b"".join(plain(key) + value(member) for key, member in item.items())
    return head(0xD0, 16, 0xED, len(item)) + members


def vector(name, type, payload, session):
    parsed = json.loads(payload, parse_int=Number, parse_float=Number)
    body = plain(type) + value(parsed)
    if UUID.fullmatch(session):
        content = b"\x81" + body + uuid.UUID(session).bytes
    else:
        data = session.encode()
        content = b"\x80" + body + varint(len(data)) + data
    event = '{"id":"b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11","ts":"2026-05-04T09:15:02.114Z","type":%s,' \
        '"payload":%s,"sessionId":%s}' % (
            json.dumps(type, ensure_ascii=False), payload, json.dumps(session, ensure_ascii=False))
    return {"name": name, "content": content.hex(), "json": event}


SESSION = "5e551011-0000-4000-8000-000000000000"
numbers = "[0,7,100,127,128,-0,-1,1.0,0.50,1e5,1E+05,-2.5e-308,18446744073709551616,%s]" % ("9" * 40)
VECTORS = [
    vector("empty", "t", "{}", SESSION),
    vector("navigation", "navigation", '{"screen":"Orders","ms":128}', SESSION),
    vector("words", "w", '{"a":null,"b":false,"c":true}', SESSION),
    vector("numbers", "n", '{"list":%s}' % numbers, SESSION),
    vector("nested", "n", '{"a":{"b":[[],{},[{"c":[1]}]]}}', SESSION),
    vector("many", "m", "{%s}" % ",".join('"k%d":[%s]' % (n, ",".join("0" * n)) for n in range(17)),
           SESSION),
    vector("text", "größe 🍔", '{"s":"a\\"\\\\/\\b\\u0000 é🍔","empty":"","long":"%s"}' % ("x" * 200),
           SESSION),
    vector("known texts", "k",
           '{"lower":"b1946ac9-2492-4d23-8e3a-6c1f5a0f7e11",'
           '"upper":"B1946AC9-2492-4D23-8E3A-6C1F5A0F7E11",'
           '"mixed":"B1946AC9-2492-4d23-8E3A-6C1F5A0F7E11",'
           '"digits":"11111111-1111-1111-1111-111111111111",'
           '"at":"2024-02-29T23:59:59.999Z","first":"1970-01-01T00:00:00.000Z",'
           '"last":"9999-12-31T23:59:59.999Z","before":"1969-12-31T23:59:59.999Z",'
           '"never":"2023-02-29T00:00:00.000Z"}', SESSION),
    vector("session of words", "s", "{}", "Schicht 7"),
    vector("session in upper case", "s", "{}", SESSION.upper().replace("0000-4", "00AB-4")),
    vector("session without a name", "s", "{}", ""),
]

print(json.dumps(VECTORS, indent=1, ensure_ascii=False))
