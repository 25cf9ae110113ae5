"""What is read in a task document, and what a person trusts in it: the commands of its criteria."""

from __future__ import annotations

import os

from holdfast.systems.seam.parts import Content, Understood, Upkeep

_HEADING = r"(?im)^#[\W_]*(?:unified )?task ?:|^#{2,6}[\W_]*(?:(?:sub)?task|step)?\s*\d+\.\d[\d.]*\s*[:–—-]"


def _content(path: str) -> Content | None:
    if not path.endswith(".md"):
        return None
    from holdfast.systems.orchestrator import task_document
    from holdfast.systems.orchestrator.subject import digest_of

    found = task_document.read(path)
    levels = [("review", found.criteria), ("review", found.outer.criteria)]
    for phase in found.phases:
        levels += [(task.number, task.criteria) for task in phase.tasks]
        levels.append((f"phase-{phase.number}", phase.criteria))
    # Also what would run if its program were there: the trust is in all that the document may run.
    commands = [(at, one.name, one.run or one.absent) for at, listed in levels for one in listed]
    runs = tuple(one for one in commands if one[2])
    return Content(digest_of(path), runs)


def understood(path: str, shown: str, sure: bool) -> Understood | None:
    if not (sure and path.endswith(".md") and _is_task_document(path)):
        return None
    from holdfast.systems.orchestrator import task_document
    from holdfast.systems.orchestrator.task_document import echo

    found = task_document.read(path)
    data = echo.understood(found)
    warnings = [f"! {shown}:{one['line']}: {one['message']}" for one in data["warnings"]]
    lines = (f"{shown} is valid: {found.title}", *(f"  {line}" for line in echo.lines(found)), *warnings)
    return Understood(data, lines)


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
    return (
        re.search(
            r"(?im)^#[\W_]*(?:unified )?task ?:|^#{2,6}[\W_]*(?:(?:sub)?task|step)?\s*\d+\.\d[\d.]*\s*[:–—-]", text
        )
        is not None
    )


_STARTER = """\
# Task: @NAME@

## Goal

What is to be reached, in a sentence or two.

## Success Criteria (Global)

- [ ] What holds in the end, as somebody reports it
- [ ] The tree is sound: `git fsck`

## Safety Bounds

- **Maximum iterations per task**: 10
- **Maximum cost**: $10
- **Maximum time**: 2 hours

## Phases

### Phase 1: Foundation

#### Task 1.1: The first task

**Description**: What is to be done.

**Success Criteria**:
- [ ] Something that is reported
- [ ] Something that Holdfast runs: `git diff --check`

**Agents Needed**: task-executor
**Dependencies**: None

#### Task 1.2: The second task

**Success Criteria**:
- [ ] Something else

**Dependencies**: Task 1.1

## Supervisor Checks

**Enable**: Yes
**Frequency**: Before and after each task
**Auto-Fix**: No

## Outer Ralph Loop

**Enable**: Yes
**Maximum Iterations**: 3
"""


UPKEEP = Upkeep(content=_content, starter=lambda name: _STARTER.replace("@NAME@", name))
