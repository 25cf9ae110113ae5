"""Files that git commits with other content than they have on disk, because a filter changes it.

A filter, and which files it is for, may be said outside of the tree, where no commit shows it.
"""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast import git
from holdfast.errors import HoldfastError
from holdfast.git.command import git as run

_NONE = (b"unspecified", b"unset", b"", b"lfs")
_LFS = ("git-lfs clean -- %f", "git-lfs clean %f", "git-lfs filter-process", "git-lfs filter-process --skip")
_LARGEST = 64 << 20


def differing(repo: git.Repository, names: Iterable[str] = ()) -> list[str]:
    """Of the files that git knows, and these others, those that a filter changes; from the top of the repository.

    Line endings are no change, nor is what git-lfs keeps elsewhere. Where a filter fails, all files that it is for may
    be others.
    """
    told = run(repo.top, "config", "-z", "--get-regexp", r"^filter\..*\.(clean|process)$", ok=(0, 1))[1]
    said = (row.partition("\n") for row in told.decode("utf-8", "replace").split("\0")[:-1])
    own = [(key, value) for key, _, value in said if not (key.startswith("filter.lfs.") and value in _LFS)]
    if not own:
        return []
    skipped = _NONE if not any(key.startswith("filter.lfs.") for key, _ in own) else _NONE[:-1]
    known = {*run(repo.top, "ls-files", "-z")[1].split(b"\0"), *map(os.fsencode, names)} - {b""}
    asked = b"".join(name + b"\0" for name in sorted(known))
    rows = run(repo.top, "check-attr", "-z", "--stdin", "filter", stdin=asked)[1].split(b"\0")[:-1]
    filtered = (name for name, value in zip(rows[::3], rows[2::3], strict=True) if value not in skipped)
    # A name with a line break cannot be asked for.
    there = [name for name in filtered if b"\n" not in name and _is_file(repo, name)]
    if not there:
        return []
    listed = b"".join(name + b"\n" for name in there)
    hashed = ("hash-object", "--stdin-paths")
    try:
        raw, made = (run(repo.top, *hashed, *more, stdin=listed)[1].split() for more in (("--no-filters",), ()))
    except HoldfastError:
        return list(map(os.fsdecode, there))
    changed = ((name, after) for name, before, after in zip(there, raw, made, strict=True) if before != after)
    return [os.fsdecode(name) for name, after in changed if not _has_other_lines(repo, name, after)]


def _is_file(repo: git.Repository, name: bytes) -> bool:
    full = os.path.join(os.fsencode(repo.top), name)
    return os.path.isfile(full) and not os.path.islink(full)


def _has_other_lines(repo: git.Repository, name: bytes, made: bytes) -> bool:
    """Whether what git makes of a file differs in its line endings only."""
    full = os.path.join(os.fsencode(repo.top), name)
    if os.path.getsize(full) > _LARGEST:
        return False
    with open(full, "rb") as file:
        data = file.read()
    return run(repo.top, "hash-object", "--stdin", stdin=data.replace(b"\r\n", b"\n"))[1].strip() == made
