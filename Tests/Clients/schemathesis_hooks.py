"""What the OpenAPI document cannot tell schemathesis: bodies of batches are compressed, some texts are
regular expressions or JSONPath, and a plan that was put must not shape the tests that follow."""

import gzip
import json
import os
import re
import urllib.request

import schemathesis

BATCH, PLAN, WAIT, RESET = "/v1/telemetry/batch", "/__admin/plan", "/__admin/wait", "/__admin/reset"
USUAL = {"version": 1, "contract": {"tokens": [{"value": "T1"}]}}
WITH_PATTERNS = ("/__admin/requests/find", "/__admin/requests/count", "/__admin/requests/near-misses", PLAN)
EXPRESSIONS = ("matches", "doesNotMatch", "urlPattern", "urlPathPattern")
DURATION = re.compile(r"([0-9.]+(d|h|m|s|ms|us|ns))+")


def readable(value, key=None):
    """The same body, with texts that are of the languages that stand in these places: a generator's regular
    expressions are Python's, and its JSONPath is any text."""
    if isinstance(value, dict):
        return {name: readable(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [readable(item) for item in value]
    if isinstance(value, str) and key in EXPRESSIONS:
        return "a[bc]+|\\d{2,3}" if len(value) % 2 else ""
    if isinstance(value, str) and key in ("matchesJsonPath", "expression"):
        return "$.events[?(@.type == 'navigation')].payload"
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    path, isGood = case.operation.path, case.meta is not None and case.meta.generation.mode.is_positive
    if path == BATCH and (case.headers or {}).get("Content-Encoding") == "gzip" and case.method == "POST":
        if isinstance(case.body, (dict, list, str, int, float, type(None))):
            kwargs["data"] = gzip.compress(json.dumps(case.body).encode(), mtime=0)
    elif path in WITH_PATTERNS and isGood and isinstance(case.body, dict):
        body = readable(case.body)
        if path == PLAN:
            body.pop("timeline", None)  # It may close the door that the next request comes through.
        kwargs["data"] = json.dumps(body).encode()
    elif path == WAIT:
        timeout = (case.query or {}).get("timeout")
        if timeout is None or (isinstance(timeout, str) and DURATION.fullmatch(timeout)):
            case.query = {**(case.query or {}), "timeout": "1ms"}  # Nobody sends what it would wait for.


@schemathesis.hook
def after_call(context, case, response):
    if case.operation.path in (PLAN, RESET) and case.method != "GET" and response.status_code < 300:
        # On the admin's own port, which no plan shapes.
        request = urllib.request.Request(
            os.environ["SERVER_ADMIN_URL"] + "/plan", method="PUT", data=json.dumps(USUAL).encode(),
            headers={"Authorization": "Bearer T1", "Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).close()
