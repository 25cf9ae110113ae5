"""The guard view: what hooks judge tool calls by. One file, with the workflows that have something to say."""

from __future__ import annotations

import os

from holdfast.core import guarding
from holdfast.core.names import is_ulid
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.spec import Dialects
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError
from holdfast.files.replace import durable_write, read_file
from holdfast.machine.place import Place
from holdfast.plain.plainjson import compact, parse

VERSION = 1
_UNSEEN = object()


class Guard:
    def __init__(self, place: Place, store: Store, dialect: Dialects) -> None:
        self._path = os.path.join(place.home, "guard")
        self._store = store
        self._dialect = dialect
        self._shown: dict[str, object] = {}

    def entries(self) -> list[dict[str, Any]]:
        """What the view says of each workflow; nothing where it is missing or damaged."""
        found = self._read()
        return found["workflows"] if found else []

    def _read(self) -> dict[str, Any] | None:
        try:
            data = parse(read_file(self._path))
        except (OSError, ValueError):
            return None
        if not isinstance(data, dict) or data.get("version") != VERSION:
            return None
        listed, at = data.get("workflows"), data.get("at")
        whole = isinstance(listed, list) and all(map(_is_whole, listed))
        return {"workflows": listed, "at": at if isinstance(at, dict) else {}} if whole else None

    def refresh(self, state: State) -> None:
        """Written when what a workflow has to say has changed, or a session has come to it: which is seldom."""
        said = (self.said_of(state), _newest(state))
        if self._shown.get(state.ulid, _UNSEEN) == said:
            return
        known = self._read()
        if known is None and os.path.lexists(self._path):
            self.rebuild()
        elif not self._says(known, state):
            with self._store.exclusively("slots"):
                self._put(self._store.load(state.ulid))
        self._shown[state.ulid] = said

    def _put(self, state: State) -> None:
        known = self._read() or {"workflows": [], "at": {}}
        others, entry = [one for one in known["workflows"] if one["ulid"] != state.ulid], self.said_of(state)
        self._write([*others, entry] if entry else others, _sat(known["at"], state))

    def rebuild(self) -> None:
        """The whole view again, from the journals."""
        with self._store.exclusively("slots"):
            said: list[dict[str, Any] | None] = []
            at: dict[str, Any] = {}
            for entry in self._store.active():
                try:
                    state = self._store.load(entry.ulid)
                except HoldfastError:
                    continue  # one that needs a person says so when it is asked for
                said.append(self.said_of(state))
                at = _sat(at, state)
            self._write([one for one in said if one is not None], at)

    def said_of(self, state: State) -> dict[str, Any] | None:
        """What the view says of a workflow; None when it need not."""
        spoken = self._dialect(state.dialect)
        if spoken.guarded:
            return guarding.entry(state, spoken.guarded(state), areas=spoken.areas(state) if spoken.areas else ())
        return guarding.entry(state, document=spoken.document.path(state))

    def _says(self, known: dict[str, Any] | None, state: State) -> bool:
        """Whether the view has this already."""
        known = known or {"workflows": [], "at": {}}
        there = next((one for one in known["workflows"] if one["ulid"] == state.ulid), None)
        return there == self.said_of(state) and (not there or _sat(known["at"], state) == known["at"])

    def _write(self, entries: list[dict[str, Any]], at: dict[str, Any]) -> None:
        active = {one["ulid"] for one in entries}
        kept = {session: seat for session, seat in at.items() if seat[0] in active}
        data = compact({"version": VERSION, "workflows": entries, "at": kept}).encode()
        durable_write(self._path, data, dir_mode=0o700, alone=True)


def _newest(state: State) -> str:
    """The session that did something here last."""
    return next(reversed(list(state.seats)), "")


def _sat(at: dict[str, Any], state: State) -> dict[str, Any]:
    """Which workflow each session is at, and since when, with what this one knows."""
    found = dict(at)
    for session, seat in state.seats.items():
        there = found.get(session)
        later = not isinstance(there, list) or len(there) != 2 or str(there[1]) < seat.at
        if session and (later and (not there or there[0] != state.ulid)):
            found[session] = [state.ulid, seat.at]
    return found


def _is_whole(one: object) -> bool:
    """Whether this can be what the view says of a workflow."""
    return isinstance(one, dict) and is_ulid(one.get("ulid")) and isinstance(one.get("sessions", []), list)
