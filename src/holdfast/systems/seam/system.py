"""The card of a system: what the rest of Holdfast must know of it without importing its code."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Conduct
from holdfast.core.value import Value

API = 1
"""The version of this seam. A system that speaks another one is refused."""


class System(Value):
    """One system, as data. Its package has it as `SYSTEM`; its code is in the modules that `parts` names."""

    name: str
    """What a definition says as `dialect`."""
    module: str
    api: int = API
    parts: tuple[str, ...] = ()
    """The modules that the package has of those in `systems.seam.parts`; for the others, the defaults hold."""
    own: tuple[str, ...] = ()
    """Paths that belong to the system alone: what is there is never part of the work."""
    unversioned: tuple[str, ...] = ()
    """Further paths, in which `*` may be, that are not for git."""
    patterns: tuple[str, ...] = ()
    """Where its documents are, from the top of the worktree."""
    adopt_at_once: bool = False
    """Whether a document that an agent wrote becomes a workflow when a hook sees it, where a trace is: else when
    somebody names it."""
    traces: tuple[str, ...] = ()
    """Files that make a hook ask the engine, although no workflow is active."""
    wakes: tuple[str, ...] = ()
    """Folders, from the top of the worktree or of the project, in which others may have left something to finish."""
    loads: Mapping[str, Conduct] = {}
    """The words of `loads` in a definition whose subjects it reads, and how such workflows are conducted."""
    actions: Mapping[str, str] = {}
    """What its part `work` does when a step is handed in, and the fact about the step that shows it was done."""
    at_once: tuple[str, ...] = ("load", "branch")
    """Actions that need nobody: they are done as soon as their step is reached."""
    shares: str = "id"
    """What is active only once in a worktree: an `id`, a `subject` (ids carry the time), or anything: `worktree`."""
    held: bool = True
    """Whether the session that starts a workflow holds it: an agent's own account goes with the next session."""
    kept_for: int = 0
    """Seconds for which the document of a finished workflow stays."""
    gives_up: tuple[str, ...] = ()
    """Definitions whose workflows `clean` gives up after a week in which nothing happened."""
