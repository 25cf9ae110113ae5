"""What a state remembers of the documents it was shown as: their hashes, of the last revisions."""

from __future__ import annotations

from holdfast.core.state import State


def newest_hash(state: State, path: str) -> str:
    for _, documents in reversed(state.renderings):
        if path in documents:
            return documents[path]
    return ""


def revision_of(state: State, path: str, hashed: str) -> int | None:
    for revision, documents in reversed(state.renderings):
        if documents.get(path) == hashed:
            return revision
    return None


def is_rendering(state: State, path: str, hashed: str) -> bool:
    """Whether this is one of the renderings we remember: a crash, or git, brought it back."""
    return revision_of(state, path, hashed) is not None
