"""How the GitHub of the tests is reached: a proxy on loopback for one host, and plain HTTP."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.forges.github.server import GitHub

HOST = "api.github.com"


class Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, github: GitHub) -> None:
        self.github = github
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # a client that was killed is no fault of its request
            self.github.objections.append(repr(error))


class _Handler(BaseHTTPRequestHandler):
    """A proxy for one host, which then is that host; outside of its TLS it answers plain HTTP."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Server
    inside = False

    def do_CONNECT(self) -> None:
        if self.inside or self.path != f"{HOST}:443":
            self.server.github.objections.append(f"CONNECT {self.path}")
            self.send_error(403)
            return
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self.inside = True
        self.connection = self.server.github.tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)
        self.close_connection = False

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def _body(self) -> bytes:
        """gh sends what it reads from a pipe in chunks, as it cannot know how long it is."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def do_POST(self) -> None:
        body = self._body()
        github = self.server.github
        reply, fault = github.reply(self.command, self.path, self.headers, body)
        self.close_connection = True
        if reply is None:
            return
        data = fault.raw or json.dumps(reply.document).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # whoever has waited or read enough hangs up
            for sign in data[:200] if fault.drips else b"":  # ten seconds of it
                self.wfile.write(bytes((sign,)))
                if github.over.wait(0.05):
                    return
            self.wfile.write(data[: len(data) // 2] if fault.cut else data)

    do_GET = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        """The test says what came, not standard error."""
