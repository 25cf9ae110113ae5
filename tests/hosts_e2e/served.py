"""opencode as a server that lives on between prompts, and a client that talks to it. Run as a program on the stage.

`served.py STEPS PROGRAM …`, where STEPS is JSON: `[["POST", "/session/{session}/…", {…}], ["wait", "text", 0]]`. A step
`wait` lasts until a message of the session has that text. The session is made first. Prints its messages at the end.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any

PATIENCE = 120
"""Seconds for one answer, and for a text that is waited for."""
_LOOK = 0.2


class Client:
    def __init__(self, url: str) -> None:
        self._url = url
        self.session = self.ask("POST", "/session", {})["id"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or b"null")

    @property
    def messages(self) -> list[Any]:
        found: list[Any] = self.ask("GET", f"/session/{self.session}/message")
        return found

    def take(self, what: str, where: str, body: Any) -> None:
        if what != "wait":
            self.ask(what, where.replace("{session}", self.session), body)
            return
        until = time.monotonic() + PATIENCE
        while where not in json.dumps(self.messages, ensure_ascii=False):
            if time.monotonic() > until:
                raise TimeoutError(f"nobody said: {where}")
            time.sleep(_LOOK)


def main() -> None:
    steps, program = json.loads(sys.argv[1]), sys.argv[2:]
    server = subprocess.Popen([*program, "serve", "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://[\d.:]+", line)))
        client = Client(address)
        for step in steps:
            client.take(*step)
        print(json.dumps({"session": client.session, "messages": client.messages}))
    finally:
        os.kill(server.pid, signal.SIGTERM)
        server.wait(PATIENCE)


if __name__ == "__main__":
    main()
