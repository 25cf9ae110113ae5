"""A feature file on the disk: read within limits, and one character of it changed.

It is among an author's own files. So it is replaced at once or not at all, by a file of the same mode and owner, and
never when it is no longer what was read.
"""

from __future__ import annotations

import errno
import os
from stat import S_IMODE, S_ISREG

from holdfast.core.remedy import Remedy, shell
from holdfast.core.value import Value
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.files import system
from holdfast.files.replace import not_durable, remove, sync_directories, write_all

LARGEST = 1 << 20
ENDINGS = (".md", ".markdown")
_LINE_END = r"\r\n?|\n"
_BOX = rb"\[[ xX/~-]\](?![(\[:])|\xe2\x98[\x90-\x92]"
_OPEN, _TICKED = "☐".encode(), "☑".encode()


class Content(Value):
    """The bytes of a file, and what the file was when they were read."""

    data: bytes
    found: os.stat_result

    def text(self, path: str) -> str:
        """As text, with blank lines in place of the front matter; an error that names `path` when it is none."""
        return self.parts(path)[1]

    def parts(self, path: str) -> tuple[list[str], str]:
        """The lines of its front matter, and the text with blank lines in their place: so lines keep their numbers."""
        import re

        if self.data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise _unfit(path, "is UTF-16 and not UTF-8", shell("file", path))
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as failure:
            line = len(re.findall(_LINE_END.encode(), self.data[: failure.start])) + 1
            raise _unfit(path, f"is not UTF-8 at line {line}", shell("file", path)) from None
        if "\0" in text:
            raise _unfit(path, "is not text: there is a NUL byte in it", shell("file", path))
        return _front_matter(text)


def load(full: str, path: str) -> Content:
    """The content of a regular file of at most `LARGEST` bytes; errors call it `path`."""
    try:
        fd = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(path) from None
    except (OSError, ValueError) as failure:
        if getattr(failure, "errno", None) == errno.ELOOP:
            way = shell("readlink", "-f", path, text="name the file itself")
            raise _unfit(path, "is a symbolic link", way) from None
        raise _unfit(path, f"cannot be read: {_reason(failure)}") from failure
    try:
        return _content(fd, path)
    except OSError as failure:
        raise _unfit(path, f"cannot be read: {_reason(failure)}") from failure
    finally:
        os.close(fd)


def is_markdown(name: str) -> bool:
    return name.lower().endswith(ENDINGS)


def names(folder: str) -> list[str]:
    """The names of the feature files in a folder: by their leading numbers, and those without one after them.

    Hidden files, links, folders, and those named README or index are left out, and nothing below is looked at.
    """
    return sorted((each.name for each in _markdown(folder) if _is_feature(each)), key=_by_number)


def left_out(folder: str) -> list[tuple[str, str]]:
    """What else looks like a feature in a folder, and what it is: `overview`, `link` or `folder` of such files."""
    found = []
    for each in _markdown(folder):
        if each.is_symlink():
            found.append((each.name, "link"))
        elif each.is_file() and not _is_feature(each):
            found.append((each.name, "overview"))
        elif each.is_dir() and _holds_features(each.path):
            found.append((each.name, "folder"))
    return sorted(found)


def _holds_features(folder: str) -> bool:
    try:
        return any(_is_feature(each) for each in _markdown(folder))
    except (NotFound, UsageError):
        return False


def _markdown(folder: str) -> list[os.DirEntry[str]]:
    """The markdown files of a folder, and the folders in it; nothing that is hidden."""
    try:
        with os.scandir(folder) as entries:
            seen = [each for each in entries if not each.name.startswith(".")]
            return [each for each in seen if is_markdown(each.name) or each.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        raise _missing(folder) from None
    except (OSError, ValueError) as failure:
        raise _unfit(folder, f"cannot be listed: {_reason(failure)}") from failure


def tick(full: str, content: Content, line: int, *, done: bool = True) -> bool:
    """Tick the first box on a line, on the disk when this returns; False when the file is not as it was read."""
    import re

    data = content.data
    starts = [0, *(end.end() for end in re.finditer(_LINE_END.encode(), data)), len(data)]
    box = re.compile(_BOX).search(data, starts[line - 1], starts[line])
    if box is None:
        return False
    mark = (b"[x]" if done else b"[ ]") if box[0].startswith(b"[") else _TICKED if done else _OPEN
    folder = os.path.dirname(full) or os.curdir
    temporary = os.path.join(folder, f".holdfast-{os.urandom(8).hex()}.tmp")
    try:
        _write_new(temporary, data[: box.start()] + mark + data[box.end() :], content.found)
        try:
            if not _is_same(full, content.found):
                os.unlink(temporary)
                return False
            os.replace(temporary, full)
        except BaseException:
            remove(temporary)
            raise
    except OSError as failure:
        said = f"{full} could not be written: {_reason(failure)}; nothing was changed"
        facts = {"path": full, "errno": failure.errno, "reason": _reason(failure)}
        raise HoldfastError("write_failed", said, remedy=shell("ls", "-ld", folder), facts=facts) from failure
    try:
        sync_directories(folder, [])
    except OSError as failure:
        raise not_durable(full, failure) from failure
    return True


def _front_matter(text: str) -> tuple[list[str], str]:
    """YAML between `---`, or TOML between `+++`. A rule before a blank line is a rule, unless a key comes next."""
    import re

    lines = re.split(_LINE_END, text)
    ends = {"---": ("---", "..."), "+++": ("+++",)}.get(lines[0].rstrip(), ())
    end = 0
    first = next((line for line in lines[1:] if line.strip()), "")
    if ends and lines[1:2] and (lines[1].strip() or re.match(r"[A-Za-z_][\w-]*\s*[:=]", first)):
        end = next((at for at, line in enumerate(lines[1:], 2) if line.rstrip() in ends), 0)
    return lines[:end], "\n".join([""] * end + lines[end:])


def _is_feature(entry: os.DirEntry[str]) -> bool:
    stem, _, _ = entry.name.lower().rpartition(".")
    return entry.is_file(follow_symlinks=False) and stem not in ("readme", "index")


def _by_number(name: str) -> tuple[bool, int, str]:
    import re

    number = re.match(r"[0-9]+", name)
    return number is None, int(number[0]) if number else 0, name


def _content(fd: int, path: str) -> Content:
    found = os.fstat(fd)
    if not S_ISREG(found.st_mode):
        raise _unfit(path, "is not a regular file")
    data = bytearray()
    while len(data) <= LARGEST and (part := os.read(fd, LARGEST + 1 - len(data))):
        data += part
    if len(data) > LARGEST:
        raise _unfit(path, f"is larger than {LARGEST} bytes", "split it into several feature files")
    return Content(bytes(data), found)


def _is_same(full: str, found: os.stat_result) -> bool:
    """Whether this is still the very file that was read, with nothing written to it since."""
    try:
        now = os.lstat(full)
    except FileNotFoundError:
        return False
    same = ("st_dev", "st_ino", "st_size", "st_mtime_ns")
    return all(getattr(now, name) == getattr(found, name) for name in same)


def _write_new(path: str, data: bytes, like: os.stat_result) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _give(fd, like)
        os.fchmod(fd, S_IMODE(like.st_mode))
        write_all(fd, data, 0)
        system.here.flush(fd)
    except BaseException:
        remove(path)
        raise
    finally:
        os.close(fd)


def _give(fd: int, like: os.stat_result) -> None:
    """Leave the file to the owner of the other one, where the system lets us: root works in other people's folders."""
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(fd, like.st_uid, like.st_gid)
        except PermissionError:
            pass


def _missing(path: str) -> NotFound:
    above = os.path.dirname(path.rstrip("/"))
    where = above if os.path.isdir(above) else os.curdir
    return NotFound("no_feature", f"there is no {path}", remedy=shell("ls", where), facts={"path": path})


def _unfit(path: str, why: str, remedy: Remedy | str = "") -> UsageError:
    look = remedy or shell("ls", "-ld", path)
    return UsageError("no_feature", f"{path} {why}", remedy=look, facts={"path": path, "reason": why})


def _reason(failure: OSError | ValueError) -> str:
    return getattr(failure, "strerror", None) or str(failure)
