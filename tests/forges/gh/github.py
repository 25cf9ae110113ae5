"""A GitHub on loopback, for the real `gh` to talk to.

    with GitHub(tmp_path / "github") as github:
        github.adopt(top)                               # `origin` of a working tree is now github.url
        git("push", "-u", "origin", "fix", cwd=top)     # goes to a bare repository on this disk
        run(["gh", "pr", "create", …], cwd=top, env={**os.environ, **github.environ})
        assert [one.title for one in github.opened] == ["Mend the door"]
        assert github.objections == []

`start()` and `stop()` do the same without `with`. `environ` holds what a child process needs, `gh` on PATH included:
gh then reaches `api.github.com` through a proxy on loopback which ends the TLS itself, with a certificate made for the
occasion. Nothing leaves the machine: any other host is refused.

Each request is held against what GitHub publishes: method, path, headers and token; the query and its variables against
`github.graphql`; the bounds of a page. What does not fit is answered with an error and noted in `objections`.
Branches are those of the bare repository, so an unpushed one fails here as it does there.

What can go wrong is told beforehand: `token` (another one than gh has: 401), `silent` (takes requests and never
answers), `cut_after_creating` (opens the pull request and hangs up), `rival` (the title under which someone opens the
same one first), `has_issues` (without them, no issue is made).
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import graphql

from tests.tiers import need

HOST = "api.github.com"
SCHEMA = Path(__file__).with_name("github.graphql").read_text()
LARGEST_PAGE = 100
LONGEST_TITLE = 256


@dataclass
class Opened:
    """A pull request as this GitHub keeps it; `owner` is whose repository the branch is in."""

    number: int
    url: str
    title: str
    body: str
    base: str
    head: str
    owner: str
    draft: bool = False
    state: str = "OPEN"


@dataclass
class Issue:
    """An issue as this GitHub keeps it."""

    number: int
    url: str
    title: str
    body: str


@dataclass
class GitHub:
    """One repository, `owner/name`, in memory and in a bare repository under `folder`."""

    folder: Path
    owner: str = "octo-org"
    name: str = "octo-repo"
    default_branch: str = "main"
    token: str = "a-token-of-the-test"
    silent: bool = False
    cut_after_creating: bool = False
    rival: str = ""
    has_issues: bool = True
    opened: list[Opened] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    """The names of the queries and mutations that came, in their order."""

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"https://github.com/{self.owner}/{self.name}.git"

    @property
    def bare(self) -> Path:
        return self.folder / "bare.git"

    @property
    def environ(self) -> dict[str, str]:
        """Variables to add to those of a child process."""
        need("gh")
        gh = shutil.which("gh") or ""
        return {
            "PATH": os.pathsep.join((os.environ["PATH"], os.path.dirname(gh))),
            "HTTPS_PROXY": f"http://127.0.0.1:{self._server.server_port}",
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(self.folder / "certificate.pem"),
            "SSL_CERT_DIR": str(self.folder / "config"),
            "GH_CONFIG_DIR": str(self.folder / "config"),
            "GH_TOKEN": "a-token-of-the-test",
        }

    def start(self) -> Self:
        need("openssl")
        (self.folder / "config").mkdir(parents=True)
        _run("git", "init", "--quiet", "--bare", f"--initial-branch={self.default_branch}", str(self.bare))
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        _run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=a GitHub for tests", "-addext", f"subjectAltName=DNS:{HOST}",
             "-keyout", str(key), "-out", str(certificate))  # fmt: skip
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate, key)
        self._schema = graphql.build_schema(SCHEMA)
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def stop(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def adopt(self, top: Path | str) -> None:
        """Make this repository `origin` of a working tree; its pushes go to the bare repository.

        Git would show a URL redirected for fetching as the path it leads to, and gh would not know the host.
        """
        _run("git", "-C", str(top), "remote", "add", "origin", self.url)
        _run("git", "-C", str(top), "config", f"url.{self.bare}.pushInsteadOf", self.url)

    def open(
        self, head: str, title: str, base: str = "", owner: str = "", body: str = "", draft: bool = False
    ) -> Opened:
        """A pull request that somebody opened by other means; with `owner`, from the fork of that name."""
        number = len(self.opened) + 1
        page = f"https://github.com/{self.owner}/{self.name}/pull/{number}"
        base, owner = base or self.default_branch, owner or self.owner
        self.opened.append(Opened(number, page, title, body, base, head, owner, draft))
        return self.opened[-1]

    def answer(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, dict[str, Any]] | None:
        """Status and document for a request; None hangs up."""
        if self.silent:
            self._over.wait()
            return None
        with self._lock:
            return self._judged(method, path, headers, body)

    def _judged(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, dict[str, Any]] | None:
        if (method, path) != ("POST", "/graphql"):
            return self._object(404, f"{method} {path}")
        if not headers.get("User-Agent"):
            return self._object(403, "no User-Agent")
        if headers.get_content_type() != "application/json":
            return self._object(415, f"Content-Type {headers.get('Content-Type')}")
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in ("token", "bearer") or token != self.token:
            return 401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/graphql"}
        try:
            asked = json.loads(body)
        except ValueError:
            return self._object(400, "Problems parsing JSON")
        if not isinstance(asked, dict) or not {"query"} <= asked.keys() <= {"query", "variables", "operationName"}:
            return self._object(400, f"the keys of the body: {asked}")
        result = self._executed(asked["query"], asked.get("variables") or {})
        if self.cut_after_creating and self.operations[-1:] == ["PullRequestCreate"]:
            return None
        return 200, result

    def _executed(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        try:
            document = graphql.parse(query)
        except graphql.GraphQLError as error:
            return self._mistaken([error])
        errors = graphql.validate(self._schema, document)
        if errors:
            return self._mistaken(errors)
        (operation,) = (one for one in document.definitions if isinstance(one, graphql.OperationDefinitionNode))
        self.operations.append(operation.name.value if operation.name else "")
        known = {one.variable.name.value for one in operation.variable_definitions}
        if variables.keys() - known:
            self.objections.append(f"variables that the query does not declare: {sorted(variables.keys() - known)}")
        coerced = graphql.get_variable_values(self._schema, operation.variable_definitions, variables)
        if isinstance(coerced, list):
            return self._mistaken(coerced)
        result = graphql.execute_sync(self._schema, document, _Root(self), variable_values=variables)
        answer: dict[str, Any] = {"data": result.data}
        if result.errors:
            faults = (error.original_error for error in result.errors)
            self.objections += [repr(one) for one in faults if one and not isinstance(one, graphql.GraphQLError)]
            answer["errors"] = [{"type": "UNPROCESSABLE", **error.formatted} for error in result.errors]
        return answer

    def _mistaken(self, errors: list[graphql.GraphQLError]) -> dict[str, Any]:
        self.objections += [error.message for error in errors]
        return {"errors": [error.formatted for error in errors]}

    def _object(self, status: int, what: str) -> tuple[int, dict[str, Any]]:
        self.objections.append(what)
        return status, {"message": what, "documentation_url": "https://docs.github.com/rest"}


class _Root:
    """The two roots of the schema: what a repository answers, and what changes it."""

    def __init__(self, github: GitHub) -> None:
        self.github = github

    def repository(self, _: object, *, owner: str, name: str, **__: object) -> _Repository | None:
        github = self.github
        if (owner, name) != (github.owner, github.name):
            raise graphql.GraphQLError(f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return _Repository(github)

    def createPullRequest(self, _: object, *, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        github, base, head = self.github, input["baseRefName"], input["headRefName"]
        if input["repositoryId"] != _Repository.id:
            raise graphql.GraphQLError(f"Could not resolve to a node with the global id of '{input['repositoryId']}'")
        if github.rival:
            github.open(head, github.rival, base=base)
        wrong = _obstacles(github, base, head, input["title"])
        if wrong:
            raise graphql.GraphQLError(", ".join(wrong))
        made = github.open(head, input["title"], base=base, body=input.get("body", ""), draft=input["draft"])
        return {"pullRequest": _shown(github, made)}

    def createIssue(self, _: object, *, input: dict[str, Any]) -> dict[str, Any]:  # noqa: A002, N802
        github = self.github
        if input["repositoryId"] != _Repository.id:
            raise graphql.GraphQLError(f"Could not resolve to a node with the global id of '{input['repositoryId']}'")
        if not github.has_issues:
            raise graphql.GraphQLError("Issues are disabled in this repository")
        if len(input["title"]) > LONGEST_TITLE:
            raise graphql.GraphQLError(f"Title is too long (maximum is {LONGEST_TITLE} characters)")
        number = len(github.issues) + 1
        page = f"https://github.com/{github.owner}/{github.name}/issues/{number}"
        made = Issue(number, page, input["title"], input.get("body", ""))
        github.issues.append(made)
        return {"issue": {"id": f"I_{number}", "number": number, "url": page, "title": made.title, "body": made.body}}


def _obstacles(github: GitHub, base: str, head: str, title: str) -> list[str]:
    """Why GitHub opens no pull request, in its own words."""
    tips = {name: _run("git", "-C", str(github.bare), "for-each-ref", "--format=%(objectname)", f"refs/heads/{name}")
            for name in (base, head)}  # fmt: skip
    wrong = ["Head sha can't be blank", "Base sha can't be blank"] if not all(tips.values()) else []
    if wrong or not _run("git", "-C", str(github.bare), "rev-list", "-1", tips[head], f"^{tips[base]}"):
        wrong.append(f"No commits between {base} and {head}")
    wrong += [f"{end} ref must be a branch" for end, name in (("Head", head), ("Base", base)) if not tips[name]]
    if len(title) > LONGEST_TITLE:
        wrong.append(f"Title is too long (maximum is {LONGEST_TITLE} characters)")
    for one in github.opened:
        if (one.owner, one.head, one.base, one.state) == (github.owner, head, base, "OPEN"):
            wrong.append(f"A pull request already exists for {github.owner}:{head}.")
    return wrong


class _Repository:
    """Its fields by their published names, as the execution looks them up."""

    id = "R_kgDOAAAAAQ"
    description = None
    hasWikiEnabled = mergeCommitAllowed = rebaseMergeAllowed = squashMergeAllowed = True  # noqa: N815
    viewerPermission = "WRITE"  # noqa: N815
    parent = None

    def __init__(self, github: GitHub) -> None:
        self._github = github
        self.name = github.name
        self.hasIssuesEnabled = github.has_issues
        self.owner = {"__typename": "Organization", "id": "O_1", "login": github.owner}
        self.defaultBranchRef = {"id": "REF_1", "name": github.default_branch}

    def pullRequest(self, _: object, *, number: int) -> dict[str, Any]:  # noqa: N802
        for one in self._github.opened:
            if one.number == number:
                return _shown(self._github, one)
        raise graphql.GraphQLError(f"Could not resolve to a PullRequest with the number of {number}.")

    def pullRequests(self, _: object, **asked: Any) -> dict[str, Any]:  # noqa: N802
        first = asked.get("first")
        if first is None or not 1 <= first <= LARGEST_PAGE:
            self._github.objections.append(f"a page of {first}")
            raise graphql.GraphQLError(f"`first` must be between 1 and {LARGEST_PAGE} records, and is {first}.")
        order = asked.get("orderBy", {"field": "CREATED_AT", "direction": "ASC"})
        wanted = {"state": asked.get("states"), "base": asked.get("baseRefName"), "head": asked.get("headRefName")}
        found = [
            one
            for one in self._github.opened
            if all(value is None or getattr(one, name) in _several(value) for name, value in wanted.items())
        ]
        found.sort(key=lambda one: one.number, reverse=order["direction"] == "DESC")
        start = int(asked.get("after") or 0)
        page = found[start : start + first]
        end = start + len(page)
        turning = {"endCursor": str(end), "hasNextPage": end < len(found), "hasPreviousPage": start > 0}
        return {"nodes": [_shown(self._github, one) for one in page], "pageInfo": turning, "totalCount": len(found)}


def _several(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]


def _shown(github: GitHub, one: Opened) -> dict[str, Any]:
    return {
        "baseRefName": one.base,
        "body": one.body,
        "headRefName": one.head,
        "headRepositoryOwner": {"__typename": "User", "id": f"U_{one.owner}", "login": one.owner, "name": None},
        "id": f"PR_{one.number}",
        "isCrossRepository": one.owner != github.owner,
        "isDraft": one.draft,
        "number": one.number,
        "state": one.state,
        "title": one.title,
        "url": one.url,
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, github: GitHub) -> None:
        self.github = github
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        import sys

        error = sys.exception()
        if not isinstance(error, ConnectionError):  # a client that was killed is no fault of its request
            self.github.objections.append(repr(error))


class _Handler(BaseHTTPRequestHandler):
    """A proxy for one host, which then is that host."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: _Server
    inside = False

    def do_CONNECT(self) -> None:
        if self.inside or self.path != f"{HOST}:443":
            self.server.github.objections.append(f"CONNECT {self.path}")
            self.send_error(403)
            return
        self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        self.inside = True
        self.connection = self.server.github._tls.wrap_socket(self.connection, server_side=True)
        self.rfile = self.connection.makefile("rb")
        self.wfile = self.connection.makefile("wb", buffering=0)
        self.close_connection = False

    def finish(self) -> None:
        super().finish()
        self.connection.close()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.inside:
            answer = self.server.github.answer(self.command, self.path, self.headers, body)
        else:
            self.server.github.objections.append(f"{self.command} {self.path} without TLS")
            answer = 403, {"message": "use https"}
        if answer is None:
            self.close_connection = True
            return
        status, document = answer
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_POST  # noqa: N815

    def log_message(self, *_: object) -> None:
        """The test says what came, not standard error."""


def _run(*argv: str) -> str:
    """What a command printed, wherever the git that surrounds the test points to."""
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    done = subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
    return done.stdout.strip()
