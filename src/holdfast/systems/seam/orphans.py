"""Documents in a worktree that belong to no workflow known here."""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast.core.names import is_ulid
from holdfast.core.patterns import matches
from holdfast.core.state import State
from holdfast.documents.lens.spec import Dialect
from holdfast.engine.ports import Entry, entry_of
from holdfast.errors import HoldfastError, UsageError
from holdfast.systems.seam.found import Found, look
from holdfast.systems.seam.registry import dialect, own_paths, system, systems, upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.seam.system import System
    from holdfast.systems.seam.wired import Wired

INDEX = "index.json"
"""The list beside the documents, which is none of them."""


def orphaned(wired: Wired, running: Iterable[State] | None = None, *, only: str = "") -> list[Found]:
    """Files are listed before the workflows are: one that is just being started is then seen with its workflow.

    `running` are the states of the active workflows, where they are known already; `only` is a dialect.
    """
    worktree = wired.place.worktree
    files = [pair for card in ([system(only)] if only else systems()) for pair in _files(worktree, card)]
    if running is None:
        ids = {entry.id for entry in active(wired)}
        known = _known(wired, [path for path, _ in files])
    else:
        here = [state for state in running if state.worktree == wired.place.key()]
        ids = {state.id for state in here}
        known = {dialect(state.dialect).document.path(state) for state in here}
    found = [look(worktree, path, dialect(name)) for path, name in files if path not in known]
    return [one for one in found if not (one.id in ids or upkeep(one.dialect.name).journaled(wired, one))]


def _files(worktree: str, card: System) -> list[tuple[str, str]]:
    found = []
    for pattern in card.patterns:
        above, _, name = pattern.rpartition("/")
        for folder in _folders(worktree, above):
            for file in _listed(worktree, folder):
                fits = matches(name, file) and file != INDEX and not file.startswith(".")
                if fits and os.path.isfile(os.path.join(worktree, folder, file)):
                    found.append((f"{folder}/{file}", card.name))
            if upkeep(card.name).lost(worktree, f"{folder}/{name}"):
                found.append((f"{folder}/{name}", card.name))
    return found


def _folders(worktree: str, pattern: str) -> list[str]:
    """The folders a pattern stands for, in which one part may be `*`."""
    above, star, below = pattern.partition("/*")
    if not star:
        return [pattern]
    return [f"{above}/{name}{below}" for name in _listed(worktree, above) if not name.startswith(".")]


def _listed(worktree: str, folder: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(worktree, folder)))
    except (FileNotFoundError, NotADirectoryError):
        return []


def active(wired: Wired) -> list[Entry]:
    """The active workflows of this worktree, also those whose writer has not told the index yet."""
    changing = {}
    for name in _marked(wired.place.home):
        try:
            changing[name] = entry_of(wired.store.load(name))
        except HoldfastError:
            continue
    found = {**{entry.ulid: entry for entry in wired.store.entries()}, **changing}
    return [entry for entry in found.values() if entry.active and entry.worktree == wired.place.key()]


def _marked(home: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(os.path.join(home, "unsettled")) if is_ulid(name))
    except FileNotFoundError:
        return []


def loaded(wired: Wired, ulids: Iterable[str]) -> list[State]:
    """The states of these workflows, as far as their journals can be read."""
    found = []
    for ulid in ulids:
        try:
            found.append(wired.store.load(ulid))
        except HoldfastError as broken:  # it needs a person, and stops nobody here
            wired.troubles.append(broken.message)
    return found


def _known(wired: Wired, paths: list[str]) -> set[str]:
    """Which of these paths are documents of active workflows. Most are named after the id; others must be asked."""
    running = active(wired)
    patterns = [(os.path.basename(one), entry) for entry in running for one in system(entry.dialect).patterns]
    named = {name.replace("*", entry.id): entry.ulid for name, entry in patterns if "*" in name}
    known = {path for path in paths if os.path.basename(path) in named}
    if len(known) < len(paths):
        seen = {named[os.path.basename(path)] for path in known}
        rest = loaded(wired, [entry.ulid for entry in running if entry.ulid not in seen])
        known |= {dialect(state.dialect).document.path(state) for state in rest}
    return known


def dialect_of(path: str) -> Dialect:
    """The dialect whose folder a path lies in."""
    for card in systems():
        if any(path == folder or path.startswith(f"{folder}/") for folder in card.own):
            return dialect(card.name)
    for card in systems():
        if any(matches(pattern, path) for pattern in card.patterns):
            return dialect(card.name)
    folders = list(own_paths())
    said = f"{path} lies in no folder that a dialect keeps its documents in"
    raise UsageError("no_dialect", said, remedy=f"put it below {folders[0]}", facts={"path": path, "folders": folders})
