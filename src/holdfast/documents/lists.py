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
from holdfast.engine.ports import Store, entry_of, standing
from holdfast.errors import UsageError
from holdfast.files.replace import durable_write, read_file
from holdfast.machine.place import Place
from holdfast.plain import clock
from holdfast.plain.plainjson import parse


class Lists:
    def __init__(self, place: Place, store: Store, dialect: Dialects, before: Callable[[State], None]) -> None:
        """`before` is called before a list is written that may have been gone."""
        self._place = place
        self._store = store
        self._dialect = dialect
        self._before = before
        self._shown: dict[str, tuple[object, object, float]] = {}

    def refresh(self, state: State, elsewhere: Callable[[State, str], bool]) -> None:
        """Written when the workflow came, went, failed or came back, and once the dialect's lag is over. Its entry is
        settled by now.
        """
        spoken = self._dialect(state.dialect)
        if spoken.index is None:
            return
        status = queries.status(state)
        failed = status if status in ("failed", "escalated") else ""
        stands = (*standing(state), failed)
        shown = self._shown.get(state.ulid)
        is_recent = shown is not None and time.monotonic() - shown[2] < spoken.lag
        if shown and is_recent and shown[0] == stands:
            return
        own = entry_of(state).replace(updated_at=state.created_at)
        said = spoken.index([own.replace(status=failed) if failed else own], None, state.created_at, state.session)
        if shown and is_recent and shown[1] == said:
            self._shown[state.ulid] = (stands, said, shown[2])
            return
        self._write(state, state.session, elsewhere)
        self._shown[state.ulid] = (stands, said, time.monotonic())

    def _write(self, state: State, session: str, elsewhere: Callable[[State, str], bool]) -> None:
        spoken = self._dialect(state.dialect)
        assert spoken.index is not None
        path, _ = spoken.index([], None, "", session)
        if elsewhere(state, path):
            return
        self._before(state)
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
            if not _is_as_good(old, said, spoken.lag):
                # Synced: nobody compares a list with what it should say, so a power cut must not leave an older one.
                durable_write(full, Writer().write(said), alone=True)


def _is_as_good(old: object, new: object, lag: int) -> bool:
    """Whether the old list says the same but for moments that are not much behind."""
    match old, new:
        case dict(), dict():
            return old.keys() == new.keys() and all(_is_as_good(old[name], new[name], lag) for name in new)
        case list(), list():
            return len(old) == len(new) and all(_is_as_good(*pair, lag) for pair in zip(old, new, strict=True))
        case str(), str() if old != new:
            try:
                return 0 <= to_epoch(new) - to_epoch(old) < lag
            except UsageError:
                return False
    return old == new
