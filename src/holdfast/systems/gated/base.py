"""The branch that a feature is merged into. It is fixed when the feature begins: what a clone calls the main branch of
its remote is a setting, which may change what is compared only where nothing is recorded.
"""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast import git
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.git import changes as git_changes
from holdfast.git import remotes
from holdfast.git.remotes import Asked
from holdfast.systems.gated import words

_REMOTE = "origin"


def context_of(repository: git.Repository, branch: str | None) -> dict[str, Any]:
    """What is kept of the base of a feature that begins on a branch of its own now; nothing where there is none."""
    here = git.branch(repository)
    known = git_changes.default_branch(repository)
    called = known or (here if here and here != branch and git_changes.tip(repository, here) else "")
    where = _remote(repository, called) if called else ""
    address = {words.REMOTE: [_plain(remotes.addresses(repository, where)[0])]} if where else {}
    return {words.BASE: called, **address} if called else {}


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
    if where and not _is_known(repository, state, where):
        return None  # what is compared is all that is new since the feature began, until a person confirms the address
    theirs = git_changes.at_ref(repository, remotes.tracking_of(repository, where, called)) if where else None
    return theirs or git_changes.tip(repository, called)


def ask(repository: git.Repository, state: State, where: str = "") -> Asked:
    """The remote, or the one that is named, is asked for the base, which may have the feature by now, or something else
    than was last heard.
    """
    called = name(repository, state)
    return remotes.ask(repository, called, where or _remote(repository, called)) if called else Asked()


def addresses(repository: git.Repository, state: State, branch: str) -> list[str]:
    """Where the base is heard from, and where a push of this branch goes: one address, where all is as usual."""
    called, where = name(repository, state), git_changes.remote(repository, branch)
    if not where:
        return []
    heard = remotes.addresses(repository, _remote(repository, called or branch) or where)[0]
    return list(dict.fromkeys(_plain(one) for one in (heard, *remotes.addresses(repository, where)[1])))


def is_elsewhere(state: State, now: Sequence[str]) -> bool:
    """Whether these are other addresses than those that the feature began with, or that a person confirmed."""
    known = begun_at(state)
    return bool(now) and (list(now) != known if known else len(now) > 1)


def begun_at(state: State) -> list[str]:
    known = state.context.get(words.REMOTE)
    return [str(one) for one in known] if isinstance(known, (list, tuple)) else []


def _is_known(repository: git.Repository, state: State, where: str) -> bool:
    known = begun_at(state)
    return not known or _plain(remotes.addresses(repository, where)[0]) in known


def _plain(address: str) -> str:
    """An address without what differs from clone to clone of one repository, and without a password."""
    from holdfast.forges.addresses import remote_in

    found = remote_in(address)
    if found is not None:
        return f"{found.host}/{found.path}"
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address.rstrip("/") or address
    host, slash, path = rest.partition("/")
    rest = f"{host.rpartition('@')[2]}{slash}{path.rstrip('/')}"
    return rest if scheme == "file" else f"{scheme}://{rest}"


def _remote(repository: git.Repository, called: str) -> str:
    return _REMOTE if git_changes.url(repository, _REMOTE) else git_changes.remote(repository, called) or ""
