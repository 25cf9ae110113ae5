"""The record beside a journal of the last line that was acknowledged. Without it, lost lines at the end go unnoticed.

It is written after the journal's sync and never synced itself: it can be older than the journal, or torn, but never
ahead of it. So it also tells other writers that their lines are durable, and one sync is enough for all. A process that
puts another file in its place clears the record first, durably and under its lock.

A second record is outside of `.holdfast`, in git's own folder. It notices the loss where an older `.holdfast` was
restored, or the first record was removed together with the lines. It may be missing or behind, as in a sandbox that
does not let git's folder be written.
"""

from __future__ import annotations

import os
from _collections_abc import Callable
from time import sleep

from holdfast.core import remedies
from holdfast.core.value import Value
from holdfast.errors import Broken
from holdfast.files.locks import FileLock
from holdfast.files.replace import hand_over, not_written, sync_directories
from holdfast.plain.digest import digest

_ASKED_AFTER, _ASKED_UNTIL = 0.00015, 0.003
"""After how many seconds a writer asks again whether another one's sync was for its line too: each time after half as
many more. A writer that asks all the time takes the processor from the one that it waits for."""
_SEQ = 15
_SIZE = 50
_WRITE = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Seen(Value):
    """A line that was acknowledged."""

    seq: int
    sum: str


class Witness(FileLock):
    """The records of one journal, used by one thread at a time. `outside` is empty where there is only one."""

    def __init__(self, path: str, wait: float, outside: str = "") -> None:
        super().__init__(path, wait)
        self._outside = outside
        self._last: tuple[bytes, Seen | None] = (b"", None)

    def read(self) -> Seen | None:
        """What the first one says; None where it is missing, cleared or torn."""
        return self._said(self._raw())

    def newest(self) -> Seen | None:
        """What the record says that knows more."""
        raw, beyond = self._raw(), _read(self._outside) if self._outside else b""
        here = self._said(raw)
        outside = _parsed(beyond) if beyond != raw else None
        return outside if outside and (here is None or here.seq < outside.seq) else here

    def _raw(self) -> bytes:
        try:
            if self.is_current:
                return os.pread(self.fd, _SIZE, 0)
        except OSError:
            return b""
        return _read(self.path)

    def _said(self, raw: bytes) -> Seen | None:
        """Asked again and again, of the same bytes."""
        known = self._last
        if known[0] != raw:
            known = self._last = raw, _parsed(raw)
        return known[1]

    def put(self, seen: Seen) -> None:
        """Keeps a line that is durable in the journal. The lock has to be held."""
        before = self._said(os.pread(self.fd, _SIZE, 0))
        if before is None or before.seq < seen.seq:
            self._write(seen)

    def _write(self, seen: Seen) -> None:
        raw = _written(seen)
        os.pwrite(self.fd, raw, 0)
        self._last = raw, seen
        if self._outside:
            _keep(self._outside, raw)

    def shared(
        self, seq: int, newest: Callable[[], Seen], sync: Callable[[], None], is_there: Callable[[], bool]
    ) -> bool:
        """Whether a line is durable by one sync for all writers: another's, or one that is made here.

        Only a handle that is sound makes it, and the disk reports an error to every descriptor: what the record says
        holds for the writer of the line. False where the writer has to sync for itself.
        """
        wait = _ASKED_AFTER
        while wait < _ASKED_UNTIL:
            try:
                held = self.take(or_leave=True)
            except OSError:
                return False
            try:
                seen = self.read()
                if seen and seen.seq >= seq:
                    return True
                if held:
                    last = newest()
                    sync()
                    try:
                        if is_there():
                            self._write(last)
                    except OSError:
                        pass  # the lines are durable, and the next one makes up for it
                    return True
            finally:
                if held:
                    self.release()
            sleep(wait)
            wait *= 1.5
        return False

    def clear(self) -> None:
        """Nothing is known from now on, also after a power cut. The lock has to be held."""
        try:
            if self._outside:
                os.unlink(self._outside)
                sync_directories(os.path.dirname(self._outside), [])
        except FileNotFoundError:
            pass
        except OSError as failure:
            raise not_written(self._outside, failure) from failure
        os.ftruncate(self.fd, 0)
        os.fsync(self.fd)

    def __enter__(self) -> Witness:
        """Holds the lock: no other file takes the place of the journal meanwhile."""
        self.take()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _read(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            return os.read(fd, _SIZE)
        finally:
            os.close(fd)
    except OSError:
        return b""


def _keep(path: str, raw: bytes) -> None:
    """Where it cannot be written, the first record is enough for all but a loss of both."""
    try:
        try:
            fd = os.open(path, _WRITE)
        except FileNotFoundError:
            fd = _made(path)
        try:
            os.write(fd, raw)
        finally:
            os.close(fd)
    except OSError:
        pass


def _made(path: str) -> int:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        os.mkdir(folder, 0o700)
        hand_over(folder, os.path.dirname(folder))
    fd = os.open(path, _WRITE | os.O_CREAT, 0o600)
    hand_over(fd, folder)
    return fd


def _written(seen: Seen) -> bytes:
    text = b"%0*d %s" % (_SEQ, seen.seq, seen.sum.encode())
    return b"%s %s\n" % (text, digest(text)[:16].encode())


def _parsed(raw: bytes) -> Seen | None:
    text = raw[: _SIZE - 18]
    if len(raw) != _SIZE or raw != b"%s %s\n" % (text, digest(text)[:16].encode()):
        return None
    seq, hashed = text.decode("ascii").split()
    return Seen(int(seq), hashed)


def lines_missing(path: str, first: int, last: int, why: str = "") -> Broken:
    """Lines that were acknowledged, and that no byte of the journal shows any more."""
    which = f"line {last}" if first == last else f"lines {first} to {last}"
    said = f"the end of {path} is missing: {which}, which Holdfast had acknowledged"
    return Broken(
        "lines_missing",
        f"{said}; {why}" if why else said,
        remedy=remedies.doctor(),
        facts={"path": path, "seq": first, "last": last, "missing": last - first + 1},
    )
