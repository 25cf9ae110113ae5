"""The JSON Schema (draft-07) of each document a dialect writes, as it comes with the package.

A dialect's main document has the dialect's name; a second one is called `dialect-document`, such as `skill-index`.
"""

from __future__ import annotations

import os

from holdfast.core.names import nearest
from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "dialects", "schemas")


def names() -> list[str]:
    return sorted(name.removesuffix(".json") for name in os.listdir(FOLDER) if name.endswith(".json"))


def schema(name: str) -> dict[str, Any]:
    from json import load

    known = names()
    if name not in known:
        close = nearest(name, tuple(known))
        raise NotFound(
            "no_schema",
            f"there is no schema {name[:60]!r}; there are: {', '.join(known)}",
            remedy=f"holdfast schema {close or known[0]}",
            facts={"name": name[:200], "known": known},
        )
    with open(os.path.join(FOLDER, f"{name}.json"), encoding="utf-8") as file:
        found: dict[str, Any] = load(file)
    return found
