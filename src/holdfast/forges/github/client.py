"""The forge that a GitHub is: pull requests found, opened and read, every page of them, and issues opened."""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping
from urllib.parse import quote

from holdfast.core.value import Any
from holdfast.forges import rest
from holdfast.forges.addresses import open_command, require_branches
from holdfast.forges.github import documents, queries, refusals
from holdfast.forges.github.repository import Repository, is_public, roots
from holdfast.forges.port import Comment, PullRequest, Review, Thread
from holdfast.forges.reading import text
from holdfast.forges.rest import RestForge, require_number
from holdfast.forges.transport import GRAPHQL, Transport
from holdfast.plain import plainjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


class Client(RestForge):
    """Speaks of one repository of a GitHub."""

    name = "github"

    def __init__(
        self,
        transport: Transport,
        repository: Repository,
        *,
        head: Repository | None = None,
        address: str = "",
        **how: Any,
    ) -> None:
        super().__init__(transport, **how)
        self._repository = repository
        self._head = head or repository
        self.is_fork = self._head != repository
        self.is_served_by_path = False
        self._path = f"repos/{repository.owner}/{repository.name}"
        self.address = f"{roots(repository.host, address)[0]}/{self._path}"
        self._page = f"https://{repository.host}/{repository.owner}/{repository.name}"
        self._issues = f"{self._page}/issues"

    def address_of(self, number: int) -> str:
        return f"{self.address}/pulls/{number}"

    def find(self, branch: str, base: str = "") -> PullRequest | None:
        require_branches(branch, base or branch)
        asked = {"state": "open", "head": f"{self._head.owner}:{branch}", "sort": "created", "direction": "desc"}
        what = f"the pull request of {branch}"
        listed = self._listed(f"{self._path}/pulls", what, asked | ({"base": base} if base else {}))
        ours = (one for one in listed if documents.is_from(one, self._head if self.is_fork else None))
        return self._understood(what, lambda: next(map(documents.pull_request, ours), None))

    def get(self, number: int) -> PullRequest:
        require_number(number)
        what = f"pull request {number}"
        answer = self._looked("GET", f"{self._path}/pulls/{number}", what)
        return self._understood(what, lambda: documents.pull_request(plainjson.parse(answer.body)))

    def describe(self, number: int, body: str) -> None:
        self._describe("PATCH", number, f"{self._path}/pulls/{number}", {"body": body})

    def _create(self, branch: str, base: str, title: str, body: str, what: str) -> PullRequest:
        asked = {"title": title, "head": self._named_head(branch), "base": base, "body": body}
        if self.is_fork and self._head.owner == self._repository.owner:
            asked["head_repo"] = self._head.name
        return self._changed(f"{self._path}/pulls", asked, what, documents.pull_request)

    def _create_issue(self, title: str, body: str) -> str:
        return self._changed(f"{self._path}/issues", {"title": title, "body": body}, "an issue", documents.issue)

    def reviews(self, number: int) -> tuple[Review, ...]:
        return self._all(number, "pulls/{}/reviews", "the reviews of pull request {}", documents.review)

    def comments(self, number: int) -> tuple[Comment, ...]:
        return self._all(number, "issues/{}/comments", "the comments on pull request {}", documents.comment)

    def _all(self, number: int, path: str, what: str, read: Callable[[Any], T]) -> tuple[T, ...]:
        require_number(number)
        what = what.format(number)
        listed = self._listed(f"{self._path}/{path.format(number)}", what)
        return self._understood(what, lambda: tuple(map(read, listed)))

    def threads(self, number: int) -> tuple[Thread, ...]:
        require_number(number)
        what = f"the threads of pull request {number}"

        def page(after: str | None) -> Mapping[str, Any]:
            data = self._asked(queries.THREADS, {**self._named, "number": number, "after": after}, what)
            found: Mapping[str, Any] = data["repository"]["pullRequest"]["reviewThreads"]
            return found

        def read() -> tuple[Thread, ...]:
            every = (self._thread(one, what) for one in self._nodes(page(None), page))
            return tuple(thread for thread in every if thread.comments)

        return self._understood(what, read)

    def page(self, branch: str, base: str) -> str:
        """Without a base it offers the default branch."""
        require_branches(branch, base or branch)
        ends = "...".join(quote(name, safe="/:") for name in (base, self._named_head(branch)) if name)
        return f"{self._page}/compare/{ends}?expand=1"

    def typed(self, branch: str, title: str, base: str, body_file: str = "") -> str:
        where = f"{self._repository.owner}/{self._repository.name}" if self.is_fork else ""
        host = "" if is_public(self._repository.host) else f"{self._repository.host}/"
        into = host + where if where else ""
        return open_command(branch, title, base, self._remote, into, self._named_head(branch), body_file)

    def _named_head(self, branch: str) -> str:
        return f"{self._head.owner}:{branch}" if self.is_fork else branch

    @property
    def _named(self) -> dict[str, object]:
        return {"owner": self._repository.owner, "name": self._repository.name}

    def default_branch(self) -> str:
        what = "the default branch"

        def read() -> str:
            found = self._asked(queries.DEFAULT_BRANCH, self._named, what)["repository"]["defaultBranchRef"]
            return text(found, "name")

        return self._understood(what, read)

    def _thread(self, one: Mapping[str, Any], what: str) -> Thread:
        def page(after: str) -> Mapping[str, Any]:
            found: Mapping[str, Any] = self._asked(
                queries.MORE_COMMENTS, {"id": text(one, "id"), "after": after}, what
            )["node"]["comments"]
            return found

        said = self._nodes(one["comments"], page)
        return documents.thread(one, tuple(documents.line_comment(each) for each in said if each["state"] != "PENDING"))

    def _nodes(self, first: Mapping[str, Any], more: Callable[[str], Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Every node of a list of GraphQL, from its first page on."""
        after: str | None = None
        for _ in range(rest.PAGES):
            page = first if after is None else more(after)
            yield from documents.nodes(page)
            after = documents.cursor(page)
            if after is None:
                return
        raise ValueError(f"a list of more than {rest.PAGES} pages")

    def _asked(self, query: str, variables: Mapping[str, object], what: str) -> Mapping[str, Any]:
        """The data that GraphQL gives. It counts as a look: none of our queries changes anything."""
        body = plainjson.compact({"query": query, "variables": variables}).encode()
        answer = self._looked("POST", GRAPHQL, what, body)
        document = plainjson.parse(answer.body)
        if document.get("errors"):
            transport = self._transport
            raise refusals.from_errors(document["errors"], answer.headers, transport.host, transport.login, what)
        data: Mapping[str, Any] = document["data"]
        return data
