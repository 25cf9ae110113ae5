"""A GitHub on loopback, which both transports talk to: by a token, and by the real `gh`.

    with GitHub(tmp_path / "github") as github:
        github.adopt(top)                               # `origin` of a working tree is now github.url
        git("push", "-u", "origin", "fix", cwd=top)     # goes to a bare repository on this disk
        run(["holdfast", "done", …], cwd=top, env={**os.environ, **github.environ})
        assert [one.title for one in github.opened] == ["Mend the door"]
        assert github.objections == []

`environ` holds what a child process needs, `gh` on PATH included: `api.github.com` is then reached through a proxy on
loopback which ends the TLS itself, with a certificate made for the occasion. Nothing leaves the machine: any other host
is refused. Over plain HTTP it answers at `address`, for a transport that is given this as its base.

Every REST request is held against GitHub's published OpenAPI description and every answer against the same, every query
against the published GraphQL schema (`subset.py` made both). What does not fit is noted in `objections`. Branches are
those of the bare repository, so an unpushed one fails here as it does there.

What goes wrong is queued beforehand: `github.faults.append(Fault(…))` concerns the next request. `token` (another one
than the environment has: 401), `rival` (the title under which someone opens the same pull request first) and
`has_issues` say more.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

import graphql
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from holdfast.forges.github.repository import Repository
from tests.forges.github.conversation import LARGEST_PAGE, KeptThread, Root
from tests.forges.github.loopback import HOST, Server

DATA = Path(__file__).with_name("data")
PUBLISHED = json.loads((DATA / "openapi-subset.json").read_text())
SCHEMA = graphql.build_schema((DATA / "subset.graphql").read_text())
LONGEST_TITLE = 256
BRANCH = "fix/door"
HERE = Repository("github.com", "octo-org", "octo-repo")


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
    """A pull request as this GitHub keeps it; `owner` is whose repository the branch is in."""

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
    """An issue as this GitHub keeps it."""

    number: int
    url: str
    title: str
    body: str


@dataclass
class GitHub:
    """One repository, `owner/name`, in memory and in a bare repository under `folder`.

    Reviews, comments and threads are by the number of the pull request that they speak of.
    """

    folder: Path
    owner: str = "octo-org"
    name: str = "octo-repo"
    default_branch: str = "main"
    token: str = "a-token-of-the-test"
    rival: str = ""
    has_issues: bool = True
    opened: list[Opened] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    threads: dict[int, list[KeptThread]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    """The names of the operations and queries that came, in their order."""
    expected: str = ""
    """What an objection says that the test itself brings about."""
    moved_from: str = ""
    """A former name of the repository, which leads to the present one."""
    forks: dict[str, Path] = field(default_factory=dict)
    """By `owner/name`: the bare repositories of forks."""

    @property
    def unexpected(self) -> list[str]:
        return [one for one in self.objections if not self.expected or self.expected not in one]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

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
        gh = shutil.which("gh")
        assert gh, "the tests need gh: tools/system-packages installs it"
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
        (self.folder / "config").mkdir(parents=True)
        _run("git", "init", "--quiet", "--bare", f"--initial-branch={self.default_branch}", str(self.bare))
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
        _run("git", "-C", str(top), "remote", "add", "origin", self.url)
        _run("git", "-C", str(top), "config", f"url.{self.bare}.pushInsteadOf", self.url)

    def fork(self, top: Path | str, owner: str, remote: str, name: str = "") -> None:
        """Make a remote of a working tree a fork of this repository, under the same name or another one."""
        full = f"{owner}/{name or self.name}"
        bare, url = self.folder / f"fork-{owner}-{name}.git", f"https://github.com/{full}.git"
        _run("git", "clone", "--quiet", "--bare", str(self.bare), str(bare))
        self.forks[full] = bare
        _run("git", "-C", str(top), "remote", "add", remote, url)
        _run("git", "-C", str(top), "config", f"url.{bare}.pushInsteadOf", url)

    def plant(self) -> None:
        """Branches `main` and `release`, and one with a commit more."""
        git = ("git", "-C", str(self.bare), "-c", "user.name=A", "-c", "user.email=a@example.com")
        tree = _run(*git, "hash-object", "-t", "tree", "-w", "/dev/null")
        first = _run(*git, "commit-tree", tree, "-m", "A house")
        second = _run(*git, "commit-tree", tree, "-p", first, "-m", "Mend the door")
        for name, commit in (("main", first), ("release", first), (BRANCH, second)):
            _run(*git, "update-ref", f"refs/heads/{name}", commit)

    def open(self, head: str, title: str, base: str = "", owner: str = "", body: str = "") -> Opened:
        """A pull request that somebody opened by other means; with `owner`, from the fork of that name."""
        number = len(self.opened) + 1
        page = f"https://github.com/{self.owner}/{self.name}/pull/{number}"
        base, owner = base or self.default_branch, owner or self.owner
        self.opened.append(Opened(number, page, title, body, base, head, owner))
        return self.opened[-1]

    def tip(self, branch: str) -> str:
        """The commit that a branch stands at; nothing where it is not in the bare repository."""
        return _run("git", "-C", str(self.bare), "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")

    def reply(self, method: str, target: str, headers: Any, body: bytes) -> tuple[Reply | None, Fault]:
        """What to answer, and what is wrong with it; no reply hangs up."""
        with self._lock:
            fault = self.faults.pop(0) if self.faults else Fault(passes=True)
            wrong = bool(fault.status or fault.hangs_up or fault.silent) and not fault.passes
            reply = self._done(method, target, headers, body) if fault.happens or not wrong else Reply(0, None)
        if fault.silent:
            self.over.wait()
        if fault.hangs_up or fault.silent:
            return None, fault
        if fault.status:
            reply = Reply(fault.status, fault.document, fault.headers)
        return reply, fault

    def _done(self, method: str, target: str, headers: Any, body: bytes) -> Reply:
        parts = urlsplit(target)
        if not headers.get("User-Agent"):
            return self._objected(403, "no User-Agent")
        if headers.get("X-GitHub-Api-Version") != "2022-11-28" or "vnd.github+json" not in headers.get("Accept", ""):
            return self._objected(406, f"Accept {headers.get('Accept')}, {headers.get('X-GitHub-Api-Version')}")
        if body and headers.get_content_type() != "application/json":
            return self._objected(415, f"Content-Type {headers.get('Content-Type')}")
        scheme, _, token = headers.get("Authorization", "").partition(" ")
        if scheme.lower() not in ("token", "bearer") or token != self.token:
            return Reply(401, {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"})
        if parts.path == "/graphql":
            asked = json.loads(body)
            if method != "POST" or asked.keys() != {"query", "variables"}:
                return self._objected(400, f"{method} of {sorted(asked)}")
            return Reply(200, self._executed(asked["query"], asked["variables"]))
        return self._rest(method, parts.path, parts.query, body)

    def _rest(self, method: str, path: str, query: str, body: bytes) -> Reply:
        for operation in PUBLISHED["operations"]:
            form = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(operation["path"]))
            match = re.fullmatch(form, path)
            if match and operation["method"] == method:
                break
        else:
            return self._objected(404, f"no operation {method} {path}")
        asked = dict(parse_qsl(query, keep_blank_values=True))
        self._hold(operation, {**asked, **match.groupdict()}, body)
        self.operations.append(operation["id"])
        if (match["owner"], match["repo"]) == (self.owner, self.moved_from):
            onward = f"{path.replace(self.moved_from, self.name, 1)}?{query}"
            return Reply(301 if method == "GET" else 307, {"message": "Moved Permanently"}, {"Location": onward})
        if (match["owner"], match["repo"]) != (self.owner, self.name):
            return _missing()
        number = int(match.groupdict().get("pull_number") or match.groupdict().get("issue_number") or 0)
        if number and number not in [one.number for one in self.opened]:
            return _missing()
        reply = self._answered(operation, number, asked, body)
        if reply.status == operation["status"]:
            self._fits(reply.document, operation["answer"], f"the answer of {operation['id']}")
        return reply

    def _hold(self, operation: dict[str, Any], given: dict[str, str], body: bytes) -> None:
        known = {one["name"]: one for one in operation["parameters"]}
        self.objections += [f"{operation['id']} has no parameter {name}" for name in given.keys() - known.keys()]
        for name, one in known.items():
            if name in given:
                whole = one["schema"].get("type") == "integer" and given[name].isdigit()
                self._fits(int(given[name]) if whole else given[name], one["schema"], f"{operation['id']} {name}")
            elif one["required"]:
                self.objections.append(f"{operation['id']} needs {name}")
        if int(given.get("per_page", 1)) > LARGEST_PAGE:
            self.objections.append(f"a page of {given['per_page']}")
        if operation["body"] is None:
            self.objections += [f"{operation['id']} with a body"] if body else []
            return
        document = json.loads(body)
        self._fits(document, {**operation["body"], "additionalProperties": False}, f"the body of {operation['id']}")

    def _fits(self, document: Any, schema: dict[str, Any], what: str) -> None:
        judge = Draft202012Validator({**schema, "schemas": PUBLISHED["schemas"]})
        self.objections += [f"{what}: {error.json_path} {error.message[:200]}" for error in judge.iter_errors(document)]

    def _answered(self, operation: dict[str, Any], number: int, asked: dict[str, str], body: bytes) -> Reply:
        example = operation["example"]
        match operation["id"]:
            case "pulls/list":
                found = [self._shown(one, example[0]) for one in reversed(self.opened) if self._is_asked(one, asked)]
                return self._page(found, f"/repositories/1296269/pulls?{urlencode(asked)}", asked)
            case "pulls/get":
                return Reply(200, self._shown(self.opened[number - 1], example))
            case "pulls/create":
                return self._created(json.loads(body), example)
            case "issues/create":
                return self._issued(json.loads(body), example)
            case "pulls/list-reviews":
                every = [{**example[0], **one} for one in self.reviews.get(number, [])]
                every = [{name: value for name, value in one.items() if value is not ...} for one in every]
                return self._page(every, f"/repositories/1296269/pulls/{number}/reviews", asked)
            case _:
                said = [{**example[0], **one} for one in self.comments.get(number, [])]
                return self._page(said, f"/repositories/1296269/issues/{number}/comments", asked)

    def _is_asked(self, one: Any, asked: dict[str, str]) -> bool:
        head = asked.get("head", f"{one.owner}:{one.head}")
        is_open = one.state == "OPEN"
        state = asked.get("state", "open")
        return (
            head == f"{one.owner}:{one.head}"
            and asked.get("base", one.base) == one.base
            and (state == "all" or is_open == (state == "open"))
        )

    def _created(self, asked: dict[str, Any], example: dict[str, Any]) -> Reply:
        if self.rival:
            self.open(asked["head"], self.rival, base=asked["base"])
        wrong = _obstacles(self, asked["base"], asked["head"], asked["title"], asked.get("head_repo", ""))
        if wrong:
            errors = [{"resource": "PullRequest", "code": "custom", "message": one} for one in wrong]
            return Reply(422, {"message": "Validation Failed", "errors": errors, "status": "422"})
        owner, _, head = asked["head"].rpartition(":")
        made = self.open(head, asked["title"], base=asked["base"], body=asked["body"], owner=owner)
        made.fork = asked.get("head_repo", "") or (self.name if owner else "")
        return Reply(201, self._shown(made, example))

    def _issued(self, asked: dict[str, Any], example: dict[str, Any]) -> Reply:
        if not self.has_issues:
            return Reply(410, {"message": "Issues are disabled for this repo", "status": "410"})
        page = f"https://github.com/{self.owner}/{self.name}/issues/{len(self.issues) + 1}"
        made = Issue(len(self.issues) + 1, page, asked["title"], asked["body"])
        self.issues.append(made)
        shown = {"number": made.number, "html_url": page, "title": made.title, "body": made.body}
        return Reply(201, {**copy.deepcopy(example), **shown})

    def _shown(self, one: Any, example: dict[str, Any]) -> dict[str, Any]:
        shown = copy.deepcopy(example)
        closed = None if one.state == "OPEN" else "2026-03-01T10:00:00Z"
        shown |= {"number": one.number, "html_url": one.url, "title": one.title, "body": one.body}
        shown |= {"state": "open" if one.state == "OPEN" else "closed", "closed_at": closed}
        shown["requested_teams"] = []  # those of the example lack what its own schema requires
        shown["merged_at"] = closed if one.state == "MERGED" else None
        if "merged" in shown:
            shown["merged"] = one.state == "MERGED"
        shown["head"] |= {"ref": one.head, "label": f"{one.owner}:{one.head}"}
        shown["head"]["sha"] = self.tip(one.head) or shown["head"]["sha"]
        shown["base"] |= {"ref": one.base, "label": f"{self.owner}:{one.base}"}
        shown["base"]["repo"]["id"] = 1296269
        own = one.owner == self.owner and one.fork in ("", self.name)
        shown["head"]["repo"]["id"] = 1296269 if own else 4711
        shown["head"]["repo"]["full_name"] = f"{one.owner}/{one.fork or self.name}"
        return shown

    def _page(self, found: list[Any], path: str, asked: dict[str, str]) -> Reply:
        size, page = int(asked.get("per_page", 30)), int(asked.get("page", 1))
        headers = {}
        if page * size < len(found):
            turned = urlencode({**asked, "per_page": size, "page": page + 1})
            address = f"https://api.github.com{path.partition('?')[0]}?{turned}"
            headers["Link"] = f'<{address.replace(f"page={page + 1}", "page=1")}>; rel="first", <{address}>; rel="next"'
        return Reply(200, found[(page - 1) * size : page * size], headers)

    def _executed(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        try:
            document = graphql.parse(query)
        except graphql.GraphQLError as error:
            return self._mistaken([error])
        errors = graphql.validate(SCHEMA, document)
        if errors:
            return self._mistaken(errors)
        (operation,) = (one for one in document.definitions if isinstance(one, graphql.OperationDefinitionNode))
        self.operations.append(operation.name.value)
        known = {one.variable.name.value for one in operation.variable_definitions}
        self.objections += [f"the query declares no {name}" for name in variables.keys() - known]
        result = graphql.execute_sync(
            SCHEMA,
            document,
            Root(self.owner, self.name, self.default_branch, self.threads, [one.number for one in self.opened]),
            variable_values=variables,
        )
        answer: dict[str, Any] = {"data": result.data}
        if result.errors:
            self.objections += [repr(one) for one in result.errors if not _is_expected(one)]
            answer["errors"] = [{"type": "NOT_FOUND", **error.formatted} for error in result.errors]
        return answer

    def _mistaken(self, errors: list[graphql.GraphQLError]) -> dict[str, Any]:
        self.objections += [error.message for error in errors]
        return {"errors": [error.formatted for error in errors]}

    def _objected(self, status: int, what: str) -> Reply:
        self.objections.append(what)
        return Reply(status, {"message": what, "documentation_url": "https://docs.github.com/rest"})


def _missing() -> Reply:
    return Reply(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"})


def _is_expected(error: graphql.GraphQLError) -> bool:
    return isinstance(error.original_error, graphql.GraphQLError) and "Could not resolve" in error.message


def _obstacles(github: GitHub, base: str, head: str, title: str, fork: str = "") -> list[str]:
    """Why GitHub opens no pull request, in its own words."""
    owner, _, branch = head.rpartition(":")
    where = github.forks.get(f"{owner}/{fork or github.name}", github.bare)
    form = ("for-each-ref", "--format=%(objectname)")
    tips = {base: _run("git", "-C", str(github.bare), *form, f"refs/heads/{base}")}
    tips[head] = _run("git", "-C", str(where), *form, f"refs/heads/{branch}")
    wrong = ["Head sha can't be blank", "Base sha can't be blank"] if not all(tips.values()) else []
    if wrong or not _run("git", "-C", str(where), "rev-list", "-1", tips[head], f"^{tips[base]}"):
        wrong.append(f"No commits between {base} and {head}")
    wrong += [f"{end} ref must be a branch" for end, name in (("Head", head), ("Base", base)) if not tips[name]]
    if len(title) > LONGEST_TITLE:
        wrong.append(f"Title is too long (maximum is {LONGEST_TITLE} characters)")
    for one in github.opened:
        if (one.owner, one.head, one.base, one.state) == (github.owner, head, base, "OPEN"):
            wrong.append(f"A pull request already exists for {github.owner}:{head}.")
    return wrong


@functools.cache
def _certified() -> tuple[str, str]:
    """A key and a certificate, the same for every GitHub of this process."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = Path(folder, "key.pem"), Path(folder, "certificate.pem")
        _run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=a GitHub for tests", "-addext", f"subjectAltName=DNS:{HOST}",
             "-keyout", str(key), "-out", str(certificate))  # fmt: skip
        return key.read_text(), certificate.read_text()


def _run(*argv: str) -> str:
    """What a command printed, wherever the git that surrounds the test points to."""
    env = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    done = subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env)
    return done.stdout.strip()
