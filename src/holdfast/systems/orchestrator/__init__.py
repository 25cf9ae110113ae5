"""Task documents: phases of tasks with criteria, worked on by several agents."""

from holdfast.systems.seam.system import System

SYSTEM = System(
    "orchestrator",
    __name__,
    parts=("subject", "work", "upkeep"),
    own=tuple(
        f".claude/{name}"
        for name in ("agent-state.json", "checkpoint.json", "locks.json", "learnings.jsonl", "archive")
    ),
    patterns=(".claude/agent-state.json",),
    loads=("task_document",),
    shares="worktree",
)
