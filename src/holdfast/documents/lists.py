"""The list of workflows that a dialect keeps beside its documents."""

from __future__ import annotations

import os
import time

from holdfast.core.moment import from_epoch
from holdfast.core.state import State
from holdfast.dialects import dialect
from holdfast.dialects.text import Writer
from holdfast.digest import digest
from holdfast.place import Place
from holdfast.plainjson import parse
from holdfast.ports import Store, standing
from holdfast.stores.locks import Locked
from holdfast.stores.replace import read_file, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

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
        with Locked(slots, self._wait):  # all workflows share the file and its slot
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
            replace(full, Writer().write(said), os.path.join(slots, f"index-{digest(full.encode())[:8]}"), mode=0o644)
        self._shown[state.ulid] = (standing(state), time.monotonic())
