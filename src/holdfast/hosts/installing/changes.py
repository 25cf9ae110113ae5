"""Changes of files that belong to somebody else: worked out as a whole, shown, and only then made."""

from __future__ import annotations

import io
import os
from _collections_abc import Iterable
from stat import S_IMODE, S_ISLNK, S_ISREG

from holdfast.core.remedy import Remedy, shell
from holdfast.core.value import Value
from holdfast.errors import Conflict, UsageError
from holdfast.files import links
from holdfast.files.replace import durable_write, not_written, remove, sync_directories, unfinished
from holdfast.hosts.installing.jsontext import broken

LARGEST = 16 << 20
_BOM = b"\xef\xbb\xbf"


class Change(Value):
    """A file before and after; None where there is none."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int = 0

    @property
    def kind(self) -> str:
        if self.before == self.after:
            return "unchanged"
        if self.before is None:
            return "created"
        return "removed" if self.after is None else "changed"


def look(path: str, name: str, within: str = "") -> Change:
    """A file of a host as it is, unchanged. A link stays: the change is one of the file that it leads to.

    What is no regular file, or leads out of the project, is refused.
    """
    if within:
        links.require_inside(within, os.path.dirname(os.path.relpath(path, within)))
    link, path = path, followed(path)
    if within and path != link and not path.startswith(os.path.join(within, "")):
        raise _refused("symlink", f"{name} is a symbolic link that leads out of the project", link, links.remedy(link))
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return Change(path, None, None)
    if S_ISLNK(found.st_mode):
        raise _refused("symlink", f"{name} is a symbolic link that leads nowhere", link, links.remedy(link))
    if not S_ISREG(found.st_mode):
        raise _refused("not_a_file", f"{name} is not a regular file", path)
    if found.st_size > LARGEST:
        raise _refused("too_large", f"{name} is larger than 16 MiB", path)
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        data = file.read()
        return Change(path, data, data, S_IMODE(found.st_mode))


def followed(path: str) -> str:
    """Where a file is that may be a link."""
    return os.path.realpath(path) if os.path.islink(path) else path


def text_of(data: bytes, name: str) -> str:
    try:
        return data.removeprefix(_BOM).decode()
    except UnicodeDecodeError as wrong:
        raise broken(name, data.count(b"\n", 0, wrong.start) + 1, "invalid UTF-8") from None


def bytes_of(text: str, before: bytes | None) -> bytes:
    """A text as the file had it, with the mark at its beginning where there was one."""
    return (_BOM if before and before.startswith(_BOM) else b"") + text.encode()


def make(changes: Iterable[Change], shown: dict[str, str]) -> None:
    """Makes every change, durably, each at once. What somebody changed meanwhile is not written over.

    What an installation that was killed left beside a file is removed. The lock of installations has to be held.
    """
    for change in changes:
        remove(unfinished(change.path))
        if change.kind == "unchanged":
            continue
        if look(change.path, shown[change.path]).before != change.before:
            said = f"{shown[change.path]} was changed by somebody else just now, and is left as it is"
            raise Conflict("changed_meanwhile", said, remedy="the same command again", facts={"path": change.path})
        if change.after is None:
            _removed(change.path)
        else:
            durable_write(change.path, change.after, change.mode or _usual(), alone=True)


def missing_folders(paths: Iterable[str]) -> list[str]:
    """The folders that have to be made for these files, innermost first."""
    found: dict[str, None] = {}
    for path in paths:
        folder = os.path.dirname(path)
        while folder and not os.path.isdir(folder):
            found[folder] = None
            folder = os.path.dirname(folder)
    return sorted(found, key=len, reverse=True)


def remove_folders(folders: Iterable[str]) -> None:
    """Takes away those that are empty."""
    for folder in sorted(folders, key=len, reverse=True):
        try:
            os.rmdir(folder)
        except OSError:
            continue


def difference(changes: Iterable[Change], shown: dict[str, str]) -> str:
    """What would change, as `diff -u` says it."""
    from difflib import unified_diff

    out: list[str] = []
    for change in changes:
        if change.kind == "unchanged":
            continue
        name = shown[change.path]
        before, after = (_rows(data) for data in (change.before, change.after))
        old, new = (f"a/{name}" if change.before is not None else "/dev/null"), f"b/{name}"
        rows = unified_diff(before, after, old, new if change.after is not None else "/dev/null")
        out += (row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
    return "".join(out)


def _rows(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    return list(io.StringIO(text, newline="\n"))


def _usual() -> int:
    """The mode that this person's new files get."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _removed(path: str) -> None:
    try:
        remove(path)
        sync_directories(os.path.dirname(path), [])
    except OSError as failure:
        raise not_written(path, failure) from failure


def _refused(code: str, sentence: str, path: str, ways: Remedy | None = None) -> UsageError:
    said = f"{sentence}; nothing was changed"
    return UsageError(code, said, remedy=ways or shell("ls", "-ld", path), facts={"path": path})
