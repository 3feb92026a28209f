"""The same conversation through curl, requests, httpx and aiohttp: a batch, the same again, a body that
is no gzip, a chunked body, a method that is not allowed.

usage: clients.py URL
"""

import asyncio
import json
import subprocess
import sys
import tempfile

import aiohttp
import httpx
import requests

from batch import HEADERS, PATH, batch


def curl(url):
    def call(method, data=None, headers=HEADERS, chunked=False):
        with tempfile.NamedTemporaryFile() as file:
            command = ["curl", "-sS", "--max-time", "60", "-X", method, "-w", "\n%{http_code}", url]
            for name, value in headers.items():
                command += ["-H", f"{name}: {value}"]
            if data is not None:
                file.write(data)
                file.flush()
                command += ["--data-binary", f"@{file.name}"]
            if chunked:
                command += ["-H", "Transfer-Encoding: chunked"]
            if data is not None and len(data) > 100:
                command += ["-H", "Expect: 100-continue"]
            text, _, status = subprocess.run(command, capture_output=True, text=True, check=True).stdout.rpartition("\n")
            return int(status), text
    return call


def with_requests(url):
    session = requests.Session()

    def call(method, data=None, headers=HEADERS, chunked=False):
        answer = session.request(method, url, data=iter([data]) if chunked else data, headers=headers, timeout=60)
        return answer.status_code, answer.text
    return call


def with_httpx(url):
    client = httpx.Client(timeout=60)

    def call(method, data=None, headers=HEADERS, chunked=False):
        answer = client.request(method, url, content=iter([data]) if chunked else data, headers=headers)
        return answer.status_code, answer.text
    return call


def with_aiohttp(url):
    async def pieces(data):
        yield data

    async def ask(method, data, headers, chunked):
        async with aiohttp.ClientSession() as session:
            async with session.request(method, url, data=pieces(data) if chunked else data, headers=headers) as answer:
                return answer.status, await answer.text()

    def call(method, data=None, headers=HEADERS, chunked=False):
        return asyncio.run(ask(method, data, headers, chunked))
    return call


def converse(name, call):
    def expect(what, condition):
        if not condition:
            raise SystemExit(f"FAILED {name}: {what}")

    first = batch()
    status, text = call("POST", first)
    expect(f"a batch: {status} {text}", status == 200 and json.loads(text)["accepted"] == 3)
    status, text = call("POST", first)
    expect(f"the same batch: {status} {text}", status == 200 and json.loads(text)["duplicates"] == 3)
    status, text = call("POST", b"no gzip")
    expect(f"no gzip: {status} {text}", status == 400 and "problem" not in text[:1])
    status, text = call("POST", first[:-3])
    expect(f"truncated gzip: {status} {text}", status == 400)
    status, text = call("POST", batch(), chunked=True)
    expect(f"chunked: {status} {text}", status == 200 and json.loads(text)["accepted"] == 3)
    status, text = call("GET")
    expect(f"GET: {status} {text}", status == 405)
    status, text = call("POST", batch(), {k: v for k, v in HEADERS.items() if k != "Authorization"})
    expect(f"no token: {status} {text}", status == 401)
    status, text = call("POST", batch(300))
    expect(f"a large batch: {status} {text}", status == 200 and json.loads(text)["accepted"] == 300)
    print(f"{name}: ok")


def main():
    url = sys.argv[1] + PATH
    for name, client in [("curl", curl), ("requests", with_requests), ("httpx", with_httpx), ("aiohttp", with_aiohttp)]:
        converse(name, client(url))


if __name__ == "__main__":
    main()
