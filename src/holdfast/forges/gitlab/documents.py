"""How a merge request and what was said of it are read from a GitLab's documents.

A reader raises KeyError, TypeError or ValueError where a document is not as published.
"""

from __future__ import annotations

from _collections_abc import Iterable, Iterator, Mapping

from holdfast.core import moment
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.forges.addresses import is_issue, number_in
from holdfast.forges.port import Comment, PullRequest, Thread
from holdfast.forges.reading import NOBODY, STRANGER, plain, text, words

_STATES = {"opened": "open", "locked": "open", "closed": "closed", "merged": "merged"}
_LEVELS = ((50, "OWNER"), (30, "MEMBER"), (20, "COLLABORATOR"))
"""Owners; developers and maintainers; reporters. Guests and planners do not belong to a project."""


def merge_request(one: Mapping[str, Any]) -> PullRequest:
    number, url = plain(one, "iid", int), text(one, "web_url")
    if number_in(url) != number:
        raise ValueError(f"{url!r} is not the address of merge request {number!r}")
    state = _STATES.get(text(one, "state"))
    if state is None:
        raise ValueError(f"a merge request that is {one['state']!r}")
    ends = text(one, "source_branch"), text(one, "target_branch")
    return PullRequest(number, url, state, *ends, words(one, "description"))


def is_from(one: Mapping[str, Any], project: int | None) -> bool:
    """Whether a merge request's branch is in this project; without one, in that which it goes to.

    A fork may be gone.
    """
    return bool(one["source_project_id"] == (plain(one, "target_project_id", int) if project is None else project))


def issue(one: Mapping[str, Any]) -> str:
    """The address of an issue."""
    url = text(one, "web_url")
    if not is_issue(url):
        raise ValueError(f"{url!r} is not the address of an issue")
    return url


def levels(members: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """How members belong to the project, by their ids."""
    return {plain(one, "id", int): _level(one) for one in members}


def _level(one: Mapping[str, Any]) -> str:
    """The word for a level of access. An account that is blocked has none."""
    has = plain(one, "access_level", int) if text(one, "state") == "active" else 0
    return next((word for least, word in _LEVELS if has >= least), STRANGER)


def author(one: Mapping[str, Any]) -> str:
    return NOBODY if one["author"] is None else text(one["author"], "username")


def authors(discussions: Iterable[Mapping[str, Any]]) -> set[int]:
    """The ids of those who wrote anything themselves."""
    every = (note["author"] for one in discussions for note in written(one))
    return {plain(found, "id", int) for found in every if found is not None}


def written(discussion: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The notes that somebody wrote: a GitLab also makes notes of what happens."""
    return (note for note in plain(discussion, "notes", list) if not plain(note, "system", bool))


def is_thread(discussion: Mapping[str, Any]) -> bool:
    """Whether a discussion can be resolved. What cannot be, such as a comment of its own, asks for no answer there."""
    return any(plain(note, "resolvable", bool) for note in written(discussion))


def comment(one: Mapping[str, Any], belonging: Mapping[int, str]) -> Comment:
    belongs = STRANGER if one["author"] is None else belonging.get(plain(one["author"], "id", int), STRANGER)
    return Comment(str(plain(one, "id", int)), author(one), words(one), second(one, "created_at"), belongs)


def thread(one: Mapping[str, Any], belonging: Mapping[int, str]) -> Thread:
    notes = list(written(one))
    resolved = all(plain(note, "resolved", bool) for note in notes if note["resolvable"])
    place: Mapping[str, Any] = next((note["position"] for note in notes if note.get("position") is not None), {})
    path = next((text(place, name) for name in ("new_path", "old_path") if place.get(name) is not None), "")
    line = next((plain(place, name, int) for name in ("new_line", "old_line") if place.get(name) is not None), None)
    return Thread(text(one, "id"), path, line, resolved, tuple(comment(note, belonging) for note in notes))


def second(one: Mapping[str, Any], name: str) -> str:
    """A moment to the second, in UTC."""
    return moment.whole(moment.from_epoch(exact(one, name) // 1))


def exact(one: Mapping[str, Any], name: str) -> float:
    """A moment as seconds since 1970. A GitLab writes it with a fraction and in the time zone that it is set to."""
    found = text(one, name)
    try:
        return moment.to_epoch(found)
    except HoldfastError:
        raise ValueError(f"{name} is no time: {found!r}") from None
