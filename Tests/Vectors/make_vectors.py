"""Makes sealed-records.json: golden bytes of the sealed form, by another implementation of
AES-256-GCM (Python's cryptography, which calls OpenSSL). Run once; the file is kept.

    python3 make_vectors.py > sealed-records.json
"""

import hashlib
import json
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

DOMAINS = {"telemetry": 1, "cache": 2, "note": 3, "quarantineDetail": 4}


def stream(label, count):
    return hashlib.shake_128(label.encode()).digest(count)


def vector(name, domain, body, head=b""):
    key, nonce = stream(name + " key", 32), stream(name + " nonce", 12)
    store, row = stream(name + " store", 16), stream(name + " row", 16)
    key_id = int.from_bytes(stream(name + " key id", 8), "big")
    account = int.from_bytes(stream(name + " account", 8), "big", signed=True)
    aad = struct.pack(">BBHQq", 1, DOMAINS[domain], 0, key_id, account) + store + row
    assert len(aad) == 52
    sealed = b"\x01" + nonce + AESGCM(key).encrypt(nonce, head + body, aad)
    return {
        "name": name, "domain": domain, "key": key.hex(), "nonce": nonce.hex(),
        "store": store.hex(), "row": row.hex(), "keyID": f"{key_id:016x}",
        "account": f"{account & (2**64 - 1):016x}", "head": head.hex(), "body": body.hex(),
        "sealed": sealed.hex(),
    }


VECTORS = [
    vector("empty", "note", b""),
    vector("one byte", "telemetry", b"{"),
    vector("event", "telemetry", b'{"screen":"Orders","ms":128}', b"\x10" + bytes(18)),
    vector("one block", "cache", bytes(range(16))),
    vector("words", "quarantineDetail", "größer als erlaubt 🍔".encode()),
    vector("long", "telemetry", stream("long body", 5000), stream("long head", 33)),
]

print(json.dumps(VECTORS, indent=1, ensure_ascii=False))
