"""The journal file: append-only JSON lines, each whole by its own sum, chained to the one before, one per command.

A line carries `synced`, the highest sequence number its writer knew to be durable. That mark tells a torn tail, which
nobody was ever promised, from the loss of something that was acknowledged. The last line has nothing after it to say
so: there, the record of a `Witness` does.
"""

from __future__ import annotations

import errno
import os
from _collections_abc import Callable, Iterator

from holdfast.core import remedies
from holdfast.core.remedy import shell
from holdfast.errors import Broken, Conflict, HoldfastError, UsageError
from holdfast.files import system
from holdfast.files.locks import locked, unlock
from holdfast.files.replace import (
    hand_over,
    make_directories,
    not_durable,
    not_written,
    remove,
    sync_directories,
    write_all,
)
from holdfast.stores.lines import (
    FIRST,
    LONGEST_LINE,
    Line,
    Position,
    acknowledged,
    chained,
    damaged,
    head,
    missing,
    near,
    parsed,
    seal,
    sum_before,
)
from holdfast.stores.witness import Seen, Witness, lines_missing

_BLOCK = 1 << 18
_TAIL = 1 << 16
_OPEN = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW


class Journal:
    """One open journal, used by one thread at a time.

    `synced` is the highest sequence number known to be durable; `wait` bounds the seconds spent waiting for the lock.
    `overtaken` says that the file no longer has what was read from it: to continue, open another.
    """

    def __init__(self, path: str, *, wait: float = 10.0, witness: Witness | None = None) -> None:
        self.path = path
        self.synced = 0
        self.overtaken = False
        self._wait = wait
        self._witness = witness
        self._expected: Seen | None = None
        self._last: Line | Position | None = None
        self._shown = 0
        self._writing = False
        self._fd = -1
        self._inode = 0
        self._refused: OSError | None = None
        # After a failed sync, anyone's, the kernel takes the lost pages for clean and a later sync of a descriptor that
        # was opened since succeeds without them. Only what this handle wrote again, or again, can it vouch for.
        self._sound = False
        self._suspect = False
        self._vouched = False
        self._descriptor()

    @classmethod
    def create(cls, path: str, body: bytes, *, wait: float = 10.0, witness: Witness | None = None) -> Journal:
        """A new journal whose first line is durable, and found again after a power cut, when this returns."""
        folder = os.path.dirname(path)
        try:
            made = make_directories(folder, 0o700)
            os.close(os.open(path, _OPEN | os.O_CREAT | os.O_EXCL, 0o600))
            hand_over(path, folder)
        except FileExistsError:
            raise Conflict("journal_exists", f"there already is a journal at {path}", facts={"path": path}) from None
        except OSError as failure:
            raise not_written(path, failure) from failure
        journal = None
        try:
            journal = cls(path, wait=wait)
            journal._acquire()
            journal._writing = journal._sound = True
            journal.append(body)
            journal._release()
            journal.sync()
            sync_directories(folder, made)
            journal._witness = witness
            journal.testify()
        except BaseException as failure:
            if journal:
                journal.close()
            remove(path)
            if isinstance(failure, OSError):
                raise not_durable(path, failure) from failure
            raise
        return journal

    @property
    def position(self) -> Position | None:
        last = self._last
        return last.position if isinstance(last, Line) else last

    @property
    def inode(self) -> int:
        """Of the file that is open: another one in its place is another journal."""
        self._descriptor()
        return self._inode

    @property
    def durable(self) -> Seen | None:
        """The last line, where this handle knows that it is durable."""
        last = self._last
        return Seen(last.seq, last.sum) if last and last.seq <= self.synced else None

    def expect(self, seen: Seen) -> None:
        """Reading finds this line, which was acknowledged, or raises `Broken`."""
        self._expected = seen
        self.synced = max(self.synced, seen.seq)
        if self._last and self._last.seq == seen.seq:
            self._compare(self._last)

    def seek(self, position: Position) -> bool:
        """Continue after a position kept elsewhere; False, and nothing moves, when the file has no such line there."""
        line = self._line_at(position)
        if line is None or (line.synced + 1 < line.seq and self._unsynced(line, line.synced) is None):
            return False
        self._advance([line])
        return True

    def read(self, most: int = 0) -> list[Line]:
        """Whole lines that are new since the last call, or the first `most`. An unfinished end may be being written."""
        try:
            return self._read(self._there(), most)
        except Broken:
            # Without the lock, the old bytes of a tail being cut off can be seen beside new ones; but not twice.
            return self._read(self._there(), most)

    def synced_read(self) -> list[Line]:
        """`read`, and durable before anyone is shown it."""
        lines = self.read()
        self.sync()
        return lines

    def history(self, after: int = 0) -> Iterator[Line]:
        """Every whole line above a sequence number, with the chain checked from the first or one near the position."""
        for line in self._lines(near(self._descriptor(), self._last, after), os.fstat(self._descriptor()).st_size):
            if line.seq > after:
                yield line

    def content(self) -> bytes:
        """Every line up to the position, byte for byte, with the chain checked from the first."""
        last = self._last
        end = seq = 0
        for line in self._lines(None, last.end if last else 0):
            end, seq = line.end, line.seq
        if last and end != last.end:
            raise damaged(self.path, end, seq + 1)
        return os.pread(self._descriptor(), end, 0)

    def writing(self) -> Writing:
        """Hold the lock; the value of the context is what `read` had to give, and a torn tail is gone."""
        return Writing(self)

    def append(self, body: bytes) -> Position:
        """Add a JSON object, visible at once and durable after `sync`.

        It is not empty, has no line breaks, and leaves the names `seq`, `synced`, `prev` and `sum` to the journal.
        """
        if not self._writing:
            raise RuntimeError("append() belongs inside writing()")
        last = self._last
        start = last.end if last else 0
        text = head(last.seq + 1 if last else 1, self.synced, last.sum if last else FIRST) + body[1:-1]
        raw = text + seal(text)
        if body[:1] != b"{" or body[-1:] != b"}" or len(body) < 3 or b"\n" in body or len(raw) > LONGEST_LINE:
            said = f"a journal takes one JSON object on one line, not empty, less than {LONGEST_LINE >> 20} MiB"
            raise UsageError(
                "unfit_line", said, remedy=remedies.doctor(), facts={"path": self.path, "bytes": len(body)}
            )
        seq = last.seq + 1 if last else 1
        appended = Position(seq=seq, start=start, end=start + len(raw), sum=sum_before(raw, len(raw)))
        try:
            write_all(self._fd, raw, start)
        except OSError as failure:
            self._cut(start)
            raise not_written(self.path, failure) from failure
        except BaseException:
            # Interrupted: the line may be there whole and seen by others, so it is neither cut off nor written over.
            self._writing = False
            raise
        self._last = appended
        return appended

    def sync(self, meanwhile: Callable[[], None] | None = None) -> None:
        """Make what this handle read and appended durable; outside `writing`, so that writers share one sync.

        `meanwhile` begins what another thread does while this one waits for the disk.
        """
        seq = self._last.seq if self._last else 0
        if seq <= self.synced or (seq <= self._shown and not self._sound):
            return
        try:
            if self._suspect and not self._refused:
                self._acquire()
                try:
                    self._rewrite()
                finally:
                    self._release()
            if (
                self._witness
                and self._sound
                and self._witness.shared(seq, self._newest, lambda: self._flush(meanwhile), self._is_there)
            ):
                self.synced = seq
                return
            self._flush()
        except (OSError, HoldfastError) as failure:
            self.close()
            raise not_durable(self.path, failure) from failure
        if self._sound:
            self.synced = seq
            self.testify()
        else:
            self._shown = seq  # may be shown, but is no mark to write down

    def _flush(self, meanwhile: Callable[[], None] | None = None) -> None:
        fd = self._descriptor()
        if meanwhile:
            meanwhile()
        system.here.flush(fd)

    def _is_there(self) -> bool:
        """Whether no other file took the place of this one."""
        return os.path.samestat(os.fstat(self._descriptor()), os.stat(self.path))

    def _newest(self) -> Seen:
        """The last line that is there. Others may have written it after what was read here."""
        last, fd = self._last, self._descriptor()
        assert last is not None
        size = os.fstat(fd).st_size
        if size > last.end:
            start = max(last.end, size - _TAIL)
            tail = os.pread(fd, size - start, start)
            whole = tail[: tail.rfind(b"\n") + 1]
            line = parsed(whole[whole.rfind(b"\n", 0, -1) + 1 :], 0)
            if line and line.seq > last.seq:
                return Seen(line.seq, line.sum)
        return Seen(last.seq, last.sum)

    def testify(self) -> None:
        """Writes down beside the journal what is durable in it."""
        witness, durable = self._witness, self.durable
        if witness and durable:
            self.beside(lambda: witness.put(durable))

    def beside(self, write: Callable[[], None]) -> None:
        """Keeps what follows from this file, unless another one took its place. A failure loses nothing."""
        try:
            if self._witness:
                with self._witness:
                    if self._is_there():
                        write()
        except (OSError, HoldfastError):
            pass  # the lines are durable, and the next one makes up for it

    def vouch(self) -> None:
        """Once after opening, before the first line: make what is there durable, so that the line can say so.

        A process that lives for one command would otherwise leave no mark, and damage could pass for a torn tail.
        """
        if not self._vouched:
            self.sync()
            self._vouched = True

    def close(self) -> None:
        """Let go of the file and the lock; a later call opens it again."""
        fd, self._fd = self._fd, -1
        # An error of the disk that this descriptor was still to report is lost with it.
        self._suspect = self._suspect or (self._last is not None and self._last.seq > self.synced)
        self._sound = self._writing = self._vouched = False
        self._shown = 0
        if fd >= 0:
            os.close(fd)
        if self._witness:
            self._witness.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _descriptor(self) -> int:
        if self._fd < 0:
            try:
                self._fd = self._opened()
                self._inode = os.fstat(self._fd).st_ino
            except FileNotFoundError:
                raise missing(self.path) from None
            except OSError as failure:
                reason = failure.strerror
                raise HoldfastError(
                    "journal_unreadable",
                    f"{self.path} cannot be opened: {reason}",
                    remedy=shell("ls", "-l", self.path),
                    facts={"path": self.path, "errno": failure.errno, "reason": reason},
                ) from failure
            if self._last and self._line_at(self._last) is None:
                self.close()
                raise self._changed()
        return self._fd

    def _opened(self) -> int:
        """Who may not write the file reads it all the same."""
        self._refused = None
        try:
            return os.open(self.path, _OPEN)
        except OSError as failure:
            if failure.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                raise
            self._refused = failure
            return os.open(self.path, _READ)

    def _there(self) -> os.stat_result:
        """The file that is open; the one at the path, when that has taken its place."""
        found = os.fstat(self._descriptor())
        if not found.st_nlink:
            self.close()
            found = os.fstat(self._descriptor())
        return found

    def _acquire(self) -> os.stat_result:
        """Take the lock of the file that is at the path now, and say how large it is."""
        if self._writing:
            raise RuntimeError("this journal is already being written")
        while True:
            fd = self._descriptor()
            if self._refused:
                raise not_written(self.path, self._refused)
            try:
                locked(fd, self.path, self._wait)
                ours = os.fstat(fd)
                try:
                    there = os.stat(self.path)
                except FileNotFoundError:
                    raise missing(self.path) from None
                if ours.st_ino == there.st_ino and ours.st_dev == there.st_dev:
                    return ours
            except BaseException:
                self.close()
                raise
            self.close()  # another file took the place while this one was waited for

    def _release(self) -> None:
        self._writing = False
        if self._fd >= 0:
            unlock(self._fd)

    def _begin(self) -> list[Line]:
        found = self._acquire()
        before = self._last, self.synced
        try:
            lines = self._read(found)
            if self._last is None:
                raise missing(self.path)
            if found.st_size > self._last.end:
                os.ftruncate(self._fd, self._last.end)
            if not self._sound:
                self._rewrite()
        except BaseException as failure:
            self._last, self.synced = before
            self._release()
            if isinstance(failure, OSError):
                raise not_written(self.path, failure) from failure
            raise
        self._writing = True
        return lines

    def _read(self, found: os.stat_result, most: int = 0) -> list[Line]:
        last = self._last
        if not found.st_nlink:
            raise missing(self.path)
        if last and found.st_size == last.end and last.seq >= self.synced:
            return []
        if last and found.st_size < last.end:
            raise damaged(self.path, found.st_size, last.seq) if last.seq <= self.synced else self._changed()
        lines: list[Line] = []
        for line in self._lines(last, found.st_size):
            lines.append(line)
            if len(lines) == most:
                break
        self._advance(lines)
        return lines

    def _advance(self, lines: list[Line]) -> None:
        self._last = lines[-1] if lines else self._last
        self.synced = max([self.synced, *[line.synced for line in lines]])

    def _lines(self, last: Line | Position | None, size: int) -> Iterator[Line]:
        """Good lines after one that is known, up to the first that is not good; then, if that proves a loss, Broken."""
        seq, prev, at = (last.seq, last.sum, last.end) if last else (0, FIRST, 0)
        mark, expected = self.synced, self._expected.seq if self._expected else 0
        rest = b""
        while (there := at + len(rest)) < size and len(rest) <= LONGEST_LINE:
            block = os.pread(self._descriptor(), min(_BLOCK, size - there), there)
            if not block:
                break
            *whole, rest = (rest + block).split(b"\n")
            for text in whole:
                line = parsed(text + b"\n", at)
                if line is None or line.seq != seq + 1 or line.body["prev"] != prev:
                    return self._judge(at, seq + 1, mark)
                seq, prev, at, mark = line.seq, line.sum, line.end, max(mark, line.synced)
                if seq == expected:
                    self._compare(line)
                yield line
        if rest or seq < mark:
            self._judge(at, seq + 1, mark)
        return None

    def _judge(self, at: int, seq: int, mark: int) -> None:
        size = os.fstat(self._descriptor()).st_size
        if seq <= mark and size <= at:
            raise lines_missing(self.path, seq, mark)
        if seq <= mark or acknowledged(os.pread(self._descriptor(), max(size - at, 0), at), seq):
            raise damaged(self.path, at, seq)

    def _compare(self, line: Line | Position) -> None:
        expected = self._expected
        if expected and line.seq == expected.seq and line.sum != expected.sum:
            raise lines_missing(self.path, line.seq, line.seq, "another line is in its place")

    def _line_at(self, place: Position | Line) -> Line | None:
        if not 0 <= place.start < place.end <= place.start + LONGEST_LINE:
            return None
        line = parsed(os.pread(self._descriptor(), place.end - place.start, place.start), place.start)
        return line if line and (line.seq, line.sum, line.end) == (place.seq, place.sum, place.end) else None

    def _unsynced(self, last: Position | Line, synced: int) -> bytes | None:
        """The lines above `synced` up to `last`, found backwards; None when they are not all there and whole."""
        count = last.seq - synced
        span = last.end - last.start
        while True:
            low = max(0, last.end - span)
            lines = os.pread(self._descriptor(), last.end - low, low).split(b"\n")[-1 - count : -1]
            if len(lines) == count and chained(lines, last.seq, last.sum):
                return b"".join(line + b"\n" for line in lines)
            if low == 0:
                return None
            span = 16 * span + (1 << 12)

    def _rewrite(self) -> None:
        """Under the lock, write the same bytes over everything not known to be durable, so the next sync is honest."""
        last = self._last
        if last and last.seq > self.synced:
            raw = self._unsynced(last, self.synced)
            if raw is None:
                raise self._changed()
            write_all(self._fd, raw, last.end - len(raw))
        self._sound, self._suspect = True, False

    def _cut(self, end: int) -> None:
        try:
            os.ftruncate(self._fd, end)
        except OSError:
            pass  # what is left is a torn tail, which the next writer drops

    def _changed(self) -> Conflict:
        self.overtaken = True
        return Conflict(
            "journal_changed",
            f"{self.path} no longer holds what was read from it",
            remedy="run the command again",
            facts={"path": self.path, "seq": self._last.seq if self._last else 0},
        )


class Writing:
    """The context of `Journal.writing`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def __enter__(self) -> list[Line]:
        return self._journal._begin()

    def __exit__(self, *_: object) -> None:
        self._journal._release()
