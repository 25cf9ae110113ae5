"""Putting a whole file in place of another: at once, and with the bytes it displaced in hand."""

from __future__ import annotations

import errno
import os
from stat import S_IMODE, S_ISLNK, S_ISREG

from holdfast.core import remedies
from holdfast.core.remedy import shell
from holdfast.errors import UNCHANGED, HoldfastError, OutcomeUnknown, UsageError
from holdfast.files import system
from holdfast.files.system import EXCHANGE, NOREPLACE

_UNSUPPORTED = frozenset((errno.EINVAL, errno.ENOSYS, errno.EXDEV, errno.EOPNOTSUPP, errno.EPERM))
_ROUNDS = 100


class Handles:
    """Descriptors of files and their slots, which stay open from one replacement to the next."""

    def __init__(self, most: int = 32) -> None:
        self._most = most
        self._open: dict[tuple[int, int], int] = {}

    def of(self, path: str) -> tuple[int, os.stat_result | None]:
        """The descriptor of the file that is at a path now; -1 where there is none, or it is not open."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return -1, None
        return self._open.get((found.st_dev, found.st_ino), -1), found

    def keep(self, fd: int) -> None:
        if len(self._open) >= self._most:
            self.close()
        found = os.fstat(fd)
        self._open[found.st_dev, found.st_ino] = fd

    def close(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])

    def __del__(self) -> None:
        self.close()


def replace(
    path: str, data: bytes, slot: str, *, mode: int = 0o600, dir_mode: int = 0o777, handles: Handles | None = None
) -> bytes | None:
    """Make `path` hold `data` in one step and return the bytes it displaced, None where nothing was.

    `slot` is a spare file that keeps the displaced content and is written over by the next call: a path and its slot
    belong to one caller at a time. Nothing is synced. Whatever fails, `path` is as it was. A reader that holds the file
    open through two replacements sees it change under its hands.
    """
    handles = handles or Handles()
    try:
        _write_slot(slot, data, mode, dir_mode, handles)
        for _ in range(_ROUNDS):  # others may create and remove the file all the while
            flag = EXCHANGE if is_file(path) else NOREPLACE
            failure = system.here.rename(slot, path, flag)
            if not failure:
                return _displaced(slot, path, handles) if flag == EXCHANGE else None
            if failure == errno.ENOENT and flag == NOREPLACE:
                if not make_directories(os.path.dirname(path), dir_mode):
                    _write_slot(slot, data, mode, dir_mode, handles)
            elif failure in _UNSUPPORTED:
                return _replace_beside(path, data, mode)
            elif failure not in (errno.ENOENT, errno.EEXIST):
                raise OSError(failure, os.strerror(failure), path)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
    except OSError as failed:
        raise not_written(path, failed) from failed


def durable_write(path: str, data: bytes, mode: int = 0o600, *, dir_mode: int = 0o777, alone: bool = False) -> None:
    """Make `path` hold `data` for good: file, name and new directories are on the disk when this returns.

    Who is `alone`, by a lock, leaves nothing behind: a killed writer's unfinished file is the next one's to write over.
    """
    folder = os.path.dirname(path)
    temporary = unfinished(path) if alone else _beside(path, f".{os.getpid()}")
    try:
        made = make_directories(folder, dir_mode)
        try:
            _write_new(temporary, data, mode, durable=True)
            os.rename(temporary, path)
        except BaseException:
            remove(temporary)
            raise
    except OSError as failed:
        raise not_written(path, failed) from failed
    try:
        sync_directories(folder, made)
    except OSError as failed:
        raise not_durable(path, failed) from failed


def write_private(path: str, data: bytes) -> None:
    """Make `path` hold `data`, for the user alone; a reader sees the old content or the new one."""
    temporary = _beside(path, f".{os.getpid()}")
    try:
        _write_new(temporary, data, 0o600, durable=False)
        os.rename(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def unfinished(path: str) -> str:
    """Where a writer that is alone writes what `path` is to hold; there it stays if the writer is killed."""
    return _beside(path, "")


def reserve(slot: str, *, dir_mode: int = 0o777) -> None:
    """Make an empty slot, which says that its path has been written."""
    try:
        os.close(_open_slot(slot, dir_mode))
    except OSError as failed:
        raise not_written(slot, failed) from failed


def read_file(path: str) -> bytes:
    """The whole content of a regular file. Anything else is an OSError, and nobody is waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.fstat(fd)
        if not S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return _content(fd, found.st_size)
    finally:
        os.close(fd)


def _content(fd: int, size: int) -> bytes:
    """Everything that is in a file, also where it has grown since its size was asked."""
    data = os.pread(fd, size + 1, 0)
    while len(data) > size and (more := os.pread(fd, 1 << 16, len(data))):
        data += more
    return data


def write_all(fd: int, data: bytes, at: int) -> None:
    """`pwrite` until everything is written: a nearly full disk takes a part first and fails on the rest."""
    while data:
        written = os.pwrite(fd, data, at)
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        data, at = data[written:], at + written


def make_directories(folder: str, mode: int) -> list[str]:
    """Make a directory and what is missing above it, private inside `.holdfast`; those made, innermost first."""
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    made = []
    for name in reversed(missing):
        try:
            os.mkdir(name, 0o700 if ".holdfast" in name.split(os.sep) else mode)
            hand_over(name, os.path.dirname(name))
            made.append(name)
        except FileExistsError:
            if not os.path.isdir(name):
                raise
    return made[::-1]


def sync_directories(folder: str, made: list[str]) -> None:
    """Make the names in `folder` durable, and those of the directories that were made for it."""
    for name in dict.fromkeys((folder, *made, *map(os.path.dirname, made))):
        fd = os.open(name or os.curdir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def hand_over(made: int | str, folder: str) -> None:
    """What root makes in a folder of another user is given to that user, who could not read it otherwise."""
    if os.geteuid() == 0:
        owner = os.stat(folder or os.curdir)
        if owner.st_uid:
            os.chown(made, owner.st_uid, owner.st_gid)


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def stamp_of(path: str) -> tuple[int, int, int] | None:
    """What is another one when a file was changed or replaced; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # somebody keeps something there


def not_written(path: str, failure: OSError) -> HoldfastError:
    """What to say when the file system refused a write that was then taken back."""
    full = failure.errno in (errno.ENOSPC, errno.EDQUOT)
    reason = failure.strerror or str(failure)
    said = f"{path} could not be written: {reason}; {UNCHANGED}"
    way = shell("df", "-h", os.path.dirname(path) or os.curdir) if full else remedies.doctor()
    facts = {"path": path, "errno": failure.errno, "reason": reason}
    return HoldfastError("disk_full" if full else "write_failed", said, remedy=way, facts=facts)


def not_durable(path: str, failure: Exception) -> OutcomeUnknown:
    """What to say when a change was visible before the disk failed: the next start shows what became of it."""
    reason = getattr(failure, "strerror", None) or str(failure)
    return OutcomeUnknown(
        "sync_failed",
        f"{path} was written, but the disk did not confirm it: {reason}; the change may or may not last",
        remedy=remedies.doctor(),
        facts={"path": path, "errno": getattr(failure, "errno", None), "reason": reason},
    )


def is_file(path: str) -> bool:
    """Whether there is a regular file to replace; refused where something else is.

    A link would lead elsewhere, and a directory is as easily exchanged as a file.
    """
    try:
        found = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    if S_ISREG(found):
        return True
    from holdfast.files import links

    code, what = ("symlink", "a symbolic link") if S_ISLNK(found) else ("not_a_file", "not a regular file")
    ways = links.remedy(path) if code == "symlink" else shell("ls", "-ld", path)
    raise UsageError(code, f"{path} is {what} and is not replaced", remedy=ways, facts={"path": path})


def _displaced(slot: str, path: str, handles: Handles) -> bytes:
    try:
        fd, found = handles.of(slot)
        return read_file(slot) if fd < 0 or found is None else _content(fd, found.st_size)
    except OSError:
        system.here.rename(slot, path, EXCHANGE)  # a link or a directory took the place at the last moment
        raise


def _write_slot(slot: str, data: bytes, mode: int, dir_mode: int, handles: Handles) -> None:
    fd, found = handles.of(slot)
    if fd < 0 or found is None or not _is_spare(found):
        fd = _open_slot(slot, dir_mode)
        handles.keep(fd)
        found = os.fstat(fd)
    if S_IMODE(found.st_mode) != mode:
        os.fchmod(fd, mode)
    # Cut off after writing, not before: ext4 flushes a file that was emptied and written again when it is closed.
    write_all(fd, data, 0)
    if found.st_size > len(data):
        os.ftruncate(fd, len(data))


def _open_slot(slot: str, dir_mode: int) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(slot, flags, 0o600)
    except FileNotFoundError:
        make_directories(os.path.dirname(slot), dir_mode)
        fd = os.open(slot, flags, 0o600)
    except OSError as failure:
        if failure.errno not in (errno.ELOOP, errno.EACCES, errno.ENXIO):
            raise
        return _open_new(slot)
    if _is_spare(os.fstat(fd)):
        hand_over(fd, os.path.dirname(slot))
        return fd
    os.close(fd)
    return _open_new(slot)


def _is_spare(found: os.stat_result) -> bool:
    """What was displaced may have a second name, or belong to someone else: it is let go, not written over."""
    return S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_uid == os.geteuid()


def _open_new(path: str) -> int:
    remove(path)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    hand_over(fd, os.path.dirname(path))
    return fd


def _write_new(path: str, data: bytes, mode: int, *, durable: bool) -> None:
    fd = _open_new(path)
    try:
        os.fchmod(fd, mode)
        write_all(fd, data, 0)
        if durable:
            system.here.flush(fd)
    finally:
        os.close(fd)


def _beside(path: str, whose: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}{whose}.tmp")


def _replace_beside(path: str, data: bytes, mode: int) -> bytes | None:
    """Without an exchange: an edit between reading the old bytes and the rename is lost, and cannot be helped."""
    temporary = _beside(path, f".{os.getpid()}")
    try:
        _write_new(temporary, data, mode, durable=False)
        for _ in range(_ROUNDS):
            if is_file(path):
                displaced = read_file(path)
                os.replace(temporary, path)
                return displaced
            failure = system.here.rename(temporary, path, NOREPLACE)
            if failure in _UNSUPPORTED:
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    continue
                return None
            if not failure:
                return None
            if failure != errno.EEXIST:
                raise OSError(failure, os.strerror(failure), path)
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), path)
    finally:
        remove(temporary)
