"""Features in phases, each reviewed and approved, with a pull request."""

from holdfast.systems.seam.system import System

SYSTEM = System(
    "gated",
    __name__,
    parts=("subject", "upkeep"),
    patterns=("workflow/*/workflow-state.json",),
    loads=("description",),
)
