"""Task documents: phases of tasks with criteria, worked on by several agents."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

_TASKS = ("task",)
_CONDUCT = Conduct(
    bounded=_TASKS,
    iterated=_TASKS,
    checkpointed=_TASKS,
    criteria=("task", "phase", "review"),
    guarded_end=True,
    by_tree=False,
    frozen_trust=True,
    phased=True,
)

SYSTEM = System(
    "orchestrator",
    __name__,
    parts=("rules", "subject", "work", "upkeep", "texts", "described"),
    own=tuple(
        f".claude/{name}"
        for name in ("agent-state.json", "checkpoint.json", "locks.json", "learnings.jsonl", "archive")
    ),
    unversioned=(".claude/checkpoint-*.json",),
    patterns=(".claude/agent-state.json",),
    loads={"task_document": _CONDUCT},
    shares="worktree",
)
