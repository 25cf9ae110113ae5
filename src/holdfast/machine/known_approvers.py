"""What this user knows of the lists of approvers: what each was when it was looked at last, and which were replaced.

A change that nobody has looked at is an alert. The file is outside of any repository.
"""

from __future__ import annotations

import os

from holdfast.core.value import Any
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, object_in

NAME = ".known-approvers"
_LARGEST = 1 << 20


class KnownApprovers:
    def __init__(self, data_dir: str) -> None:
        self._path = os.path.join(data_dir, "holdfast", "trust", NAME)

    def seen(self, path: str) -> str:
        """What a list was when a person looked at it last; empty where nobody did."""
        return str(self._part("seen").get(os.path.realpath(path), ""))

    def saw(self, path: str, stamp: str) -> None:
        self._put("seen", os.path.realpath(path), stamp)

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

        said = {one: self._part(one) for one in ("seen", "replaced")}
        said[part][name] = value
        durable_write(self._path, compact(said).encode() + b"\n", 0o600, dir_mode=0o700)


def changes(paths: tuple[str, ...], data_dir: str) -> list[str]:
    """What is to be told of these lists: which of them are not as they were when a person looked at them."""
    mine, told = KnownApprovers(data_dir), []
    for path in paths:
        now, before = stamp(path), mine.seen(path)
        if now != before:
            how = f"{'has changed' if before else 'is new'} (it is {now[:8]} now)" if now else "is gone"
            told.append(f"{path}, which says who may approve, {how} since a person looked at it: holdfast passkey list")
    return told


def stamp(path: str) -> str:
    """What tells one content of a list from another; empty where there is none."""
    data = read_regular(path, _LARGEST)
    return "" if data is None else digest(data)
