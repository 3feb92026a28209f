#!/usr/bin/env python3
"""What curl would do, where there is none.

    send.py METHOD URL [FILE]   sends one request, with a file as its JSON body
    send.py closed URL          returns once nobody takes connections there any more
"""
import socket
import sys
import time
import urllib.parse
import urllib.request

method, url = sys.argv[1:3]
if method == "closed":
    place = urllib.parse.urlsplit(url)
    for _ in range(600):
        try:
            socket.create_connection((place.hostname, place.port), 1).close()
        except ConnectionRefusedError:
            sys.exit(0)
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit("still open: " + url)
body = open(sys.argv[3], "rb").read() if len(sys.argv) > 3 else b""
request = urllib.request.Request(url, data=body, method=method)
request.add_header("Content-Type", "application/json")
urllib.request.urlopen(request, timeout=30)
