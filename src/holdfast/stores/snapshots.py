"""The state up to some line of a journal, kept so that loading does not grow with history. A view: it may be lost."""

from __future__ import annotations

import os

from holdfast.core.state import State
from holdfast.engine.codec import VERSION, decode_state, encode
from holdfast.files.replace import remove, replace
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse
from holdfast.stores.lines import Position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.stores.journal import Journal


class Snapshots:
    def __init__(self, home: str) -> None:
        self._folder = os.path.join(home, "state")

    def found(self, ulid: str, journal: Journal) -> State | None:
        """The state of the last one, with the journal gone on to its line; None where there is no good one."""
        try:
            with open(self._path(ulid), "rb") as file:
                seal, _, body = file.read().partition(b"\n")
            if digest(body).encode() == seal:
                data = parse(body)
                state, position = decode_state(data["state"]), Position(**data["position"])
                if data["v"] == VERSION and journal.seek(position):
                    return state
        except (OSError, ValueError, KeyError, TypeError):
            pass  # of another version, or damaged: the journal has it all
        return None

    def write(self, state: State, position: Position) -> None:
        body = compact({"v": VERSION, "position": encode(position), "state": encode(state)}).encode()
        path = self._path(state.ulid)
        replace(path, digest(body).encode() + b"\n" + body, path + ".slot", dir_mode=0o700)

    def drop(self, ulid: str) -> None:
        for path in (self._path(ulid), self._path(ulid) + ".slot"):
            remove(path)

    def _path(self, ulid: str) -> str:
        return os.path.join(self._folder, ulid[-2:].lower(), f"{ulid}.json")
