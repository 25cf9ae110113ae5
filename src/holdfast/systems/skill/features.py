"""Feature files: the markdown that describes a piece of work, its tasks as check boxes.

A parser of markdown says what is a task: a box in a code fence, a comment or a quotation is text like any other. The
file belongs to its author. The one thing ever written to it is the character between the brackets of a finished task.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core.mistakes import mistaken as all_mistaken
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.markdown.text import mistaken
from holdfast.plain.terminal import CONTROLS
from holdfast.systems.skill.outline import Outline, Remark, Task

_MOST_SHOWN = 20
_FEW = 3
_LINES = "'# Feature: Login', '## Tasks', '- [ ] Add the form', a line each,"
_REMEDY = f"fix them: {_LINES} would do (docs/how-to/dev.md)"


class Feature(Value):
    """What a feature file says, in plain text. `path` is how the file is written down: relative, with `/`.

    `title_from` is `heading`, `front matter` or `file name`, `headings` are those that tasks were found below, and
    `remarks` are what was left out, and why.
    """

    path: str
    title: str
    summary: str
    tasks: tuple[Task, ...]
    criteria: tuple[str, ...]
    title_from: str = "heading"
    headings: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


def read(full: str, path: str) -> Feature:
    """The feature in the file `full`, which messages call `path`. One error lists all mistakes of the file.

    At most `feature_file.LARGEST` bytes of UTF-8, with or without a byte order mark, with any line ends. Links are not
    followed.
    """
    import re

    if re.search(CONTROLS, path):
        said = f"the file name {path!r} has characters that cannot be written down"
        facts = {"path": ascii(path)}
        raise UsageError("bad_feature", said, remedy="rename the file with letters, digits and dashes", facts=facts)
    outline = Outline(*feature_file.load(full, path).parts(path), path)
    if mistakes := sorted(outline.mistakes, key=lambda mistake: mistake[0]):
        found = "none" if outline.is_empty else "some"
        remarks = [(one.line, one.text) for one in outline.remarks]
        raise mistaken("bad_feature", "feature file", path, mistakes, _REMEDY, remarks, tasks=found)
    summary = " ".join(filter(None, outline.summary))
    title = outline.title
    return Feature(
        path, title.text, summary, outline.tasks, outline.criteria, title.source, outline.headings,
        tuple(outline.remarks),
    )  # fmt: skip


def read_all(full: str, path: str) -> tuple[list[Feature], list[str]]:
    """The features in a folder, and a line for each file that has no tasks, cannot be read or is left out.

    A file that has tasks and a mistake is refused: without it the work would lack a part.
    """
    found: list[Feature] = []
    passed_over: list[str] = []
    mistakes: list[dict[str, str]] = []
    warnings: list[Any] = []
    for name in feature_file.names(full):
        file = f"{path.rstrip('/')}/{name}"
        try:
            found.append(read(os.path.join(full, name), file))
        except UsageError as refusal:
            listed: Any = refusal.facts.get("mistakes", [])
            if is_none(refusal) or not listed:
                why = listed[0]["message"] if listed else refusal.message.removeprefix(f"{file} ")
                passed_over.append(f"{file} is passed over: {why}")
            else:
                mistakes += listed
                warnings += refusal.facts.get("warnings", [])  # type: ignore[arg-type]
    if mistakes:
        error = all_mistaken("bad_feature", "feature files", mistakes, _REMEDY, _MOST_SHOWN)
        error.facts |= {"warnings": warnings} if warnings else {}
        raise error
    return found, [*passed_over, *_left_out(full, path.rstrip("/"))]


def some(full: str, path: str) -> tuple[list[Feature], list[str]]:
    """The same; an error where the folder has no feature at all."""
    found, passed_over = read_all(full, path)
    if found:
        return found, passed_over
    shown = "; ".join(passed_over[:_FEW]) + (f"; and {len(passed_over) - _FEW} more" if passed_over[_FEW:] else "")
    said = f"there is no feature file with tasks in {path}{f': {shown}' if shown else ''}"
    way = f"write one: {_LINES} in {path.rstrip('/')}/login.md"
    raise NotFound("no_feature", said, remedy=way, facts={"passed_over": passed_over})


def _left_out(full: str, path: str) -> Iterator[str]:
    """A line for each overview that has tasks, for links and for folders: somebody may expect them to be read."""
    for name, kind in feature_file.left_out(full):
        file = f"{path}/{name}"
        if kind == "folder":
            yield f"{file}/ is passed over: it is a folder of its own"
        elif kind == "link":
            yield f"{file} is passed over: it is a symbolic link"
        else:
            try:
                has_tasks = bool(read(os.path.join(full, name), file).tasks)
            except HoldfastError as refusal:
                has_tasks = not is_none(refusal)
            if has_tasks:
                yield f"{file} is passed over: there are tasks in it, and a file of this name is no feature: rename it"


def is_none(refusal: HoldfastError) -> bool:
    """Whether a file was refused because it has no tasks at all, or cannot be read: a folder has such files too."""
    return refusal.code == "no_feature" or refusal.facts.get("tasks") == "none"


def told(feature: Feature) -> list[str]:
    """What was left out of a file, or read in a way that its author may not expect, a line each."""
    return [f"{feature.path}:{one.line}: {one.text}" for one in feature.remarks]


def tick(full: str, text: str, before: int, *, done: bool = True) -> bool:
    """Tick the box of the task with this text, of several the one nearest to the line `before`; whether it is ticked.

    `done` False takes the tick back. Every other byte stays. False, and nothing written: there is no such task any
    more, the file is gone, has become a link or something that is not a feature file, or others write to it all the
    time. A write that fails is an error.
    """
    for _ in range(5):
        try:
            file = feature_file.load(full, full)
            tasks = [task for task in Outline(*file.parts(full), full).tasks if task.text == text]
        except (UsageError, NotFound):
            return False
        if not tasks:
            return False
        nearest = min(tasks, key=lambda task: abs(task.line - before))
        if nearest.done == done or feature_file.tick(full, file, nearest.line, done=done):
            return True
    return False


def slug(path: str) -> str:
    """A name for the branch of a feature file or folder, at most 60 of `A-Z a-z 0-9 . _ -`: its last part, no `.md`.

    A name that is made of these already keeps its case; any other is put in lower case. Two paths may share a slug.
    """
    import re

    stem = re.sub(r"(?i)\.(?:md|markdown)$", "", os.path.basename(path.rstrip("/")))
    if not re.fullmatch(r"[A-Za-z0-9._-]+", stem):
        stem = re.sub(r"[^a-z0-9._]+", "-", stem.lower())
    return _trimmed(re.sub(r"\.{2,}", ".", stem.strip("-."))[:60]) or _nameless(path)


def step_id(path: str) -> str:
    """The slug as the id of a step, which begins with a letter or a digit."""
    return slug(path).lstrip("_-.") or _nameless(path)


def _trimmed(name: str) -> str:
    """The name without ends that git refuses or that look like an option or a hidden file."""
    while (shorter := name.strip("-.")[: -5 if name.lower().endswith(".lock") else None]) != name:
        name = shorter
    return name


def _nameless(path: str) -> str:
    from hashlib import blake2b

    return "feature-" + blake2b(path.rstrip("/").encode("utf-8", "surrogateescape"), digest_size=3).hexdigest()
