"""What this user knows of the lists of approvers: what each was when it was looked at last, and which were replaced.

A change that nobody has looked at is an alert. The file is outside of any repository.
"""

from __future__ import annotations

import os
from contextlib import suppress

from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, object_in

NAME = ".known-approvers"
UNSEEN = ". No person has looked at it since: holdfast passkey list"
"""The end of what is told of a change, for those who do not look at the list."""
_LARGEST = 1 << 20


class KnownApprovers:
    def __init__(self, data_dir: str) -> None:
        self._path = os.path.join(data_dir, "holdfast", "trust", NAME)

    def seen(self, path: str) -> str:
        """What a list was when a person looked at it last; empty where nobody did."""
        return str(self._part("seen").get(os.path.realpath(path), ""))

    def saw(self, path: str, stamp: str) -> None:
        self._put("seen", os.path.realpath(path), stamp)
        self._put("unseen", os.path.realpath(path), "")

    def unseen(self, path: str) -> str:
        """What a list was when it was found last since a person looked at it, if it was another then."""
        return str(self._part("unseen").get(os.path.realpath(path), ""))

    def found(self, path: str, stamp: str) -> None:
        """Remembers that there is a list that no person has looked at, so that it cannot go without a word."""
        if stamp not in ("", self.seen(path), self.unseen(path)):
            self._put("unseen", os.path.realpath(path), stamp)

    def is_replaced(self, last: str) -> bool:
        """Whether a person put another list in the place of the one whose last line has this hash."""
        return bool(last) and last in self._part("replaced")

    def replaced(self, last: str, when: str) -> None:
        self._put("replaced", last, when)

    def _part(self, name: str) -> dict[str, Any]:
        data = read_regular(self._path, _LARGEST)
        found = (object_in(data) or {}).get(name) if data else None
        return found if isinstance(found, dict) else {}

    def _put(self, part: str, name: str, value: str) -> None:
        from holdfast.files.replace import durable_write

        said = {one: self._part(one) for one in ("seen", "unseen", "replaced")}
        said[part][name] = value
        durable_write(self._path, compact(said).encode() + b"\n", 0o600, dir_mode=0o700)


def changes(paths: tuple[str, ...], data_dir: str) -> list[tuple[float, str]]:
    """When these lists changed, and what is to be told of them: those that no person has looked at as they are.

    When is in seconds, and 0 where it cannot be known.
    """
    mine, told = KnownApprovers(data_dir), []
    for path in paths:
        now, before = stamp(path), mine.seen(path)
        if now == before and (now or not mine.unseen(path)):
            continue
        with suppress(OSError, HoldfastError):  # what cannot be written down is told all the same
            mine.found(path, now)
        how = f"{'changed' if before else 'is new'} (SHA-256 {now[:8]})" if now else _lost(path)
        told.append((_changed(path), f"the list of those who may approve {how}: {path}{UNSEEN}"))
    return told


def looked(paths: tuple[str, ...], data_dir: str) -> None:
    """Remembers that a person looked at these lists as they are now."""
    mine = KnownApprovers(data_dir)
    for path in paths:
        at = stamp(path)
        if mine.seen(path) != at or mine.unseen(path):
            mine.saw(path, at)


def _lost(path: str) -> str:
    return "cannot be read" if os.path.lexists(path) else "was removed"


def _changed(path: str) -> float:
    """When a file changed last, by the clock of the file system, which no program sets as it likes."""
    try:
        return os.lstat(path).st_ctime
    except OSError:
        return 0


def stamp(path: str) -> str:
    """What tells one content of a list from another; empty where there is none."""
    data = read_regular(path, _LARGEST)
    return "" if data is None else digest(data)
