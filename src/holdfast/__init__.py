"""Durable workflow state for AI agents.

import holdfast

hf = holdfast.open(".")
wf = hf.start("release", subject="1.4.0")
with wf.step("changelog") as step:
    step.artifact("changelog", "CHANGELOG.md")
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    _SAID = "Holdfast runs on Linux and macOS. On Windows, install and run it inside WSL: https://aka.ms/wsl"
    _STARTED = sys.argv[0].replace("\\", "/").rpartition("/")[2].partition(".")[0] if sys.argv else ""
    raise SystemExit(_SAID) if _STARTED in ("-m", "holdfast", "holdfast-script") else ImportError(_SAID)

from holdfast.errors import (
    Broken,
    Conflict,
    HoldfastError,
    NotFound,
    OutcomeUnknown,
    Refused,
    UsageError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.definition import Definition, Step
    from holdfast.project.project import Project
    from holdfast.project.workflow import Workflow

__version__ = "0.1.0"
__all__ = [
    "Broken",
    "Conflict",
    "Definition",
    "HoldfastError",
    "NotFound",
    "OutcomeUnknown",
    "Project",
    "Refused",
    "Step",
    "UsageError",
    "Workflow",
    "open",
]


def open(path: str = ".") -> Project:
    """The project a path is in: the nearest folder with `.holdfast`, else git's top level, else the path itself."""
    from holdfast.project.project import open_project

    return open_project(path)


def __getattr__(name: str) -> object:
    """Classes are imported when they are first asked for: hooks import this package on every tool call."""
    if name in ("Definition", "Step"):
        from holdfast.core import definition

        return getattr(definition, name)
    if name == "Project":
        from holdfast.project.project import Project

        return Project
    if name == "Workflow":
        from holdfast.project.workflow import Workflow

        return Workflow
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
