"""What the bytes of a document that was found tell of how they came to be."""

from __future__ import annotations

from holdfast.plain.plainjson import object_in

BLOCK = 4096
"""What a disk writes at once, or not at all."""
SHORTEST = 16
"""Other texts begin with the same few bytes."""


UNUSABLE = "the file was empty, torn or no JSON"


def is_torn(data: bytes) -> bool:
    return object_in(data) is None


def is_cut_off(data: bytes) -> bool:
    """Whether it is empty, an object without its end, or has the zeros that a power cut leaves."""
    text = data.strip(b"\0 \t\r\n")
    return not text or data.endswith(b"\0\0") or (text.startswith(b"{") and not text.endswith(b"}"))


def is_piece(data: bytes, renderings: list[bytes]) -> bool:
    """Whether it is the beginning of a rendering, or blocks of several, or zeros: only a crash leaves that."""
    begun = data.rstrip(b"\0")
    if len(data) < SHORTEST or (begun and len(begun) < SHORTEST):
        return False
    return any(text.startswith(begun) for text in renderings) or is_patchwork(data, renderings)


def is_patchwork(data: bytes, renderings: list[bytes]) -> bool:
    """Whether it has blocks of several renderings. A power cut does that where a file was written over, and no edit."""
    pieces = [(at, data[at : at + BLOCK]) for at in range(0, len(data), BLOCK)]
    return len(pieces) > 1 and all(any(text.startswith(piece, at) for text in renderings) for at, piece in pieces)
