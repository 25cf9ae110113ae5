"""How a pull request and what was said of it are read from a GitHub's documents.

A reader raises KeyError, TypeError or ValueError where a document is not as published.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.forges.addresses import is_issue, number_in
from holdfast.forges.model import Comment, PullRequest, Review, Thread
from holdfast.plain import plainjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOBODY = "ghost"
"""The author that a GitHub shows where an account is gone."""

_STATES = frozenset(("APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"))
_HASHES = (40, 64)
_HEX = frozenset("0123456789abcdef")
_STRANGER = "NONE"
_ASSOCIATIONS = frozenset(
    ("COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", _STRANGER, "OWNER")
)


def pull_request(one: Mapping[str, Any]) -> PullRequest:
    number, url = one["number"], text(one, "html_url")
    if type(number) is not int or number_in(url) != number:
        raise ValueError(f"{url!r} is not the address of pull request {number!r}")
    state = text(one, "state")
    if state not in ("open", "closed"):
        raise ValueError(f"a pull request that is {state!r}")
    merged = one.get("merged_at") is not None
    head, base = one["head"], one["base"]
    return PullRequest(
        number,
        url,
        "merged" if merged else state,
        text(head, "ref"),
        text(base, "ref"),
        author(one),
        commit(head, "sha"),
    )


def issue(one: Mapping[str, Any]) -> str:
    """The address of an issue."""
    url = text(one, "html_url")
    if not is_issue(url):
        raise ValueError(f"{url!r} is not the address of an issue")
    return url


def is_of_the_repository(one: Mapping[str, Any]) -> bool:
    """Whether a pull request's branch lies in the repository itself and not in a fork, which may be gone."""
    origin = one["head"]["repo"]
    return origin is not None and origin["id"] == one["base"]["repo"]["id"]


def review(one: Mapping[str, Any]) -> Review:
    """A state that is not known yet can neither approve nor object, so it is read as a comment."""
    state = text(one, "state").upper()
    pending = state == "PENDING"
    submitted = "" if pending and not one.get("submitted_at") else moment(one, "submitted_at")
    return Review(
        numeric_id(one),
        author(one),
        state if state in _STATES else "COMMENTED",
        words(one),
        submitted,
        association(one, "author_association"),
        "" if one["commit_id"] is None else commit(one, "commit_id"),
    )


def comment(one: Mapping[str, Any]) -> Comment:
    """A comment on the pull request as a whole."""
    return Comment(
        str(numeric_id(one)),
        author(one),
        words(one),
        "",
        None,
        moment(one, "created_at"),
        text(one, "html_url"),
        association(one, "author_association"),
    )


def line_comment(one: Mapping[str, Any]) -> Comment:
    """A comment on a line. It is drafted at one time and handed in with a review at another, which is what counts."""
    whole, drafted = one["pullRequestReview"], moment(one, "createdAt")
    submitted = whole is not None and whole["submittedAt"] is not None
    return Comment(
        text(one, "id"),
        author(one, "author"),
        words(one),
        text(one, "path"),
        line(one),
        max(drafted, moment(whole, "submittedAt")) if submitted else drafted,
        text(one, "url"),
        association(one, "authorAssociation"),
    )


def thread(one: Mapping[str, Any], comments: tuple[Comment, ...]) -> Thread:
    return Thread(
        text(one, "id"), text(one, "path"), line(one), flag(one, "isResolved"), flag(one, "isOutdated"), comments
    )


def listed(body: bytes) -> list[Any]:
    """A page of a list."""
    page = plainjson.parse(body)
    if not isinstance(page, list):
        raise TypeError("a page that is not a list")
    return page


def nodes(connection: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a page of GraphQL lists; what may not be seen is null in it."""
    return [one for one in connection["nodes"] if one is not None]


def cursor(connection: Mapping[str, Any]) -> str | None:
    """Where the next page of GraphQL begins; None on the last one."""
    turning = connection["pageInfo"]
    return text(turning, "endCursor") if flag(turning, "hasNextPage") else None


def author(one: Mapping[str, Any], field: str = "user") -> str:
    return NOBODY if one[field] is None else text(one[field], "login")


def association(one: Mapping[str, Any], field: str) -> str:
    """How an author belongs to the repository. Where nothing is said, or a word that is not known yet: not at all."""
    found = one.get(field)
    return found if isinstance(found, str) and found in _ASSOCIATIONS else _STRANGER


def numeric_id(one: Mapping[str, Any]) -> int:
    found = one["id"]
    if type(found) is not int:
        raise TypeError("an id that is not a number")
    return found


def commit(one: Mapping[str, Any], name: str) -> str:
    """The name of a commit, which git can be asked for as it stands."""
    found = text(one, name)
    if len(found) not in _HASHES or not _HEX.issuperset(found):
        raise ValueError(f"{name} is no commit: {found!r}")
    return found


def words(one: Mapping[str, Any]) -> str:
    """What somebody wrote, which may be nothing."""
    return "" if one.get("body") is None else text(one, "body")


def line(one: Mapping[str, Any]) -> int | None:
    found = one["originalLine"] if one["line"] is None else one["line"]
    if found is not None and type(found) is not int:
        raise TypeError("a line that is not a number")
    return found


def moment(one: Mapping[str, Any], name: str) -> str:
    import re

    found = text(one, name)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", found):
        raise ValueError(f"{name} is no time: {found!r}")
    return found


def flag(one: Mapping[str, Any], name: str) -> bool:
    found = one[name]
    if not isinstance(found, bool):
        raise TypeError(f"{name} is neither true nor false")
    return found


def text(one: Mapping[str, Any], name: str) -> str:
    """A text that can be written again: half a pair of surrogates is replaced."""
    found = one[name]
    if not isinstance(found, str):
        raise TypeError(f"{name} is not text")
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
