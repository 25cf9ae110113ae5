"""Whether the parts of a task document fit together: its numbers, and which task waits for which."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping, Sequence

from holdfast.systems.orchestrator.task_document.model import MOST_PHASES, MOST_TASKS
from holdfast.systems.orchestrator.task_document.outline import Outline
from holdfast.systems.orchestrator.task_document.sections import Section

Mistake = tuple[int, str]


def missing(outline: Outline) -> Iterator[Mistake]:
    """What the document as a whole lacks or has too much of."""
    phases, tasks = outline.of("phase"), outline.of("task")
    if outline.is_feature:
        yield outline.title_line, "this is a feature file, no task document: its title is no '# Task: …'"
    elif outline.title == "":
        yield outline.title_line or 1, "there is no title: write '# Task: …'"
    if not phases:
        yield 1, "there is no phase: write '### Phase 1: …'"
    for phase in phases:
        if all(task.phase is not phase for task in tasks):
            yield phase.line, f"there is no task in this phase: write '#### Task {phase.number or 1}.1: …'"
    for many, sections, what in ((MOST_PHASES, phases, "phases"), (MOST_TASKS, tasks, "tasks")):
        if len(sections) > many:
            yield sections[many].line, f"there are more than {many} {what}"


def numbers(outline: Outline) -> Iterator[Mistake]:
    """Numbers that are used twice, that go back, or that belong to another phase."""
    first: dict[str, int] = {}
    highest = -1
    for section in outline.of("phase", "task"):
        number, kind = section.number, section.kind
        if not number:
            continue
        if number in first:
            yield section.line, f"the number {number} is that of the {kind} in line {first[number]}"
        elif kind == "phase" and int(number) < highest:
            yield section.line, f"phase {number} comes after phase {highest}"
        first.setdefault(number, section.line)
        if kind == "phase":
            highest = max(highest, int(number))
        elif section.phase and section.phase.number and not number.startswith(f"{section.phase.number}."):
            phase = section.phase.number
            yield section.line, f"task {number} stands in phase {phase}, so its number has to begin with {phase}."


def waits(tasks: Sequence[Section], wanted: Mapping[str, Sequence[str]]) -> Iterator[Mistake]:
    """Dependencies that cannot be met. `wanted` has those of each task, by its number."""
    known = {task.number: task for task in reversed(tasks) if task.number}
    place = {task.number: _phase_of(task) for task in known.values()}
    possible: dict[str, list[str]] = {}
    for number, others in wanted.items():
        line = _line(known[number])
        possible[number] = []
        for other in others:
            if other not in known:
                yield line, f"there is no task {other} to depend on"
            elif other == number:
                yield line, f"task {number} depends on itself"
            elif place[other] > place[number]:
                yield line, f"task {number} depends on task {other} of a later phase"
            else:
                possible[number].append(other)
    for circle in _circles(possible):
        yield _line(known[circle[0]]), f"these tasks wait for each other: {' → '.join((*circle, circle[0]))}"


def _circles(possible: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Tasks that wait for each other, each circle once; none of them is part of two."""
    left = {number: set(others) for number, others in possible.items()}
    while left:
        if free := [number for number, others in left.items() if not others & left.keys()]:
            for number in free:
                del left[number]
            continue
        walked = [next(iter(left))]
        while (step := next(other for other in possible[walked[-1]] if other in left)) not in walked:
            walked.append(step)
        circle = walked[walked.index(step) :]
        for number in circle:
            del left[number]
        start = circle.index(min(circle, key=list(possible).index))
        yield circle[start:] + circle[:start]


def _phase_of(task: Section) -> int:
    """Where the phase of a task comes; a task without one is in the way of nothing."""
    return task.phase.line if task.phase else 0


def _line(task: Section) -> int:
    return task.said["dependencies"].line if "dependencies" in task.said else task.line
