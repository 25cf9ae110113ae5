"""The dialects: what each convention's documents look like on disk."""

from __future__ import annotations

from holdfast.dialects.skill import DIALECT as SKILL
from holdfast.dialects.spec import Dialect
from holdfast.dialects.story import DIALECT as STORY
from holdfast.errors import NotFound

DIALECTS: dict[str, Dialect] = {SKILL.name: SKILL, STORY.name: STORY}


def dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise NotFound(
            "no_dialect",
            f"there is no dialect {name[:60]!r}; there are: {', '.join(DIALECTS)}",
            remedy="holdfast schema",
            facts={"dialect": name[:200], "dialects": list(DIALECTS)},
        )
    return DIALECTS[name]
