"""The forge that a GitLab is: merge requests found, opened and read, every page of them, and issues opened."""

from __future__ import annotations

from _collections_abc import Collection, Mapping
from urllib.parse import quote, urlencode

from holdfast.core.value import Any
from holdfast.forges.addresses import push_command, require_branches
from holdfast.forges.gitlab import approvals, documents
from holdfast.forges.gitlab.project import PUBLIC, Project, root
from holdfast.forges.port import Comment, PullRequest, Review, Thread
from holdfast.forges.reading import STRANGER, plain, text
from holdfast.forges.rest import RestForge, require_number
from holdfast.forges.transport import Transport
from holdfast.plain import plainjson

_AT_ONCE = 50
"""Members asked for in one request: an address has its limits."""


class Client(RestForge):
    """Speaks of one project of a GitLab."""

    name = "gitlab"

    def __init__(
        self, transport: Transport, project: Project, *, head: Project | None = None, address: str = "", **how: Any
    ) -> None:
        super().__init__(transport, **how)
        self._project = project
        self._head = head or project
        self.is_fork = self._head != project
        self.is_served_by_path = False
        self._path = _path(project)
        self.address = f"{root(project.host, address)}/{self._path}"
        self._issues = f"https://{project.host}/{project.path}/-/issues"
        self._belonging: dict[int, str] = {}

    def address_of(self, number: int) -> str:
        return f"{self.address}/merge_requests/{number}"

    def default_branch(self) -> str:
        what = "the default branch"
        found = self._object(self._path, what)
        return self._understood(what, lambda: text(found, "default_branch"))

    def find(self, branch: str, base: str = "") -> PullRequest | None:
        require_branches(branch, base or branch)
        asked = {"state": "opened", "source_branch": branch, "order_by": "created_at", "sort": "desc"}
        what = f"the pull request of {branch}"
        listed = self._listed(f"{self._path}/merge_requests", what, asked | ({"target_branch": base} if base else {}))
        source = self._id(self._head) if self.is_fork and listed else None
        ours = (one for one in listed if documents.is_from(one, source))
        return self._understood(what, lambda: next(map(documents.merge_request, ours), None))

    def get(self, number: int) -> PullRequest:
        found = self._request(number, "", f"pull request {number}")
        return self._understood(f"pull request {number}", lambda: documents.merge_request(found))

    def describe(self, number: int, body: str) -> None:
        self._describe("PUT", number, f"{self._path}/merge_requests/{number}", {"description": body})

    def _create(self, branch: str, base: str, title: str, body: str, what: str) -> PullRequest:
        asked: dict[str, object] = {
            "source_branch": branch,
            "target_branch": base,
            "title": title,
            "description": body,
        }
        if self.is_fork:
            asked["target_project_id"] = self._id(self._project)
        return self._changed(f"{_path(self._head)}/merge_requests", asked, what, documents.merge_request)

    def _create_issue(self, title: str, body: str) -> str:
        return self._changed(f"{self._path}/issues", {"title": title, "description": body}, "an issue", documents.issue)

    def reviews(self, number: int) -> tuple[Review, ...]:
        what = f"the approvals of pull request {number}"
        said = approvals.Said(
            request=self._request(number, "", what),
            approvals=self._request(number, "/approvals", what),
            discussions=self._discussions(number, what),
            versions=self._of(number, "versions", what),
            reviewers=self._of(number, "reviewers", what),
        )
        people = self._understood(what, said.people)
        belonging = self._members(people, what)
        return self._understood(what, lambda: approvals.reviews(said, belonging))

    def comments(self, number: int) -> tuple[Comment, ...]:
        what = f"the comments on pull request {number}"
        every = self._discussions(number, what)
        belonging = self._members(self._understood(what, lambda: documents.authors(every)), what)

        def read() -> tuple[Comment, ...]:
            notes = (note for one in every if not documents.is_thread(one) for note in documents.written(one))
            return tuple(documents.comment(note, belonging) for note in notes)

        return self._understood(what, read)

    def threads(self, number: int) -> tuple[Thread, ...]:
        what = f"the threads of pull request {number}"
        every = self._discussions(number, what)
        belonging = self._members(self._understood(what, lambda: documents.authors(every)), what)
        found = (documents.thread(one, belonging) for one in every if documents.is_thread(one))
        return self._understood(what, lambda: tuple(found))

    def page(self, branch: str, base: str) -> str:
        """Without a base it offers the default branch."""
        require_branches(branch, base or branch)
        asked = {"source_branch": branch, "target_branch": base}
        fields = urlencode({f"merge_request[{name}]": value for name, value in asked.items() if value})
        return f"https://{self._head.host}/{self._head.path}/-/merge_requests/new?{fields}"

    def typed(self, branch: str, title: str, base: str, body_file: str = "") -> str:
        """What is pushed along with options opens none where the branch is pushed already, so `glab` opens it."""
        import shlex

        require_branches(branch, base or branch)
        host = "" if self._project.host == PUBLIC else f"https://{self._project.host}/"
        other = ("--repo", f"{host}{self._project.path}", "--head", f"{host}{self._head.path}") if self.is_fork else ()
        into = ("--target-branch", base) if base else ()
        words = ("glab", "mr", "create", *other, "--source-branch", branch, *into, "--title", title, "--yes")
        body = f'"$(cat {shlex.quote(body_file)})"' if body_file else "''"
        return f"{push_command(branch, self._remote)} && {shlex.join(words)} --description {body}"

    def _discussions(self, number: int, what: str) -> list[Any]:
        return self._of(number, "discussions", what)

    def _of(self, number: int, list_name: str, what: str) -> list[Any]:
        require_number(number)
        return self._listed(f"{self._path}/merge_requests/{number}/{list_name}", what)

    def _request(self, number: int, more: str, what: str) -> Mapping[str, Any]:
        require_number(number)
        return self._object(f"{self._path}/merge_requests/{number}{more}", what)

    def _object(self, path: str, what: str) -> Mapping[str, Any]:
        answer = self._looked("GET", path, what)

        def read() -> Mapping[str, Any]:
            found = plainjson.parse(answer.body)
            if not isinstance(found, dict):
                raise TypeError("an answer that is not an object")
            return found

        return self._understood(what, read)

    def _id(self, project: Project) -> int:
        found = self._object(_path(project), project.path)
        return self._understood(project.path, lambda: plain(found, "id", int))

    def _members(self, people: Collection[int], what: str) -> Mapping[int, str]:
        """How each of these people belongs to the project, directly or by a group.

        The account of a token or a service belongs to a project as a member does, and is nobody.
        """
        from functools import partial

        unknown = sorted(people - self._belonging.keys())
        for start in range(0, len(unknown), _AT_ONCE):
            some = unknown[start : start + _AT_ONCE]
            listed = self._listed(f"{self._path}/members/all", what, {"user_ids[]": [str(one) for one in some]})
            known = self._understood(what, partial(documents.levels, listed))
            for who in some:
                belongs = known.get(who, STRANGER)
                self._belonging[who] = belongs if belongs != STRANGER and self._is_person(who, what) else STRANGER
        return {who: self._belonging[who] for who in people}

    def _is_person(self, who: int, what: str) -> bool:
        return self._object(f"users/{who}", what).get("bot") is False


def _path(project: Project) -> str:
    return f"projects/{quote(project.path, safe='')}"
