"""What a workflow is from its first moment: shared by the command that starts it, its first event and its state."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.definition import Conduct, Terms
from holdfast.core.value import Any


class Identity(Terms, kw_only=True):
    ulid: str
    id: str
    type: str
    subject: str = ""
    context: Mapping[str, Any] = {}
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    conduct: Conduct = Conduct()
    head: str | None = None
    """The commit the work began at."""
    dirt: Mapping[str, str] = {}
    """What was changed and not committed at that time: the path and the hash of its content."""
    parent: str = ""
    """The ULID of the workflow whose result this one builds on."""
    parent_seal: str = ""
    """What that result was when this one was last built on it."""
    own: Mapping[str, Mapping[str, Any]] = {}
    """What systems keep of this workflow, by system: plain data that only their own rules change."""
