"""The branch that a feature is merged into. It is fixed when the feature begins: what a clone calls the main branch of
its remote is a setting, which may change what is compared only where nothing is recorded.
"""

from __future__ import annotations

from holdfast import git
from holdfast.core.state import State
from holdfast.git import changes as git_changes
from holdfast.git import remotes
from holdfast.git.remotes import Asked
from holdfast.systems.gated import words

_REMOTE = "origin"


def begun_with(repository: git.Repository, branch: str | None) -> str:
    """The base of a feature that begins on a branch of its own now; empty where there is none to be seen."""
    here = git.branch(repository)
    known = git_changes.default_branch(repository)
    return known or (here if here and here != branch and git_changes.tip(repository, here) else "")


def name(repository: git.Repository, state: State) -> str | None:
    """What the base branch is called."""
    recorded = state.context.get(words.BASE)
    return recorded if recorded and isinstance(recorded, str) else git_changes.default_branch(repository)


def commit(repository: git.Repository, state: State) -> str | None:
    """Where the base is, as the remote has it, where there is one: a pull request is compared with that too."""
    called = name(repository, state)
    if not called:
        return None
    where = _remote(repository, called)
    theirs = git_changes.at_ref(repository, remotes.tracking_of(repository, where, called)) if where else None
    return theirs or git_changes.tip(repository, called)


def ask(repository: git.Repository, state: State) -> Asked:
    """The remote is asked for the base, which may have the feature by now, or something else than was last heard."""
    called = name(repository, state)
    return remotes.ask(repository, called, _remote(repository, called)) if called else Asked()


def _remote(repository: git.Repository, called: str) -> str:
    return _REMOTE if git_changes.url(repository, _REMOTE) else git_changes.remote(repository, called) or ""
