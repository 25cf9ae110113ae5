"""What people said of the pull request: whether the phase that waits is approved, and what is asked of which phase.

Anyone can speak on a public repository. Only those who belong to the project are heard, and each remark once: `since`
and `seen` say how far the conversation was heard before.
"""

from __future__ import annotations

from _collections_abc import Callable, Collection, Iterable, Mapping, Sequence

from holdfast.core.value import Value
from holdfast.forges.port import OWN, Comment, Review, Thread
from holdfast.systems.gated.remarks import Remark, Standpoint, line, second

LONGEST = 20_000
"""Characters of feedback for one phase: what an agent can be asked to read before it begins."""

_BETWEEN = "\n\n"
_ROOM_FOR_THE_CUT = 160
_SHORTEST = 80
"""Less than so much of a remark is of no use."""
_NAMED = 5
_UNDOING = {"CHANGES_REQUESTED": "asked for changes", "DISMISSED": "handed in a review that was dismissed"}


class Said(Value):
    """Everything that was said, as it is now: the reviews, the conversation, and what was said of lines."""

    reviews: tuple[Review, ...] = ()
    comments: tuple[Comment, ...] = ()
    threads: tuple[Thread, ...] = ()


class Heard(Value):
    """What follows from it."""

    approved_by: tuple[str, ...]
    """Logins; nobody while the phase is not approved."""
    feedback: Mapping[str, str]
    """What is newly asked of a phase."""
    earliest: str
    """The earliest phase, up to the current one, that something new is asked of; empty when there is none."""
    unresolved: int
    """Threads on the current phase or an earlier one that nobody has resolved."""
    aside: tuple[str, ...]
    """What moved nothing, and why."""
    newest: str
    """How far the conversation is heard with this: `since` of the next time.

    It stays where it was as long as nothing comes of what was said. An approval that waits for a thread to be resolved
    is then still a new one when that happens.
    """
    newest_ids: tuple[str, ...]
    """What was heard of exactly that second: `seen` of the next time."""
    remarks: tuple[str, ...]
    """What was said along with an approval and asks for nothing."""


class _Votes(Value):
    """Where those stand who decided something, by login: newly approving what waits, or asking for changes."""

    approvals: Mapping[str, Remark]
    requests: Mapping[str, Remark]
    aside: tuple[str, ...]


def heard(
    said: Said,
    *,
    slug: str,
    phases: Sequence[str],
    current: str,
    since: str,
    seen: Collection[str],
    counts: Callable[[str], bool],
) -> Heard:
    """What the conversation says of the phase `current` that waits, and of the others.

    `counts` says whether a review of a commit is a review of what waits now. `since` is empty when nothing was heard
    before; `seen` has the ids of what was heard of exactly that second.
    """
    here = Standpoint(slug, phases, current, second(since), seen)
    every = here.remarks(said.reviews, said.comments, said.threads)
    ours = [one for one in every if one.belongs]
    votes = _votes(ours, counts)
    unresolved = here.unresolved(said.threads)
    obstacles = _obstacles(ours, votes, unresolved)
    approved_by = () if obstacles else tuple(votes.approvals)
    asking, remarks = _parted([one for one in ours if one.is_new and one.text], votes, bool(approved_by))
    feedback = {phase: _BETWEEN.join(_bounded(asking[phase])) for phase in phases if phase in asking}
    moves = approved_by or feedback
    newest, newest_ids = _reached(ours, here.since, seen) if moves else (since, tuple(sorted(seen)))
    return Heard(
        approved_by=approved_by,
        feedback=feedback,
        earliest=next((phase for phase in feedback if not here.is_later(phase)), ""),
        unresolved=unresolved,
        aside=(*votes.aside, *obstacles, *_outsiders(every)),
        newest=newest,
        newest_ids=newest_ids,
        remarks=tuple(_bounded(remarks)),
    )


def _votes(ours: Iterable[Remark], counts: Callable[[str], bool]) -> _Votes:
    """Each person's later decision takes the place of the earlier one, as forges count them.

    Who decided again and had that dismissed stands nowhere: a push can dismiss an approval, and must not bring back the
    request that it had withdrawn.
    """
    approvals: dict[str, Remark] = {}
    requests: dict[str, Remark] = {}
    aside = []
    for one in ours:
        if one.state in _UNDOING:
            requests.pop(one.author, None)
            if approvals.pop(one.author, None):
                aside.append(f"{_names([one.author])} approved and {_UNDOING[one.state]} after that")
        if one.state == "CHANGES_REQUESTED":
            requests[one.author] = one
        elif one.state == "APPROVED":
            requests.pop(one.author, None)
            if one.is_new and one.commit and counts(one.commit):
                approvals[one.author] = one
            elif one.is_new:
                what = f"another commit ({line(one.commit)[:12]})" if one.commit else "a commit that is gone"
                aside.append(f"{_names([one.author])} approved {what}, not what waits now")
        elif one.state == OWN and one.is_new:
            aside.append(f"{_names([one.author])} opened the pull request, so their own approval does not count")
    return _Votes(approvals, requests, tuple(aside))


def _obstacles(ours: Iterable[Remark], votes: _Votes, unresolved: int) -> list[str]:
    """Why approvals that are there do not approve the phase."""
    if not votes.approvals:
        return []
    found = []
    if votes.requests:
        found.append(f"{_names(votes.requests)} asked for changes, which is neither withdrawn nor dismissed")
    if unresolved:
        found.append(f"{_count(unresolved, 'thread')} not resolved on this phase or an earlier one")
    last = max(one.at for one in votes.approvals.values())
    later = {one.author: one for one in ours if one.is_about_the_whole and one.at > last}
    if later:
        found.append(f"{_names(later)} said more after the approval")
    return [f"the approval by {_names(votes.approvals)} waits: {reason}" for reason in found]


def _parted(new: Iterable[Remark], votes: _Votes, approved: bool) -> tuple[dict[str, list[str]], list[str]]:
    """What asks for something, by phase, and what does not."""
    asking: dict[str, list[str]] = {}
    remarks: list[str] = []
    for one in new:
        (asking.setdefault(one.phase, []) if _asks(one, votes, approved) else remarks).append(one.block)
    return asking, remarks


def _asks(one: Remark, votes: _Votes, approved: bool) -> bool:
    """Whether a new remark asks for something. A request that its author took back by approving does not."""
    if one.in_thread:
        return True
    if one.state == "CHANGES_REQUESTED":
        return one.author in votes.requests
    return one.is_about_the_whole and not approved


def _reached(ours: Sequence[Remark], since: str, seen: Collection[str]) -> tuple[str, tuple[str, ...]]:
    newest = max([since, *(one.at for one in ours)])
    ids = {one.id for one in ours if one.at == newest}
    return newest, tuple(sorted(ids.union(seen) if newest == since else ids))


def _outsiders(every: Iterable[Remark]) -> list[str]:
    authors = [one.author for one in every if not one.belongs and one.is_new and one.says_something]
    if not authors:
        return []
    people = _names(dict.fromkeys(authors))
    return [f"{_count(len(authors), 'remark')} ignored, by people who do not belong to the project: {people}"]


def _bounded(blocks: list[str]) -> list[str]:
    """Blocks that joined keep to LONGEST, the oldest first; what had no room is said at the end."""
    if len(_BETWEEN.join(blocks)) <= LONGEST:
        return blocks
    kept: list[str] = []
    whole, room = 0, LONGEST - _ROOM_FOR_THE_CUT
    for block in blocks:
        if room < min(_SHORTEST, len(block)):
            break
        kept.append(block[:room])
        whole += len(block) <= room
        room -= len(block) + len(_BETWEEN)
    cut = f"[Cut here: {len(blocks) - whole} of {len(blocks)} remarks not shown whole; they are on the pull request.]"
    return [*kept, cut]


def _names(logins: Iterable[str]) -> str:
    every = [f"@{line(login)}" for login in logins]
    more = [f"{len(every) - _NAMED} more"] if len(every) > _NAMED else []
    return ", ".join(every[:_NAMED] + more)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"
