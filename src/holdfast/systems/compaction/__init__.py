"""Work in phases that survives the loss of an agent's context."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

SYSTEM = System(
    "compaction",
    __name__,
    parts=("rules", "subject", "upkeep", "described"),
    own=("untracked/workflow-state",),
    adopt_at_once=True,
    patterns=("untracked/workflow-state/*/state-*.json",),
    traces=("untracked/workflow-state", "CLAUDE.local.md", "CLAUDE/Plan"),
    loads={"phases": Conduct()},
    shares="subject",
    held=False,
)
