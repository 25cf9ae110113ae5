"""The dialects: what each convention's documents look like on disk. Each is imported when it is first spoken."""

from __future__ import annotations

from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.dialects.spec import Dialect

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

_spoken: dict[str, Dialect] = {}


def dialect(name: str) -> Dialect:
    found = _spoken.get(name)
    if found is None:
        found = _spoken[name] = _imported(name)
    return found


def dialects() -> list[Dialect]:
    """All of them."""
    return [dialect(name) for name in OWN]


def _imported(name: str) -> Dialect:
    match name:
        case "skill":
            from holdfast.dialects.skill import DIALECT
        case "story":
            from holdfast.dialects.story import DIALECT
        case "compaction":
            from holdfast.dialects.compaction import DIALECT
        case "orchestrator":
            from holdfast.dialects.orchestrator import DIALECT
        case "gated":
            from holdfast.dialects.gated import DIALECT
        case _:
            raise NotFound(
                "no_dialect",
                f"there is no dialect {name[:60]!r}; there are: {', '.join(OWN)}",
                remedy="holdfast schema",
                facts={"dialect": name[:200], "dialects": list(OWN)},
            )
    return DIALECT
