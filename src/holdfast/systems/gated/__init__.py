"""Features in phases, each reviewed and approved, with a pull request."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

SYSTEM = System(
    "gated",
    __name__,
    parts=("subject", "work", "upkeep", "texts", "described"),
    patterns=("workflow/*/workflow-state.json",),
    wakes=("workflow",),
    loads={"description": Conduct(guarded_end=True, finalized=True, handed_whole=True)},
)
