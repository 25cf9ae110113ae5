"""Documents that are away because git moved: nobody decided anything by that."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.documents.files import Documents


def taken_by_git(documents: Documents, state: State, path: str) -> str:
    """The move of HEAD that took a document away; empty where somebody deleted it."""
    full = documents.full(state, path)
    folder = os.path.dirname(full)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    repository = git.find(folder)
    if repository is None:
        return ""
    from holdfast.git.moves import brought

    return brought(repository, full)
