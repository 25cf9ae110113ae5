"""Task documents: the markdown that describes a large piece of work in phases, tasks and criteria.

The document belongs to its author and is never written to. A parser of markdown says what is a heading and what is an
item, so that an example in a code fence means nothing. Prose is kept as plain text.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast.core import remedies
from holdfast.errors import NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.markdown.text import mistaken
from holdfast.plain.terminal import CONTROLS
from holdfast.systems.orchestrator.task_document.model import Criterion, Phase, Task, TaskDocument

__all__ = ["LARGEST", "Criterion", "Phase", "Task", "TaskDocument", "parse", "read"]

LARGEST = feature_file.LARGEST


def read(path: str) -> TaskDocument:
    """The document in this file. One error lists all its mistakes.

    At most `LARGEST` bytes of UTF-8, with or without a byte order mark, with any line ends. Links are not followed.
    """
    front, text = _parts(path)
    return parse(text, path, front)


def parse(text: str, path: str, front: Sequence[str] = ()) -> TaskDocument:
    """The document that a text is, which is in the file `path`; `front` are the lines of its front matter."""
    from holdfast.systems.orchestrator.task_document import front_matter
    from holdfast.systems.orchestrator.task_document.reading import Reading

    reading = Reading(front_matter.read(front, text), os.path.abspath(path))
    if mistakes := reading.mistakes:
        fixed = remedies.check_file(path, text="change these lines, then")
        remedy = remedies.start("dev", path) if reading.is_feature else fixed
        what, name = f"task document {path}", os.path.basename(path)
        raise mistaken("bad_task_document", what, name, mistakes, remedy, reading.document.warnings, path=path)
    return reading.document


def _parts(path: str) -> tuple[list[str], str]:
    """The front matter and the text of the file; what makes it unfit is told as of a task document."""
    import re

    if not path or re.search(CONTROLS, path):
        said = f"the file name {ascii(path)[:200]} is empty or has characters that cannot be written down"
        way = "rename the file with letters, digits and dashes"
        raise UsageError("bad_task_document", said, remedy=way, facts={"path": ascii(path), "mistakes": []})
    try:
        return feature_file.load(path, path).parts(path)
    except NotFound as error:
        raise NotFound("no_task_document", error.message, remedy=error.remedies, facts={"path": path}) from None
    except UsageError as error:
        reason = str(error.facts["reason"])
        ways = ("split it into several task documents",) if reason.startswith("is larger") else error.remedies
        facts = {"path": path, "reason": reason, "mistakes": []}
        raise UsageError("bad_task_document", error.message, remedy=ways, facts=facts) from None
