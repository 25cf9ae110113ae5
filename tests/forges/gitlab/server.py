"""A GitLab on loopback: a token is asked for, and every request is held against `data/contract.json`.

    with GitLab(tmp_path / "gitlab") as gitlab:
        gitlab.adopt(top)                               # `origin` of a working tree is now gitlab.url
        mona = gitlab.person("mona", level=30)
        gitlab.approve(1, mona, at="2026-03-01T12:00:00.250Z")
        assert gitlab.objections == []

Method, path, query, body and headers of each request, and each answer, have to be as the contract says; what is not is
noted in `objections`. Branches are those of the bare repository, so an unpushed one fails here as it does there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from holdfast.forges.gitlab.project import Project
from tests.forges.loopback import Issue, Loopback, Opened, Reply, operation_of

CONTRACT = json.loads((Path(__file__).with_name("data") / "contract.json").read_text())
HERE = Project("gitlab.com", "octo-org/octo-repo")
MORNING = "2026-03-01T08:00:00.000Z"
PROJECT, FORK = 4711, 4712
LONGEST_TITLE = 255
_STATES = {"OPEN": "opened", "CLOSED": "closed", "MERGED": "merged"}


@dataclass
class Person:
    """An account; its level of access in the project is 0 where it is no member."""

    id: int
    username: str
    level: int = 30
    bot: bool = False
    state: str = "active"

    @property
    def shown(self) -> dict[str, Any]:
        page = f"https://gitlab.com/{self.username}"
        return {"id": self.id, "username": self.username, "name": self.username, "state": self.state, "web_url": page}


@dataclass
class GitLab(Loopback):
    """Approvals, discussions and versions are by the number of the merge request that they speak of."""

    host: ClassVar[str] = "gitlab.com"
    site: ClassVar[str] = "gitlab.com"
    root: ClassVar[str] = "/api/v4"

    people: dict[int, Person] = field(default_factory=dict)
    approvals: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    discussions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    versions: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    reviewers: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    tells_when: bool = True
    """Whether it says since when somebody approves: older ones do not."""
    clock: str = MORNING
    """When the next thing happens: a merge request is opened, or a branch pushed."""

    def person(self, username: str, level: int = 30, **more: Any) -> Person:
        """The account of this name, which is made if there is none."""
        known = next((one for one in self.people.values() if one.username == username), None)
        made = known or Person(100 + len(self.people), username, level, **more)
        return self.people.setdefault(made.id, made)

    @property
    def author(self) -> Person:
        """Whose token it is: they open the merge requests."""
        return self.person("ada", 40)

    def open(self, head: str, title: str, base: str = "", owner: str = "", body: str = "") -> Opened:
        """A merge request that somebody opened by other means; with `owner`, from the fork of that name."""
        number = len(self.opened) + 1
        page = f"https://gitlab.com/{self.owner}/{self.name}/-/merge_requests/{number}"
        made = Opened(number, page, title, body, base or self.default_branch, head, owner or self.owner)
        self.opened.append(made)
        return made

    def approve(self, number: int, who: Person, at: str) -> None:
        """Somebody approves, and the GitLab makes a note of it. Who approved before does so again."""
        listed = self.approvals.setdefault(number, [])
        listed[:] = [one for one in listed if one["user"]["id"] != who.id]
        listed.append({"user": who.shown, "approved_at": at})
        self.note(number, who, "approved this merge request", at)

    def unapprove(self, number: int, who: Person, at: str) -> None:
        self.approvals[number] = [one for one in self.approvals[number] if one["user"]["id"] != who.id]
        self.note(number, who, "unapproved this merge request", at)

    def request_changes(self, number: int, who: Person, at: str) -> None:
        self.reviewers[number] = [{"user": who.shown, "state": "requested_changes", "created_at": MORNING}]
        self.note(number, who, "requested changes", at)

    def note(self, number: int, who: Person, body: str, at: str) -> None:
        """What the GitLab notes by itself."""
        self._discuss(number, [self._note(who, body, at, system=True)], alone=True)

    def comment(self, number: int, who: Person, body: str, at: str) -> None:
        self._discuss(number, [self._note(who, body, at)], alone=True)

    def thread(
        self, number: int, said: list[tuple[Person, str, str]], path: str = "", line: int | None = 7, **more: Any
    ) -> dict[str, Any]:
        """A discussion that can be resolved: of a line of a file, of the file, or of the merge request."""
        sha = "a" * 40
        shas = {"base_sha": sha, "start_sha": sha, "head_sha": sha}
        place = {"old_path": path, "new_path": path, "old_line": None, "new_line": line, **more.pop("position", {})}
        position = {**shas, "position_type": "text" if line else "file", **place}
        where = {"type": "DiffNote", "position": position} if path else {"type": "DiscussionNote"}
        notes = [self._note(who, body, at, resolvable=True, resolved=False, **where) for who, body, at in said]
        return self._discuss(number, notes, alone=False)

    def resolve(self, discussion: dict[str, Any]) -> None:
        for note in discussion["notes"]:
            note["resolved"] = True

    def pushed(self, number: int, commit: str, at: str) -> None:
        """The merge request has another commit from then on."""
        versions = self.versions.setdefault(number, [])
        shas = {"head_commit_sha": commit, "base_commit_sha": "b" * 40, "start_commit_sha": "b" * 40}
        more = {"created_at": at, "merge_request_id": 900 + number, "state": "collected", "real_size": "1"}
        versions.insert(0, {"id": 700 + len(versions), **shas, **more})

    def sees_pushes(self) -> None:
        """Takes the commits that were pushed to open merge requests since, as of the time that `clock` says."""
        for one in self.opened:
            tip = self.tip(one.head) if one.owner == self.owner else ""
            known = [each["head_commit_sha"] for each in self.versions.get(one.number, [])]
            if tip and one.state == "OPEN" and known[:1] != [tip]:
                self.pushed(one.number, tip, self.clock)

    def _note(self, who: Person, body: str, at: str, **more: Any) -> dict[str, Any]:
        count = sum(len(one["notes"]) for every in self.discussions.values() for one in every)
        times = {"created_at": at, "updated_at": at}
        about = {"noteable_id": 1, "noteable_type": "MergeRequest", "system": False, "resolvable": False}
        return {"id": 9_000_000_000 + count, "type": None, "body": body, "author": who.shown, **times, **about, **more}

    def _discuss(self, number: int, notes: list[dict[str, Any]], *, alone: bool) -> dict[str, Any]:
        every = self.discussions.setdefault(number, [])
        for later, note in enumerate(notes):
            note["id"] += later
        every.append({"id": f"{len(every):040x}", "individual_note": alone, "notes": notes})
        return every[-1]

    def done(self, method: str, target: str, headers: Any, body: bytes) -> Reply:
        parts = urlsplit(target)
        if not headers.get("User-Agent"):
            return self._objected(400, "no User-Agent")
        if headers.get("Accept") != "application/json":
            return self._objected(406, f"Accept {headers.get('Accept')}")
        if body and headers.get_content_type() != "application/json":
            return self._objected(415, f"Content-Type {headers.get('Content-Type')}")
        if bool(body) != (method in ("POST", "PUT")):
            return self._objected(400, f"{method} with {len(body)} bytes")
        if headers.get("Authorization") != f"Bearer {self.token}":
            return Reply(401, {"message": "401 Unauthorized"})
        if not parts.path.startswith(f"{self.root}/"):
            return self._objected(404, f"no API at {parts.path}")
        return self._rest(method, parts.path.removeprefix(self.root), parts.query, body)

    def _rest(self, method: str, path: str, query: str, body: bytes) -> Reply:
        found = operation_of(CONTRACT["operations"], method, path)
        if found is None:
            return self._objected(404, f"no operation {method} {path}")
        operation, match = found
        asked = {name: said if name.endswith("[]") else said[-1] for name, said in parse_qs(query, True, True).items()}
        self._hold(operation, asked, body)
        self.operations.append(operation["id"])
        if operation["id"] == "users/get":
            return self._user(operation, int(match["id"]))
        return self._of_project(operation, match, path, query, asked, body)

    def _user(self, operation: dict[str, Any], who: int) -> Reply:
        if who not in self.people:
            return Reply(404, {"message": "404 User Not Found"})
        person = self.people[who]
        return self._fitting(operation, Reply(200, {**person.shown, "bot": person.bot}))

    def _of_project(
        self, operation: dict[str, Any], at: dict[str, str], path: str, query: str, asked: dict[str, Any], body: bytes
    ) -> Reply:
        full, number = unquote(at["id"]), int(at.get("merge_request_iid") or 0)
        if full == f"{self.owner}/{self.moved_from}":
            here = quote(f"{self.owner}/{self.name}", safe="")
            onward = f"{self.root}{path.replace(at['id'], here, 1)}{query and f'?{query}'}"
            return Reply(301 if operation["method"] == "GET" else 307, {}, {"Location": onward})
        if full != f"{self.owner}/{self.name}" and full not in self.forks:
            return Reply(404, {"message": "404 Project Not Found"})
        if number and number not in [one.number for one in self.opened]:
            return Reply(404, {"message": "404 Not found"})
        return self._fitting(operation, self._answered(operation["id"], full, number, path, asked, body))

    def _fitting(self, operation: dict[str, Any], reply: Reply) -> Reply:
        if reply.status == operation["status"]:
            self._fits(reply.document, operation["answer"], f"the answer of {operation['id']}")
        return reply

    def _hold(self, operation: dict[str, Any], asked: dict[str, Any], body: bytes) -> None:
        name = operation["id"]
        for key, said in asked.items():
            schema = operation["query"].get(key)
            if schema is None:
                self.objections.append(f"{name} has no parameter {key}")
            else:
                self._fits(_typed(said, schema), schema, f"{name} {key}")
        if operation["body"] is not None:
            self._fits(json.loads(body), operation["body"], f"the body of {name}")

    def _fits(self, document: Any, schema: dict[str, Any], what: str) -> None:
        self.fits(document, schema, what, CONTRACT["schemas"])

    def _answered(self, name: str, full: str, number: int, path: str, asked: dict[str, Any], body: bytes) -> Reply:
        lists = {
            "merge_requests/discussions": self.discussions,
            "merge_requests/versions": self.versions,
            "merge_requests/reviewers": self.reviewers,
        }
        if name in lists:
            return self.page_of(lists[name].get(number, []), f"{self.root}{path}", asked)
        match name:
            case "projects/get":
                return Reply(200, self._project(full))
            case "merge_requests/list":
                found = [self._shown(one) for one in reversed(self.opened) if _is_asked(one, asked)]
                return self.page_of(found, f"{self.root}{path}", asked)
            case "merge_requests/get":
                return Reply(200, self._shown(self.opened[number - 1]))
            case "merge_requests/update":
                self.opened[number - 1].body = json.loads(body)["description"]
                return Reply(200, self._shown(self.opened[number - 1]))
            case "merge_requests/create":
                return self._created(json.loads(body), full)
            case "merge_requests/approvals":
                every = self.approvals.get(number, [])
                told = every if self.tells_when else [{"user": one["user"]} for one in every]
                return Reply(200, {"approved": bool(told), "approved_by": told})
            case "members/all":
                ids = [int(one) for one in asked.get("user_ids[]", [])]
                members = [one for one in self.people.values() if one.level and (one.id in ids or not ids)]
                shown = [{**one.shown, "access_level": one.level, "expires_at": None} for one in members]
                return self.page_of(shown, f"{self.root}{path}", asked)
            case _:
                return self._issued(json.loads(body))

    def _project(self, full: str) -> dict[str, Any]:
        id = PROJECT if full == f"{self.owner}/{self.name}" else FORK + sorted(self.forks).index(full)
        page = f"https://gitlab.com/{full}"
        return {"id": id, "path_with_namespace": full, "default_branch": self.default_branch, "web_url": page}

    def _created(self, asked: dict[str, Any], full: str) -> Reply:
        own = full == f"{self.owner}/{self.name}"
        if not own and asked.get("target_project_id") != PROJECT:
            return Reply(404, {"message": "404 Project Not Found"})
        owner, _, fork = full.rpartition("/")
        if self.rival:
            self.open(asked["source_branch"], self.rival, base=asked["target_branch"])
        wanted = (asked["source_branch"], asked["target_branch"], "OPEN")
        same = [one for one in self.opened if (one.head, one.base, one.state) == wanted]
        if same and own:
            said = f"Another open merge request already exists for this source branch: !{same[0].number}"
            return Reply(409, {"message": [said]})
        wrong: dict[str, list[str]] = {}
        where = self.bare if own else self.forks[full]
        for name, bare in (("source_branch", where), ("target_branch", self.bare)):
            if not self.tip(asked[name], bare):
                wrong[name] = ["does not exist"]
        if len(asked["title"]) > LONGEST_TITLE:
            wrong["title"] = [f"is too long (maximum is {LONGEST_TITLE} characters)"]
        if wrong:
            return Reply(400, {"message": wrong})
        made = self.open(
            asked["source_branch"], asked["title"], base=asked["target_branch"], owner="" if own else owner,
            body=asked.get("description", ""),
        )  # fmt: skip
        made.fork = "" if own else fork
        self.pushed(made.number, self.tip(made.head, where), self.clock)
        return Reply(201, self._shown(made))

    def _issued(self, asked: dict[str, Any]) -> Reply:
        if not self.has_issues:
            return Reply(403, {"message": "403 Forbidden"})
        number = len(self.issues) + 1
        page = f"https://gitlab.com/{self.owner}/{self.name}/-/issues/{number}"
        self.issues.append(Issue(number, page, asked["title"], asked.get("description", "")))
        told = {"id": 500 + number, "iid": number, "project_id": PROJECT, "title": asked["title"], "state": "opened"}
        return Reply(201, {**told, "description": asked.get("description"), "web_url": page})

    def _shown(self, one: Opened) -> dict[str, Any]:
        own = one.owner == self.owner and not one.fork
        full = f"{one.owner}/{one.fork or self.name}"
        source = PROJECT if own else FORK + (sorted(self.forks).index(full) if full in self.forks else 99)
        ends = {"source_branch": one.head, "target_branch": one.base}
        projects = {"project_id": PROJECT, "source_project_id": source, "target_project_id": PROJECT}
        times = {"created_at": MORNING, "updated_at": MORNING}
        words = {"title": one.title, "description": one.body, "web_url": one.url, "author": self.author.shown}
        known = {"id": 900 + one.number, "iid": one.number, "state": _STATES[one.state]}
        return {**known, **ends, **projects, **times, **words}

    def _objected(self, status: int, what: str) -> Reply:
        self.objections.append(what)
        return Reply(status, {"error": what})


def _is_asked(one: Opened, asked: dict[str, Any]) -> bool:
    wanted = asked.get("state", "all")
    ends = asked.get("source_branch", one.head) == one.head and asked.get("target_branch", one.base) == one.base
    return ends and wanted in ("all", _STATES[one.state])


def _typed(said: Any, schema: dict[str, Any]) -> Any:
    """A parameter of a query as the contract means it: every one is a text there."""
    if isinstance(said, list):
        return [_typed(one, schema.get("items", {})) for one in said]
    return int(said) if schema.get("type") == "integer" and said.isdigit() else said
