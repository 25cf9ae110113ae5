"""Lines that a hook leaves in `.holdfast`: notes for the engine's next run, and a log of what went wrong."""

from __future__ import annotations

import posix
from _json import encode_basestring_ascii as quoted

from holdfast.surfaces.hooks import places

LARGEST_INBOX = 8 << 20
LARGEST_LOG = 256 << 10
LONGEST_LINE = 300
_APPEND = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


def leave(root: str, fields: dict[str, str | list[str]]) -> str:
    """Adds a note to the inbox. What comes back is the reason why it could not be; empty when it is there."""
    if not may_write(root):
        return "notes are not left in a folder of another user"
    from time import CLOCK_REALTIME, clock_gettime

    line = "".join(f",{quoted(key)}:{_written(value)}" for key, value in fields.items())
    at = clock_gettime(CLOCK_REALTIME)  # `time` raises from the year 2262 on
    return _append(root, f'{{"at":{at!r}{line}}}\n'.encode())


def log(root: str, event: str, sentence: str) -> None:
    """Says what went wrong. Where that cannot be written, nobody is bothered."""
    if not may_write(root):
        return
    from time import gmtime

    path, at = root + "/.holdfast/hook.log", gmtime()
    day = f"{at.tm_year:04}-{at.tm_mon:02}-{at.tm_mday:02}"
    said = "".join(c for c in f"{event[:40]} {sentence[:LONGEST_LINE]}" if c.isprintable())
    line = f"{day}T{at.tm_hour:02}:{at.tm_min:02}:{at.tm_sec:02}Z {said}"[:LONGEST_LINE] + "\n"
    fd = -1
    try:
        fd = posix.open(path, _APPEND, 0o600)
        if posix.fstat(fd).st_size > LARGEST_LOG:
            posix.rename(path, path + ".1")
            posix.close(fd)
            fd = -1
            fd = posix.open(path, _APPEND, 0o600)
        hand_over(fd, root)
        posix.write(fd, line.encode("utf-8", "replace"))
    except OSError:
        pass
    finally:
        if fd >= 0:
            posix.close(fd)


def may_write(root: str) -> bool:
    """Nothing is left in a project of another user before a person trusts them. What root owns is nobody else's."""
    home = root + "/.holdfast"
    if not places.is_folder(home) or not places.below(root, places.real(home)):
        return False
    for folder in (root, home):
        owner = posix.stat(folder).st_uid
        if owner not in (0, posix.geteuid()) and not _trusts(root, owner):
            return False
    return True


def _trusts(root: str, owner: int) -> bool:
    from holdfast.surfaces.hooks.quick import find_package

    find_package()
    import os

    from holdfast.machine import settings
    from holdfast.project.wiring import trusts_owner

    return trusts_owner(root, owner, settings.read(os.environ, terminal=False, surface="hook"))


def hand_over(fd: int, root: str) -> None:
    """What root makes in a project of another user is given to that user, who could not read it otherwise."""
    if posix.geteuid() == 0:
        owner = posix.stat(root + "/.holdfast")
        if owner.st_uid:
            posix.chown(fd, owner.st_uid, owner.st_gid)


def _append(root: str, line: bytes) -> str:
    """One whole line, while nobody else writes the file or takes it away."""
    from fcntl import LOCK_EX, flock

    path = root + "/.holdfast/inbox"
    while True:
        try:
            fd = posix.open(path, _APPEND, 0o600)
        except OSError as failure:
            return f"a note was lost: {failure.strerror}"
        hand_over(fd, root)
        try:
            flock(fd, LOCK_EX)
            mine = posix.fstat(fd)
            try:
                there = posix.lstat(path)
            except FileNotFoundError:
                continue  # the engine took it: a new one begins
            if (mine.st_ino, mine.st_dev) != (there.st_ino, there.st_dev):
                continue
            if mine.st_mode & 0o170000 != 0o100000 or mine.st_size > LARGEST_INBOX:
                return "the inbox takes no more notes: run holdfast status"
            if posix.write(fd, line) != len(line):
                posix.ftruncate(fd, mine.st_size)
                return "the disk is full: a note was lost"
            return ""
        finally:
            posix.close(fd)


def _written(value: str | list[str]) -> str:
    return quoted(value) if isinstance(value, str) else f"[{','.join(map(quoted, value))}]"
