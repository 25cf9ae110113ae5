"""A worktree for an agent: made with its lease, left with what it holds pinned, its work brought in when it is done."""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast import git
from holdfast.core import lifecycle, refusals, remedies
from holdfast.core.briefing import LeftWork
from holdfast.core.names import is_name
from holdfast.core.remedy import Blank, shell, typed
from holdfast.core.state import COMMITS, Lease, State
from holdfast.core.tasks import TASK
from holdfast.errors import Conflict, HoldfastError, Refused, UsageError
from holdfast.git import bringing, exclude, linked, pins
from holdfast.git.changes import branches, contains, is_branch_name, require_idle, tip
from holdfast.git.history import commits_beside, committed_on, merged_from
from holdfast.machine import configuration
from holdfast.machine.place import WORKTREES
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

BRANCHES = "hf"
PREPARE_SECONDS = 1800
_QUEUE = 6
"""So many times as long as for a journal is waited for others who bring in their work."""
_LONGEST_NAME = 80


def planned(wired: Wired, state: State, path: str) -> dict[str, str]:
    """Where an agent will work on a step, on which branch, and which one the work goes into.

    Who takes over a step continues in the worktree that is there.
    """
    known = state.bound(path)
    if known is not None:
        return {name: getattr(known, name) for name in ("worktree", "branch", "into")}
    if not path or not _is_for_one(state, path):
        said = f"{path} is no task that an agent works on in a worktree" if path else "a worktree is for one step"
        raise refusals.misused(said, remedies.named("agent start", {"name": Blank("ROLE"), "step": remedies.STEP}))
    repository = wired.repository(state.worktree)
    if repository.main != wired.place.root:
        said = f"worktrees are made at the top of a repository, and this project is not at that of {repository.main}"
        raise Refused("not_at_top", said, remedy=shell("ls", "-a", repository.main))
    into = state.branch or git.branch(repository) or ""
    if not into or tip(repository, into) is None:
        said = f"there is no commit on {into} to begin at" if into else "HEAD is on no branch that work could go into"
        raise Refused("no_branch", said, remedy=shell("git", "switch", "-c", Blank("NAME")), facts={"branch": into})
    name = _name(state, path)
    return {"worktree": f"{WORKTREES}/{name}", "branch": f"{BRANCHES}/{name}", "into": into}


def is_possible(wired: Wired, state: State, path: str) -> bool:
    """Whether agents that do not ask for it get a worktree for a step."""
    return wired.place.repository is not None and _is_for_one(state, path)


def _is_for_one(state: State, path: str) -> bool:
    """Whether one agent works on a step, and not Holdfast itself."""
    return state.plan.is_leaf(path) and not state.plan.step(path).action


def _name(state: State, path: str) -> str:
    """A folder for the workflow and one for the step, in letters that paths and branches may have."""
    own = state.plan.step(path).id
    same = [one for one in state.plan.paths if state.plan.step(one).id == own]
    name = f"{plain(state.id, state.ulid)}/{own if len(same) == 1 else path.replace('/', '+')}"
    if not is_branch_name(f"{BRANCHES}/{name}"):
        said = f"{path} cannot be the name of a branch"
        raise UsageError("bad_branch_name", said, remedy="start the agent without --worktree", facts={"step": path})
    return name


def plain(id: str, ulid: str) -> str:
    """The name of a workflow in the names of branches and pins."""
    return id if is_name(id, _LONGEST_NAME) and is_branch_name(id) else ulid


def require_trust(wired: Wired) -> None:
    """Refuses before anything is made where nobody has trusted the command that prepares worktrees."""
    if configuration.agents(wired.place.root).prepare and not _is_trusted(wired):
        raise refusals.untrusted(configuration.CONFIG)


def _is_trusted(wired: Wired) -> bool:
    from holdfast.systems.seam.trusted import content

    path = os.path.join(wired.place.root, configuration.CONFIG)
    return os.path.exists(path) and wired.is_trusted(content(path).digest, path)


def made(wired: Wired, state: State, lease: Lease) -> git.Repository:
    """The worktree of a lease, which is made where it is not there."""
    path = _path(wired, lease)
    known = linked.found(path)
    if known is None:
        repository = wired.repository(state.worktree)
        with _alone(wired):
            exclude.add(repository, [exclude.line(os.curdir, f"{WORKTREES}/")])
            known = linked.make(repository, path, lease.branch, tip(repository, lease.into) or "")
    return known


def enter(wired: Wired, state: State, path: str) -> State:
    """The state as seen from the worktree of a step, which is made again where somebody removed it."""
    lease = state.bound(path)
    if lease is not None:
        prepare(wired, made(wired, state, lease))
    return wired.world.at(state, path)


def prepare(wired: Wired, repository: git.Repository) -> None:
    """Runs the project's command for new worktrees, until it has succeeded once."""
    words = configuration.agents(wired.place.root).prepare
    if not words or linked.has_note(repository, linked.PREPARED):
        return
    if not _is_trusted(wired):
        raise refusals.untrusted(configuration.CONFIG)
    from holdfast.checks.running import run

    ran = run(words, cwd=repository.top, timeout=PREPARE_SECONDS)
    if not ran.passed:
        why = ran.error or ("it took too long" if ran.timed_out else f"exit code {ran.exit_code}")
        said = f"the worktree could not be prepared by {' '.join(words)}: {why}"
        facts = {"command": list(words), "worktree": repository.top, "output": ran.output_tail}
        raise Refused(
            "prepare_failed", said, remedy=f"fix it, or change prepare in {configuration.CONFIG}", facts=facts
        )
    linked.note(repository, linked.PREPARED)


def bring(wired: Wired, state: State, path: str) -> str:
    """Brings what was committed for a step into the branch of the run: the last commit of it, empty without one.

    One at a time. Raises `bringing.Collision` where it does not go together with what others have brought in.
    """
    lease = state.bound(path)
    assert lease is not None
    repository, at = made(wired, state, lease), wired.world.at(state, path)
    here = git.branch(repository)
    if here != lease.branch:
        said = f"{repository.top} is for the branch {lease.branch}, and is on {here or 'none'}"
        way = shell("git", "-C", repository.top, "switch", lease.branch)
        raise Refused("branch_mismatch", said, remedy=way, facts={"branch": lease.branch, "current_branch": here})
    require_idle(repository)
    tree = wired.world.tree(at)
    theirs = tree.head
    if tree.dirty or theirs is None:
        left = sorted(wired.world.changed(repository, theirs, wired.world.aside(at)))
        raise _uncommitted(state, path, repository.top, left)
    _require_own(state, lease, repository, theirs)
    seen = [one.tree for one in state.step(path).evidence.values() if one.scope == path and one.passed and one.tree]
    if any(one != tree.id for one in seen):
        said = f"the worktree of {path} changed while it was handed in, and nothing of it was merged"
        raise Conflict("changed_meanwhile", said, remedy=remedies.done(path), facts={"step": path})
    label = state.plan.step(path).label
    with _alone(wired, _QUEUE):
        ours = tip(repository, lease.into)
        _pin_run(wired, state, lease)
        message = f"Bring in {state.plan.step(path).id} of {state.id}: {label}".splitlines()[0]
        bringing.bring(repository, theirs, lease.into, message, wired.settings.lock_wait)
        pins.drop(repository, pins.listed(repository, _of(lease, "run")))
    return "" if ours and contains(repository, theirs, ours) else theirs


def _require_own(state: State, lease: Lease, repository: git.Repository, theirs: str) -> None:
    """Refuses to bring in the commits of another step that is not done, however they came onto the branch."""
    beside = set(commits_beside(repository, lease.into))
    own = {*_recorded(state, lease.step), *committed_on(repository, lease.branch)}
    bound = {one.step: one.branch for one in state.leases.values() if one.branch and one.branch != lease.branch}
    for step in (one for one in state.plan.leaves() if one != lease.step and beside):
        made, branch = _recorded(state, step), bound.get(step, "")
        if state.step(step).status in lifecycle.FINISHED or not (made or branch):
            continue
        at = tip(repository, branch) if branch else None
        made |= committed_on(repository, branch) if at else set()
        if beside & (made - own) or (at and merged_from(repository, theirs, at, lease.into)):
            said = f"{lease.branch} has commits of {branch or step}, and {step} is not done"
            way = remedies.done(step, text=f"{step} first, by its agent")
            raise Refused("holds_other_work", said, remedy=way, facts={"branch": lease.branch, "other": branch or step})


def _recorded(state: State, path: str) -> set[str]:
    return set(map(str, state.step(path).data.get(COMMITS, ())))


def _pin_run(wired: Wired, state: State, lease: Lease) -> None:
    """Before the tree of the run changes, what is uncommitted there is kept; git leaves it as it is, too."""
    tree = linked.checked_out(wired.repository(state.worktree), lease.into)
    if tree is not None:
        pins.pin(tree, _of(lease, "run"), f"Not committed in {tree.top}", git.head(tree) or "")


def _uncommitted(state: State, path: str, top: str, files: list[str]) -> Refused:
    step = state.plan.step(path)
    said = f"not committed in the worktree of {path}: {', '.join(files[:8])}{', …' if len(files) > 8 else ''}"
    own = remedies.named("commit", {"task": step.id, "message": remedies.TEXT})
    way = own if step.kind == TASK else shell("git", "-C", top, "commit", "-m", remedies.TEXT)
    return Refused("uncommitted_work", said, remedy=way, facts={"step": path, "files": files[:50]})


def pin_seen(wired: Wired, lease: Lease) -> None:
    """Keeps what Holdfast saw in the worktree of a step, whatever an agent does to it afterwards."""
    repository = linked.found(_path(wired, lease))
    if repository:
        safe = tip(repository, lease.into) or ""
        pins.pin(repository, _of(lease, "seen"), f"Seen in the worktree of {lease.step}", safe)


def left_work(wired: Wired, state: State) -> tuple[LeftWork, ...]:
    """The work that agents left of steps that are not finished, where no commit has it by now."""
    repository = wired.place.repository
    found: dict[str, list[pins.Pin]] = {}
    for one in pins.listed(repository, f"left/{plain(state.id, state.ulid)}") if repository else ():
        found.setdefault(one.ref.removeprefix(f"{pins.PINS}left/").rpartition("/")[0], []).append(one)
    if repository is None or not found:
        return ()
    unfinished = (path for path in state.plan.leaves() if state.step(path).status not in lifecycle.FINISHED)
    known = {name: path for path in unfinished for name in (path.replace("/", "+"), state.plan.step(path).id)}
    told: list[LeftWork] = []
    for name, kept in found.items():
        path = known.get(name.rpartition("/")[2], "")
        if path and _is_for_one(state, path) and _name(state, path) == name:
            lease = state.bound(path)
            at = tip(repository, lease.branch if lease else state.branch or git.branch(repository) or "") or ""
            top = _path(wired, lease) if lease else wired.place.base(state.worktree)
            here = () if os.path.realpath(os.curdir) == os.path.realpath(top) else ("-C", top)
            left = pins.unreached(repository, kept, at) if at else kept
            told += [LeftWork(path, one.ref, shell("git", *here, "merge", "--squash", one.ref)) for one in left]
    return tuple(told)


def left_before(wired: Wired, state: State, path: str) -> tuple[str, ...]:
    """What is to be said to an agent that starts on a step: the work that another one left there."""
    ways = [typed(one.back) for one in left_work(wired, state) if one.step == path]
    return tuple(f"an agent before left work that was not merged: {way}" for way in ways)


def left(wired: Wired, before: State, state: State) -> tuple[str, ...]:
    """Removes the worktrees of leases that are over, unless another agent works there; what is to be said of it."""
    said, bound = [], {lease.worktree for lease in state.leases.values()}
    for lease in before.leases.values():
        if lease.worktree and lease.worktree not in bound:
            done = state.step(lease.step).status in lifecycle.FINISHED
            try:
                kept = removed(wired, state.ulid, wired.repository(state.worktree), lease, done=done)
            except HoldfastError as failure:
                said.append(f"{lease.worktree} is still there: {failure.message} (holdfast doctor --repair)")
                continue
            said += [f"what was not merged is kept: git show {kept}"] if kept else []
    return (*said, *_stood_in(wired))


def _stood_in(wired: Wired) -> tuple[str, ...]:
    """What to type where the folder of this process went with a worktree."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return (f"this folder is gone: {typed(shell('cd', wired.place.root))}",)
    return ()


def removed(wired: Wired, ulid: str, repository: git.Repository, lease: Lease, *, done: bool = False) -> str:
    """Removes a worktree that nobody works in, once what is not in the branch of the run is pinned.

    Gives the names of the pins. What was seen there, and is in no version in the branch, is pinned too.
    """
    path, branch, name = _path(wired, lease), lease.branch, lease.worktree.removeprefix(f"{WORKTREES}/")
    with _alone(wired):
        if ulid and any(one.worktree == lease.worktree for one in wired.store.load(ulid).leases.values()):
            return ""  # somebody has taken the step meanwhile
        safe, known = tip(repository, lease.into) or "", linked.found(path)
        at, kept = tip(repository, branch), ""
        if known is not None:
            kept = pins.pin(known, f"left/{name}", f"Left in the worktree of {name}", safe, whole=True)
        if at and not (safe and contains(repository, at, safe)) and not (kept and contains(repository, at, kept)):
            kept = pins.keep(repository, f"left/{name}", at)
        more = []
        if done:
            seen = pins.listed(repository, f"seen/{name}")
            lost = pins.unreached(repository, seen, safe) if safe else seen
            more = [pins.keep(repository, f"left/{name}", one.sha) for one in lost if not kept or one.sha != kept]
            pins.drop(repository, seen)
        linked.remove(repository, path, branch)
    return " ".join(dict.fromkeys((*([kept] if kept else ()), *more)))


def _of(lease: Lease, kind: str) -> str:
    return f"{kind}/{lease.worktree.removeprefix(f'{WORKTREES}/')}"


def _path(wired: Wired, lease: Lease) -> str:
    return os.path.join(wired.place.root, lease.worktree)


def _alone(wired: Wired, times: int = 1) -> AbstractContextManager[object]:
    """One change of worktrees at a time: the folder is there only for its lock."""
    return wired.store.exclusively("worktrees", times * wired.settings.lock_wait)


def abandoned(wired: Wired, states: Iterable[State]) -> list[Lease]:
    """The branches and worktrees of agents that no lease is bound to any more, each as the lease it may have had."""
    root, repository, known = wired.place.root, wired.place.repository, list(states)
    if repository is None or repository.main != root:
        return []
    bound = {lease.branch for state in known for lease in state.leases.values()}
    ours = {name for state in known for name in (state.id, state.ulid)}
    into = git.branch(git.find(root) or repository) or ""
    names = (name for name in branches(repository, f"{BRANCHES}/") if is_branch_name(name))
    left = (name for name in names if name not in bound and name.split("/")[1] in ours)
    return [
        Lease(token=0, at="", boot="", deadline=0, ttl=1, role="agent", branch=name, into=into,
              worktree=f"{WORKTREES}/{name.removeprefix(f'{BRANCHES}/')}")
        for name in left if name.count("/") == 2
    ]  # fmt: skip
