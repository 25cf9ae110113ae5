"""A shallow clone: the older commits are not there, so what the history says of a file is not all of it."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.errors import Refused
from holdfast.git.command import git as run

_MISSING = ("not a tree object", "bad object", "bad revision", "unknown revision", "not a valid object", "bad tree")


def explains(top: str, message: str) -> Refused | None:
    """What is said where git did not find an object because the clone is shallow."""
    repo = git.find(top) if any(words in message for words in _MISSING) else None
    return refusal(repo) if repo is not None and _ends(repo) else None


def cut(repo: git.Repository, since: str) -> Refused | None:
    """What is said where commits after this one, or of all the history without one, may be missing here."""
    ends = _ends(repo)
    if not ends:
        return None
    words = ("rev-list", "--end-of-options", "HEAD", *((f"^{since}",) if since else ()), "--")
    code, listed = run(repo.top, *words, ok=(0, 128))
    return refusal(repo) if code or ends.intersection(listed.decode().split()) else None


def refusal(repo: git.Repository) -> Refused:
    said = f"{repo.top} is a shallow clone: the older commits are not here, and they are needed"
    return Refused("shallow_clone", said, remedy=shell("git", "fetch", "--unshallow"), facts={"repository": repo.top})


def _ends(repo: git.Repository) -> set[str]:
    """The commits whose parents are missing."""
    try:
        with open(os.path.join(repo.common_dir, "shallow"), encoding="ascii") as file:
            return set(file.read().split())
    except OSError:
        return set()
