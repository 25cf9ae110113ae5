"""The list of workflows that a dialect keeps beside its documents."""

from __future__ import annotations

import os
import time
from _collections_abc import Callable

from holdfast.core import queries
from holdfast.core.moment import from_epoch, to_epoch
from holdfast.core.state import State
from holdfast.documents.lens.spec import Dialects
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import Store, standing
from holdfast.errors import UsageError
from holdfast.files.replace import durable_write, read_file
from holdfast.machine.place import Place
from holdfast.plain import clock
from holdfast.plain.plainjson import parse

ACTIVITY = 60
"""Seconds for which the moment of the last activity in a list may be behind."""


class Lists:
    def __init__(self, place: Place, store: Store, dialect: Dialects) -> None:
        self._place = place
        self._store = store
        self._dialect = dialect
        self._shown: dict[str, tuple[tuple[object, ...], float]] = {}

    def refresh(self, state: State, elsewhere: Callable[[State, str], bool]) -> None:
        """Written when the workflow came, went or came back, and once a minute. Its entry is settled by now."""
        spoken = self._dialect(state.dialect)
        shown = self._shown.get(state.ulid)
        if spoken.index is None or (shown and shown[0] == _standing(state) and time.monotonic() - shown[1] < ACTIVITY):
            return
        self._write(state, state.session, elsewhere)
        self._shown[state.ulid] = (_standing(state), time.monotonic())

    def _write(self, state: State, session: str, elsewhere: Callable[[State, str], bool]) -> None:
        spoken = self._dialect(state.dialect)
        assert spoken.index is not None
        path, _ = spoken.index([], None, "", session)
        if elsewhere(state, path):
            return
        full = os.path.join(self._place.base(state.worktree), path)
        with self._store.exclusively("slots"):  # all workflows share the file
            entries = [
                entry.replace(updated_at=state.updated_at, status=queries.status(state))
                if entry.ulid == state.ulid
                else entry.replace(status="")
                if entry.active
                else entry
                for entry in self._store.entries()
                if (entry.dialect, entry.worktree) == (state.dialect, state.worktree)
            ]
            try:
                old = parse(read_file(full))
            except (OSError, ValueError):
                old = None
            _, said = spoken.index(
                entries, old if isinstance(old, dict) else None, from_epoch(clock.seconds()), session
            )
            if not _is_as_good(old, said):
                # Synced: nobody compares a list with what it should say, so a power cut must not leave an older one.
                durable_write(full, Writer().write(said), alone=True)


def _standing(state: State) -> tuple[object, ...]:
    """What a list shows at once: that a workflow came or went, and that it failed."""
    return *standing(state), queries.status(state) in ("failed", "escalated")


def _is_as_good(old: object, new: object) -> bool:
    """Whether the old list says the same but for moments that are not much behind."""
    match old, new:
        case dict(), dict():
            return old.keys() == new.keys() and all(_is_as_good(old[name], new[name]) for name in new)
        case list(), list():
            return len(old) == len(new) and all(map(_is_as_good, old, new))
        case str(), str() if old != new:
            try:
                return 0 <= to_epoch(new) - to_epoch(old) < ACTIVITY
            except UsageError:
                return False
    return old == new
