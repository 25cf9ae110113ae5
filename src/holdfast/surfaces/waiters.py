"""Whether a process waits for a workflow, as `holdfast wait` does: its lock ends with it, however that comes about."""

from __future__ import annotations

import os

from holdfast.machine.place import Place
from holdfast.plain.digest import digest

FILE = "waiting"
_DIGITS = 12


class Waiter:
    """Says that this process waits, until it ends or closes this. Where nothing can be written, it is not said."""

    def __init__(self, place: Place, ulid: str) -> None:
        import fcntl

        self._fd = -1
        try:
            self._fd = os.open(os.path.join(place.home, FILE), _FLAGS | os.O_CREAT, 0o600)
            fcntl.lockf(self._fd, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, _offset(ulid))
        except OSError:
            self.close()

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def is_awaited(place: Place, ulid: str) -> bool:
    """Whether another process waits for what happens to a workflow."""
    import fcntl

    try:
        fd = os.open(os.path.join(place.home, FILE), _FLAGS)
    except OSError:
        return False
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(ulid))
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


_FLAGS = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


def _offset(ulid: str) -> int:
    """Each workflow has a byte of the file, which need not be that long."""
    return int(digest(ulid.encode())[:_DIGITS], 16)
