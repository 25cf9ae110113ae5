"""Files of a session and of the project: read, written for good, moved and removed."""

from __future__ import annotations

import errno
import os
from _collections_abc import Iterator
from stat import S_IMODE, S_ISLNK, S_ISREG

from holdfast.core.remedy import shell
from holdfast.errors import UsageError
from holdfast.files import system
from holdfast.files.replace import durable_write, make_directories, not_written, read_file, remove, sync_directories
from holdfast.plain.digest import digest

MODE = 0o644
OWN = 0o600
"""Of the files that Holdfast writes for itself."""


def content(full: str) -> bytes | None:
    """What a file holds; None when there is none. A link is not followed."""
    try:
        return read_file(full)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as failure:
        what = "a symbolic link" if failure.errno == errno.ELOOP else failure.strerror
        said = f"{full} cannot be read: {what}"
        raise UsageError("unreadable", said, remedy=shell("ls", "-ld", full), facts={"path": full}) from failure


def hash_of(full: str) -> str:
    """The hash of a file; empty when there is none."""
    data = content(full)
    return "" if data is None else digest(data)


def mode_of(full: str, otherwise: int = MODE) -> int:
    """Who may read and run a file. Bits that would give it somebody's rights are left out."""
    try:
        return S_IMODE(os.lstat(full).st_mode) & 0o777
    except (FileNotFoundError, NotADirectoryError):
        return otherwise


def put(staged: str, full: str, data: bytes, mode: int) -> None:
    """Writes a file for good by way of `staged`, so that a killed writer leaves nothing beside it."""
    durable_write(staged, data, mode, alone=True)
    folder = os.path.dirname(full)
    try:
        made = make_directories(folder, 0o777)
        os.rename(staged, full)
        sync_directories(folder, made)
        sync_directories(os.path.dirname(staged), [])
    except OSError as failure:
        remove(staged)
        raise not_written(full, failure) from failure


def settle(full: str, up_to: str) -> None:
    """Makes what an editor wrote durable: the file, and its name in every folder up to the one named."""
    fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        system.here.flush(fd)
    finally:
        os.close(fd)
    above = [os.path.dirname(full)]
    while above[-1] != up_to:
        above.append(os.path.dirname(above[-1]))
    sync_directories(above[0], above[:-1])


def drop(full: str) -> None:
    """Removes a file for good; none may be there."""
    try:
        os.unlink(full)
        sync_directories(os.path.dirname(full), [])
    except (FileNotFoundError, NotADirectoryError):
        pass


def drop_folder(full: str) -> None:
    """Removes a folder and all in it, links unfollowed, for good; none may be there."""
    from shutil import rmtree

    if os.path.islink(full):
        return
    try:
        rmtree(full)
    except FileNotFoundError:
        pass
    if os.path.isdir(os.path.dirname(full)):
        sync_directories(os.path.dirname(full), [])


def walk(folder: str) -> Iterator[tuple[str, str]]:
    """Every file below a folder with its kind, `file`, `symlink` or `special`, sorted by path; nothing is followed."""
    waiting = [""]
    found = []
    while waiting:
        above = waiting.pop()
        try:
            names = os.listdir(os.path.join(folder, above))
        except (FileNotFoundError, NotADirectoryError):
            continue
        for name in names:
            path = f"{above}/{name}" if above else name
            try:
                mode = os.lstat(os.path.join(folder, path)).st_mode
            except FileNotFoundError:
                continue
            if mode & 0o170000 == 0o040000:
                waiting.append(path)
            else:
                kind = "file" if S_ISREG(mode) else "symlink" if S_ISLNK(mode) else "special"
                found.append((path, kind))
    yield from sorted(found)
