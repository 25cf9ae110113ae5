"""The record beside a journal of what the workflow's document was last made to show. A view: it may be lost.

It is written under its own lock, after the document is in place, and never synced. It names the journal by its inode:
where another file took the journal's place, the record says nothing.
"""

from __future__ import annotations

import os

from holdfast.engine.ports import View
from holdfast.files.locks import FileLock
from holdfast.plain.digest import digest

_LARGEST = 1 << 13


class ShownFile(FileLock):
    """The record of one workflow; the holder of its lock shows the workflow."""

    _parsed: tuple[bytes, int, View | None] = (b"", 0, None)

    def read(self, inode: int) -> View | None:
        """None where it is missing, torn, or of another journal."""
        try:
            if self.is_current:
                return self._said(os.pread(self.fd, _LARGEST, 0), inode)
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                return self._said(os.pread(fd, _LARGEST, 0), inode)
            finally:
                os.close(fd)
        except OSError:
            return None

    def _said(self, raw: bytes, inode: int) -> View | None:
        """Asked several times in each request, of the same bytes."""
        known = self._parsed
        if known[0] != raw or known[1] != inode:
            known = self._parsed = raw, inode, _parsed(raw, inode)
        return known[2]

    def write(self, view: View, inode: int) -> None:
        """The lock has to be held."""
        stamp = ".".join(map(str, view.stamp))
        text = f"{inode} {view.revision} {view.hash} {stamp} ".encode() + os.fsencode(view.path)
        raw = b"%s %s\n" % (digest(text)[:16].encode(), text)
        try:
            os.pwrite(self.fd, raw, 0)
            self._parsed = raw, inode, view
        except OSError:
            pass  # a full disk: the next look compares the document itself


class ShowingHere:
    """The lock, held until the end of a `with`."""

    def __init__(self, file: ShownFile, inode: int) -> None:
        self._file = file
        self._inode = inode

    def keep(self, view: View) -> None:
        self._file.write(view, self._inode)

    def __enter__(self) -> ShowingHere:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.release()


def _parsed(raw: bytes, inode: int) -> View | None:
    hashed, _, text = raw.partition(b"\n")[0].partition(b" ")
    if not text or hashed != digest(text)[:16].encode():
        return None
    of, revision, document, stamp, path = text.split(b" ", 4)
    if int(of) != inode:
        return None
    numbers = tuple(map(int, stamp.split(b"."))) if stamp else ()
    return View(int(revision), os.fsdecode(path), document.decode(), numbers)
