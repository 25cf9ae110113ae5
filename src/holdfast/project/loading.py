"""From what the user names to a workflow that can start: feature files become tasks, checks get commands."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping

from holdfast import git
from holdfast.checks import equipping, tooling
from holdfast.core import lifecycle, refusals, remedies
from holdfast.core.definition import MAX_STEPS, Definition, Step
from holdfast.core.mistakes import check_steps
from holdfast.core.names import checked_text
from holdfast.core.plan import Plan
from holdfast.core.remedy import Blank, shell
from holdfast.core.state import State, Supervision
from holdfast.core.tasks import (
    DESCRIPTION,
    DOCUMENT,
    FEATURE,
    current_feature,
    feature_of,
    new_task,
    next_number,
    shaped,
)
from holdfast.core.value import Value
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.git import changes as git_changes
from holdfast.machine.place import Place, below
from holdfast.systems.gated import opening
from holdfast.systems.orchestrator import subject as orchestrating
from holdfast.systems.seam.registry import dialect
from holdfast.systems.skill import features
from holdfast.systems.story import project as stories
from holdfast.systems.story.adoption import planned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TICKED = "ticked in the feature file"


class Loaded(Value):
    """What a workflow starts with. `finished` are steps that need not be done any more, and why."""

    definition: Definition
    subject: str
    context: Mapping[str, Any]
    title: str = ""
    branch: str | None = None
    finished: Mapping[str, str] = {}
    begun: tuple[str, ...] = ()
    supervision: Supervision = Supervision()


class Surroundings(Value):
    """Where in git a workflow begins: its branch, the commit, and what lies there changed and uncommitted."""

    branch: str | None
    head: str | None = None
    dirt: Mapping[str, str] = {}


def load(
    definition: Definition, subject: str, context: Mapping[str, Any], place: Place, phases: tuple[str, ...] = ()
) -> Loaded:
    """Reads what the definition says the subject is. Changes nothing."""
    loaded = Loaded(definition, subject, context)
    if phases or definition.loads == "phases":
        return _phased(loaded, phases)
    if definition.loads in _STORIES:
        return _STORIES[definition.loads](loaded)
    if definition.loads == DOCUMENT:
        found = orchestrating.load(definition, subject, context, place)
        return loaded.replace(**dict(found.items()))
    if definition.loads:
        if place.repository is None:
            raise UsageError(
                "no_repository", f"{definition.name} works in a git repository", remedy=shell("git", "init"), facts={}
            )
        loaded = {FEATURE: _feature, DESCRIPTION: _described}.get(definition.loads, _task)(loaded, place)
    tools = equipping.tools(loaded.definition, place)
    typed = loaded.context.get("test_command")
    if definition.loads and typed is not None:
        tools["test"] = tooling.Tool(equipping.words(typed), "")
        loaded = loaded.replace(context={k: v for k, v in loaded.context.items() if k != "test_command"})
    loaded = loaded.replace(definition=equipping.equipped(loaded.definition, tools))
    check_steps(loaded.definition.steps)
    return loaded


def _phased(loaded: Loaded, names: tuple[str, ...]) -> Loaded:
    """Phases that the user names, where the definition leaves them open."""
    from holdfast.systems.compaction.document import phases

    definition = loaded.definition
    if definition.loads != "phases":
        own = ", ".join(step.label for step in definition.steps)
        raise UsageError(
            "bad_phases", f"{definition.name} has phases of its own: {own}", remedy="leave out --phases, or use custom"
        )
    if not names and definition.name == "custom":
        raise UsageError(
            "bad_phases",
            "custom has no phases of its own",
            remedy=remedies.start("custom", Blank("NAME"), phases="Backup,Migrate,Verify"),
        )
    steps = phases(names) if names else definition.steps
    check_steps(steps)
    return loaded.replace(definition=definition.replace(steps=steps))


def _scene(loaded: Loaded) -> Loaded:
    scene = stories.scene_id(loaded.subject or loaded.context.get("scene_id", ""))
    return loaded.replace(subject=scene, context={**loaded.context, "scene_id": scene})


def _plan(loaded: Loaded) -> Loaded:
    said = stories.planned(loaded.context)
    return loaded.replace(subject=planned(said), context={**loaded.context, **said})


_STORIES = {"scene": _scene, "plan": _plan}


def identity(definition: Definition, subject: str, context: Mapping[str, Any], place: Place) -> str:
    """The subject under which a workflow goes: what its id is made from. A file that is gone still names its work."""
    if definition.loads in _STORIES:
        return _STORIES[definition.loads](Loaded(definition, subject, context)).subject
    if definition.loads == FEATURE and subject:
        try:
            return _written(subject, place)
        except NotFound:
            return subject
    if definition.loads == DOCUMENT and subject:
        return orchestrating.absolute(subject)
    if definition.loads == DESCRIPTION:
        return " ".join(subject.split())
    if definition.loads == "task":
        return _about(subject, context, place)[0]
    return subject


class Taken(Value):
    """What to take over from feature files that changed: steps to add, steps to rename, and the list of a folder."""

    added: tuple[tuple[str, Step], ...] = ()
    renamed: tuple[tuple[str, Step], ...] = ()
    listed: tuple[Mapping[str, Any], ...] = ()


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
    at = current_feature(state)
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
    listed = (*known, *({"file": one.path, "title": one.title} for one in new)) if new else ()
    return Taken((*taken.added, *steps), taken.renamed, listed)


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
        names = features.in_folder(full) if full else []
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


def concerns(context: Mapping[str, Any], subject: str) -> bool:
    """Whether a workflow with this context works on a feature file, or on one of a folder's."""
    folder = str(context.get("folder_path") or "").rstrip("/")
    file = str(context.get("feature_file") or "")
    asked = subject.rstrip("/")
    return asked in (folder, file) or file.startswith(f"{asked}/") or (bool(folder) and asked.startswith(f"{folder}/"))


def surroundings(loaded: Loaded, place: Place, branch: str, own: tuple[str, ...]) -> Surroundings:
    """Where in git the work begins. A branch that is there already and stands elsewhere is refused."""
    repository, here = place.repository, place.branch()
    wanted = branch or loaded.branch or here
    plan = Plan(loaded.definition.steps)
    actions = {plan.step(path).action for path in plan.paths}
    makes_branch = "branch" in actions or loaded.definition.loads == DESCRIPTION
    if repository is None or not (makes_branch or "commit" in actions):
        return Surroundings(wanted)
    if makes_branch and wanted:
        git_changes.require_free(repository, wanted)
    head = git.head(repository)
    changed = git_changes.changed(repository, head, own)
    return Surroundings(wanted, head, {name: one.blob for name, one in changed.items()})


def _feature(loaded: Loaded, place: Place) -> Loaded:
    if not loaded.subject:
        raise UsageError(
            "no_subject",
            f"{loaded.definition.name} needs a feature file or a folder of them",
            remedy=remedies.start(loaded.definition.name, Blank("features/NAME.md")),
        )
    subject = _written(loaded.subject, place)
    full = os.path.join(place.worktree, subject)
    folder = os.path.isdir(full)
    names = features.in_folder(full) if folder else [""]
    if not names:
        raise NotFound("no_feature", f"there is no feature file in {subject}", remedy=shell("ls", subject))
    read = [features.read(os.path.join(full, name) if name else full, _joined(subject, name)) for name in names]
    steps, finished = _with_tasks(loaded.definition.steps, read, folder=folder)
    first = read[0]
    own = {
        "feature_file": first.path,
        "feature_title": first.title,
        "folder_mode": folder,
        "folder_path": subject if folder else None,
        "folder_features": [{"file": one.path, "title": one.title} for one in read] if folder else [],
    }
    context = {**own, **{name: value for name, value in loaded.context.items() if name not in own}}
    branch = f"feat/{features.slug(subject)}"
    definition = loaded.definition.replace(steps=steps)
    return Loaded(definition, subject, context, _folder_title(subject) if folder else "", branch, finished)


def _described(loaded: Loaded, place: Place) -> Loaded:
    reserved = [name for name in dialect(loaded.definition.dialect).reserved if name != "slug"]
    refusals.require_free(loaded.context, reserved)
    found = opening.described(loaded.subject, loaded.context)
    first = loaded.definition.steps[0].id
    return loaded.replace(subject=found.subject, context=found.context, branch=found.branch, begun=(first,))


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


def _task(loaded: Loaded, place: Place) -> Loaded:
    subject, text, file, index = _about(loaded.subject, loaded.context, place)
    own = ("task", "task_description", "feature_file", "task_index")
    rest = {name: value for name, value in loaded.context.items() if name not in own}
    context = {"task_description": text, "feature_file": file or None, "task_index": index, **rest}
    return loaded.replace(subject=subject, context=context)


def _about(subject: str, context: Mapping[str, Any], place: Place) -> tuple[str, str, str, int | None]:
    """Of one task: what its id is made from, its text, its feature file and its number there."""
    text = str(context.get("task") or context.get("task_description") or "")
    named = str(context.get("feature_file") or (subject if subject.endswith(".md") else ""))
    text = text or (subject if not named else "")
    number = context.get("task_index")
    if not text and not named:
        raise UsageError(
            "no_task", "a cycle needs a task", remedy=remedies.start("tdd", values={"task": Blank('"TEXT"')})
        )
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
    here = os.path.join(os.getcwd(), path)
    full = here if os.path.exists(here) else os.path.join(place.worktree, path)
    if not os.path.exists(full):
        raise NotFound("no_feature", f"there is no file {path!r}", remedy="ls features", facts={"path": path})
    inside = place.inside(full.rstrip("/"))
    return f"{inside}/" if path.endswith("/") and os.path.isdir(full) else inside


def _joined(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}" if name else folder


def _folder_title(folder: str) -> str:
    return folder.rstrip("/").rpartition("/")[2].replace("-", " ").replace("_", " ").capitalize()
