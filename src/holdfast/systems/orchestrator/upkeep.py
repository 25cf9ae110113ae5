"""What a person trusts in a task document: the commands of its criteria."""

from __future__ import annotations

from holdfast.systems.seam.parts import Content, Upkeep


def _content(path: str) -> Content | None:
    if not path.endswith(".md"):
        return None
    from holdfast.systems.orchestrator import task_document
    from holdfast.systems.orchestrator.subject import digest_of

    found = task_document.read(path)
    tasks = [task for phase in found.phases for task in phase.tasks]
    commands = [(task.number, one.name, one.run) for task in tasks for one in task.criteria if one.run]
    about = {"title": found.title, "phases": len(found.phases), "tasks": len(tasks)}
    return Content(digest_of(path), tuple(commands), about)


UPKEEP = Upkeep(content=_content)
