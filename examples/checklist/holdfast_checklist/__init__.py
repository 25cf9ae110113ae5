"""A text file with one item per line, as a workflow of Holdfast."""

from holdfast.core.definition import Conduct
from holdfast.systems.seam.system import System

SYSTEM = System(
    "checklist",
    __name__,
    parts=("subject",),
    own=("checklists",),
    patterns=("checklists/*.json",),
    loads={"checklist": Conduct()},
)
