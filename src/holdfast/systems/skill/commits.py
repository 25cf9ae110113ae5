"""The commit of a task, whose box in the feature file is ticked with it."""

from __future__ import annotations

from holdfast.core import tasks
from holdfast.core.plan import parent
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.git import Repository
from holdfast.git.made import Purpose, forget
from holdfast.machine.place import Place, below
from holdfast.systems.seam import actions
from holdfast.systems.seam.parts import Acted, Order
from holdfast.systems.seam.wired import Wired
from holdfast.systems.skill import features, following
from holdfast.systems.skill.words import feature_of


class _Box(actions.Mark):
    """The box of a task in its feature file."""

    def __init__(self, full: str, path: str, text: str) -> None:
        self.full, self.file, self._text = full, path, text

    def words(self) -> tuple[str, ...]:
        try:
            listed = features.read(self.full, self.file).tasks
        except HoldfastError:
            return ()
        is_open = any(task.text == self._text and not task.done for task in listed)
        return (self.full, self.file, self._text) if is_open else ()

    def put(self) -> tuple[str, ...]:
        try:
            ticked = features.tick(self.full, self._text, 0)
        except HoldfastError:
            ticked = False
        return () if ticked else (f"{self.file} has no box for this task any more: nothing was ticked",)


def take_back(repository: Repository, purpose: Purpose, words: list[str]) -> str:
    """Opens the box of a task again whose commit was not made. Where that fails, the next command tries again."""
    full, file, text = words
    try:
        features.tick(full, text, 0, done=False)
    except HoldfastError as failure:
        return f"The box of {text!r} in {file} is ticked, and its commit was not made: {failure.message}."
    forget(repository, purpose.ulid, purpose.step)
    return f"The box of {text!r} in {file} is open again: its commit was not made."


def marked(state: State) -> tuple[str, ...]:
    """The feature files, which have the boxes of the tasks."""
    paths = (path for path in state.plan.paths if state.plan.step(path).action == "commit") if state.loads else ()
    return tuple(dict.fromkeys(file for path in paths if (file := str(feature_of(state, path)["file"]))))


def where(place: Place, state: State, path: str) -> str:
    """The feature file of a task, also where it was moved since it was last read; empty without one."""
    file = str(feature_of(state, path)["file"]) if state.loads else ""
    others = {other for other in marked(state) if other != file}
    return following.followed(state, place, parent(path), file, others) if file else ""


def commit(wired: Wired, state: State, path: str, order: Order) -> Acted:
    step = state.plan.step(path)
    text = step.name if step.kind == tasks.TASK else str(state.context.get("task_description") or "")
    feature = where(wired.place, state, path)
    full = below(wired.place.base(state.worktree), feature) if feature and text else None
    return actions.commit_step(wired, state, path, order, _Box(full, feature, text) if full else actions.Mark())
