"""Compiled Python modules that may not be what their sources say.

Python takes compiled code for up to date when the source has the size and the second of change that it had then. A
source that is edited within that second to the same size, or whose time somebody sets back, is not read again.
"""

from __future__ import annotations

import os
from _collections_abc import Iterable
from contextlib import suppress

from holdfast import git

_FOLDER = "__pycache__"


def forget(top: str, names: Iterable[str]) -> None:
    """Remove what was compiled from these sources, so that the next run reads them."""
    stems: dict[str, set[str]] = {}
    for name in names:
        folder, file = os.path.split(name)
        if file.endswith(".py"):
            stems.setdefault(folder, set()).add(file.removesuffix(".py"))
    for folder, known in stems.items():
        for entry in git.entries(os.path.join(top, folder, _FOLDER)):
            if entry.name.endswith(".pyc") and entry.name.partition(".")[0] in known:
                with suppress(OSError):
                    os.unlink(entry.path)
