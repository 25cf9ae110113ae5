"""How a definition differs from the steps of a running workflow, as changes that can be made one by one."""

from __future__ import annotations

from _collections_abc import Iterator
from bisect import bisect_left

from holdfast.core.definition import Definition, Step
from holdfast.core.mistakes import check_steps
from holdfast.core.plan import Plan
from holdfast.core.value import Value
from holdfast.errors import UsageError


class Change(Value):
    """One amendment. `path` is the step's; a new step is below `above`, and after the sibling `after`.

    `after` is None for the end of the row, and empty for its beginning.
    """

    op: str
    path: str
    step: Step | None = None
    above: str = ""
    after: str | None = None


def changes(running: tuple[Step, ...], definition: Definition) -> list[Change]:
    """What leads from the running steps to the definition's, in an order in which every tree on the way fits together.

    What is new comes first, so that changed steps can refer to it, and what goes comes last, when nobody refers to it
    any more. A step that moved among its siblings is retired and added again, and of two that changed places it is
    the one that stood later: work tends to be done in front. Where no order fits, the rest follows as it is, and
    the rules say what is wrong with it.
    """
    wanted = Plan(definition.steps)
    waiting = sorted(_differences(running, definition.steps, ""), key=lambda one: _ORDER.index(one.op))
    plan = Plan(running)
    made: list[Change] = []
    hopeful = True
    while waiting:
        leaving = {one.path for one in waiting if one.op == "retire"}
        possible = [one for one in waiting if one.op != "add" or one.path not in leaving]
        for one in possible:
            change, amended = _made(plan, one, wanted, leaving)
            if not hopeful or _fits(plan, one, amended):
                break
        else:
            hopeful = False
            continue
        waiting.remove(one)
        made.append(change)
        plan = amended
    return made


_ORDER = ("add", "change", "retire")


def _differences(running: tuple[Step, ...], wanted: tuple[Step, ...], above: str) -> Iterator[Change]:
    known = {step.id: step for step in running}
    kept = _in_place([step.id for step in running], [step.id for step in wanted])
    for step in running:
        if step.id not in kept:
            yield Change("retire", _below(above, step.id))
    for step in wanted:
        path = _below(above, step.id)
        if step.id not in kept:
            yield Change("add", path, step, above)
            continue
        if step.replace(steps=()) != known[step.id].replace(steps=()):
            yield Change("change", path, step)
        yield from _differences(known[step.id].steps, step.steps, path)


def _in_place(running: list[str], wanted: list[str]) -> set[str]:
    """The most ids that are in the same order in both rows, those in front of the running one preferred."""
    places = {name: place for place, name in enumerate(running)}
    ends: list[int] = []  # where the best run of each length ends so far
    before: dict[int, int] = {}
    for place in (places[name] for name in wanted if name in places):
        length = bisect_left(ends, place)
        before[place] = ends[length - 1] if length else -1
        ends[length : length + 1] = [place]
    kept = set()
    place = ends[-1] if ends else -1
    while place >= 0:
        kept.add(running[place])
        place = before[place]
    return kept


def _made(plan: Plan, one: Change, wanted: Plan, leaving: set[str]) -> tuple[Change, Plan]:
    """A change with its details as of now, and the tree it leads to."""
    if one.op == "retire":
        return one, plan.changed(one.path, lambda _: None)
    assert one.step is not None
    if one.op == "change":
        # The core puts the new step in place of the old one, children and all, and these are changed one by one.
        new = one.step.replace(steps=plan.step(one.path).steps)
        return one.replace(step=new), plan.changed(one.path, lambda _: new)
    row = plan.children(one.above)
    order = wanted.children(one.above)
    at = order.index(one.path)
    earlier = [i for i, path in enumerate(row) if path in order[:at] and path not in leaving]
    later = [i for i, path in enumerate(row) if path in order[at:] and path not in leaving]
    place = earlier[-1] + 1 if earlier else later[0] if later else len(row)
    after = row[place - 1].rpartition("/")[2] if place else "" if row else None
    return one.replace(after=after), plan.added(one.above, one.step, after)


def _fits(plan: Plan, one: Change, amended: Plan) -> bool:
    if one.op == "change" and _links(plan.step(one.path)) == _links(amended.step(one.path)):
        return True  # looking at every link of a large tree takes its time
    try:
        check_steps(amended.steps)
    except UsageError:
        return False
    return True


def _links(step: Step) -> tuple[object, ...]:
    return step.requires, step.parallel, step.retry and step.retry.back_to


def _below(above: str, name: str) -> str:
    return f"{above}/{name}" if above else name
