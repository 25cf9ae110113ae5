"""A host as the installation knows it."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core.value import Value
from holdfast.hosts.installing.setting import File, Setting


class Host(Value):
    name: str
    program: str
    files: Callable[[Setting], list[File]]
    traces: Callable[[Setting], list[str]]
    """What a person or project has that works with it: of a person, the folder that the host keeps for them."""
    asks: str = ""
    """What a person still has to do in the host."""
    asks_in_project: str = ""
    """The same where Holdfast is installed for a project alone."""
