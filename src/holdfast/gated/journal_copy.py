"""The copy of a feature's journal that travels with git: how it stands to the journal here, and what follows."""

from __future__ import annotations

import os

from holdfast.bootstrap import BUILT_IN, Wired
from holdfast.core.state import State
from holdfast.dialects import gated_words as words
from holdfast.errors import Broken, Conflict, HoldfastError
from holdfast.git_changes import is_branch_name
from holdfast.place import read_regular
from holdfast.stores.copies import AHEAD, FORKED, UNKNOWN, Standing, examined

LARGEST = 256 << 20


def name(slug: str) -> str:
    return f"{words.HOME}/{slug}/{words.JOURNAL}"


def read(wired: Wired, slug: str, worktree: str = "") -> bytes | None:
    full = os.path.join(wired.place.base(worktree), name(slug))
    return None if os.path.islink(full) else read_regular(full, LARGEST)


def take(wired: Wired, slug: str, worktree: str = "") -> HoldfastError | None:
    """Takes over a copy that extends what is known here; what is wrong with it where it can neither be taken nor left.

    Nearly always a journal here begins with these very bytes, and then the copy need not be understood.
    """
    data = read(wired, slug, worktree)
    if data is None or _is_known(wired, slug, data):
        return None
    try:
        standing = wired.store.compare(data, name(slug))
        if standing.kind in (UNKNOWN, AHEAD):
            require_sound(wired, slug, worktree, examined(data, name(slug)).state)
            wired.reconciler.settle(wired.engine.show(wired.store.fast_forward(data, name(slug))))
    except (Broken, Conflict) as refusal:
        return _put_right(slug, refusal)
    return forked(slug, standing) if standing.kind == FORKED else None


def _put_right(slug: str, refusal: HoldfastError) -> HoldfastError:
    if isinstance(refusal, Broken):
        refusal.remedy = f"git restore {name(slug)}, or: holdfast recover {slug} --take here"
    return refusal


def require_sound(wired: Wired, slug: str, worktree: str, state: State) -> None:
    """A journal from outside says nothing of where files lie here, nor which commands may run."""
    wrong = [
        what
        for what, is_wrong in {
            f"it is the journal of {state.id}": (state.id, state.dialect) != (slug, "gated"),
            "it was started in a linked worktree of another machine": state.worktree != worktree,
            "it names files elsewhere": bool(state.file or state.session),
            "its branch cannot be the name of one": not is_branch_name(state.branch or ""),
            "it brings commands of its own": state.source in ("", BUILT_IN) and _has_commands(state),
        }.items()
        if is_wrong
    ]
    if wrong:
        raise Conflict(
            "copy_refused",
            f"{name(slug)} is not taken over: {'; '.join(wrong)}",
            remedy=f"git log -- {name(slug)}",
            facts={"reasons": wrong},
        )


def _has_commands(state: State) -> bool:
    return any(check.run for path in state.plan.paths for check in state.plan.step(path).checks)


def trouble(wired: Wired, slug: str, worktree: str = "") -> HoldfastError | None:
    """What a person has to decide about a copy. Nothing is taken."""
    data = read(wired, slug, worktree)
    if data is None or _is_known(wired, slug, data):
        return None
    try:
        standing = wired.store.compare(data, name(slug))
    except Broken as refusal:
        return _put_right(slug, refusal)
    return forked(slug, standing) if standing.kind == FORKED else None


def _is_known(wired: Wired, slug: str, data: bytes) -> bool:
    store = wired.store
    same = [entry.ulid for entry in store.find(slug) if (entry.id, entry.dialect) == (slug, "gated")]
    return any((read_regular(store.path(ulid), LARGEST) or b"").startswith(data) for ulid in same)


def forked(slug: str, standing: Standing) -> Conflict:
    return Conflict(
        "journal_forked",
        f"the journal of {slug} that came with git and the one here went different ways after line {standing.common}: "
        "a person decides which one holds",
        remedy=f"holdfast recover {slug} --take git|here",
        facts={"common": standing.common, "ours": standing.ours, "theirs": standing.theirs, "ulid": standing.ulid},
    )
