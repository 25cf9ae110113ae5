"""The JSON Schema (draft-07) of each document a dialect writes, as it comes with the package.

A dialect's main document has the dialect's name; a second one is called `dialect-document`, such as `skill-index`.
"""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.names import nearest
from holdfast.core.value import Any
from holdfast.errors import NotFound
from holdfast.systems.seam.registry import folders


def names() -> list[str]:
    return sorted(_paths())


def schema(name: str) -> dict[str, Any]:
    from json import load

    paths = _paths()
    known = sorted(paths)
    if name not in known:
        close = nearest(name, tuple(known))
        said = f"there is no schema {name[:60]!r}; there are: {', '.join(known)}"
        raise NotFound(
            "no_schema", said, remedy=remedies.schema(close or known[0]), facts={"name": name[:200], "known": known}
        )
    with open(paths[name], encoding="utf-8") as file:
        found: dict[str, Any] = load(file)
    return found


def _paths() -> dict[str, str]:
    listed = ((folder, name) for folder in folders("schemas") for name in os.listdir(folder))
    return {name.removesuffix(".json"): os.path.join(folder, name) for folder, name in listed}
