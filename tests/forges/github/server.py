"""A GitHub on loopback, which both transports talk to: by a token, and by the real `gh`.

    with GitHub(tmp_path / "github") as github:
        github.adopt(top)                               # `origin` of a working tree is now github.url
        git("push", "-u", "origin", "fix", cwd=top)     # goes to a bare repository on this disk
        run(["holdfast", "done", …], cwd=top, env={**os.environ, **github.environ})
        assert [one.title for one in github.opened] == ["Fix the door"]
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
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlsplit

import graphql

from holdfast.forges.github.repository import Repository
from tests.forges.github.conversation import KeptThread, Root
from tests.forges.loopback import LARGEST_PAGE, TOKEN, Issue, Loopback, Opened, Reply, operation_of

DATA = Path(__file__).with_name("data")
PUBLISHED = json.loads((DATA / "openapi-subset.json").read_text())
SCHEMA = graphql.build_schema((DATA / "subset.graphql").read_text())
LONGEST_TITLE = 256
HERE = Repository("github.com", "octo-org", "octo-repo")


@dataclass
class GitHub(Loopback):
    """Reviews, comments and threads are by the number of the pull request that they speak of."""

    host: ClassVar[str] = "api.github.com"
    site: ClassVar[str] = "github.com"

    reviews: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    threads: dict[int, list[KeptThread]] = field(default_factory=dict)

    @property
    def environ(self) -> dict[str, str]:
        """Variables to add to those of a child process."""
        gh = shutil.which("gh")
        assert gh, "the tests need gh: tools/system-packages installs it"
        return {
            "PATH": os.pathsep.join((os.environ["PATH"], os.path.dirname(gh))),
            **self.through,
            "GH_CONFIG_DIR": str(self.folder / "config"),
            "GH_TOKEN": TOKEN,
        }

    def open(self, head: str, title: str, base: str = "", owner: str = "", body: str = "") -> Opened:
        """A pull request that somebody opened by other means; with `owner`, from the fork of that name."""
        number = len(self.opened) + 1
        page = f"https://github.com/{self.owner}/{self.name}/pull/{number}"
        base, owner = base or self.default_branch, owner or self.owner
        self.opened.append(Opened(number, page, title, body, base, head, owner))
        return self.opened[-1]

    def done(self, method: str, target: str, headers: Any, body: bytes) -> Reply:
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
        found = operation_of(PUBLISHED["operations"], method, path)
        if found is None:
            return self._objected(404, f"no operation {method} {path}")
        operation, match = found
        asked = dict(parse_qsl(query, keep_blank_values=True))
        self._hold(operation, {**asked, **match}, body)
        self.operations.append(operation["id"])
        if (match["owner"], match["repo"]) == (self.owner, self.moved_from):
            onward = f"{path.replace(self.moved_from, self.name, 1)}?{query}"
            return Reply(301 if method == "GET" else 307, {"message": "Moved Permanently"}, {"Location": onward})
        if (match["owner"], match["repo"]) != (self.owner, self.name):
            return _missing()
        number = int(match.get("pull_number") or match.get("issue_number") or 0)
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
        self.fits(document, schema, what, PUBLISHED["schemas"])

    def _answered(self, operation: dict[str, Any], number: int, asked: dict[str, str], body: bytes) -> Reply:
        example = operation["example"]
        match operation["id"]:
            case "pulls/list":
                found = [self._shown(one, example[0]) for one in reversed(self.opened) if self._is_asked(one, asked)]
                return self.page_of(found, "/repositories/1296269/pulls", asked, 30)
            case "pulls/get":
                return Reply(200, self._shown(self.opened[number - 1], example))
            case "pulls/update":
                self.opened[number - 1].body = json.loads(body)["body"]
                return Reply(200, self._shown(self.opened[number - 1], example))
            case "pulls/create":
                return self._created(json.loads(body), example)
            case "issues/create":
                return self._issued(json.loads(body), example)
            case "pulls/list-reviews":
                every = [{**example[0], **one} for one in self.reviews.get(number, [])]
                every = [{name: value for name, value in one.items() if value is not ...} for one in every]
                return self.page_of(every, f"/repositories/1296269/pulls/{number}/reviews", asked, 30)
            case _:
                said = [{**example[0], **one} for one in self.comments.get(number, [])]
                return self.page_of(said, f"/repositories/1296269/issues/{number}/comments", asked, 30)

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
    tips = {base: github.tip(base), head: github.tip(branch, where)}
    wrong = ["Head sha can't be blank", "Base sha can't be blank"] if not all(tips.values()) else []
    if not github.has_more(base, branch, where):
        wrong.append(f"No commits between {base} and {head}")
    wrong += [f"{end} ref must be a branch" for end, name in (("Head", head), ("Base", base)) if not tips[name]]
    if len(title) > LONGEST_TITLE:
        wrong.append(f"Title is too long (maximum is {LONGEST_TITLE} characters)")
    for one in github.opened:
        if (one.owner, one.head, one.base, one.state) == (github.owner, head, base, "OPEN"):
            wrong.append(f"A pull request already exists for {github.owner}:{head}.")
    return wrong
