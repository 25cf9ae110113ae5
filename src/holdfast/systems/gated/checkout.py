"""Whether a feature can be worked on as git stands: on its branch, in no merge, with the journal that is known here."""

from __future__ import annotations

from holdfast import git
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.git import changes as git_changes
from holdfast.systems.gated import journal_copy, journal_history, words
from holdfast.systems.seam.wired import Wired


def unsuitable(wired: Wired, state: State) -> HoldfastError | None:
    """What every work on a feature is refused for as git stands; None where it can continue."""
    repository = git.find(wired.place.base(state.worktree)) if state.branch else None
    if repository is None or state.cancelled or words.is_deleted(state):
        return None
    here = git.branch(repository)
    if git.busy(repository):
        merging = journal_copy.merging(wired, state.id)
        if merging is not None or here != state.branch:
            return merging or wired.branch_mismatch(state)
        if git_changes.unmerged(repository, ""):
            return git_changes.under_way(repository)
    wrong = journal_copy.take(wired, state.id, state.worktree, only_look=True)
    if wrong is not None:
        return wrong
    if here != state.branch and not is_on_base(wired, state):
        return wired.branch_mismatch(state)
    wrong = journal_history.wrong(wired, state)
    if wrong is not None or here != state.branch:
        return wrong
    from holdfast.systems.gated.delivery import clones, handing_over

    if not state.finished_at or state.finalized:
        return clones.outrun(wired, state)
    return handing_over.merged(wired, repository, state) or clones.outrun(wired, state)


def is_on_base(wired: Wired, state: State) -> bool:
    """Whether a completed feature is on the branch that it was merged into, so that all of it is there to be seen."""
    if not state.finished_at or not state.branch:
        return False
    from holdfast.systems.gated.delivery import handing_over

    repository = git.find(wired.place.base(state.worktree))
    return repository is not None and handing_over.is_base_here(wired, repository, state)
