"""What the forges of the tests share: a proxy on loopback for one host, plain HTTP, faults, and a bare repository.

What goes wrong is queued beforehand: `forge.faults.append(Fault(…))` concerns the next request.
"""

from __future__ import annotations

import functools
import json
import os
import re
import ssl
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Self
from urllib.parse import urlencode

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

BRANCH = "fix/door"
TOKEN = "a-token-of-the-test"
LARGEST_PAGE = 100
_HOSTS = ("api.github.com", "gitlab.com")


@dataclass
class Fault:
    """What goes wrong with one request; with `happens`, what it asks for is done all the same."""

    status: int = 0
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    happens: bool = False
    passes: bool = False
    """Nothing is wrong with this one: the next in the queue is meant for a later request."""
    hangs_up: bool = False
    cut: bool = False
    silent: bool = False
    drips: bool = False
    raw: bytes = b""


@dataclass
class Reply:
    status: int
    document: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Opened:
    """A pull request as a forge keeps it; `owner` is whose repository the branch is in."""

    number: int
    url: str
    title: str
    body: str
    base: str
    head: str
    owner: str
    state: str = "OPEN"
    fork: str = ""


@dataclass
class Issue:
    """An issue as a forge keeps it."""

    number: int
    url: str
    title: str
    body: str


@dataclass
class Loopback:
    """A forge on loopback with one repository, `owner/name`, in memory and in a bare repository under `folder`."""

    host: ClassVar[str]
    """Where its API answers, by the proxy; any other host is refused."""
    site: ClassVar[str]
    root: ClassVar[str] = ""

    folder: Path
    owner: str = "octo-org"
    name: str = "octo-repo"
    default_branch: str = "main"
    token: str = TOKEN
    rival: str = ""
    """The title under which somebody opens the same pull request first."""
    has_issues: bool = True
    opened: list[Opened] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    """The names of the operations that came, in their order."""
    expected: str = ""
    """What an objection says that the test itself brings about."""
    moved_from: str = ""
    """A former name of the repository, which leads to the present one."""
    forks: dict[str, Path] = field(default_factory=dict)
    """By `owner/name`: the bare repositories of forks."""

    def done(self, method: str, target: str, headers: Any, body: bytes) -> Reply:
        """What a request does, and what it is answered."""
        raise NotImplementedError

    @property
    def unexpected(self) -> list[str]:
        return [one for one in self.objections if not self.expected or self.expected not in one]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.root}"

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"https://{self.site}/{self.owner}/{self.name}.git"

    @property
    def bare(self) -> Path:
        return self.folder / "bare.git"

    @property
    def through(self) -> dict[str, str]:
        """Variables by which a child process reaches it through the proxy, and believes its certificate."""
        return {
            "HTTPS_PROXY": f"http://127.0.0.1:{self.port}",
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(self.folder / "certificate.pem"),
            "SSL_CERT_DIR": str(self.folder / "config"),
        }

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> Self:
        (self.folder / "config").mkdir(parents=True)
        run("git", "init", "--quiet", "--bare", f"--initial-branch={self.default_branch}", str(self.bare))
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        for path, text in zip((key, certificate), _certified(), strict=True):
            path.write_text(text)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._server = Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def stop(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def adopt(self, top: Path | str) -> None:
        """Make this repository `origin` of a working tree; its pushes go to the bare repository.

        Git would show a URL redirected for fetching as the path it leads to, and gh would not know the host.
        """
        self._remote(top, "origin", self.url, self.bare)

    def fork(self, top: Path | str, owner: str, remote: str, name: str = "") -> None:
        """Make a remote of a working tree a fork of this repository, under the same name or another one."""
        full = f"{owner}/{name or self.name}"
        bare = self.folder / f"fork-{owner}-{name}.git"
        run("git", "clone", "--quiet", "--bare", str(self.bare), str(bare))
        self.forks[full] = bare
        self._remote(top, remote, f"https://{self.site}/{full}.git", bare)

    def _remote(self, top: Path | str, remote: str, url: str, bare: Path) -> None:
        run("git", "-C", str(top), "remote", "add", remote, url)
        run("git", "-C", str(top), "config", f"url.{bare}.pushInsteadOf", url)

    def plant(self) -> None:
        """Branches `main` and `release`, and one with a commit more."""
        git = ("git", "-C", str(self.bare), "-c", "user.name=A", "-c", "user.email=a@example.com")
        tree = run(*git, "hash-object", "-t", "tree", "-w", "/dev/null")
        first = run(*git, "commit-tree", tree, "-m", "A house")
        second = run(*git, "commit-tree", tree, "-p", first, "-m", "Fix the door")
        for name, commit in (("main", first), ("release", first), (BRANCH, second)):
            run(*git, "update-ref", f"refs/heads/{name}", commit)

    def tip(self, branch: str, bare: Path | None = None) -> str:
        """The commit that a branch is at; nothing where it is not in the bare repository."""
        where = ("git", "-C", str(bare or self.bare), "for-each-ref", "--format=%(objectname)")
        return run(*where, f"refs/heads/{branch}")

    def reply(self, method: str, target: str, headers: Any, body: bytes) -> tuple[Reply | None, Fault]:
        """What to answer, and what is wrong with it; no reply hangs up."""
        with self._lock:
            fault = self.faults.pop(0) if self.faults else Fault(passes=True)
            wrong = bool(fault.status or fault.hangs_up or fault.silent) and not fault.passes
            reply = self.done(method, target, headers, body) if fault.happens or not wrong else Reply(0, None)
        if fault.silent:
            self.over.wait()
        if fault.hangs_up or fault.silent:
            return None, fault
        if fault.status:
            reply = Reply(fault.status, fault.document, fault.headers)
        return reply, fault

    def fits(self, document: Any, schema: dict[str, Any], what: str, schemas: dict[str, Any]) -> None:
        judge = Draft202012Validator({**schema, "schemas": schemas})
        self.objections += [f"{what}: {error.json_path} {error.message[:200]}" for error in judge.iter_errors(document)]

    def page_of(self, found: list[Any], path: str, asked: dict[str, Any], usual: int = 20) -> Reply:
        """A page of a list, with a link to the next one."""
        size, page = int(asked.get("per_page", usual)), int(asked.get("page", 1))
        headers = {}
        if page * size < len(found):
            turned = urlencode({**asked, "per_page": size, "page": page + 1}, doseq=True)
            address = f"https://{self.host}{path}?{turned}"
            headers["Link"] = f'<{address.replace(f"page={page + 1}", "page=1")}>; rel="first", <{address}>; rel="next"'
        return Reply(200, found[(page - 1) * size : page * size], headers)

    def has_more(self, base: str, branch: str, where: Path) -> bool:
        """Whether a branch of a repository has a commit that the base has not."""
        tips = self.tip(branch, where), self.tip(base)
        return bool(all(tips) and run("git", "-C", str(where), "rev-list", "-1", tips[0], f"^{tips[1]}"))


def operation_of(
    operations: list[dict[str, Any]], method: str, path: str
) -> tuple[dict[str, Any], dict[str, str]] | None:
    """The published operation that a request asks for, and what stands for the blanks of its path."""
    for operation in operations:
        form = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(operation["path"]))
        match = re.fullmatch(form, path)
        if match and operation["method"] == method:
            return operation, match.groupdict()
    return None


@functools.cache
def _certified() -> tuple[str, str]:
    """A key and a certificate, the same for every forge of this process."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        names = ",".join(f"DNS:{host}" for host in _HOSTS)
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=a forge for tests", "-addext", f"subjectAltName={names}",
            "-keyout", str(key), "-out", str(certificate))  # fmt: skip
        return key.read_text(), certificate.read_text()


def run(*argv: str) -> str:
    """What a command printed, wherever the git that surrounds the test points to."""
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    done = subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
    return done.stdout.strip()


class Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, forge: Loopback) -> None:
        self.forge = forge
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # a client that was killed is no fault of its request
            self.forge.objections.append(repr(error))


class _Handler(BaseHTTPRequestHandler):
    """A proxy for one host, which then is that host; outside of its TLS it answers plain HTTP."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Server
    inside = False

    def do_CONNECT(self) -> None:
        if self.inside or self.path != f"{self.server.forge.host}:443":
            self.server.forge.objections.append(f"CONNECT {self.path}")
            self.send_error(403)
            return
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self.inside = True
        self.connection = self.server.forge.tls.wrap_socket(self.connection, server_side=True)
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
        forge = self.server.forge
        reply, fault = forge.reply(self.command, self.path, self.headers, body)
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
                if forge.over.wait(0.05):
                    return
            self.wfile.write(data[: len(data) // 2] if fault.cut else data)

    do_GET = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        """The test says what came, not standard error."""
