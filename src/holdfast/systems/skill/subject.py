"""Feature files and single tasks as the subject of a workflow: their tasks become steps."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator, Mapping

from holdfast.checks import equipping, tooling
from holdfast.core import lifecycle, remedies
from holdfast.core.definition import MAX_STEPS, Step
from holdfast.core.names import checked_text
from holdfast.core.remedy import Blank, shell
from holdfast.core.state import State
from holdfast.core.tasks import current_group, new_task, next_number, shaped
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine.place import Place, below
from holdfast.markdown import feature_file
from holdfast.systems.seam.parts import Asked, Loaded, Subject, Taken, require_repository
from holdfast.systems.skill import features
from holdfast.systems.skill.words import FEATURE, feature_of

TICKED = "ticked in the feature file"
TEST_COMMAND = "test_command"
"""The value of the context that a user types in place of the project's own test command."""


def load(asked: Asked, place: Place) -> Loaded:
    if not asked.definition.loads:
        return Loaded(asked.definition, asked.subject, asked.context)
    require_repository(asked.definition, place)
    loaded = _feature(asked, place) if asked.definition.loads == FEATURE else _task(asked, place)
    typed = loaded.context.get(TEST_COMMAND)
    if typed is None:
        return loaded
    context = {name: value for name, value in loaded.context.items() if name != TEST_COMMAND}
    about = asked.subject or Blank("SUBJECT")
    again = remedies.start(asked.definition.name, about, values={TEST_COMMAND: Blank("'COMMAND'")})
    run = equipping.words(typed, TEST_COMMAND, again)
    return loaded.replace(context=context, tools={"test": tooling.Tool(run, "")})


def identity(asked: Asked, place: Place) -> str:
    """A file that is gone still names its work."""
    if asked.definition.loads == FEATURE and asked.subject:
        try:
            return _written(asked.subject, place)
        except NotFound:
            return asked.subject
    return _about(asked, place)[0] if asked.definition.loads == "task" else asked.subject


def same(asked: Asked, known: Callable[[], Mapping[str, Any]]) -> bool:
    """Whether it works on the feature file that is named, or on one of a folder's, under another name for it."""
    if asked.definition.loads != FEATURE or not asked.subject:
        return False
    context = known()
    folder = str(context.get("folder_path") or "").rstrip("/")
    file = str(context.get("feature_file") or "")
    named = asked.subject.rstrip("/")
    return named in (folder, file) or file.startswith(f"{named}/") or (bool(folder) and named.startswith(f"{folder}/"))


def changes(state: State, place: Place) -> Taken:
    """What the current feature file, or a folder of them, has that the workflow does not know yet.

    A task that is gone while another stands in its place was reworded. What cannot be read any more changes nothing:
    the work goes on with what it began with.
    """
    home = next((path for path in state.plan.children("") if state.plan.step(path).task), "")
    if state.loads != FEATURE or state.origin == "adopted" or not home or state.step(home).status in lifecycle.FINISHED:
        return Taken()
    folder = state.context.get("folder_path")
    if not folder:
        found = _read(place, state, str(feature_of(state)["file"]))
        return _differences(state, home, found) if found else Taken()
    at = current_group(state)
    found = _read(place, state, str(feature_of(state)["file"])) if at else None
    taken = _differences(state, at, found) if found else Taken()
    known = [one for one in state.context.get("folder_features") or () if isinstance(one, Mapping)]
    new = list(_new_features(place, state, str(folder), known))
    steps: list[tuple[str, Step]] = []
    for feature in new:
        siblings = [state.plan.step(path) for path in state.plan.children(home)] + [step for _, step in steps]
        left = [(number, task) for number, task in enumerate(feature.tasks, 1) if not task.done]
        tasks = [new_task(state, home, str(number), task.text, tested=task.tested) for number, task in left]
        id = _free(features.step_id(feature.path), siblings)
        steps.append((home, Step(id, feature.title, kind=FEATURE, steps=tuple(tasks))))
    listed = [*known, *({"file": one.path, "title": one.title} for one in new)]
    return Taken((*taken.added, *steps), taken.renamed, {"folder_features": listed} if new else {})


def _differences(state: State, home: str, feature: features.Feature) -> Taken:
    paths = list(state.plan.children(home))
    known = [state.plan.step(path).name for path in paths]
    written = [task.text for task in feature.tasks]
    renamed, added = [], []
    number = next_number(state, home)
    for place, task in enumerate(feature.tasks):
        if task.text in known or task.done:
            continue
        there = place < len(paths) and known[place] not in written
        if there and state.step(paths[place]).status not in lifecycle.FINISHED:
            renamed.append((paths[place], state.plan.step(paths[place]).replace(name=task.text)))
        elif not there:
            added.append((home, new_task(state, home, str(number), task.text, tested=task.tested)))
            number += 1
    return Taken(tuple(added), tuple(renamed))


def _new_features(
    place: Place, state: State, folder: str, known: list[Mapping[str, Any]]
) -> Iterator[features.Feature]:
    files = {str(one.get("file")) for one in known}
    full = below(place.base(state.worktree), folder)
    try:
        names = feature_file.names(full) if full else []
    except HoldfastError:
        return
    for name in names:
        path = _joined(folder, name)
        feature = None if path in files else _read(place, state, path)
        if feature is not None:
            yield feature


def _read(place: Place, state: State, path: str) -> features.Feature | None:
    full = below(place.base(state.worktree), path)
    try:
        return features.read(full, path) if full else None
    except HoldfastError:
        return None


def _feature(asked: Asked, place: Place) -> Loaded:
    if not asked.subject:
        said = f"{asked.definition.name} needs a feature file or a folder of them"
        raise UsageError("no_subject", said, remedy=remedies.start(asked.definition.name, Blank("features/NAME.md")))
    subject = _written(asked.subject, place)
    full = os.path.join(place.worktree, subject)
    folder = os.path.isdir(full)
    names = feature_file.names(full) if folder else [""]
    if not names:
        raise NotFound("no_feature", f"there is no feature file in {subject}", remedy=shell("ls", subject))
    read = [features.read(os.path.join(full, name) if name else full, _joined(subject, name)) for name in names]
    steps, finished = _with_tasks(asked.definition.steps, read, folder=folder)
    first = read[0]
    own = {
        "feature_file": first.path,
        "feature_title": first.title,
        "folder_mode": folder,
        "folder_path": subject if folder else None,
        "folder_features": [{"file": one.path, "title": one.title} for one in read] if folder else [],
    }
    context = {**own, **{name: value for name, value in asked.context.items() if name not in own}}
    branch = f"feat/{features.slug(subject)}"
    definition = asked.definition.replace(steps=steps)
    return Loaded(definition, subject, context, _folder_title(subject) if folder else "", branch, finished)


def _with_tasks(
    steps: tuple[Step, ...], read: list[features.Feature], *, folder: bool
) -> tuple[tuple[Step, ...], dict[str, str]]:
    """The steps with the features' tasks below the one that says what a task looks like."""
    finished: dict[str, str] = {}
    home = next(step for step in steps if step.task)
    below: list[Step] = []
    for feature in read:
        id = _free(features.step_id(feature.path), below)
        above = f"{home.id}/{id}" if folder else home.id
        tasks = []
        for number, task in enumerate(feature.tasks, 1):
            tasks.append(shaped(home.task, str(number), task.text, tested=task.tested and not task.done))
            if task.done:
                finished[f"{above}/{number}"] = TICKED
        if folder:
            below.append(Step(id, feature.title, kind=FEATURE, steps=tuple(tasks)))
            if all(task.done for task in feature.tasks):
                finished[above] = TICKED
        else:
            below += tasks
    if all(task.done for feature in read for task in feature.tasks):
        finished[home.id] = TICKED
    filled = home.replace(steps=(*home.steps, *below))
    return tuple(filled if step is home else step for step in steps), finished


def _free(id: str, taken: list[Step]) -> str:
    """Two names of files may give the same id."""
    ids = {step.id for step in taken}
    return next(name for name in (id, *(f"{id[:60]}-{n}" for n in range(2, MAX_STEPS))) if name not in ids)


def _task(asked: Asked, place: Place) -> Loaded:
    subject, text, file, index = _about(asked, place)
    own = ("task", "task_description", "feature_file", "task_index")
    rest = {name: value for name, value in asked.context.items() if name not in own}
    context = {"task_description": text, "feature_file": file or None, "task_index": index, **rest}
    return Loaded(asked.definition, subject, context)


def _about(asked: Asked, place: Place) -> tuple[str, str, str, int | None]:
    """Of one task: what its id is made from, its text, its feature file and its number there."""
    subject, context = asked.subject, asked.context
    text = str(context.get("task") or context.get("task_description") or "")
    named = str(context.get("feature_file") or (subject if subject.endswith(".md") else ""))
    text = text or (subject if not named else "")
    number = context.get("task_index")
    if not text and not named:
        said = "a cycle needs a task"
        raise UsageError("no_task", said, remedy=remedies.start("tdd", values={"task": Blank('"TEXT"')}))
    file = _written(named, place) if named else ""
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
        raise UsageError("bad_number", "task_index is the number of a task, from 1", remedy="--set task_index=1")
    if text:
        return checked_text(text, "task", 1000), text, file, number
    listed = features.read(os.path.join(place.worktree, file), file).tasks
    number = number or next((n for n, task in enumerate(listed, 1) if not task.done), 1)
    if number > len(listed):
        raise UsageError("bad_number", f"{file} has {len(listed)} tasks", remedy="--set task_index=1")
    return file, listed[number - 1].text, file, number


def _written(path: str, place: Place) -> str:
    """A path as it is written down, and as a shell that hashes it finds it: from the top, as it was typed else."""
    checked_text(path, "path", 1000)
    full = place.typed(path)
    if not os.path.exists(full):
        raise NotFound("no_feature", f"there is no file {path!r}", remedy=shell("ls", "features"), facts={"path": path})
    inside = place.inside(full.rstrip("/"))
    return f"{inside}/" if path.endswith("/") and os.path.isdir(full) else inside


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if name else folder


def _folder_title(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2].replace("-", " ").replace("_", " ").capitalize()


SUBJECT = Subject(load=load, identity=identity, same=same, changes=changes)
