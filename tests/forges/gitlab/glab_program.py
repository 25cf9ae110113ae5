"""What replaces `glab` in tests: its `api` command, with the options that its manual names and no others.

It asks the GitLab on loopback at the address that is written into it, with the token that is written into it.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TEXT = """#!{python}
import http.client, json, sys, urllib.error, urllib.request
ADDRESS, TOKEN = {address!r}, {token!r}
words = sys.argv[1:]
assert words.pop(0) == "api", words
headers, method, given, host, include = {{}}, "GET", "", "", False
path = words.pop()
while words:
    match words.pop(0):
        case "--header":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        case "--method":
            method = words.pop(0)
        case "--input":
            given = words.pop(0)
        case "--hostname":
            host = words.pop(0)
        case "--include":
            include = True
        case other:
            sys.exit("unknown flag: " + other)
assert include and host and given in ("", "-") and not path.startswith("/")
body = sys.stdin.buffer.read() if given else None
headers |= {{"Authorization": "Bearer " + TOKEN, "User-Agent": "glab (a stand-in)"}}
asked = urllib.request.Request(ADDRESS + "/" + path, body, headers, method=method)
code = 0
try:
    answer = urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(asked)
except urllib.error.HTTPError as refused:
    answer, code = refused, 1
except OSError as failure:
    sys.exit(str(failure))
out = sys.stdout.buffer
out.write(f"HTTP/1.1 {{answer.status}} {{answer.reason}}\\n".encode())
for name, value in answer.headers.items():
    out.write(f"{{name}}: {{value}}\\r\\n".encode())
out.write(b"\\r\\n")
try:
    while chunk := answer.read1(1 << 16):
        out.write(chunk)
    if answer.length:
        raise OSError("unexpected EOF")
except (OSError, http.client.HTTPException) as failure:
    out.flush()
    sys.exit(str(failure))
out.flush()
sys.exit(code)
"""


def put(folder: Path, address: str, token: str) -> str:
    """The path of the program, in this folder."""
    program = folder / "glab"
    folder.mkdir(exist_ok=True)
    program.write_text(_TEXT.format(python=sys.executable, address=address, token=token))
    program.chmod(0o755)
    return str(program)
