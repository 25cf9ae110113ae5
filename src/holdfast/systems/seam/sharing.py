"""Whose the changed files of a working tree are, where agents of several steps work in it side by side."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core import moment, remedies
from holdfast.core.facts import Facts
from holdfast.core.lifecycle import DONE, PENDING
from holdfast.core.patterns import overlap
from holdfast.core.remedy import Remedy
from holdfast.core.state import COMMITS, FILES, Hold, Lease, State
from holdfast.core.tasks import TASK
from holdfast.core.value import Value
from holdfast.errors import Refused
from holdfast.git.history import of_commits
from holdfast.systems.seam.wired import Wired

_SLACK = 1.0
"""Seconds by which the time of a file and that of a journal may differ for one moment."""
_MOST_NAMED = 50


class Shared(Value):
    """The files that a commit of a step takes, and those of other steps, each with the step."""

    own: tuple[str, ...]
    others: dict[str, str]


def locked(wired: Wired, state: State, path: str, files: Sequence[str]) -> dict[str, tuple[str, Hold]]:
    """Those of the files that the agents of other steps have locked, each with the lock.

    In a worktree of its own, what an agent changes is in nobody's way.
    """
    if state.bound(path):
        return {}
    # Who changed a file had locked it before: what is locked is looked at after the files.
    locks = wired.world.locked_by_others(wired.store.load(state.ulid), path) if files else {}
    pairs = ((file, lock, hold) for file in files for lock, hold in locks.items() if overlap(file, lock))
    return {file: (lock, hold) for file, lock, hold in pairs}


def shared(
    wired: Wired, repository: git.Repository, state: State, path: str, files: Sequence[str], again: Remedy
) -> Shared:
    """The files by their steps. Refuses where one could be of several: nobody is credited with another's work.

    `again` is the command that commits, without the files that it takes.
    """
    others = {} if state.bound(path) or not files else _at_work(wired, state, path)
    if not others:
        return Shared(tuple(files), {})
    state = wired.store.load(state.ulid)
    claims = {one: _Claim(wired, repository, state, one, began) for one, began in others.items()}
    mine = _Claim(wired, repository, state, path, _began(state, path, None)) if path else None
    own, known, unclear = _told_apart(repository, mine, claims, files)
    if unclear:
        raise _unclear(repository, path, own, unclear, sorted(others), again)
    return Shared(tuple(own), known)


def credited(
    wired: Wired, repository: git.Repository, state: State, path: str, files: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Those of the files that a task is credited with, and those of which nothing tells whether they are of it.

    They may be of any task that was worked on at the same time, also without a lease or by an agent that has ended.
    """
    began = _began(state, path, None)
    spans = {one: _span(state, one) for one in state.plan.of_kind(TASK) if one != path and not state.bound(one)}
    beside = {one: span for one, span in spans.items() if span[0] and span[1] >= began}
    if not beside or not files:
        return [*files], []
    claims = {one: _Claim(wired, repository, state, one, *span) for one, span in beside.items()}
    mine = _Claim(wired, repository, state, path, began)
    own, _, unclear = _told_apart(repository, mine, claims, files)
    return own, unclear


def _told_apart(
    repository: git.Repository, mine: _Claim | None, claims: Mapping[str, _Claim], files: Sequence[str]
) -> tuple[list[str], dict[str, str], list[str]]:
    """The files of a step, those of others, each with its step, and those that may be of several."""
    own, known, unclear = [], {}, []
    for name in files:
        changed = _changed(repository, name)
        theirs = [one for one, claim in claims.items() if claim.names(name)]
        possible = [one for one, claim in claims.items() if claim.is_since(changed)]
        is_named, is_possible = bool(mine and mine.names(name)), mine is None or mine.is_since(changed)
        if (is_named and not theirs) or not (theirs or possible):
            own.append(name)
        elif (theirs and not is_named) or not (is_possible or is_named):
            known[name] = (theirs or possible)[0]
        else:
            unclear.append(name)
    return own, known, unclear


class _Claim:
    """What is known to be of a step: its locks, its commits, what its checks name, and when it is worked on."""

    def __init__(
        self,
        wired: Wired,
        repository: git.Repository,
        state: State,
        path: str,
        began: float,
        ended: float = float("inf"),
    ) -> None:
        step, data = state.plan.step(path), state.step(path).data
        self._began, self._ended = began, ended
        self._words = [word for check in step.checks for word in check.run]
        made = [sha for sha in data.get(COMMITS, ()) if git.is_object_id(sha)]
        self._committed = set(of_commits(repository, made).files) if made else set()
        if state.step(path).status == DONE:
            self._committed.update(data.get(FILES, ()))
        inside = os.path.relpath(wired.place.base(state.worktree), repository.top)
        tokens = {one.token for one in state.leases.values() if one.step == path}
        held = (name for name, hold in state.locks.items() if hold.lease in tokens)
        self._locks = [os.path.normpath(os.path.join(inside, name)) for name in held]

    def names(self, name: str) -> bool:
        is_tested = any(name in word or name.startswith(f"{word.rstrip('/')}/") for word in self._words)
        return is_tested or name in self._committed or any(overlap(name, lock) for lock in self._locks)

    def is_since(self, changed: float | None) -> bool:
        return changed is None or self._began - _SLACK <= changed <= self._ended + _SLACK


def _at_work(wired: Wired, state: State, path: str) -> dict[str, float]:
    """The other steps that agents hold a lease of in the tree of the run, and when the work on each began."""
    now = wired.world.renewed(Facts(""))
    live = (one for one in state.leases.values() if one.step and not one.agent and not one.worktree)
    beside = (one for one in live if state.plan.is_leaf(one.step) and one.step != path)
    return {one.step: _began(state, one.step, one) for one in beside if not one.expired(now.boot, now.mono)}


def _began(state: State, path: str, lease: Lease | None) -> float:
    known = (state.step(path).started_at, lease.at if lease else "")
    return min((moment.to_epoch(at) for at in known if at), default=0)


def _span(state: State, path: str) -> tuple[float, float]:
    """When the work on a step began and ended; it has no beginning where it was not begun."""
    progress = state.step(path)
    if progress.status == PENDING or not progress.started_at:
        return 0, 0
    ended = moment.to_epoch(progress.finished_at) if progress.finished_at else float("inf")
    return moment.to_epoch(progress.started_at), ended


def _changed(repository: git.Repository, name: str) -> float | None:
    """When a file was last changed; None for one that is gone."""
    try:
        return os.lstat(os.path.join(repository.top, name)).st_ctime
    except OSError:
        return None


def _unclear(
    repository: git.Repository,
    path: str,
    own: Sequence[str],
    unclear: Sequence[str],
    others: Sequence[str],
    again: Remedy,
) -> Refused:
    are = "is" if len(unclear) == 1 else "are"
    told = f"{', '.join(unclear[:8])}{', …' if len(unclear) > 8 else ''}"
    said = f"agents work side by side in this tree, on {', '.join(others)} too, and nothing tells whose {told} {are}"
    known, all_ = ([os.path.relpath(os.path.join(repository.top, one)) for one in some[:_MOST_NAMED]]
                   for some in (own, [*own, *unclear]))  # fmt: skip
    ways = (
        *((again.given(paths=known).replace(text="only what is known to be of it"),) if own else ()),
        again.given(paths=all_).replace(text="with those of them that are of this work"),
        remedies.named("lock", {"paths": [remedies.PATH]}, text="who works on a file locks it"),
    )
    facts = {"step": path, "files": list(unclear[:_MOST_NAMED]), "others": list(others)}
    return Refused("whose_files", said, remedy=ways, facts=facts)
