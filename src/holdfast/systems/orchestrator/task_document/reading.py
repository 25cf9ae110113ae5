"""From the outline of a task document to its values, and every mistake that is found on the way."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Iterator, Mapping, Sequence

from holdfast.core.names import is_name
from holdfast.systems.orchestrator.task_document import model, wording
from holdfast.systems.orchestrator.task_document.front_matter import Front
from holdfast.systems.orchestrator.task_document.model import (
    Criterion,
    OuterLoop,
    Phase,
    Supervisor,
    Task,
    TaskDocument,
)
from holdfast.systems.orchestrator.task_document.outline import Outline
from holdfast.systems.orchestrator.task_document.sections import Said, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Read = TypeVar("Read")


class Reading:
    """The document that an outline describes. It counts only if there are no mistakes."""

    def __init__(self, front: Front, path: str) -> None:
        self._outline = outline = Outline(front.text, path)
        outline.mistakes.extend(front.mistakes)
        outline.warnings.extend(front.warnings)
        self.is_feature = outline.is_feature
        self._mistakes = [*outline.mistakes, *_missing(outline), *_misnumbered(outline)]
        safety, plan = outline.first("safety"), outline.first("plan")
        self._require_bounds(safety)
        document = TaskDocument(
            path=path,
            title=outline.title or "",
            goal=self._told("goal"),
            context="\n\n".join(filter(None, (self._told("preamble"), self._told("context")))),
            criteria=(*(whole.criteria if (whole := self._only("criteria")) else ()), *self._unlooped(outline)),
            phases=self._phases(),
            max_iterations=self._value(safety, "iterations", wording.count, "a number such as '30'")
            or model.ITERATIONS,
            max_cost=self._bound(safety, "cost", wording.cost, "an amount such as '$10'"),
            max_time=self._bound(safety, "time", wording.span, "a span such as '2 hours' or '1h 30m'"),
            supervisor=self._supervisor(outline.first("supervisor")),
            outer=self._outer(outline.first("outer")),
            approval=self._value(plan, "approval", wording.approval, "'person' or 'relayed'") or "human",
        )
        self.document: TaskDocument = document.replace(warnings=tuple(_by_line(self._warnings())))

    @property
    def mistakes(self) -> list[tuple[int, str]]:
        return _by_line(self._mistakes)

    def _warnings(self) -> Iterator[tuple[int, str]]:
        yield from self._outline.warnings
        tasks = self._outline.of("task")
        for task, after in zip(tasks, (*tasks[1:], None), strict=False):
            wrong = any(task.line < line and (after is None or line < after.line) for line, _ in self._mistakes)
            if not task.criteria and not wrong:  # what is wrong may be its criterion
                yield task.line, f"task {task.number} has no success criteria: it is done when its agent says so"

    def _only(self, kind: str) -> Section | None:
        """The section of this kind. A second one could contradict the first, so it is a mistake."""
        sections = self._outline.of(kind)
        for again in sections[1:]:
            self._mistakes.append((again.line, f"there is such a section already, in line {sections[0].line}"))
        return sections[0] if sections else None

    def _require_bounds(self, safety: Section | None) -> None:
        """Bounds in prose are not read: somebody means them, so nobody may think that they hold."""
        if safety is not None and not safety.said and not any(line > safety.line for line, _ in self._mistakes):
            self._mistakes.append((safety.line, "no bound can be read here: write it as '**Maximum cost**: $10'"))

    def _told(self, kind: str) -> str:
        section = self._only(kind)
        return section.text() if section else ""

    def _supervisor(self, section: Section | None) -> Supervisor:
        if section is None or not self._is_on(section):
            self._warn_off(section, "supervisor")
            return Supervisor()
        said = section.said.get("frequency")
        when = wording.frequency(said.text) if said else None
        if said and when is None:
            message = f"{said.text[:60]!r} is read as 'before and after each task'"
            self._outline.warnings.append((said.line, message))
        required = self._yes(section, "required")
        if required and when == ():
            line = section.said["required"].line
            self._mistakes.append((line, "no check is asked for at a time of its own that could be required"))
        return Supervisor(
            enabled=True,
            frequency=(model.PRE_TASK, model.POST_TASK) if when is None else when,
            auto_fix=self._yes(section, "auto_fix"),
            required=required,
            instructions=section.text(),
        )

    def _unlooped(self, outline: Outline) -> Iterator[Criterion]:
        """The criteria of an outer loop that is off: they have to hold all the same, at the review."""
        section = outline.first("outer")
        for one in section.criteria if section and not self._is_on(section) else ():
            outline.warnings.append((one.line, "the outer loop is off: this is a criterion of the whole"))
            yield one

    def _warn_off(self, section: Section | None, name: str, *besides: str) -> None:
        """What is set for something that is off has no effect."""
        if section is None or "enable" not in section.said:
            return
        lines = [said.line for field, said in section.said.items() if field not in ("enable", *besides)]
        for line in (*lines, *(line for line, _ in section.told)):
            self._outline.warnings.append((line, f"the {name} is off: this has no effect"))

    def _outer(self, section: Section | None) -> OuterLoop:
        rounds = self._value(section, "iterations", wording.count, "a number such as '10'")
        if section is None or not self._is_on(section):
            has_review = any(one.criteria for one in self._outline.of("criteria", "outer"))
            self._warn_off(section, "outer loop", *(("iterations",) if has_review else ()))
            return OuterLoop(max_iterations=rounds or model.OUTER_ITERATIONS)
        criteria, text = tuple(section.criteria), section.text()
        return OuterLoop(True, rounds or model.OUTER_ITERATIONS, criteria, text)

    def _is_on(self, section: Section) -> bool:
        """By its label, else by its text: `Not needed.`"""
        return self._yes(section, "enable", default=not wording.is_off(section.text()))

    def _yes(self, section: Section, field: str, *, default: bool = False) -> bool:
        """A section that is there is meant, unless it says otherwise."""
        said = self._value(section, field, wording.yes_or_no, "'Yes' or 'No'")
        return default if said is None else said

    def _bound(self, section: Section | None, field: str, read: Callable[[str], int | None], what: str) -> int | None:
        if wording.is_nothing(_text(section, field)):
            return None
        return self._value(section, field, read, what)

    def _value(self, section: Section | None, field: str, read: Callable[[str], Read | None], what: str) -> Read | None:
        """What a label says, if it is there; a mistake is noted when nobody can tell what it means."""
        said = section.said.get(field) if section else None
        value = read(said.text) if said else None
        if said and value is None:
            self._mistakes.append((said.line, f"{said.text[:60]!r} is not {what}"))
        return value

    def _phases(self) -> tuple[Phase, ...]:
        tasks = self._outline.of("task")
        wanted: dict[str, tuple[str, ...]] = {}
        for task in tasks:
            wanted.setdefault(task.number, self._dependencies(task, tasks))
        wanted.pop("", None)
        self._mistakes += _unmet(tasks, wanted)
        self._mistakes += _only_told(tasks, wanted)
        made = [(section.phase, self._task(section, wanted.get(section.number, ()))) for section in tasks]
        return tuple(
            Phase(
                int(phase.number or 0),
                phase.name,
                tuple(task for owner, task in made if owner is phase),
                phase.line,
                phase.text(),
                tuple(phase.criteria),
            )
            for phase in self._outline.of("phase")
            if self._comes_in_order(phase)
        )

    def _comes_in_order(self, phase: Section) -> bool:
        """Phases come one after the other; one that waits for another order is a mistake."""
        found, unread = wording.dependencies(_text(phase, "dependencies"))
        later = [one for one in found if one.phase and phase.number and one.phase >= int(phase.number)]
        if unread or later:
            said = phase.said["dependencies"]
            self._mistakes.append((said.line, f"{said.text[:60]!r} is no phase before this one"))
        return True

    def _task(self, section: Section, dependencies: tuple[str, ...]) -> Task:
        return Task(
            number=section.number,
            name=section.name,
            description=section.text(),
            criteria=tuple(section.criteria),
            agents=self._agents(section),
            complexity=_text(section, "complexity"),
            dependencies=dependencies,
            effort=_text(section, "effort"),
            line=section.line,
        )

    def _agents(self, section: Section) -> tuple[str, ...]:
        said = section.said.get("agents", Said("", 0))
        names, unread = wording.agents(said.text)
        for agent in (*(name for name in names if not is_name(name)), *unread):
            message = f"{agent[:60]!r} is not the name of an agent (A-Z a-z 0-9 _ . -), and is not read"
            self._outline.warnings.append((said.line, message))
        return tuple(dict.fromkeys(filter(is_name, names)))

    def _dependencies(self, section: Section, tasks: Sequence[Section]) -> tuple[str, ...]:
        said = section.said.get("dependencies", Said("", 0))
        wanted, unread = wording.dependencies(said.text)
        for member in unread:
            self._mistakes.append((said.line, f"{member[:60]!r} names no task such as '1.1' and nothing else"))
        found: dict[str, None] = {}
        for one in wanted:
            numbers = _meant(one, section, tasks)
            if not numbers and not one.before:
                self._mistakes.append((said.line, f"there is no task in {said.text[:60]!r} to depend on"))
            found |= dict.fromkeys(numbers)
        return tuple(found)


def _meant(wanted: wording.Wanted, section: Section, tasks: Sequence[Section]) -> list[str]:
    """The numbers of the tasks that are meant, in the order of the document."""
    if wanted.phase:
        return [task.number for task in tasks if task.phase and task.phase.number == str(wanted.phase)]
    if wanted.before:
        before = [task.number for task in tasks[: tasks.index(section)]]
        return before[-1:] if wanted.before == "one" else before
    numbers = [task.number for task in tasks]
    if wanted.first == wanted.last or wanted.first not in numbers or wanted.last not in numbers:
        return list(dict.fromkeys((wanted.first, wanted.last)))
    return numbers[numbers.index(wanted.first) : numbers.index(wanted.last) + 1]


def _by_line(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """By their lines, each once."""
    return sorted(dict.fromkeys(found), key=lambda one: one[0])


def _text(section: Section | None, field: str) -> str:
    return section.said[field].text if section and field in section.said else ""


def _missing(outline: Outline) -> Iterator[tuple[int, str]]:
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
    for many, sections, what in ((model.MOST_PHASES, phases, "phases"), (model.MOST_TASKS, tasks, "tasks")):
        if len(sections) > many:
            yield sections[many].line, f"there are more than {many} {what}"


def _misnumbered(outline: Outline) -> Iterator[tuple[int, str]]:
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
            yield section.line, f"task {number} is in phase {phase}, so its number has to begin with {phase}."


def _unmet(tasks: Sequence[Section], wanted: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str]]:
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


def _only_told(tasks: Sequence[Section], wanted: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, str]]:
    """Tasks of the same phase, or a later one, that a sentence says one waits for, and no dependency does."""
    for task in tasks:
        beside = {other.number for other in tasks if _phase_of(other) >= _phase_of(task)} - {task.number, ""}
        for line, text in (*task.told, *((one.line, one.text) for one in task.criteria)):
            for number in wording.waits(text):
                if number in beside and number not in wanted.get(task.number, ()):
                    form = f"write '**Dependencies**: Task {number}'"
                    yield line, f"the text says that this waits for task {number}, which is not read: {form}"


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
    """Where the phase of a task comes; a task without one comes before no other."""
    return task.phase.line if task.phase else 0


def _line(task: Section) -> int:
    return task.said["dependencies"].line if "dependencies" in task.said else task.line
