"""Going to a branch, so that nothing tears HEAD and the index apart."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.errors import HoldfastError, Refused
from holdfast.files.locks import Locked
from holdfast.git import index_lock, unfinished
from holdfast.git.changes import refusal, require_free, require_idle, status, tip
from holdfast.git.command import git as run
from holdfast.git.signals import HeldBack


def make_branch(repo: git.Repository, name: str, wait: float = unfinished.LOCK_WAIT) -> None:
    """Create a branch at HEAD and switch to it; files and index stay as they are.

    On a branch of that name already, nothing happens; to one that is at HEAD's commit it only switches.
    """
    require_free(repo, name)
    if git.branch(repo) == name:
        return
    require_idle(repo)
    if tip(repo, name) is not None:
        switch(repo, name, wait)
    else:
        _switch(repo, wait, "branch_failed", "--no-track", "-c", name)


def switch(repo: git.Repository, name: str, wait: float = unfinished.LOCK_WAIT) -> None:
    """Switch to a local branch, taking along what is edited; refused where that would overwrite something."""
    require_idle(repo)
    if name.startswith("-") or tip(repo, name) is None:
        raise Refused("cannot_switch", f"there is no branch {name!r}", remedy=shell("git", "branch", "--list"),
                      facts={"branch": name, "output": ""})  # fmt: skip
    _switch(repo, wait, "cannot_switch", "--no-guess", name)


def _switch(repo: git.Repository, wait: float, code: str, *words: str) -> None:
    name = words[-1]
    try:
        with Locked(repo.git_dir, wait) as held:
            unfinished.settled(repo, held, wait)
            index_lock.waited(repo, wait, lambda: not os.path.lexists(index_lock.path_of(repo)))
            with HeldBack():  # the index comes first, then HEAD
                unfinished.begin_switch(repo, name)
                try:
                    run(repo.top, "switch", "-q", "--no-recurse-submodules", *words, hooks=True, keep=(held,))
                finally:
                    unfinished.settled(repo, held, wait)
    except HoldfastError as error:
        if git.branch(repo) == name:
            return  # only the hook that runs afterwards was displeased
        raise refusal(error, code, f"git did not switch to {name}", status(repo), {"branch": name}) from None
