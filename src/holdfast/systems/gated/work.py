"""What happens to a feature as its phases move: its workspace is kept in git, with a copy of the journal."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.state import State
from holdfast.errors import Refused
from holdfast.systems.gated import words
from holdfast.systems.seam.parts import Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.errors import HoldfastError
    from holdfast.systems.seam.wired import Wired


def _arrived(wired: Wired) -> list[str]:
    from holdfast.systems.gated.delivery.pulled import take_over

    return take_over(wired)


def _pulled(wired: Wired, state: State) -> HoldfastError | None:
    from holdfast.systems.gated import journal_copy

    return None if state.finalized else journal_copy.take(wired, state.id, state.worktree)


def _outputs(wired: Wired, state: State, path: str) -> Mapping[str, str]:
    from holdfast.systems.gated.workspace import artifacts

    return artifacts(wired, state, path)


def _after_commit(wired: Wired, before: State | None, after: State, summary: str) -> tuple[str, ...]:
    from holdfast.systems.gated.workspace import settle

    return settle(wired, before, after, summary)


def _handed_in(wired: Wired, state: State, path: str) -> tuple[str, ...]:
    from holdfast.systems.gated.workspace import wanted

    return wanted(wired, state, path)


def _reviewed(wired: Wired, state: State, path: str, said: str) -> tuple[str, str]:
    from holdfast.systems.gated.reviews import decided

    return decided(wired, state, path, said)


def _commit(state: State, word: str, message: str) -> tuple[str, str]:
    """The work on a phase that lies outside the workspace: the workspace itself is committed as the phase moves."""
    from holdfast.systems.gated.workspace import subject_line

    path = queries.resolve(state, word) if word else queries.current(state) or state.plan.children("")[-1]
    if state.step(path).status == lifecycle.PENDING:
        raise Refused(
            "wrong_status",
            f"the step {path} is pending: nothing of it can be committed before it begins",
            remedy=remedies.begin(path) if path == queries.current(state) else remedies.next_step(),
            facts={"step": path, "status": lifecycle.PENDING, "move": "commit"},
        )
    return path, subject_line(path, message)


WORK = Work(
    commit=_commit,
    arrived=_arrived,
    pulled=_pulled,
    outputs=_outputs,
    after_commit=_after_commit,
    handed_in=_handed_in,
    reviewed=_reviewed,
    kept=lambda state: (words.home(state),),
)
