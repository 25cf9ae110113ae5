"""The forge that a GitHub is: pull requests found, opened and read, every page of them, and issues opened.

Reads are repeated when a GitHub has a fault of its own. A change never is: where it is not known whether it happened,
the client reads what is there.
"""

from __future__ import annotations

import re
import time
from _collections_abc import Callable, Iterator, Mapping
from urllib.parse import quote, urlencode

from holdfast.core.names import checked_text
from holdfast.core.remedy import shell
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, OutcomeUnknown, UsageError
from holdfast.forges.addresses import open_command, require_branches
from holdfast.forges.github import documents, queries, refusals
from holdfast.forges.github.repository import Repository, is_public, roots
from holdfast.forges.github.transport import GRAPHQL, Answer, Transport
from holdfast.forges.port import Comment, PullRequest, Review, Thread
from holdfast.plain import plainjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

PAGES = 100
"""More than these of one list are not read: no review is that long, so the answers lead in a circle."""

TITLE_LIMIT = 1000
BODY_LIMIT = 1 << 18
_UNSURE = frozenset(("github_unreachable", "github_down", "github_odd_answer"))
_LARGEST_NUMBER = 1 << 31


class Client:
    """Speaks of one repository; `pauses` are the seconds before each repetition of a look."""

    name = "github"

    def __init__(
        self,
        transport: Transport,
        repository: Repository,
        *,
        remote: str = "origin",
        head: Repository | None = None,
        source: str = name,
        address: str = "",
        pauses: tuple[float, ...] = (0.3, 1.0),
    ) -> None:
        self.source = source
        self.refusal = transport.refusal
        self._transport = transport
        self._repository = repository
        self._head = head or repository
        self.is_fork = self._head != repository
        self._path = f"repos/{repository.owner}/{repository.name}"
        self.address = f"{roots(repository.host, address)[0]}/{self._path}"
        self._remote = remote
        self._pauses = pauses

    def find(self, branch: str, base: str = "") -> PullRequest | None:
        require_branches(branch, base or branch)
        asked = {"state": "open", "head": f"{self._head.owner}:{branch}", "sort": "created", "direction": "desc"}
        what = f"the pull request of {branch}"
        listed = self._listed("pulls", what, asked | ({"base": base} if base else {}))
        ours = (one for one in listed if documents.is_from(one, self._head if self.is_fork else None))
        return self._understood(what, lambda: next(map(documents.pull_request, ours), None))

    def get(self, number: int) -> PullRequest:
        _require_number(number)
        what = f"pull request {number}"
        answer = self._looked("GET", f"{self._path}/pulls/{number}", what)
        return self._understood(what, lambda: documents.pull_request(plainjson.parse(answer.body)))

    def open(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        """One that is open is returned, before as well as after an answer that got lost, so that none is doubled."""
        _require_words(title, body)
        found = self.find(branch, base)
        if found is not None:
            return found
        base = base or self.default_branch()
        what = f"a pull request from {branch} into {base}"
        asked = {"title": title, "head": self._named_head(branch), "base": base, "body": body}
        if self.is_fork and self._head.owner == self._repository.owner:
            asked["head_repo"] = self._head.name
        try:
            return self._changed("pulls", asked, what, documents.pull_request)
        except HoldfastError as failure:
            found = self._found_after(failure, branch, base)
            if found is None:
                raise
            return found

    def open_issue(self, title: str, body: str) -> str:
        """Where the answer got lost, nothing tells an issue that was opened from another one with these words."""
        _require_words(title, body)
        try:
            return self._changed("issues", {"title": title, "body": body}, "an issue", documents.issue)
        except HoldfastError as failure:
            if failure.code not in _UNSURE:
                raise
            raise OutcomeUnknown(
                failure.code,
                f"{failure.message}; the issue may or may not be open",
                remedy=f"look whether it is on {self._page}/issues before you repeat the command",
                facts=failure.facts,
            ) from None

    def reviews(self, number: int) -> tuple[Review, ...]:
        return self._all(number, "pulls/{}/reviews", "the reviews of pull request {}", documents.review)

    def comments(self, number: int) -> tuple[Comment, ...]:
        return self._all(number, "issues/{}/comments", "the comments on pull request {}", documents.comment)

    def _all(self, number: int, path: str, what: str, read: Callable[[Any], T]) -> tuple[T, ...]:
        _require_number(number)
        what = what.format(number)
        listed = self._listed(path.format(number), what)
        return self._understood(what, lambda: tuple(map(read, listed)))

    def threads(self, number: int) -> tuple[Thread, ...]:
        _require_number(number)
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
    def _page(self) -> str:
        return f"https://{self._repository.host}/{self._repository.owner}/{self._repository.name}"

    @property
    def _named(self) -> dict[str, object]:
        return {"owner": self._repository.owner, "name": self._repository.name}

    def default_branch(self) -> str:
        what = "the default branch"

        def read() -> str:
            found = self._asked(queries.DEFAULT_BRANCH, self._named, what)["repository"]["defaultBranchRef"]
            return documents.text(found, "name")

        return self._understood(what, read)

    def _changed(self, path: str, asked: Mapping[str, str], what: str, read: Callable[[Any], T]) -> T:
        """What a POST made. It is never repeated."""
        answer = self._transport.send("POST", f"{self._path}/{path}", plainjson.compact(asked).encode())
        if answer.status != 201:
            raise self._refusal(answer, what)
        return self._understood(what, lambda: read(plainjson.parse(answer.body)))

    def _thread(self, one: Mapping[str, Any], what: str) -> Thread:
        def page(after: str) -> Mapping[str, Any]:
            found: Mapping[str, Any] = self._asked(
                queries.MORE_COMMENTS, {"id": documents.text(one, "id"), "after": after}, what
            )["node"]["comments"]
            return found

        said = self._nodes(one["comments"], page)
        return documents.thread(one, tuple(documents.line_comment(each) for each in said if each["state"] != "PENDING"))

    def _nodes(self, first: Mapping[str, Any], more: Callable[[str], Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Every node of a list of GraphQL, from its first page on."""
        after: str | None = None
        for _ in range(PAGES):
            page = first if after is None else more(after)
            yield from documents.nodes(page)
            after = documents.cursor(page)
            if after is None:
                return
        raise ValueError(f"a list of more than {PAGES} pages")

    def _listed(self, path: str, what: str, asked: Mapping[str, str] | None = None) -> list[Any]:
        """Every page of a list. Of the link to the next one only the question is taken: path and host stay ours."""
        from functools import partial

        found: list[Any] = []
        query = urlencode({**(asked or {}), "per_page": "100"})
        for _ in range(PAGES):
            answer = self._looked("GET", f"{self._path}/{path}?{query}", what)
            found += self._understood(what, partial(documents.listed, answer.body))
            query = _next_query(answer.headers.get("link", ""))
            if not query:
                return found
        raise refusals.odd(self._transport.host, f"{what} has more than {PAGES} pages")

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

    def _looked(self, method: str, path: str, what: str, body: bytes = b"") -> Answer:
        answer = self._transport.send(method, path, body)
        for pause in self._pauses:
            if answer.status < 500:
                break
            time.sleep(pause)
            answer = self._transport.send(method, path, body)
        if answer.status != 200:
            raise self._refusal(answer, what)
        return answer

    def _found_after(self, failure: HoldfastError, branch: str, base: str) -> PullRequest | None:
        """What is there after a change that failed, or seemed to: ours, or one that somebody opened just before."""
        if failure.code not in _UNSURE and "already exists" not in failure.message:
            return None
        try:
            return self.find(branch, base)
        except HoldfastError as blind:
            raise OutcomeUnknown(
                failure.code,
                f"{failure.message}; the pull request may or may not be open, and to look failed: {blind.message}",
                remedy="repeat the command: it looks first, and opens none that is there",
                facts={**failure.facts, "branch": branch, "base": base},
            ) from None

    def _refusal(self, answer: Answer, what: str) -> HoldfastError:
        return refusals.from_status(answer, self._transport.host, self._transport.login, what)

    def _understood(self, what: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise refusals.odd(self._transport.host, f"{what}: {type(error).__name__} {error}") from None


def _next_query(link: str) -> str:
    """The question of the link to the next page, where an answer has one."""
    found = re.search(r'<[^<>?]{0,1000}\?([A-Za-z0-9_.~%&=+-]{1,2000})>\s*;[^<>]*?\brel="next"', link[:20_000])
    return found[1] if found else ""


def _require_number(number: int) -> None:
    if type(number) is not int or not 0 < number < _LARGEST_NUMBER:
        said = "the number of a pull request is a whole one from 1 on"
        raise UsageError("bad_number", said, remedy=shell("gh", "pr", "list"))


def _require_words(title: str, body: str) -> None:
    checked_text(title, "title", TITLE_LIMIT)
    checked_text(body.strip() or "none", "body", BODY_LIMIT)
    if not title.isprintable():
        raise UsageError("bad_text", "the title must be one line of printable text", remedy="shorten it to one line")
