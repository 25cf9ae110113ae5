"""`.git/info/exclude`: the list of files that git passes by in this clone, in all its worktrees."""

from __future__ import annotations

import os
from _collections_abc import Iterable
from stat import S_IMODE

from holdfast.errors import UsageError
from holdfast.files import links
from holdfast.files.replace import durable_write, read_file
from holdfast.git import Repository

LARGEST = 1 << 20
HEADING = b"# Files of Holdfast that are not for git"


def file(repo: Repository) -> str:
    return os.path.join(repo.common_dir, "info", "exclude")


def line(folder: str, pattern: str) -> str:
    """A pattern below a folder, which is relative to the top of the worktree, as a line of the list."""
    if "\n" in folder:
        return ""  # git has no way to write this down
    escaped = "".join(f"\\{c}" if c in "\\*?[" else c for c in folder)
    return "/" + "/".join(part for part in (escaped, pattern) if part not in ("", os.curdir))


def absent(repo: Repository, lines: Iterable[str]) -> list[str]:
    """Those of the lines that the list does not have."""
    there = set(_read(repo).splitlines())
    return [one for one in lines if os.fsencode(one) not in there]


def add(repo: Repository, lines: Iterable[str]) -> None:
    """Adds what is not there yet, at the end. The file is replaced whole: a reader sees the old one or the new one."""
    new = absent(repo, lines)
    if not new:
        return
    data, path = _read(repo), file(repo)
    mode = S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o644
    ended = b"" if not data or data.endswith(b"\n") else b"\n"
    added = b"".join(one + b"\n" for one in (HEADING, *map(os.fsencode, new)))
    durable_write(path, data + ended + added, mode=mode)


def _read(repo: Repository) -> bytes:
    path = file(repo)
    for part in (os.path.dirname(path), path):
        if os.path.islink(part):
            raise UsageError(
                "symlink",
                f"{part} is a symbolic link, and nothing is written through it",
                remedy=links.remedy(part),
                facts={"path": part},
            )
    try:
        if os.path.getsize(path) > LARGEST:
            raise UsageError("too_large", f"{path} has more than {LARGEST} bytes", remedy=f"shorten {path}")
        return read_file(path)
    except FileNotFoundError:
        return b""
