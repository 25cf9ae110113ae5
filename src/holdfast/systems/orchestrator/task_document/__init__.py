"""Task documents: the markdown that describes a large piece of work in phases, tasks and criteria.

The document belongs to its author and is never written to. A parser of markdown says what is a heading and what is an
item, so that an example in a code fence means nothing. Prose is kept as plain text.
"""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.errors import NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.systems.orchestrator.task_document.model import Criterion, Phase, Task, TaskDocument

__all__ = ["LARGEST", "Criterion", "Phase", "Task", "TaskDocument", "looks_like", "parse", "read"]

LARGEST = feature_file.LARGEST
_MOST_SHOWN = 20
_REMEDY = "mend them: '# Task: Login', '## Phase 1: Model', '### Task 1.1: Add the field', a line each, would do"
_SPLIT = "split it into several task documents"
_FENCE = r" {0,3}(`{3,}|~{3,})(.*)"
_HEADING = r" {0,3}(#{1,6})(?:[ \t]+(.*))?"
_TITLE = r"(?i)[\W_]*task[*_ \t]*:.*"


def read(path: str) -> TaskDocument:
    """The document in this file. One error lists all its mistakes.

    At most `LARGEST` bytes of UTF-8, with or without a byte order mark, with any line ends. Links are not followed.
    """
    _check_path(path)
    return parse(_text(path), path)


def parse(text: str, path: str) -> TaskDocument:
    """The document that a text is, which stands in the file `path`."""
    from holdfast.systems.orchestrator.task_document.reading import Reading

    _check_path(path)
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST:
        raise _bad(path, [(1, f"the document is larger than {LARGEST} bytes")], _SPLIT)
    reading = Reading(text, os.path.abspath(path))
    if mistakes := reading.mistakes:
        raise _bad(path, mistakes, remedies.start("dev", path) if reading.is_feature else _REMEDY)
    return reading.document


def looks_like(path: str) -> bool:
    """Whether this is a `.md` file whose first heading is `# Task: …`; its content may still be mistaken."""
    import re

    if not path.lower().endswith(".md"):
        return False
    try:
        text = feature_file.load(path, path).text(path)
    except (NotFound, UsageError):
        return False
    heading = _first_heading(text)
    return heading is not None and re.fullmatch(_TITLE, heading) is not None


def _first_heading(text: str) -> str | None:
    """The text of the first heading if that is of the first level; fences and comments are passed over."""
    import re

    fence, comment = "", False
    for line in text.split("\n"):
        if comment or (not fence and line.lstrip().startswith("<!--")):
            comment = "-->" not in line
        elif mark := re.fullmatch(_FENCE, line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif not fence and (heading := re.fullmatch(_HEADING, line)):
            return heading[2] or "" if heading[1] == "#" else None
    return None


def _check_path(path: str) -> None:
    import re

    from holdfast.systems.orchestrator.task_document.outline import CONTROLS

    if not path or re.search(CONTROLS, path):
        raise UsageError(
            "bad_task_document",
            f"the file name {ascii(path)[:200]} is empty or has characters that cannot be written down",
            remedy="rename the file with letters, digits and dashes",
            facts={"path": ascii(path), "mistakes": []},
        )


def _text(path: str) -> str:
    """What the file says; what makes it unfit is told as of a task document."""
    try:
        return feature_file.load(path, path).text(path)
    except NotFound as error:
        raise NotFound("no_task_document", error.message, remedy=error.remedies, facts={"path": path}) from None
    except UsageError as error:
        reason = str(error.facts["reason"])
        raise UsageError(
            "bad_task_document",
            error.message,
            remedy=_SPLIT if reason.startswith("is larger") else error.remedies,
            facts={"path": path, "reason": reason, "mistakes": []},
        ) from None


def _bad(path: str, mistakes: list[tuple[int, str]], remedy: Remedy | str) -> UsageError:
    many, name = len(mistakes), os.path.basename(path)
    told = [{"where": f"{name}:{line}", "message": message} for line, message in mistakes]
    listed = "; ".join(f"{mistake['where']}: {mistake['message']}" for mistake in told[:_MOST_SHOWN])
    more = f"; and {many - _MOST_SHOWN} more" if many > _MOST_SHOWN else ""
    return UsageError(
        "bad_task_document",
        f"{many} mistake{'s' if many > 1 else ''} in the task document {path}: {listed}{more}",
        remedy=remedy,
        facts={"path": path, "mistakes": told},
    )


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)
