"""A document that was found in a worktree, and that no workflow known here wrote."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.remedy import Remedy, shell
from holdfast.core.value import Any, Value
from holdfast.documents.files import LARGEST
from holdfast.documents.lens.spec import Dialect
from holdfast.errors import Broken, HoldfastError, NotFound, UsageError
from holdfast.files.replace import read_file
from holdfast.plain.plainjson import compact, parse
from holdfast.systems.seam.registry import upkeep

DEEPEST = 100


class Found(Value):
    """A document that somebody else wrote, or what is wrong with it. `path` is relative to the worktree."""

    path: str
    dialect: Dialect
    data: bytes = b""
    document: Mapping[str, Any] = {}
    wrong: HoldfastError | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """What it can be called by: the id in it, and what its path says."""
        return self.id, upkeep(self.dialect.name).name(self.path)

    @property
    def id(self) -> str:
        return self.dialect.id_of(self.document)

    @property
    def is_broken(self) -> bool:
        return self.wrong is not None and self.wrong.code == "document_broken"

    @property
    def recovery(self) -> Remedy | None:
        """The command that rebuilds it from what lies beside it; empty where a broken one is set aside."""
        return upkeep(self.dialect.name).recover(self.path)


def look(worktree: str, path: str, spoken: Dialect) -> Found:
    found = Found(path, spoken)
    if upkeep(spoken.name).lost(worktree, path):
        return found.replace(wrong=_broken(found, "is missing beside the files of its phases"))
    try:
        data = _bytes(os.path.join(worktree, path), path)
    except HoldfastError as refusal:
        return found.replace(wrong=refusal)
    document = parsed(data)
    if document is not None:
        return found.replace(data=data, document=document)
    return found.replace(data=data, wrong=_broken(found, "is not a JSON object"))


def parsed(data: bytes) -> Mapping[str, Any] | None:
    """The JSON object that these bytes are, if it can be kept: in UTF-8, and nested no deeper than is bearable."""
    try:
        document = parse(data)
        compact(document).encode()
        return document if isinstance(document, Mapping) and _depth(document) <= DEEPEST else None
    except (ValueError, RecursionError):
        return None


def _broken(found: Found, what: str) -> Broken:
    remedy = found.recovery or remedies.adopt()
    return Broken("document_broken", f"{found.path} {what}", remedy=remedy, facts={"path": found.path})


def _bytes(full: str, path: str) -> bytes:
    try:
        size = os.path.getsize(full)
        if size <= LARGEST:
            return read_file(full)
    except FileNotFoundError:
        raise NotFound("no_document", f"there is no file {path}", remedy=remedies.adopt()) from None
    except OSError as failure:
        raise UsageError(
            "unreadable", f"{path} cannot be read: {failure.strerror}", remedy=shell("ls", "-l", path)
        ) from None
    too_large = f"{path} has {size} bytes; a document has at most {LARGEST}"
    raise UsageError("too_large", too_large, remedy=shell("ls", "-l", path), facts={"path": path, "bytes": size})


def _depth(document: object) -> int:
    """How deep lists and objects are nested, up to one more than is bearable."""
    level, here = 0, [document]
    while here and level <= DEEPEST:
        inner = [list(v.values()) if isinstance(v, Mapping) else v for v in here if isinstance(v, (Mapping, list))]
        here = [item for items in inner for item in items]
        level += 1
    return level
