"""The record beside a journal of the last line that was acknowledged. Without it, lost lines at the end go unnoticed.

It is written after the journal's sync and never synced itself: it can be older than the journal, or torn, but never
ahead of it. Whoever puts another file in the journal's place clears the record first, durably and under its lock.
"""

from __future__ import annotations

import os

from holdfast.core.value import Value
from holdfast.files.locks import locked, unlock
from holdfast.files.replace import hand_over, make_directories
from holdfast.plain.digest import digest

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_SEQ = 15
_SIZE = 67


class Seen(Value):
    """A line that was acknowledged, and the hash of the document that was rendered with it."""

    seq: int
    sum: str
    document: str = ""


class Witness:
    """The record of one journal, used by one thread at a time."""

    def __init__(self, path: str, wait: float = 10.0) -> None:
        self.path = path
        self._wait = wait
        self._fd = -1

    def read(self) -> Seen | None:
        """None where it is missing, cleared or torn."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return _parsed(os.read(fd, _SIZE))
        except OSError:
            return None
        finally:
            os.close(fd)

    def put(self, seen: Seen) -> None:
        """Keeps a line that is durable in the journal. The lock has to be held."""
        before = _parsed(os.pread(self._fd, _SIZE, 0))
        if before is None or before.seq < seen.seq:
            os.pwrite(self._fd, _written(seen), 0)

    def clear(self) -> None:
        """Nothing is known from now on, also after a power cut. The lock has to be held."""
        os.ftruncate(self._fd, 0)
        os.fsync(self._fd)

    def __enter__(self) -> Witness:
        """Holds the lock: no other file takes the place of the journal meanwhile."""
        try:
            self._fd = os.open(self.path, _OPEN, 0o600)
        except FileNotFoundError:
            make_directories(os.path.dirname(self.path), 0o700)
            self._fd = os.open(self.path, _OPEN, 0o600)
        hand_over(self._fd, os.path.dirname(self.path))
        try:
            locked(self._fd, self.path, self._wait)
        except BaseException:
            os.close(self._fd)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        unlock(self._fd)
        os.close(self._fd)


def _written(seen: Seen) -> bytes:
    text = b"%0*d %s %-16s" % (_SEQ, seen.seq, seen.sum.encode(), seen.document[:16].encode())
    return b"%s %s\n" % (text, digest(text)[:16].encode())


def _parsed(raw: bytes) -> Seen | None:
    text = raw[: _SIZE - 18]
    if len(raw) != _SIZE or raw != b"%s %s\n" % (text, digest(text)[:16].encode()):
        return None
    seq, hashed, *document = text.decode("ascii").split()
    return Seen(int(seq), hashed, "".join(document))
