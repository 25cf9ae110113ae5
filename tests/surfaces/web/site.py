"""A project whose page is served to a real browser, by a real process at a terminal of its own."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from holdfast.machine.place import Place
from tests import forked
from tests.surfaces.mcp.house import House

PATIENCE = 60
_LINK = re.compile(rb"(http\S+/login\?code=(\S+))\s")


class Answer(NamedTuple):
    code: int
    headers: dict[str, str]
    text: str


class Served:
    """A server that listens. What it writes goes to a terminal, which is read on demand."""

    def __init__(self, process: Any, terminal: int) -> None:
        self.process, self._terminal, self.said = process, terminal, b""
        self.link = self.until(_LINK)
        parts = urlsplit(self.link)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.host, self.port = parts.netloc, parts.port
        self.cookie = ""

    def until(self, pattern: re.Pattern[bytes]) -> str:
        """Reads on until the terminal shows it."""
        deadline, start = time.monotonic() + PATIENCE, len(self.said)
        while time.monotonic() < deadline:
            found = pattern.search(self.said, start)
            if found:
                return found[1].decode()
            if select.select([self._terminal], [], [], 1)[0]:
                try:
                    self.said += os.read(self._terminal, 65536)
                except OSError:
                    break
        raise AssertionError(self.said.decode())

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str | None) -> Answer:
        """A request as any program can send it; a header that is None is left out."""
        origin = {"Origin": self.origin} if method == "POST" else {}
        form = {"Content-Type": "application/x-www-form-urlencoded"} if method == "POST" else {}
        cookie = {"Cookie": self.cookie} if self.cookie else {}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Host": self.host, **origin, **form, **cookie, **given}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            told = {name: value for name, value in sent.items() if value is not None}
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in told.items():
                connection.putheader(name, value)
            if body or method == "POST":
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read().decode())
        finally:
            connection.close()

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str | None) -> Answer:
        return self.ask("POST", path, urlencode(fields or {}).encode(), **headers)

    def enter(self) -> Served:
        """Logs in as a program that keeps cookies."""
        answer = self.get(self.link.removeprefix(self.origin))
        assert answer.code == 200, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return self

    def form(self, page: str, id: str) -> dict[str, str]:
        """The hidden fields of a form on a page."""
        forms = re.findall(r"<form.*?</form>", self.get(page).text, re.DOTALL)
        form = [one for one in forms if f'id="{id}"' in one.partition(">")[0]]
        assert form, f"{page} has no {id}"
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form[0]))


class Site(House):
    """The house that the MCP server is tested with, with a page."""

    @contextmanager
    def serving(self, *options: str, port: int = 0) -> Iterator[Served]:
        """A server at a person's terminal."""
        primary, secondary = forked.terminal()
        words = ("web", "--port", str(port), "--no-open", *options)
        env = {**os.environ, "TERM": "dumb", "PYTHONUTF8": "1", "USER": "ada"}
        process = forked.start(words, (secondary, secondary, secondary), cwd=self.root, env=env, session=True)
        os.close(secondary)
        served = Served(process, primary)
        try:
            yield served
        finally:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
            process.wait(PATIENCE)
            with suppress(OSError):
                while part := os.read(primary, 65536):
                    served.said += part
            os.close(primary)
            assert b"Traceback" not in served.said, served.said.decode()

    def state(self, id: str) -> Any:
        return self.bench.open().workflow(id).state

    @property
    def place(self) -> Place:
        return self.bench.open().wired.place

    def ulid(self, id: str) -> str:
        return self.state(id).ulid

    def journal(self, id: str) -> bytes:
        state = self.state(id)
        return (self.root / ".holdfast" / "journal" / state.ulid[-2:].lower() / f"{state.ulid}.jsonl").read_bytes()

    def waits(self, text: str = "# Notes\n\nall is well\n") -> str:
        """The path of the page on which the sign-off is decided."""
        return f"/w/{self.ulid(self.waiting(text))}/approve/sign-off"
