"""What forges with a REST API share: every page of a list is read, and pull requests and issues are opened once.

Reads are repeated when a forge has a fault of its own. A change never is: where it is not known whether it happened,
the client reads what is there.
"""

from __future__ import annotations

import re
import time
from _collections_abc import Callable, Mapping
from urllib.parse import urlencode

from holdfast.core.names import checked_text
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, OutcomeUnknown, UsageError
from holdfast.forges import reading, refusals
from holdfast.forges.port import PullRequest
from holdfast.forges.transport import Answer, Transport
from holdfast.plain import plainjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

PAGES = 100
"""More than these of one list are not read: no review is that long, so the answers lead in a circle."""

TITLE_LIMIT = 1000
BODY_LIMIT = 1 << 18
PAUSES = (0.3, 1.0)
"""The seconds before each repetition of a look."""

_UNSURE = frozenset(("forge_unreachable", "forge_down", "forge_odd_answer"))
_LARGEST_NUMBER = 1 << 31


class RestForge:
    """A forge that speaks of one repository; a kind of forge says how it names things and reads its documents."""

    name: str
    _issues: str
    """The page that lists the issues."""

    def __init__(
        self, transport: Transport, *, remote: str = "origin", source: str = "", pauses: tuple[float, ...] = PAUSES
    ) -> None:
        self.source = source or self.name
        self.refusal = transport.refusal
        self._transport = transport
        self._remote = remote
        self._pauses = pauses

    def find(self, branch: str, base: str = "") -> PullRequest | None:
        raise NotImplementedError

    def default_branch(self) -> str:
        raise NotImplementedError

    def _create(self, branch: str, base: str, title: str, body: str, what: str) -> PullRequest:
        raise NotImplementedError

    def _create_issue(self, title: str, body: str) -> str:
        raise NotImplementedError

    def open(self, branch: str, base: str, title: str, body: str) -> PullRequest:
        """One that is open is returned, before as well as after an answer that got lost, so that none is doubled."""
        _require_words(title, body)
        found = self.find(branch, base)
        if found is not None:
            return found
        base = base or self.default_branch()
        try:
            return self._create(branch, base, title, body, f"a pull request from {branch} into {base}")
        except HoldfastError as failure:
            found = self._found_after(failure, branch, base)
            if found is None:
                raise
            return found

    def open_issue(self, title: str, body: str) -> str:
        """Where the answer got lost, nothing tells an issue that was opened from another one with these words."""
        _require_words(title, body)
        try:
            return self._create_issue(title, body)
        except HoldfastError as failure:
            if failure.code not in _UNSURE:
                raise
            raise OutcomeUnknown(
                failure.code,
                f"{failure.message}; the issue may or may not be open",
                remedy=f"look whether it is on {self._issues} before you repeat the command",
                facts=failure.facts,
            ) from None

    def _changed(self, path: str, asked: Mapping[str, object], what: str, read: Callable[[Any], T]) -> T:
        """What a POST made. It is never repeated."""
        answer = self._transport.send("POST", path, plainjson.compact(asked).encode())
        if answer.status != 201:
            raise self._refusal(answer, what)
        return self._understood(what, lambda: read(plainjson.parse(answer.body)))

    def _describe(self, method: str, number: int, path: str, asked: Mapping[str, str]) -> None:
        """Change the description of a pull request: sent again after a fault, it does no harm."""
        require_number(number)
        for words in asked.values():
            checked_text(words.strip() or "none", "body", BODY_LIMIT)
        self._looked(method, path, f"the description of pull request {number}", plainjson.compact(asked).encode())

    def _listed(self, path: str, what: str, asked: Mapping[str, str | list[str]] | None = None) -> list[Any]:
        """Every page of a list. Of the link to the next one only the question is taken: path and host stay ours."""
        from functools import partial

        found: list[Any] = []
        query = urlencode({**(asked or {}), "per_page": "100"}, doseq=True)
        for _ in range(PAGES):
            answer = self._looked("GET", f"{path}?{query}", what)
            found += self._understood(what, partial(reading.listed, answer.body))
            query = _next_query(answer.headers.get("link", ""))
            if not query:
                return found
        raise refusals.odd(self._transport.host, f"{what} has more than {PAGES} pages")

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


def require_number(number: int) -> None:
    if type(number) is not int or not 0 < number < _LARGEST_NUMBER:
        said = "the number of a pull request is a whole one from 1 on"
        raise UsageError("bad_number", said, remedy="take it from the address of the pull request")


def _next_query(link: str) -> str:
    """The question of the link to the next page, where an answer has one."""
    found = re.search(r'<[^<>?]{0,1000}\?([A-Za-z0-9_.~%&=+-]{1,2000})>\s*;[^<>]*?\brel="next"', link[:20_000])
    return found[1] if found else ""


def _require_words(title: str, body: str) -> None:
    checked_text(title, "title", TITLE_LIMIT)
    checked_text(body.strip() or "none", "body", BODY_LIMIT)
    if not title.isprintable():
        raise UsageError("bad_text", "the title must be one line of printable text", remedy="shorten it to one line")
