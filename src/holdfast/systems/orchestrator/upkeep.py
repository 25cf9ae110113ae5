"""What a person trusts in a task document: the commands of its criteria."""

from __future__ import annotations

from holdfast.systems.seam.parts import Content, Upkeep


def _content(path: str) -> Content | None:
    if not path.endswith(".md"):
        return None
    from holdfast.systems.orchestrator import task_document
    from holdfast.systems.orchestrator.subject import digest_of

    tasks = [task for phase in task_document.read(path).phases for task in phase.tasks]
    commands = [(task.number, one.name, one.run) for task in tasks for one in task.criteria if one.run]
    return Content(digest_of(path), tuple(commands))


UPKEEP = Upkeep(content=_content)
