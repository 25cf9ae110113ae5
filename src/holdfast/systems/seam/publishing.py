"""Branches on their way to a forge: what is pushed once cannot be taken back, so the forge is asked before."""

from __future__ import annotations

from holdfast import git
from holdfast.git import changes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.port import Forge


def is_base(forge: Forge, repository: git.Repository, branch: str) -> bool:
    """Whether a branch is the one that its pull request would go into, as far as git knows here."""
    return not forge.is_fork and changes.default_branch(repository) == branch


def push(forge: Forge, repository: git.Repository, branch: str) -> bool:
    """Pushes a branch that the forge does not have yet, once it accepted the login; False for the base itself."""
    if is_base(forge, repository, branch):
        return False
    if not changes.is_pushed(repository, branch):
        if forge.default_branch() == branch and not forge.is_fork:
            return False
        changes.push(repository, branch)
    return True
