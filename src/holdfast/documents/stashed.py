"""Documents that git tracks, and whose newest rendering a stash holds: written again, git would not bring it back."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.state import State
from holdfast.plain.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.documents.files import Documents


def is_stashed(documents: Documents, state: State, path: str, data: bytes) -> bool:
    """Whether the document is as HEAD has it, and the newest stash has it as it was shown last."""
    full = documents.full(state, path)
    repository = git.find(os.path.dirname(full))
    if repository is None or not os.path.exists(f"{repository.common_dir}/logs/refs/stash"):
        return False
    if not documents.in_head(state, path, data):
        return False
    kept = git.head_blob(repository, full, "refs/stash")
    return kept is not None and documents.recognition.is_newest(state, path, digest(kept))
