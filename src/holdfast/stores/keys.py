"""Which workflow was started with which idempotency key, also of those that the index names no longer.

A cache of the first lines of all journals. It is never synced: a journal that it lacks is read again.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterable

from holdfast.core.names import is_ulid
from holdfast.files.replace import read_file
from holdfast.plain.digest import digest

_NONE = "-" * 32


class Keys:
    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "keys")

    def started_with(self, key: str, ulids: Iterable[str], key_of: Callable[[str], str | None]) -> str:
        """The one of these workflows that a key started. `key_of` reads its journal; None where it cannot."""
        known = self._read()
        wanted, missing, found = digest(key.encode()), [], ""
        for ulid in ulids:
            hashed = known.get(ulid)
            if hashed is None:
                own = key_of(ulid)
                if own is None:
                    continue
                hashed = digest(own.encode()) if own else _NONE
                missing.append(f"{ulid} {hashed}\n")
            if hashed == wanted:
                found = ulid
        self._add("".join(missing))
        return found

    def _read(self) -> dict[str, str]:
        try:
            lines = read_file(self._path).decode("ascii", "replace").split("\n")
        except OSError:
            return {}
        pairs = (line.partition(" ") for line in lines[:-1])
        return {ulid: hashed for ulid, _, hashed in pairs if is_ulid(ulid) and len(hashed) == len(_NONE)}

    def _add(self, text: str) -> None:
        """A line that a crash tore makes the one after it unreadable too: both are read from their journals again."""
        try:
            if text:
                fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                try:
                    os.write(fd, text.encode())
                finally:
                    os.close(fd)
        except OSError:
            pass  # who may only read finds the key all the same
