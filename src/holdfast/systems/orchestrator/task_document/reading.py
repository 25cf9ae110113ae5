"""From the outline of a task document to its values, and every mistake that is found on the way."""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping, Sequence

from holdfast.core.names import is_name
from holdfast.systems.orchestrator.task_document import model, wording
from holdfast.systems.orchestrator.task_document.model import Phase, Task, TaskDocument
from holdfast.systems.orchestrator.task_document.outline import Outline
from holdfast.systems.orchestrator.task_document.sections import Said, Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Read = TypeVar("Read")

_COMPLEXITIES = {"low": "Low", "medium": "Medium", "high": "High"}


class Reading:
    """The document that an outline describes. It counts only if there are no mistakes."""

    def __init__(self, text: str, path: str) -> None:
        self._outline = outline = Outline(text)
        self.is_feature = outline.is_feature
        self._mistakes = [*outline.mistakes, *_missing(outline), *_misnumbered(outline)]
        safety, supervisor, outer = (self._only(kind) for kind in ("safety", "supervisor", "outer"))
        self._require_bounds(safety)
        self.document = TaskDocument(
            path=path,
            title=outline.title or "",
            goal=self._told("goal"),
            context=self._told("context"),
            criteria=tuple(whole.criteria) if (whole := self._only("criteria")) else (),
            phases=self._phases(),
            max_iterations=self._value(safety, "iterations", wording.count, "a number such as '30'")
            or model.ITERATIONS,
            max_cost=self._bound(safety, "cost", wording.cost, "an amount such as '$10'"),
            max_time=self._bound(safety, "time", wording.span, "a span such as '2 hours' or '1h 30m'"),
            supervisor=self._enabled(supervisor),
            auto_fix=self._value(supervisor, "auto_fix", wording.yes_or_no, "'Yes' or 'No'") or False,
            frequency=_text(supervisor, "frequency"),
            outer=self._enabled(outer),
            outer_max=self._value(outer, "iterations", wording.count, "a number such as '10'")
            or model.OUTER_ITERATIONS,
        )

    @property
    def mistakes(self) -> list[tuple[int, str]]:
        """By their lines, each once."""
        return sorted(dict.fromkeys(self._mistakes), key=lambda mistake: mistake[0])

    def _only(self, kind: str) -> Section | None:
        """The section of this kind. A second one could contradict the first, so it is a mistake."""
        sections = self._outline.of(kind)
        for again in sections[1:]:
            self._mistakes.append((again.line, f"there is such a section already, in line {sections[0].line}"))
        return sections[0] if sections else None

    def _require_bounds(self, safety: Section | None) -> None:
        """Bounds in a table or in prose are not read: somebody means them, so nobody may think that they hold."""
        if safety is not None and not safety.said and not any(line > safety.line for line, _ in self._mistakes):
            self._mistakes.append((safety.line, "no bound can be read here: write it as '**Maximum cost**: $10'"))

    def _told(self, kind: str) -> str:
        section = self._only(kind)
        return section.text() if section else ""

    def _enabled(self, section: Section | None) -> bool:
        """A section that is there is meant, unless it says otherwise."""
        if section is None:
            return False
        return self._value(section, "enable", wording.yes_or_no, "'Yes' or 'No'") is not False

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
            wanted.setdefault(task.number, self._dependencies(task))
        wanted.pop("", None)
        self._mistakes += _unmet(tasks, wanted)
        made = [(section.phase, self._task(section, wanted.get(section.number, ()))) for section in tasks]
        return tuple(
            Phase(int(phase.number or 0), phase.name, tuple(task for owner, task in made if owner is phase), phase.line)
            for phase in self._outline.of("phase")
        )

    def _task(self, section: Section, dependencies: tuple[str, ...]) -> Task:
        return Task(
            number=section.number,
            name=section.name,
            description=section.text(),
            criteria=tuple(section.criteria),
            agents=self._agents(section),
            complexity=self._complexity(section),
            dependencies=dependencies,
            effort=_text(section, "effort"),
            line=section.line,
        )

    def _complexity(self, section: Section) -> str:
        if not _text(section, "complexity"):
            return ""
        known = "'Low', 'Medium' or 'High'"
        return self._value(section, "complexity", lambda text: _COMPLEXITIES.get(text.lower()), known) or ""

    def _agents(self, section: Section) -> tuple[str, ...]:
        said = section.said.get("agents", Said("", 0))
        agents = tuple(dict.fromkeys(wording.listed(said.text)))
        for agent in agents:
            if not is_name(agent):
                self._mistakes.append((said.line, f"{agent[:60]!r} is not the name of an agent (A-Z a-z 0-9 _ . -)"))
        return agents

    def _dependencies(self, section: Section) -> tuple[str, ...]:
        said = section.said.get("dependencies", Said("", 0))
        found: dict[str, None] = {}
        for member in wording.listed(said.text):
            if number := wording.dependency(member):
                found[number] = None
            else:
                self._mistakes.append((said.line, f"{member[:60]!r} is not the number of a task such as '1.1'"))
        return tuple(found)


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
            yield section.line, f"task {number} stands in phase {phase}, so its number has to begin with {phase}."


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
