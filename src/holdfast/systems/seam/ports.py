"""What systems need of the workflow and the project that they work for, which lie above them."""

from __future__ import annotations

from _collections_abc import Iterable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Self

    from holdfast.core.commands import Command, Facts
    from holdfast.core.state import Actor, State
    from holdfast.systems.seam.wired import Wired
else:

    class Protocol: ...


class Workflow(Protocol):
    """A workflow as it was when last looked at."""

    state: State
    said: tuple[str, ...]

    @property
    def id(self) -> str: ...
    def refresh(self) -> Self: ...
    def facts(self) -> Facts: ...
    def execute(
        self,
        command: Command,
        *,
        key: str = "",
        token: int = 0,
        revision: int = 0,
        actor: Actor | None = None,
        summary: str = "",
    ) -> Self: ...
    def begin(self, step: str, **how: Any) -> Self: ...


class Project(Protocol):
    """A project whose documents without a journal can be found and taken over."""

    wired: Wired

    def orphans(self) -> Sequence[str]: ...
    def adopt(self, paths: Iterable[str] = ()) -> Sequence[Workflow]: ...
