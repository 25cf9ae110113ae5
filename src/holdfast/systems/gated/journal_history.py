"""The copies of a feature's journal in the history of its branch: what a merge left out is decided about by a person.

A merge or a rebase by hand can take either side of a file, so the copy in the working tree does not show the other one.
The history has both.
"""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import remedies
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.engine.ports import AHEAD, FORKED, LARGEST_COPY, Standing
from holdfast.errors import Broken, Conflict, HoldfastError, Refused
from holdfast.git import changes as git_changes
from holdfast.git import history, shallow
from holdfast.git.command import git as run
from holdfast.systems.gated import journal_copy
from holdfast.systems.seam.wired import Wired


class LeftOut(Value):
    """A journal that some commit has and that is not the beginning of the one here, with how it stands to that."""

    commit: str
    data: bytes
    standing: Standing


def found(wired: Wired, state: State) -> LeftOut | None:
    """The one to decide about first. A damaged copy is none: the commits beside it have it as it was before.

    A shallow clone is refused, where it may lack some of them.
    """
    base = wired.place.base(state.worktree)
    repository = git.find(base)
    inside = git.inside(repository, os.path.join(base, journal_copy.name(state.id))) if repository else None
    if repository is None or inside is None or git.head(repository) is None:
        return None
    since = git_changes.resolve(repository, state.head) if state.head else None
    if cut := shallow.cut(repository, since or ""):
        raise cut
    versions = history.versions(repository, inside, since or "")
    here = journal_copy.read(wired, state.id, state.worktree) or b""
    left: list[LeftOut] = []
    for blob in history.not_beginnings(repository, versions, here):
        data = run(repository.top, "cat-file", "blob", blob)[1]
        standing = _standing(wired, state, data)
        if standing is not None:
            left.append(LeftOut(versions[blob], data, standing))
    return max(left, key=lambda one: (one.standing.kind == FORKED, one.standing.theirs), default=None)


def wrong(wired: Wired, state: State) -> HoldfastError | None:
    """What is said about it, or about a history that is not all here."""
    try:
        left = found(wired, state)
    except Refused as cut:
        return cut
    if left is None:
        return None
    facts: dict[str, object] = {"commit": left.commit}
    if left.standing.kind == FORKED:
        refusal = journal_copy.forked(state.id, left.standing)
        refusal.message += f"; the one that came with git is in commit {left.commit[:12]}"
        refusal.facts.update(facts)
        return refusal
    more = left.standing.theirs - left.standing.common
    said = f"commit {left.commit[:12]} has {more} more line{'' if more == 1 else 's'} of the journal of {state.id}"
    said += ", which came with git and which the last merge or commit left out"
    facts |= {"common": left.standing.common, "theirs": left.standing.theirs}
    return Conflict("journal_left_out", said, remedy=remedies.recover(state.id), facts=facts)


def _standing(wired: Wired, state: State, data: bytes) -> Standing | None:
    if len(data) > LARGEST_COPY or journal_copy.is_known(wired, state.id, data):
        return None
    try:
        standing = journal_copy.compared(wired, state.id, state.worktree, data)
        is_same = wired.store.examine_copy(data, journal_copy.name(state.id)).ulid == state.ulid
    except Broken:
        return None
    return standing if is_same and standing.kind in (AHEAD, FORKED) else None
