"""What can be wrong with a tree of steps: every mistake at once, each with the place it is at."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import remedies
from holdfast.core.definition import DEEPEST, MAX_STEPS, Step
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.remedy import Blank, Remedy
from holdfast.errors import UsageError


class Mistakes:
    """Collects what is wrong, each with the place it is at."""

    def __init__(self, locate: Callable[[tuple[str | int, ...]], str]) -> None:
        self.found: list[dict[str, str]] = []
        self._locate = locate

    def add(self, path: tuple[str | int, ...], message: str) -> None:
        self.found.append({"where": self._locate(path), "message": message})

    def error(self) -> UsageError:
        remedy = remedies.check_file(Blank("FILE"), text="fix them, then")
        return mistaken("bad_definition", "definition", self.found, remedy)

    def report(self) -> None:
        """Raises one error that lists them all, if there are any."""
        if self.found:
            raise self.error()


def mistaken(
    code: str, what: str, found: list[dict[str, str]], remedy: Remedy | str, most: int = MAX_STEPS, **facts: str
) -> UsageError:
    """One error for all mistakes, each with `where` it is and a `message`; the sentence has at most so many of them."""
    many = len(found)
    listed = "; ".join(f"{mistake['where']}: {mistake['message']}" for mistake in found[:most])
    more = f"; and {many - most} more" if many > most else ""
    said = f"{many} mistake{'s' if many > 1 else ''} in the {what}: {listed}{more}"
    return UsageError(code, said, remedy=remedy, facts={**facts, "mistakes": found})


def check_steps(steps: tuple[Step, ...]) -> None:
    """Whether the steps of a tree fit together; for trees that were changed or written in Python."""
    mistakes = Mistakes(dotted)
    if not steps:
        mistakes.add(("step",), "a workflow needs at least one step")
    plan = Plan(steps)
    if len(plan.paths) > MAX_STEPS or any(path.count("/") >= DEEPEST for path in plan.paths):
        mistakes.add(("step",), f"a workflow has at most {MAX_STEPS} steps, {DEEPEST} deep")
    check_names(steps, ("step",), mistakes)
    mistakes.report()
    check_references(steps, mistakes)
    mistakes.report()


def dotted(path: tuple[str | int, ...]) -> str:
    """`("step", 0, "id")` → `step[1].id`."""
    out = ""
    for part in path:
        out += f"[{part + 1}]" if isinstance(part, int) else (f".{part}" if out else part)
    return out or "definition"


def check_names(steps: tuple[Step, ...], at: tuple[str | int, ...], mistakes: Mistakes) -> None:
    """Every id is a name, and no two siblings share one."""
    seen: set[str] = set()
    for index, step in enumerate(steps):
        if not is_name(step.id):
            mistakes.add((*at, index, "id"), f"{step.id!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        if step.id in seen:
            mistakes.add((*at, index, "id"), f"the id {step.id!r} is used twice here")
        seen.add(step.id)
        check_names(step.steps, (*at, index, "step"), mistakes)


def check_references(steps: tuple[Step, ...], mistakes: Mistakes) -> None:
    """`requires` and `back_to` must name steps that exist, and nothing may wait for itself.

    Of steps with the same id only the first is looked at: what the others lead to is not a mistake of its own.
    """
    plan = Plan(_first_ones(steps))
    places = _places(steps, ("step",), "")
    for path in plan.paths:
        step, place = plan.step(path), places[path]
        for name in step.requires or ():
            if plan.beside(path, name) is None:
                mistakes.add((*place, "requires"), f"there is no step {name!r} to require")
        if step.retry and step.retry.back_to and plan.beside(path, step.retry.back_to) is None:
            mistakes.add((*place, "retry"), f"there is no step {step.retry.back_to!r} to go back to")
        if path in plan.closure(path):
            mistakes.add((*place, "requires"), f"{path!r} requires itself in the end")
        elif step.retry and step.retry.back_to:
            target = plan.beside(path, step.retry.back_to)
            if target is not None and target not in plan.closure(path):
                mistakes.add((*place, "retry"), f"back_to must be a step that comes before {path!r}")


def _places(steps: tuple[Step, ...], at: tuple[str | int, ...], above: str) -> dict[str, tuple[str | int, ...]]:
    places: dict[str, tuple[str | int, ...]] = {}
    for index, step in enumerate(steps):
        path = f"{above}/{step.id}" if above else step.id
        if path not in places:
            places[path] = (*at, index)
            places.update(_places(step.steps, (*at, index, "step"), path))
    return places


def _first_ones(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    found: dict[str, Step] = {}
    for step in steps:
        found.setdefault(step.id, step)
    return tuple(step.replace(steps=_first_ones(step.steps)) if step.steps else step for step in found.values())
