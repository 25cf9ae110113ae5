"""What git says of a task that is handed in, and of the checkpoints."""

from __future__ import annotations

from holdfast import git
from holdfast.core.lifecycle import ACTIVE
from holdfast.core.state import BASE, State
from holdfast.core.tasks import COMMIT, TASK
from holdfast.errors import HoldfastError
from holdfast.systems.seam.parts import Handing, Work, late
from holdfast.systems.seam.wired import Wired


def _before_done(wired: Wired, state: State, path: str, handing: Handing) -> Handing:
    """A task says what was changed for it, as git has it."""
    from holdfast.git.made import left
    from holdfast.systems.orchestrator.subject import work

    step, progress = state.plan.step(path), state.step(path)
    repository, since = _repository(wired, state), progress.data.get(BASE)
    if step.kind != TASK or progress.status != ACTIVE or repository is None or not isinstance(since, str):
        return handing
    data = work(wired.world, repository, step.id, since, wired.world.aside(state))
    made = left(repository, state.ulid, path)
    return handing.replace(data={**data, COMMIT: made} if made else data)


def _apart(wired: Wired, state: State) -> str:
    from holdfast.systems.orchestrator.subject import out_of_sync

    repository = _repository(wired, state)
    try:
        return out_of_sync(repository, state, wired.scope(state.ulid)) if repository else ""
    except HoldfastError as failure:
        if wired.store.read_only:
            return failure.message  # git does not look at what belongs to other users
        raise


def _repository(wired: Wired, state: State) -> git.Repository | None:
    return git.find(wired.place.base(state.worktree)) if wired.place.repository else None


WORK = Work(before_done=_before_done, apart=_apart, body=late("holdfast.systems.orchestrator.pull_request", "body"))
