"""Working on one step in a `with` block."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from holdfast.core.state import Evidence, Progress
    from holdfast.project.workflow import Workflow


class StepWork:
    """The body of a `with wf.step(…)`."""

    def __init__(self, workflow: Workflow, path: str) -> None:
        self._workflow = workflow
        self._artifacts: dict[str, str] = {}
        self.path = path

    @property
    def progress(self) -> Progress:
        return self._workflow.state.step(self.path)

    @property
    def feedback(self) -> tuple[str, ...]:
        """What earlier tries were told."""
        return self.progress.feedback

    def artifact(self, name: str, path: str) -> None:
        """Names an output; it is hashed when the step is done."""
        self._artifacts[name] = path

    def check(self, name: str, *, passed: bool | None = None) -> Evidence:
        return self._workflow.check(name, passed=passed, step=self.path)

    def __enter__(self) -> Self:
        self._workflow.begin(self.path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._workflow.done(self.path, self._artifacts)
        elif isinstance(error, Exception):
            self._workflow.fail(self.path, (str(error) or type(error).__name__)[:2000])
