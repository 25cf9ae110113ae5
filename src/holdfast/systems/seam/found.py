"""A document that was found in a worktree, and that no workflow known here wrote."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.value import Value
from holdfast.documents.lens.spec import Dialect
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Found(Value):
    """A document that somebody else wrote, or what is wrong with it. `path` is relative to the worktree."""

    path: str
    dialect: Dialect
    data: bytes = b""
    document: Mapping[str, Any] = {}
    wrong: HoldfastError | None = None

    @property
    def names(self) -> tuple[str, str]:
        """What it can be called by: the id in it, and the name of its file, or of the folder it has for itself."""
        own = os.path.dirname(self.path) if self.dialect.workspace else self.path.removesuffix(".json")
        return self.id, os.path.basename(own)

    @property
    def id(self) -> str:
        return self.dialect.id_of(self.document)
