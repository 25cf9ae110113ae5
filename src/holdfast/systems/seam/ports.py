"""What systems need of the workflow that they work for, which lies above them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, Self

    from holdfast.core.commands import Command, Facts
    from holdfast.core.state import Actor, State
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
