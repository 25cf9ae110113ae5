"""What is read in a task document, and what a person trusts in it: the commands of its criteria."""

from __future__ import annotations

import os

from holdfast.systems.seam.parts import Content, Understood, Upkeep


def _content(path: str) -> Content | None:
    if not path.endswith(".md"):
        return None
    from holdfast.systems.orchestrator import task_document
    from holdfast.systems.orchestrator.subject import digest_of

    found = task_document.read(path)
    tasks = [task for phase in found.phases for task in phase.tasks]
    commands = [(task.number, one.name, one.run) for task in tasks for one in task.criteria if one.run]
    return Content(digest_of(path), tuple(commands))


def understood(path: str, shown: str, sure: bool) -> Understood | None:
    if not (sure and path.endswith(".md") and _is_task_document(path)):
        return None
    from holdfast.systems.orchestrator import task_document

    found = task_document.read(path)
    counts = {"phases": len(found.phases), "tasks": sum(len(phase.tasks) for phase in found.phases)}
    said = "".join(f", {number} {what}" for what, number in counts.items())
    return Understood({"title": found.title, **counts}, (f"{shown} is valid: {found.title}{said}",))


def _is_task_document(path: str) -> bool:
    """Whether a heading is that of a task document, or of a task in one."""
    import re

    if not os.path.isfile(path):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    except OSError:
        return False
    return re.search(r"(?im)^#[\W_]*task ?:|^#{2,6}[\W_]*task\s+\d+\.\d[\d.]*\s*[:–—-]", text) is not None


UPKEEP = Upkeep(content=_content)
