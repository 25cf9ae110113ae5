"""What a state remembers of the documents it was shown as: their hashes, of the last revisions."""

from __future__ import annotations

from holdfast.core.state import State
from holdfast.plain.plainjson import object_in

BLOCK = 4096
"""What a disk writes at once, or not at all."""


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


def is_torn(data: bytes) -> bool:
    return object_in(data) is None


def is_patchwork(data: bytes, renderings: list[bytes]) -> bool:
    """Whether it has blocks of several renderings. A power cut does that where a file was written over, and no edit."""
    pieces = [(at, data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)]
    return len(pieces) > 1 and all(any(text.startswith(piece, at) for text in renderings) for at, piece in pieces)
