"""What a workflow is from its first moment: shared by the command that starts it, its first event and its state."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.conduct import Conduct
from holdfast.core.definition import Bounds
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Identity(Value):
    ulid: str
    id: str
    type: str
    dialect: str = "skill"
    version: int = 1
    digest: str = ""
    source: str = ""
    title: str = ""
    subject: str = ""
    context: Mapping[str, Any] = {}
    bounds: Bounds = Bounds()
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    loads: str = ""
    conduct: Conduct = Conduct()
    advance: bool = False
    head: str | None = None
    """The commit the work began at."""
    dirt: Mapping[str, str] = {}
    """What was changed and not committed at that time: the path and the hash of its content."""
    parent: str = ""
    """The ULID of the workflow whose result this one builds on."""
    parent_seal: str = ""
    """What that result was when this one was last built on it."""
    reading: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    keep_going: bool = False
    require_ack: bool = False
    read_only: tuple[str, ...] = ()
    own: Mapping[str, Mapping[str, Any]] = {}
    """What systems keep of this workflow, by system: plain data that only their own rules change."""
