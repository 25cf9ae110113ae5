"""The list of workflows that a dialect keeps beside its documents."""

from __future__ import annotations

import os
import time

from holdfast.core.moment import from_epoch, to_epoch
from holdfast.core.state import State
from holdfast.dialects import dialect
from holdfast.dialects.text import Writer
from holdfast.errors import UsageError
from holdfast.place import Place
from holdfast.plainjson import parse
from holdfast.ports import Store, standing
from holdfast.stores.locks import Locked
from holdfast.stores.replace import durable_write, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable

ACTIVITY = 60
"""Seconds for which the moment of the last activity in a list may be behind."""


class Lists:
    def __init__(self, place: Place, store: Store, wait: float) -> None:
        self._place = place
        self._store = store
        self._wait = wait
        self._shown: dict[str, tuple[tuple[bool, bool, bool], float]] = {}

    def refresh(self, state: State, elsewhere: Callable[[State, str], bool]) -> None:
        """Written when the workflow came, went or came back, and once a minute. Its entry is settled by now."""
        spoken = dialect(state.dialect)
        shown = self._shown.get(state.ulid)
        if spoken.index is None or (shown and shown[0] == standing(state) and time.monotonic() - shown[1] < ACTIVITY):
            return
        path, _ = spoken.index([], None, "")
        if elsewhere(state, path):
            return
        full = os.path.join(self._place.base(state.worktree), path)
        slots = os.path.join(self._place.home, "slots")
        with Locked(slots, self._wait):  # all workflows share the file
            entries = [
                entry.replace(updated_at=state.updated_at) if entry.ulid == state.ulid else entry
                for entry in self._store.entries()
                if (entry.dialect, entry.worktree) == (state.dialect, state.worktree)
            ]
            try:
                old = parse(read_file(full))
            except (OSError, ValueError):
                old = None
            _, said = spoken.index(entries, old if isinstance(old, dict) else None, from_epoch(time.time()))
            if not _is_as_good(old, said):
                # Synced: nobody compares a list with what it should say, so a power cut must not leave an older one.
                durable_write(full, Writer().write(said), mode=0o644, alone=True)
        self._shown[state.ulid] = (standing(state), time.monotonic())


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
