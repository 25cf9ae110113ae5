"""`/dev` and `/tdd`: feature files become tasks, test first, with a commit each and a pull request."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

_DAY = 86_400

SYSTEM = System(
    "skill",
    __name__,
    parts=("subject", "work", "texts", "described"),
    own=(".claude/workflow-state",),
    patterns=(".claude/workflow-state/active/*.json",),
    loads={"feature": Conduct(groups=("feature",)), "task": Conduct()},
    kept_for=_DAY,
    gives_up=("dev", "tdd"),
)
