"""The lock file of the index: who may have it, and what to do about one that a killed git left."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.errors import Conflict
from holdfast.files import system
from holdfast.files.locks import command_line
from holdfast.git.changes import status

NAME = "index.lock"
_ASKED_EVERY = 0.1


def path_of(repo: git.Repository) -> str:
    return os.path.join(repo.git_dir, NAME)


def holder(repo: git.Repository) -> int:
    """A git that is at work in this repository; 0 where none is found. It need not have the lock open all the time."""
    inside = (f"{repo.top}/", repo.git_dir)
    found = (pid for pid, cwd in system.here.folders("git") if cwd == repo.top or cwd.startswith(inside))
    return next(found, 0)


def told(repo: git.Repository) -> str:
    pid = holder(repo)
    if pid:
        return f"process {pid} ({command_line(pid)}) has locked the index: {path_of(repo)}"
    return f"the index is locked, and no git was found at work here that could have done it: {path_of(repo)}"


def waited(repo: git.Repository, wait: float, is_taken: Callable[[], bool]) -> None:
    """Come back once the lock is taken, or once it is gone; refused when another git keeps it for `wait` seconds."""
    import time

    until = time.monotonic() + wait
    while not is_taken():
        if time.monotonic() >= until:
            remedy = (status(repo), shell("rm", "--", path_of(repo), text="if no git runs in this repository"))
            said, facts = f"{told(repo)}; gave up after {wait:g} s", {"operation": "change of the index", "wait": wait}
            raise Conflict("index_locked", said, remedy=remedy, facts=facts)
        time.sleep(_ASKED_EVERY)  # another git is at work, as editors start them
