"""What Holdfast saw of work that is not committed, kept under `refs/holdfast/pins/seen` while agents are at work.

In a worktree of its own, what is kept is of one step; in the tree of the run, which agents share, of the run.
"""

from __future__ import annotations

from holdfast import git
from holdfast.core.state import State
from holdfast.errors import HoldfastError, Refused
from holdfast.git import pins
from holdfast.systems.seam import worktrees
from holdfast.systems.seam.wired import Wired

_TREE = "+tree"
"""No step has such a name."""


def is_kept(state: State) -> bool:
    """Whether agents are at work whose files another one may throw away."""
    return any(lease.step and not lease.agent for lease in state.leases.values())


def keep(wired: Wired, state: State, path: str) -> None:
    """Pins what is there now, whatever an agent does to it afterwards. What was seen counts if it cannot be pinned."""
    if not is_kept(state):
        return
    bound = state.bound(path)
    try:
        if bound:
            worktrees.pin_seen(wired, bound)
        elif repository := git.find(wired.place.base(state.worktree)):
            _pin_tree(repository, _name(state))
    except HoldfastError as failure:
        where = bound.worktree if bound else "the tree of the run"
        wired.changes.append(f"what is in {where} could not be pinned: {failure.message}")


def _name(state: State) -> str:
    return f"{worktrees.plain(state.id, state.ulid)}/{_TREE}"


def _pin_tree(repository: git.Repository, name: str) -> None:
    size = pins.size(repository)
    if size > pins.LARGEST:
        said = f"it has {size >> 20} MiB that are not committed, and {pins.LARGEST >> 20} MiB is the most"
        raise Refused("cannot_pin", said)
    kept = f"seen/{name}"
    pins.pin(repository, kept, f"Seen in {repository.top}", git.head(repository) or "")
    pins.drop(repository, pins.listed(repository, kept)[: -pins.MOST])


def settle(wired: Wired, before: State, state: State) -> tuple[str, ...]:
    """When the last agent has ended: gives up what was seen in the tree of the run, but for work that is nowhere else.

    Gives what is to be said of it.
    """
    repository = git.find(wired.place.base(state.worktree)) if is_kept(before) and not is_kept(state) else None
    known = pins.listed(repository, f"seen/{_name(state)}") if repository else []
    if repository is None or not known:
        return ()
    now = pins.pin(repository, f"run/{_name(state)}", f"Not committed in {repository.top}")
    lost = pins.unreached(repository, known, now or git.head(repository) or "")
    kept = [pins.keep(repository, f"left/{_name(state)}", one.sha) for one in lost]
    pins.drop(repository, [*known, *pins.listed(repository, f"run/{_name(state)}")])
    return tuple(f"files that were seen here, and are no longer, are kept: git show {one}" for one in kept)
