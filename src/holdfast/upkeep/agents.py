"""What the doctor finds of agents that have worktrees of their own, and of work that is pinned."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import queries, remedies
from holdfast.core.needs import Needs
from holdfast.core.remedy import Blank, shell, typed
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.git import entries, linked, pins
from holdfast.machine.place import WORKTREES
from holdfast.systems.seam import worktrees
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, ok, warning

REPAIR = remedies.doctor(repair=True)
SHOWN = 20


def examined(wired: Wired, states: list[State]) -> list[Finding]:
    """Nothing where git cannot be run, which is a finding of its own, or does not let this user look."""
    try:
        return list(_examined(wired, states)) if wired.place.repository else []
    except HoldfastError as error:
        if error.code not in ("git_missing", "git_failed"):
            raise
        return []


def _examined(wired: Wired, states: list[State]) -> Iterator[Finding]:
    bound = [(state, lease) for state in states for lease in state.leases.values() if lease.worktree]
    for state, lease in bound:
        facts = wired.world.facts(state, Needs())
        over = remedies.agent_end(lease.token, workflow=state.ulid)
        at = f"the worktree {lease.worktree} of {lease.role}, at work on {lease.step} of {state.id},"
        if linked.found(f"{wired.place.root}/{lease.worktree}") is None:
            said = f"{at} is not there; the next command about the step makes it"
            yield warning("worktree_missing", said, over, lease.worktree)
        elif not queries.is_active(state) or lease.expired(facts.boot, facts.mono):
            said = f"{at} is left: {'the lease ran out' if queries.is_active(state) else 'the work is over'}"
            yield warning(
                "worktree_stale", said, over.replace(text="to pin what it holds and remove it"), lease.worktree
            )
    for lease in worktrees.abandoned(wired, states):
        said = f"the worktree {lease.worktree}, with the branch {lease.branch}, is left, and no agent works in it"
        yield warning("worktree_left", said, REPAIR, lease.worktree)
    if bound:
        yield ok("worktrees", f"{len(bound)} agent{'s work' if len(bound) > 1 else ' works'} in worktrees")
    yield from _pinned(wired)


def _pinned(wired: Wired) -> Iterator[Finding]:
    repository = wired.place.repository
    assert repository is not None
    known = pins.listed(repository)
    found = [one for one in known if not one.ref.startswith(f"{pins.PINS}seen/")]
    newest = {one.ref.rpartition("/")[0]: one for one in known if one not in found}
    for one in newest.values():
        said = f"{one.ref} of {one.at}, the newest of what was seen there, is kept until its agent ends: {one.about}"
        yield ok("pins", f"{said} ({typed(shell('git', 'show', '--stat', '-m', '--first-parent', one.ref))})")
    for one in found[-SHOWN:]:
        show = shell("git", "show", "--stat", "-m", "--first-parent", one.ref, text="look at it")
        back = shell("git", "branch", Blank("NAME"), one.ref, text="to continue with it on a branch")
        drop = shell("git", "update-ref", "-d", one.ref, text="to give it up", who="person")
        yield warning("pinned", f"{one.ref} of {one.at} is kept: {one.about}", (show, back, drop))
    if len(found) > SHOWN:
        more = shell("git", "for-each-ref", pins.PINS)
        yield warning("pinned", f"{len(found) - SHOWN} more are pinned", more)


def remove_abandoned(wired: Wired, states: list[State]) -> Iterator[str]:
    """Removes worktrees that no lease is bound to."""
    repository = wired.place.repository
    for lease in worktrees.abandoned(wired, states) if repository else ():
        assert repository is not None
        kept = worktrees.removed(wired, "", repository, lease)
        yield f"{lease.worktree} was removed" + (f"; what was not merged is kept as {kept}" if kept else "")
    for entry in entries(os.path.join(wired.place.root, WORKTREES)) if repository else ():
        linked.clear(entry.path)
