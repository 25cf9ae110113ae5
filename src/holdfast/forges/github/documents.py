"""How a pull request and what was said of it are read from a GitHub's documents.

A reader raises KeyError, TypeError or ValueError where a document is not as published.
"""

from __future__ import annotations

import re
from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.forges.addresses import is_issue, number_in
from holdfast.forges.port import Comment, PullRequest, Review, Thread
from holdfast.forges.reading import NOBODY, STRANGER, commit, plain, text, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.github.repository import Repository

_STATES = frozenset(("APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED", "PENDING"))
_ASSOCIATIONS = frozenset(
    ("COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", STRANGER, "OWNER")
)


def pull_request(one: Mapping[str, Any]) -> PullRequest:
    number, url = plain(one, "number", int), text(one, "html_url")
    if number_in(url) != number:
        raise ValueError(f"{url!r} is not the address of pull request {number!r}")
    state = text(one, "state")
    if state not in ("open", "closed"):
        raise ValueError(f"a pull request that is {state!r}")
    state = state if one.get("merged_at") is None else "merged"
    return PullRequest(number, url, state, text(one["head"], "ref"), text(one["base"], "ref"), words(one))


def issue(one: Mapping[str, Any]) -> str:
    """The address of an issue."""
    url = text(one, "html_url")
    if not is_issue(url):
        raise ValueError(f"{url!r} is not the address of an issue")
    return url


def is_from(one: Mapping[str, Any], fork: Repository | None) -> bool:
    """Whether a pull request's branch is in this fork, without one in the repository itself. A fork may be gone."""
    origin = one["head"]["repo"]
    if origin is None:
        return False
    if fork is None:
        return bool(origin["id"] == one["base"]["repo"]["id"])
    return text(origin, "full_name").lower() == f"{fork.owner}/{fork.name}".lower()


def review(one: Mapping[str, Any]) -> Review:
    """A state that is not known yet can neither approve nor object, so it is read as a comment."""
    state = text(one, "state").upper()
    pending = state == "PENDING"
    submitted = "" if pending and not one.get("submitted_at") else moment(one, "submitted_at")
    return Review(
        plain(one, "id", int),
        author(one),
        state if state in _STATES else "COMMENTED",
        words(one),
        submitted,
        association(one, "author_association"),
        "" if one["commit_id"] is None else commit(one, "commit_id"),
    )


def comment(one: Mapping[str, Any]) -> Comment:
    """A comment on the pull request as a whole."""
    belongs = association(one, "author_association")
    return Comment(str(plain(one, "id", int)), author(one), words(one), moment(one, "created_at"), belongs)


def line_comment(one: Mapping[str, Any]) -> Comment:
    """A comment on a line. It is drafted at one time and handed in with a review at another, which is what counts."""
    whole, at = one["pullRequestReview"], moment(one, "createdAt")
    if whole is not None and whole["submittedAt"] is not None:
        at = max(at, moment(whole, "submittedAt"))
    return Comment(text(one, "id"), author(one, "author"), words(one), at, association(one, "authorAssociation"))


def thread(one: Mapping[str, Any], comments: tuple[Comment, ...]) -> Thread:
    at = "originalLine" if one["line"] is None else "line"
    line = None if one[at] is None else plain(one, at, int)
    return Thread(text(one, "id"), text(one, "path"), line, plain(one, "isResolved", bool), comments)


def nodes(connection: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a page of GraphQL lists; what may not be seen is null in it."""
    return [one for one in connection["nodes"] if one is not None]


def cursor(connection: Mapping[str, Any]) -> str | None:
    """Where the next page of GraphQL begins; None on the last one."""
    turning = connection["pageInfo"]
    return text(turning, "endCursor") if plain(turning, "hasNextPage", bool) else None


def author(one: Mapping[str, Any], field: str = "user") -> str:
    return NOBODY if one[field] is None else text(one[field], "login")


def association(one: Mapping[str, Any], field: str) -> str:
    """How an author belongs to the repository. Where nothing is said, or a word that is not known yet: not at all."""
    found = one.get(field)
    return found if isinstance(found, str) and found in _ASSOCIATIONS else STRANGER


def moment(one: Mapping[str, Any], name: str) -> str:
    found = text(one, name)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", found):
        raise ValueError(f"{name} is no time: {found!r}")
    return found
