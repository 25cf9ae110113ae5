"""Feature files and single tasks as the subject of a workflow: their tasks become steps."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core import remedies
from holdfast.core.definition import Definition, Step
from holdfast.core.names import checked_text
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import State
from holdfast.core.tasks import TASK, shaped
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine.place import Place
from holdfast.markdown.feature_file import is_markdown
from holdfast.systems.seam import test_command
from holdfast.systems.seam.parts import Asked, Loaded, Subject, late, require_repository
from holdfast.systems.skill import features
from holdfast.systems.skill.following import located
from holdfast.systems.skill.headings import from_name
from holdfast.systems.skill.rereading import changes, free_id
from holdfast.systems.skill.words import FEATURE

TICKED = "ticked in the feature file"
_MOST_TOLD = 20


def load(asked: Asked, place: Place) -> Loaded:
    if not asked.definition.loads:
        return Loaded(asked.definition, asked.subject, asked.context)
    require_repository(asked.definition, place)
    loaded = _feature(asked, place) if asked.definition.loads == FEATURE else _task(asked, place)
    return test_command.taken(asked, loaded)


def identity(asked: Asked, place: Place) -> str:
    """A file that is gone still names its work."""
    if asked.definition.loads == FEATURE and asked.subject:
        try:
            return _written(asked.subject, place)
        except NotFound:
            return asked.subject
    return _about(asked, place)[0] if asked.definition.loads == "task" else asked.subject


def same(asked: Asked, known: Callable[[], Mapping[str, Any]], place: Place) -> bool:
    """Whether it works on the feature file that is named, or on one of a folder's, under another name for it."""
    if asked.definition.loads != FEATURE or not asked.subject:
        return False
    context = known()
    folder = str(context.get("folder_path") or "").rstrip("/")
    file = str(context.get("feature_file") or "")
    named = asked.subject.rstrip("/")
    if named in (folder, file) or file.startswith(f"{named}/") or (bool(folder) and named.startswith(f"{folder}/")):
        return True
    return bool(file) and located(place, place.key(), file) == named


def _feature(asked: Asked, place: Place) -> Loaded:
    if not asked.subject:
        said = f"{asked.definition.name} needs a feature file or a folder of them"
        raise UsageError("no_subject", said, remedy=remedies.start(asked.definition.name, Blank("features/NAME.md")))
    subject = _written(asked.subject, place)
    folder, read, passed_over = _all(subject, place)
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
    title = from_name(subject) if folder else ""
    told = _few([*passed_over, *(line for one in read for line in features.told(one))], subject)
    return Loaded(definition, subject, context, title, branch, finished, said=told)


def _all(subject: str, place: Place) -> tuple[bool, list[features.Feature], list[str]]:
    """Whether a subject is a folder, the features in it, or the one that it is, and a line for each file left out."""
    full = os.path.join(place.worktree, subject)
    if not os.path.isdir(full):
        return False, [features.read(full, subject)], []
    return True, *features.some(full, subject)


def _with_tasks(
    steps: tuple[Step, ...], read: list[features.Feature], *, folder: bool
) -> tuple[tuple[Step, ...], dict[str, str]]:
    """The steps with the features' tasks below the one that says what a task looks like."""
    finished: dict[str, str] = {}
    home = next(step for step in steps if step.task)
    below: list[Step] = []
    for feature in read:
        id = free_id(features.step_id(feature.path), below)
        above = f"{home.id}/{id}" if folder else home.id
        tasks = []
        for number, task in enumerate(feature.tasks, 1):
            step = shaped(home.task, str(number), task.text, tested=task.tested and not task.done)
            tasks.append(step.replace(description=task.description))
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


def _task(asked: Asked, place: Place) -> Loaded:
    subject, text, file, index = _about(asked, place)
    own = ("task", "task_description", "feature_file", "task_index")
    rest = {name: value for name, value in asked.context.items() if name not in own}
    context = {"task_description": text, "feature_file": file or None, "task_index": index, **rest}
    details = _details(os.path.join(place.worktree, file), file, text) if file else ""
    return Loaded(asked.definition, subject, {**context, "task_details": details} if details else context)


def _details(full: str, file: str, text: str) -> str:
    """What the feature file says below a task, where it has it."""
    try:
        listed = features.read(full, file).tasks
    except HoldfastError:
        return ""
    return next((task.description for task in listed if task.text == text), "")


def _about(asked: Asked, place: Place) -> tuple[str, str, str, int | None]:
    """Of one task: what its id is made from, its text, its feature file and its number there."""
    subject, context = asked.subject, asked.context
    text = str(context.get("task") or context.get("task_description") or "")
    named = str(context.get("feature_file") or (subject if is_markdown(subject) else ""))
    text = text or (subject if not named else "")
    number = context.get("task_index")
    if not text and not named:
        name = asked.definition.name
        raise UsageError("no_task", f"{name} needs a task", remedy=remedies.start(name, Blank('"TEXT"')))
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
        raise NotFound("no_feature", f"there is no file {path!r}", remedy=_looking(place), facts={"path": path})
    inside = place.inside(full.rstrip("/"))
    return f"{inside}/" if path.endswith("/") and os.path.isdir(full) else inside


def _looking(place: Place) -> Remedy:
    """The command that shows which files could have been meant."""
    folder = os.path.join(place.worktree, "features")
    listed = os.path.isdir(folder) and any(map(is_markdown, os.listdir(folder)))
    return shell("ls", "features") if listed else shell("git", "ls-files", "-co", "--exclude-standard", "*.md")


def _few(lines: list[str], subject: str) -> tuple[str, ...]:
    more = [f"{len(lines) - _MOST_TOLD} more remarks: {remedies.check_file(subject)}"] if lines[_MOST_TOLD:] else []
    return (*lines[:_MOST_TOLD], *more)


def again(definition: Definition, state: State, place: Place) -> Loaded | None:
    """The feature files of a document, with all their tasks: a ticked box does not say that Holdfast saw the work."""
    if definition.loads != FEATURE or place.repository is None:
        return None
    named = str(state.context.get("folder_path") or state.context.get("feature_file") or "")
    try:
        folder, read, _ = _all(_written(os.path.join(place.worktree, named), place), place)
    except HoldfastError:
        if state.plan.of_kind(TASK):
            return None
        raise
    unticked = [one.replace(tasks=tuple(task.replace(done=False) for task in one.tasks)) for one in read]
    steps, _ = _with_tasks(definition.steps, unticked, folder=folder)
    return Loaded(definition.replace(steps=steps), state.subject, {})


SUBJECT = Subject(
    load=load,
    identity=identity,
    same=same,
    changes=changes,
    carried=late(f"{__package__}.restarted", "carried"),
    again=again,
    understood=late(f"{__package__}.understood", "understood"),
)
