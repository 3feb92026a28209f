"""Batches as a client would send them."""

import gzip
import json
import uuid

PATH = "/v1/telemetry/batch"
HEADERS = {"Authorization": "Bearer T1", "Content-Type": "application/json", "Content-Encoding": "gzip"}


def event(identifier=None, payload=None):
    return {"id": identifier or str(uuid.uuid4()), "ts": "2026-05-04T09:15:02.114Z", "type": "navigation",
            "payload": payload or {"screen": "Orders", "ms": 128}, "sessionId": "6f1d2c3b"}


def body(events):
    return gzip.compress(json.dumps({"events": events}).encode(), mtime=0)


def batch(count=3):
    return body([event() for _ in range(count)])
