"""What happens to a feature as its phases move: its workspace is kept in git, with a copy of the journal."""

from __future__ import annotations

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.state import State
from holdfast.errors import HoldfastError, Refused
from holdfast.systems.gated import words
from holdfast.systems.seam.parts import Work, late
from holdfast.systems.seam.wired import Wired


def _pulled(wired: Wired, state: State) -> HoldfastError | None:
    from holdfast.systems.gated import journal_copy, workspace

    if state.finalized:
        return None
    workspace.bring_back(wired, state)
    return journal_copy.take(wired, state.id, state.worktree)


def _commit(state: State, word: str, message: str) -> tuple[str, str]:
    """The work on a phase that is outside the workspace: the workspace itself is committed as the phase moves."""
    from holdfast.systems.gated.workspace import subject_line

    path = queries.resolve(state, word) if word else queries.current(state) or state.plan.children("")[-1]
    if state.step(path).status == lifecycle.PENDING:
        said = f"the step {path} is pending: nothing of it can be committed before it begins"
        way = remedies.begin(path) if path == queries.current(state) else remedies.next_step()
        facts = {"step": path, "status": lifecycle.PENDING, "move": "commit"}
        raise Refused("wrong_status", said, remedy=way, facts=facts)
    return path, subject_line(path, message)


def _unsuitable(wired: Wired, state: State) -> HoldfastError | None:
    from holdfast.systems.gated import checkout

    return checkout.unsuitable(wired, state)


def _unapprovable(wired: Wired, state: State, only_newer: bool) -> HoldfastError | None:
    if words.is_deleted(state) or wired.is_elsewhere(state):
        return None
    from holdfast.systems.gated import review_read

    return review_read.changed(wired, state, only_newer=only_newer)


def _apart(wired: Wired, state: State) -> str:
    from holdfast.systems.gated.delivery import clones

    return "" if words.is_deleted(state) else clones.left(wired, state)


_WORKSPACE, _HAND_IN = f"{__package__}.workspace", f"{__package__}.hand_in"
WORK = Work(
    commit=_commit,
    arrived=late(f"{__package__}.journal_copy", "take_over"),
    pulled=_pulled,
    hand_in=late(_HAND_IN, "hand_in"),
    unmade=late(_WORKSPACE, "uncommitted"),
    after_commit=late(_WORKSPACE, "settle"),
    handed_in=late(_WORKSPACE, "wanted"),
    reviewed=late(_WORKSPACE, "reviewed"),
    before_approval=late(f"{__package__}.delivery.clones", "before_approval"),
    unsuitable=_unsuitable,
    unapprovable=_unapprovable,
    apart=_apart,
    kept=lambda state: (words.home(state),),
    published=late(f"{__package__}.central", "targets"),
)
