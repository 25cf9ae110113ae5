"""What a feature file says now that its workflow does not know yet.

An agent can write the file. So what adds work or words is applied at once, and what takes a gate away, a task that is
gone or one that needs no tests any more, waits for a person.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping

from holdfast.core import lifecycle
from holdfast.core.definition import MAX_STEPS, Step
from holdfast.core.state import ADDED, State
from holdfast.core.tasks import new_task, next_number
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place, below
from holdfast.markdown import feature_file
from holdfast.systems.seam.parts import Taken
from holdfast.systems.skill import features
from holdfast.systems.skill.following import followed
from holdfast.systems.skill.outline import Task
from holdfast.systems.skill.words import FEATURE, feature_of

_COMMON = frozenset(("add", "and", "for", "from", "into", "make", "the", "with", "new", "use", "all", "fix", "test"))
_ALIKE = 0.6
"""How much of two texts has to be the same for one to be the other, reworded."""


def changes(state: State, place: Place) -> Taken:
    """What is new in the feature file, or in the files of a folder. What cannot be read any more changes nothing."""
    home = next((path for path in state.plan.children("") if state.plan.step(path).task), "")
    if state.loads != FEATURE or state.origin == "adopted" or not home or state.step(home).status in lifecycle.FINISHED:
        return Taken()
    if not state.context.get("folder_path"):
        file = str(feature_of(state)["file"])
        now = followed(state, place, home, file, ())
        taken = _differences(state, home, place, now)
        return taken if now == file else _moved(taken, file, now, {"feature_file": now})
    return _of_folder(state, place, home)


def free_id(id: str, taken: list[Step]) -> str:
    """Two names of files may give the same id."""
    ids = {step.id for step in taken}
    return next(name for name in (id, *(f"{id[:60]}-{n}" for n in range(2, MAX_STEPS))) if name not in ids)


def _of_folder(state: State, place: Place, home: str) -> Taken:
    known = [dict(one) for one in state.context.get("folder_features") or () if isinstance(one, Mapping)]
    files = {str(one.get("file")) for one in known}
    taken = Taken()
    for group, one in zip(state.plan.of_kind(FEATURE), known, strict=False):
        if state.step(group).status in lifecycle.FINISHED:
            continue
        file = str(one.get("file"))
        one["file"] = followed(state, place, group, file, files)
        files.add(one["file"])
        found = _differences(state, group, place, one["file"])
        taken = _both(taken, found if one["file"] == file else _moved(found, file, one["file"], {}))
    steps = [state.plan.step(path) for path in state.plan.children(home)]
    added: list[tuple[str, Step]] = []
    said: list[str] = []
    for feature in _new_features(place, state, known, said):
        left = [(number, task) for number, task in enumerate(feature.tasks, 1) if not task.done]
        tasks = tuple(_new(state, home, str(number), task) for number, task in left)
        step = Step(free_id(features.step_id(feature.path), steps), feature.title, kind=FEATURE, steps=tasks)
        steps.append(step)
        added.append((home, step))
        said.append(f"{feature.path} is new: {feature.title}, {len(tasks)} tasks")
        known.append({"file": feature.path, "title": feature.title})
    before = [dict(one) for one in state.context.get("folder_features") or () if isinstance(one, Mapping)]
    values = {"folder_features": known} if known != before else {}
    return _both(taken, Taken(tuple(added), values=values, said=tuple(said)))


def _both(one: Taken, other: Taken) -> Taken:
    return Taken(
        (*one.added, *other.added),
        (*one.changed, *other.changed),
        (*one.loosened, *other.loosened),
        {**one.values, **other.values},
        (*one.said, *other.said),
    )


def _moved(taken: Taken, before: str, now: str, values: Mapping[str, Any]) -> Taken:
    return _both(Taken(values=values, said=(f"{before} is {now} now",)), taken)


class Pairs(Value):
    """The steps of the tasks that the file still has, those that are gone from it, and the tasks that are new."""

    same: list[tuple[str, Task]]
    gone: list[str]
    new: list[Task]


def _differences(state: State, home: str, place: Place, file: str) -> Taken:
    full = below(place.base(state.worktree), file)
    try:
        feature = features.read(full, file) if full else None
    except HoldfastError as refusal:
        return Taken(said=(f"the tasks stay as they are: {refusal.message}",))
    if feature is None:
        return Taken()
    pairs = paired(state, list(state.plan.children(home)), feature.tasks)
    found = Taken()
    for path, task in pairs.same:
        found = _both(found, _change(state, home, path, task, file))
    added = state.step(home).data.get(ADDED, ())
    for path in (path for path in pairs.gone if path not in added):
        step = state.plan.step(path)
        gone = (path, None, f"task {step.id}, {step.label!r}, is not in {file} any more")
        found = _both(found, Taken(loosened=(gone,)))
    number = next_number(state, home)
    for task in pairs.new:
        if task.done:
            found = _both(found, Taken(said=(f"{task.text!r} is new in {file} and ticked: nothing is left to do",)))
            continue
        new = f"task {number} is new: {task.text}"
        found = _both(found, Taken(((home, _new(state, home, str(number), task)),), said=(new,)))
        number += 1
    return found


def paired(state: State, paths: list[str], listed: tuple[Task, ...]) -> Pairs:
    """By their text; then by how alike texts are; then a task that has not begun by its place and a word in common."""
    names = {state.plan.step(path).name: path for path in paths}
    same = {names[task.text]: task for task in listed if task.text in names}
    gone = [p for p in paths if p not in same and state.step(p).status not in lifecycle.FINISHED]
    new = [task for task in listed if task.text not in names]
    reworded = _alike(state, gone, new)
    order = [path for path in paths if path in same or path in gone]
    for path in [p for p in gone if p not in reworded and state.step(p).status == lifecycle.PENDING]:
        words = _words(state.plan.step(path).name)
        left = [task for task in new if task not in reworded.values() and words & _words(task.text)]
        task = next((one for one in left if _gap(listed, one, same) == _hole(order, path, same)), None)
        reworded |= {path: task} if task else {}
    same |= reworded
    taken = list(reworded.values())
    return Pairs(
        [(path, same[path]) for path in paths if path in same],
        [path for path in gone if path not in reworded],
        [task for task in new if task not in taken],
    )


def _alike(state: State, gone: list[str], new: list[Task]) -> dict[str, Task]:
    from difflib import SequenceMatcher

    rated = []
    for path in gone:
        words = _words(state.plan.step(path).name)
        compared = SequenceMatcher(None, "", state.plan.step(path).name.lower(), autojunk=False)
        for number, task in enumerate(new):
            others = _words(task.text)
            if words and others and (words <= others or others <= words):
                rated.append((1.0, path, number))  # one says more than the other, and nothing else
                continue
            compared.set_seq1(task.text.lower())
            if compared.real_quick_ratio() >= _ALIKE and compared.quick_ratio() >= _ALIKE:
                rated.append((compared.ratio(), path, number))
    found: dict[str, Task] = {}
    used: set[int] = set()
    for likeness, path, number in sorted(rated, key=lambda one: -one[0]):
        if likeness >= _ALIKE and path not in found and number not in used:
            found[path] = new[number]
            used.add(number)
    return found


def _words(text: str) -> set[str]:
    """The words of a title that tell tasks apart."""
    import re

    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 2 and word not in _COMMON}


def _gap(listed: tuple[Task, ...], task: Task, same: Mapping[str, Task]) -> tuple[str, str]:
    """The texts of the known tasks before and after a task of the file."""
    known = {one.text for one in same.values()}
    at = listed.index(task)
    before = next((one.text for one in reversed(listed[:at]) if one.text in known), "")
    return before, next((one.text for one in listed[at:] if one.text in known), "")


def _hole(order: list[str], path: str, same: Mapping[str, Task]) -> tuple[str, str]:
    at = order.index(path)
    before = next((same[one].text for one in reversed(order[:at]) if one in same), "")
    return before, next((same[one].text for one in order[at:] if one in same), "")


def _change(state: State, home: str, path: str, task: Task, file: str) -> Taken:
    """What a task of the file changes about its step."""
    step = state.plan.step(path)
    if state.step(path).status in lifecycle.FINISHED:
        return Taken()
    said = []
    if task.done:
        said.append(f"task {step.id} is ticked in {file}, and is not done: its gates still hold")
    if step.name != task.text:
        said.append(f"task {step.id} is reworded: {step.name!r} is {task.text!r} now")
    if step.description != task.description:
        said.append(f"the description of task {step.id} is changed")
    new = step.replace(name=task.text, description=task.description)
    shape = _new(state, home, step.id, task.replace(tested=True)).steps
    if task.tested and shape and not step.steps:
        said.append(f"task {step.id} needs tests now")
        new = new.replace(steps=shape)
    changed = Taken(changed=((path, new),) if new != step else (), said=tuple(said))
    if task.tested or not step.steps:
        return changed
    why = f"task {step.id}, {task.text!r}, is marked '(no tests)' in {file}, which takes its test phases away"
    return _both(changed, Taken(loosened=((path, new.replace(steps=()), why),)))


def _new(state: State, above: str, id: str, task: Task) -> Step:
    step = new_task(state, above, id, task.text, tested=task.tested)
    return step.replace(description=task.description)


def _new_features(
    place: Place, state: State, known: list[dict[str, Any]], said: list[str]
) -> Iterator[features.Feature]:
    """Those that came into the folder; what is wrong with one that has tasks is said."""
    folder = str(state.context["folder_path"])
    files = {str(one.get("file")) for one in known}
    full = below(place.base(state.worktree), folder)
    try:
        names = feature_file.names(full) if full else []
    except HoldfastError:
        return
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        try:
            feature = None if path in files or not full else features.read(os.path.join(full, name), path)
        except HoldfastError as refusal:
            said += [] if features.is_none(refusal) else [f"{path} is new and cannot be read: {refusal.message}"]
            continue
        if feature is not None:
            yield feature
