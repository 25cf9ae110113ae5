"""Where a path leads, and which project a folder belongs to, without `os`.

The answers are those of `holdfast.machine.place`, which a hook has no time to import.
"""

from __future__ import annotations

import posix

_LINKS = 40
_LONGEST = 4096
_SMALL = 1 << 16
_MOST_LISTED = 200
_KIND, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000


def kind(path: str) -> int:
    """What is at a path, as the bits of its mode that say so; 0 for nothing."""
    try:
        return posix.stat(path).st_mode & _KIND
    except (OSError, ValueError):
        return 0


def is_folder(path: str) -> bool:
    return kind(path) == _FOLDER


def is_written_since(folder: str, then: float) -> bool:
    """Whether a file of JSON in a folder of this folder was written at that time or later, in seconds since 1970."""
    try:
        for name in posix.listdir(folder)[:_MOST_LISTED]:
            inner = f"{folder}/{name}"
            files = posix.listdir(inner) if is_folder(inner) else []
            if any(
                posix.stat(f"{inner}/{one}").st_mtime >= then for one in files[:_MOST_LISTED] if one[-5:] == ".json"
            ):
                return True
    except (OSError, ValueError):
        pass
    return False


def content(path: str, most: int) -> bytes | None:
    """What a regular file holds; None when it is another kind of thing, larger, or not to be read."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        found = posix.fstat(fd)
        if found.st_mode & _KIND != _FILE or found.st_size > most:
            return None
        parts = []
        while most >= 0 and (part := posix.read(fd, min(most + 1, max(found.st_size + 1, _SMALL)))):
            most -= len(part)
            parts.append(part)
        return b"".join(parts) if most >= 0 else None
    except OSError:
        return None
    finally:
        posix.close(fd)


def lexical(path: str) -> str:
    """An absolute path without `.` and `..`, as if nothing on it were a link."""
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return "/" + "/".join(kept)


def real(path: str) -> str:
    """Where an absolute path leads once its links are followed, whether or not there is something yet."""
    if len(path) > _LONGEST:
        return lexical(path)  # no call of the system takes it
    rest, at, links, gone = path.split("/")[::-1], "", 0, False
    while rest:
        part = rest.pop()
        if part == "..":
            at, gone = at.rpartition("/")[0], False
        elif part not in ("", "."):
            try:
                target = "" if gone else posix.readlink(f"{at}/{part}")
            except (OSError, ValueError) as no_link:
                target, gone = "", isinstance(no_link, FileNotFoundError)
            if not target:
                at = f"{at}/{part}"
                continue
            links += 1
            if links > _LINKS:
                return lexical(path)
            if target.startswith("/"):
                at = ""
            rest += target.split("/")[::-1]
    return at or "/"


def below(folder: str, path: str) -> str:
    """A path relative to a folder; empty when it is elsewhere."""
    inside = folder.rstrip("/") + "/"
    return path[len(inside) :] if path.startswith(inside) else ""


def top(folder: str) -> str:
    """The top of the worktree that a folder is in; the folder itself outside of repositories."""
    folder = real(folder)
    return _repository(folder)[0] or folder


def git_folder(top: str) -> str:
    """Where git keeps what is a worktree's own."""
    pointer = _line(f"{top}/.git") or ""
    return _joined(top, pointer[8:]) if pointer.startswith("gitdir: ") else f"{top}/.git"


def find(start: str) -> tuple[str, str]:
    """The folder whose `.holdfast` counts, empty when there is none, and the worktree that `start` is in."""
    start = real(start)
    top, main = _repository(start)
    folder = start
    while True:
        linked = folder == top != main
        if not linked and is_folder(folder + "/.holdfast"):
            return folder, top if top and folder in (top, main) else folder
        if folder in (top, "/"):
            break
        folder = folder.rpartition("/")[0] or "/"
    if top:
        return main if is_folder(main + "/.holdfast") else "", top
    return "", start


def _repository(start: str) -> tuple[str, str]:
    """The top of the worktree a folder is in and that of its main worktree; empty outside of repositories."""
    folder = start
    while True:
        entry = folder.rstrip("/") + "/.git"
        what = kind(entry)
        if what == _FILE:
            pointer = _line(entry) or ""
            if not pointer.startswith("gitdir: "):
                return "", ""  # git looks no further either
            main = _main(folder, _joined(folder, pointer[8:]))
            return (folder, main) if main else ("", "")
        main = _main(folder, entry) if what == _FOLDER else ""
        if main or folder == "/":
            return (folder, main) if main else ("", "")
        folder = folder.rpartition("/")[0] or "/"


def _main(top: str, git_dir: str) -> str:
    """The top of the main worktree, by what the directory of a worktree says; empty when it is none of git's."""
    git_dir = real(git_dir)
    shared = _line(git_dir + "/commondir")
    common = git_dir if shared is None else real(_joined(git_dir, shared))
    if not is_folder(common + "/objects") or not is_folder(common + "/refs"):
        return ""
    try:
        posix.lstat(git_dir + "/HEAD")
    except OSError:
        return ""
    if shared is None:
        return "" if _core(common, "bare").lower() in ("true", "yes", "on", "1") else top
    worktree = _core(common, "worktree")
    if worktree:
        return real(_joined(common, worktree))
    return (common[: -len("/.git")] or "/") if common.endswith("/.git") else common


def _joined(folder: str, path: str) -> str:
    return path if path.startswith("/") else f"{folder}/{path}"


def _line(path: str) -> str | None:
    """A small text of git's; None when it is not there or holds what no path may hold."""
    data = content(path, _SMALL)
    return None if data is None or b"\0" in data else data.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _core(common: str, key: str) -> str:
    """A value of git's own section of a repository's configuration."""
    found = ""
    for name in ("config", "config.worktree"):
        section = ""
        for line in (_line(f"{common}/{name}") or "").splitlines():
            if line.startswith("["):
                section = line[1:].partition("]")[0].strip().lower()
            left, _, value = line.partition("=")
            if section == "core" and left.strip().lower() == key:
                found = value.strip().strip('"').replace('\\"', '"').replace("\\\\", "\\")
    return found
