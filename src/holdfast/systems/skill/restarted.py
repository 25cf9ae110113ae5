"""A feature that is started again: what waits for a person in the run before goes along into the new one."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle
from holdfast.core.definition import Step
from holdfast.core.state import State
from holdfast.core.tasks import shaped
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place, below
from holdfast.systems.seam.parts import Loaded
from holdfast.systems.skill import features
from holdfast.systems.skill.rereading import paired
from holdfast.systems.skill.words import FEATURE


def carried(loaded: Loaded, before: State, place: Place) -> Loaded:
    """The start with the tasks and test phases of the run before that its files do not ask for any more.

    A task that was not done there is not done by a tick either.
    """
    home = next((step for step in loaded.definition.steps if step.task), None)
    if loaded.definition.loads != FEATURE or home is None or before.origin == "adopted":
        return loaded
    finished = dict(loaded.finished)
    if loaded.context.get("folder_path"):
        groups = _groups(before)
        named = [str(one["file"]) for one in loaded.context["folder_features"]]
        steps = tuple(
            _with_tasks(group, home, f"{home.id}/{group.id}", groups.get(file, ""), file, before, place, finished)
            for group, file in zip(home.steps, named, strict=False)
        )
        filled = home.replace(steps=(*steps, *home.steps[len(steps) :]))
    else:
        above = next((path for path in before.plan.children("") if before.plan.step(path).task), "")
        file = str(loaded.context["feature_file"])
        filled = _with_tasks(home, home, home.id, above, file, before, place, finished)
    paths = [f"{home.id}/{step.id}" for step in filled.steps]
    if home.id in finished and any(path not in finished for path in paths):
        del finished[home.id]
    steps = tuple(filled if step is home else step for step in loaded.definition.steps)
    return loaded.replace(definition=loaded.definition.replace(steps=steps), finished=finished)


def _groups(before: State) -> dict[str, str]:
    """The steps of the features of a folder, by their files."""
    known = [dict(one) for one in before.context.get("folder_features") or () if isinstance(one, Mapping)]
    return {str(one.get("file")): path for path, one in zip(before.plan.of_kind(FEATURE), known, strict=False)}


def _with_tasks(
    step: Step, home: Step, path: str, known: str, file: str, before: State, place: Place, finished: dict[str, str]
) -> Step:
    """A step with the tasks of a file, `known` as another step in the run before."""
    full = below(place.worktree, file)
    try:
        listed = features.read(full, file).tasks if full and known else ()
    except HoldfastError:
        return step
    pairs = paired(before, list(before.plan.children(known)), listed) if known else None
    if pairs is None:
        return step
    tasks = list(step.steps)
    for old, task in pairs.same:
        number = str(listed.index(task) + 1)
        if before.step(old).status in lifecycle.FINISHED:
            continue
        at = next(index for index, one in enumerate(tasks) if one.id == number)
        finished.pop(f"{path}/{number}", None)
        if before.plan.step(old).steps:
            tasks[at] = _like(home, number, task.text, task.description, tested=True)
    for old in pairs.gone:
        gone = before.plan.step(old)
        tasks.append(_like(home, str(len(tasks) + 1), gone.name, gone.description, tested=bool(gone.steps)))
    if any(f"{path}/{one.id}" not in finished for one in tasks):
        finished.pop(path, None)
    return step.replace(steps=tuple(tasks))


def _like(home: Step, number: str, text: str, description: str, *, tested: bool) -> Step:
    return shaped(home.task, number, text, tested=tested).replace(description=description)
