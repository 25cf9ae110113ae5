"""What git says of a task that is handed in, and of the checkpoints."""

from __future__ import annotations

from holdfast import git
from holdfast.core import remedies
from holdfast.core.lifecycle import ACTIVE, DONE
from holdfast.core.remedy import shell
from holdfast.core.state import BASE, State
from holdfast.core.tasks import COMMIT, TASK
from holdfast.errors import HoldfastError, Refused
from holdfast.systems.orchestrator import words
from holdfast.systems.seam.parts import Handing, Work, late
from holdfast.systems.seam.wired import Wired

MOST_NAMED = 8


def _before_done(wired: Wired, state: State, path: str, handing: Handing) -> Handing:
    """A task says what was changed for it, as git has it. A pull request has the commit of every task."""
    from holdfast.git.made import left
    from holdfast.systems.orchestrator.subject import work, work_on_branch

    step, progress = state.plan.step(path), state.step(path)
    own = wired.world.at(state, path)
    repository, since = _repository(wired, own), progress.data.get(BASE)
    if step.action == words.PULL_REQUEST and progress.status == ACTIVE and repository is not None:
        _require_commits(repository, state)
    if step.kind != TASK or progress.status != ACTIVE or repository is None or not isinstance(since, str):
        return handing
    lease = state.bound(path)
    if lease:
        data = work_on_branch(repository, lease.into, wired.world.aside(own))
    else:
        data = work(wired, repository, state, path, since)
    made = left(repository, state.ulid, path)
    return handing.replace(data={**data, COMMIT: made} if made else data)


def _handed_in(_: Wired, state: State, path: str) -> tuple[str, ...]:
    """The files that the task is not credited with, as they may be of another one."""
    files = words.unclear(state).get(path, ())
    named = ", ".join(files[:MOST_NAMED]) + (f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else "")
    said = f"nothing tells which task these files are of, and none is credited with them: {named}"
    return (said,) if files else ()


def _require_commits(repository: git.Repository, state: State) -> None:
    """Refuses where the branch has lost the commit of a task that is done."""
    from holdfast.git.changes import not_in
    from holdfast.git.history import rewritten

    made = {str(one.data[COMMIT]): path for path, one in state.progress.items() if one.data.get(COMMIT)}
    made = {sha: path for sha, path in made.items() if path in state.plan and state.step(path).status == DONE}
    lost = not_in(repository, tuple(made), state.branch or "") if made else ()
    lost = tuple(sha for sha in lost if not rewritten(repository, sha, str(state.head or "")))
    if lost:
        told = ", ".join(f"{made[sha]} ({sha[:7]})" for sha in lost[:8])
        ways = (
            shell("git", "merge", lost[0], text="bring it back"),
            remedies.reopen(made[lost[0]], text="do the task again"),
        )
        said = f"the branch has not the commits of tasks that are done: {told}"
        raise Refused("lost_commits", said, remedy=ways, facts={"commits": {made[sha]: sha for sha in lost[:50]}})


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


WORK = Work(
    before_done=_before_done,
    handed_in=_handed_in,
    apart=_apart,
    body=late("holdfast.systems.orchestrator.pull_request", "body"),
    owned=late("holdfast.systems.orchestrator.owning", "rows"),
    not_owned=late("holdfast.systems.orchestrator.owning", "not_owned"),
)
