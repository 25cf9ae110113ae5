"""The dialects: what each convention's documents look like on disk. Each is imported when it is first spoken."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.documents.lens.spec import Dialect

OWN = {
    "skill": (".claude/workflow-state",),
    "story": ("workspace/workflow-state", "workspace/logs/workflow-orchestration", "workspace/session.lock"),
    "compaction": ("untracked/workflow-state",),
    "orchestrator": tuple(
        f".claude/{name}"
        for name in ("agent-state.json", "checkpoint.json", "locks.json", "learnings.jsonl", "archive")
    ),
    "gated": (),
}
"""The paths that belong to each dialect alone. Those of `gated` lie among the project's own, and go with the work."""

_SYSTEMS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_spoken: dict[str, Dialect] = {}


def dialect(name: str) -> Dialect:
    found = _spoken.get(name)
    if found is None:
        found = _spoken[name] = _imported(name)
    return found


def dialects() -> list[Dialect]:
    """All of them."""
    return [dialect(name) for name in OWN]


def folders(name: str) -> tuple[str, ...]:
    """The folders of this name that the systems have: `definitions`, `schemas`, `texts`."""
    found = (os.path.join(_SYSTEMS, system, name) for system in OWN)
    return tuple(folder for folder in found if os.path.isdir(folder))


def _imported(name: str) -> Dialect:
    match name:
        case "skill":
            from holdfast.systems.skill.document import DIALECT
        case "story":
            from holdfast.systems.story.document import DIALECT
        case "compaction":
            from holdfast.systems.compaction.document import DIALECT
        case "orchestrator":
            from holdfast.systems.orchestrator.document import DIALECT
        case "gated":
            from holdfast.systems.gated.document import DIALECT
        case _:
            raise NotFound(
                "no_dialect",
                f"there is no dialect {name[:60]!r}; there are: {', '.join(OWN)}",
                remedy=remedies.schema(),
                facts={"dialect": name[:200], "dialects": list(OWN)},
            )
    return DIALECT
