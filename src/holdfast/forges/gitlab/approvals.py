"""Who approved which commit of a merge request.

A GitLab says who approves now, and since its later versions also since when. It does not say which commit: that is the
newest one that the merge request had at that time. What it notes by itself of each approval tells the earlier ones of
the same people, which count as long as they approve.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import moment
from holdfast.core.value import Any, Value
from holdfast.forges.gitlab.documents import author, exact
from holdfast.forges.port import OWN, Review
from holdfast.forges.reading import STRANGER, commit, plain, text

_APPROVED = "approved this merge request"
_REQUESTED = "requested changes"


class Said(Value):
    """The documents about one merge request."""

    request: Mapping[str, Any]
    approvals: Mapping[str, Any]
    discussions: list[Mapping[str, Any]]
    versions: list[Mapping[str, Any]]
    reviewers: list[Mapping[str, Any]]

    def people(self) -> set[int]:
        """The ids of those who decided something, now or before."""
        users = [one["user"] for one in (*self.approvals["approved_by"], *self.reviewers)]
        users += [note["author"] for note in (*self.noted(_APPROVED), *self.noted(_REQUESTED))]
        return {plain(user, "id", int) for user in users}

    def noted(self, body: str) -> list[Mapping[str, Any]]:
        """The notes of this kind that the GitLab made itself."""
        every = (note for one in self.discussions for note in plain(one, "notes", list))
        return [
            one for one in every if plain(one, "system", bool) and one["body"] == body and one["author"] is not None
        ]

    def commit_at(self, when: float) -> str:
        """The commit that was the newest at a moment; empty where that cannot be told."""
        times = {exact(one, "created_at"): commit(one, "head_commit_sha") for one in self.versions}
        before = [at for at in times if at < when]
        return "" if when in times or not before else times[max(before)]


def reviews(said: Said, belonging: Mapping[int, str]) -> tuple[Review, ...]:
    """Approvals and requests for changes, the oldest first."""
    found = [*_approvals(said, belonging), *_requests(said, belonging)]
    return tuple(sorted(found, key=lambda one: (one.submitted_at, one.id)))


def _approvals(said: Said, belonging: Mapping[int, str]) -> Iterable[Review]:
    """What its author took back, or a push, is DISMISSED: as on other forges it is known, and approves nothing."""
    own = plain(said.request["author"], "id", int)
    now = {plain(one["user"], "id", int): one for one in said.approvals["approved_by"]}
    noted: dict[int, list[Mapping[str, Any]]] = {}
    for note in said.noted(_APPROVED):
        noted.setdefault(plain(note["author"], "id", int), []).append(note)
    for who, notes in noted.items():
        exactly = who in now and now[who].get("approved_at") is not None
        state = (OWN if who == own else "APPROVED") if who in now else "DISMISSED"
        earlier = sorted(notes, key=lambda one: exact(one, "created_at"))
        for note in earlier[:-1] if exactly else earlier:  # the last of them is told better by the approval itself
            at = exact(note, "created_at")
            yield _review(plain(note, "id", int), author(note), state, at, belonging.get(who), said.commit_at(at))
    for who, one in now.items():
        state, name = OWN if who == own else "APPROVED", text(one["user"], "username")
        if one.get("approved_at") is not None:
            at = exact(one, "approved_at")
            yield _review(-who, name, state, at, belonging.get(who), said.commit_at(at))
        elif who not in noted:
            yield _review(-who, name, state, exact(said.request, "updated_at"), belonging.get(who), "")


def _requests(said: Said, belonging: Mapping[int, str]) -> Iterable[Review]:
    """Who asks for changes now. What is to be changed is in threads and comments."""
    for one in said.reviewers:
        if text(one, "state") == "requested_changes":
            who = plain(one["user"], "id", int)
            notes = (note for note in said.noted(_REQUESTED) if note["author"]["id"] == who)
            at = max((exact(note, "created_at") for note in notes), default=exact(one, "created_at"))
            yield _review(-who, text(one["user"], "username"), "CHANGES_REQUESTED", at, belonging.get(who), "")


def _review(id: int, who: str, state: str, at: float, belongs: str | None, seen: str) -> Review:
    return Review(id, who, state, "", moment.whole(moment.from_epoch(at // 1)), belongs or STRANGER, seen)
