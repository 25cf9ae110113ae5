"""The keys of a state document, compared with an example of the convention."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "systems" / "skill" / "data"


def example(skill: str) -> set[str]:
    return shape(json.loads((EXAMPLES / f"{skill}.json").read_text()))


def shape(value: Any, where: str = "") -> set[str]:
    """Every key by its path; a member of a list goes by its name, number, event or phase."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, inner in value.items():
            path = f"{where}.{key}" if where else key
            found |= {path} | shape(inner, path)
    elif isinstance(value, list):
        for one in value:
            if isinstance(one, dict):
                name = next(str(one[key]) for key in ("name", "index", "event", "phase") if key in one)
                found |= shape(one, f"{where}[{name}]")
    return found


def keys(where: str, *names: str) -> set[str]:
    return {f"{where}.{name}" for name in names}
