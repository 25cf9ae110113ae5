"""What every surface says of a workflow at one moment: where it stands, what to do now, what the work is.

One value is made for a request, and all surfaces render from it. Parts are computed when they are first asked for.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterator, Mapping, Sequence

from holdfast.core import conditions, gates, lifecycle, moment, queries, remedies
from holdfast.core.commands import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Remedy
from holdfast.core.state import State, Try
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as part
    from typing import Any, Protocol

    from holdfast.core.conditions import Condition
    from holdfast.core.packet_parts import Required
    from holdfast.core.state import Alert, Lease

    class Words(Protocol):
        """What a system says in its own words."""

        @property
        def task(self) -> Callable[[State, str], TaskText]: ...

        @property
        def review(self) -> Callable[[State, str], str]: ...

        @property
        def signal(self) -> Callable[[State], str]: ...
else:

    class part:  # noqa: N801 - it reads as the property that it is
        """A property that is computed once; `functools` would have to be imported for its own."""

        def __init__(self, compute):
            self.compute = compute

        def __get__(self, of, _=None):
            value = of.__dict__[self.compute.__name__] = self.compute(of)
            return value


ALERTS_FOR = 86_400
"""Seconds for which surfaces go on telling what happened to a document."""
AVOID = "antipattern"
"""What a learning is called that says what not to do."""
NEWEST = 5
"""How many failures are told."""


class TaskText(Value):
    """What the work of a step is: its text, the file that it comes from, and what must hold beyond the step's gates."""

    text: str = ""
    file: str = ""
    criteria: tuple[str, ...] = ()


class Output(Value):
    """A file that a finished step left. `changed` says how it is different now: `changed since`, `gone` or nothing."""

    step: str
    name: str
    path: str
    changed: str = ""


class Decision(Value):
    """What people decided beyond a yes: a variant, what was not chosen, changes they want."""

    step: str
    by: str
    at: str
    variant: str = ""
    not_chosen: tuple[str, ...] = ()
    modifications: Mapping[str, Any] = {}


class Said(Value):
    """Changes that a reviewer or a person asked for; `open` until the work is handed in again."""

    step: str
    text: str
    open: bool


class Briefing:
    """A state with facts, ready to be told. `words` are the system's words for a status."""

    def __init__(
        self,
        state: State,
        facts: Facts,
        texts: Words | None = None,
        *,
        required: Callable[[], Sequence[Required]] = tuple,
        session: str = "",
        words: Mapping[str, str] | None = None,
    ) -> None:
        self.state, self.facts, self.session = state, facts, session
        self._texts, self._required, self._words = texts, required, words or {}

    # Where the work is

    @part
    def status(self) -> str:
        return queries.status(self.state)

    @part
    def word(self) -> str:
        """The status in the system's own word."""
        return self._words.get(self.status, self.status)

    @part
    def title(self) -> str:
        return self.state.title or self.state.subject or self.state.id

    @part
    def number(self) -> int:
        return queries.top_number(self.state)

    @part
    def total(self) -> int:
        return len(self.state.plan.children(""))

    @part
    def percent(self) -> int:
        return queries.percentage(self.state)

    @part
    def finished_percent(self) -> int:
        """How much of the steps without steps below them is finished."""
        leaves = self.state.plan.leaves()
        return 100 * sum(self.state.step(path).status in lifecycle.FINISHED for path in leaves) // len(leaves)

    @part
    def step(self) -> str | None:
        """The path of the step that is worked on; None when all are done."""
        return queries.current(self.state)

    @part
    def label(self) -> str:
        return self.state.plan.step(self.step or self.state.plan.children("")[-1]).label

    @part
    def step_status(self) -> str:
        return self.state.step(self.step).status if self.step else lifecycle.DONE

    @part
    def tries(self) -> str:
        """`try 2 of 3`, from the second try on."""
        return conditions.tries(self.state, self.step) if self.step else ""

    # What to do now

    @part
    def blockers(self) -> tuple[Unmet, ...]:
        return self.blockers_of(self.step) if self.step else ()

    def blockers_of(self, path: str) -> tuple[Unmet, ...]:
        """What a step lacks. Outputs are named with `done`, which only works once nothing else is missing."""
        found = sorted(queries.blockers(self.state, path, self.facts), key=lambda one: one.kind in ("output", "child"))
        return tuple(self._with_file(path, one) if one.kind == "review" else one for one in found)

    def _with_file(self, path: str, one: Unmet) -> Unmet:
        """Where a file holds the review, what the reviewer has to write comes before the command that reads it."""
        gate = self.state.plan.step(path).review
        file = self._texts.review(self.state, path) if self._texts and gate and gate.files else ""
        if not file:
            return one
        message = f"{one.message}: {file}, with the line {' or '.join(gates.DECISIONS)}"
        ways = tuple(way.replace(text=f"once the reviewer wrote {file}") for way in one.remedies)
        return one.replace(message=message, remedies=ways)

    @part
    def first(self) -> Unmet | None:
        return self.blockers[0] if self.blockers else None

    @part
    def ready(self) -> bool:
        """Whether nothing but the work itself stands between this step and the next one."""
        return self.first is not None and self.first.kind in queries.READY

    @part
    def reason(self) -> str | None:
        """What failed or was asked for, then what stands between this step and the next one."""
        lacks = "" if self.ready or self.first is None else self.first.message
        return "; ".join(filter(None, (self._to_mend, lacks))) or None

    @part
    def _to_mend(self) -> str:
        """What the work has to heed: why the try before failed, or the changes that somebody asked for."""
        if not self.step or self.stopped or self.step_status not in (lifecycle.PENDING, lifecycle.ACTIVE):
            return ""
        progress = self.state.step(self.step)
        failed = progress.advice in [one.reason for one in progress.tries]
        return f"{'the last try failed' if failed else 'asked for'}: {progress.advice}" if progress.advice else ""

    @part
    def now(self) -> tuple[Remedy, ...]:
        """What leads on, for agents and people: the best first."""
        return self.first.remedies if self.first else ()

    @part
    def turn(self) -> str:
        """Whose move it is: `agent`, `person`, `reviewer` or `nobody`."""
        if self.first is None or self.status in ("completed", "finalized", "cancelled"):
            return "nobody"
        if any(one.who == "person" for one in self.now):
            return "person"
        return "reviewer" if self.first.kind == "review" else "agent"

    @part
    def outputs(self) -> tuple[str, ...]:
        """The outputs that the step still has to name when it is handed in."""
        if not self.step:
            return ()
        named = self.state.step(self.step).artifacts
        return tuple(name for name in self.state.plan.step(self.step).outputs if name not in named)

    @part
    def hand_in(self) -> Remedy | None:
        """The command that hands the step in later, where it is not the one to type now."""
        begun = self.step_status in (lifecycle.PENDING, lifecycle.ACTIVE)
        if not self.step or not begun or self.turn != "agent" or self.first is None:
            return None
        if self.first.kind in ("mark", "requires") or self.now[0].command == "done":
            return None
        return remedies.done(self.step, outputs=self.outputs)

    @part
    def waiting(self) -> tuple[tuple[str, Unmet], ...]:
        """What people are asked for, with its step; the current one comes first."""
        steps = dict.fromkeys(((self.step,) if self.step else ()) + tuple(self.begun))
        found = ((path, one) for path in steps for one in self.blockers_of(path))
        return tuple((path, one) for path, one in found if any(way.who == "person" for way in one.remedies))

    @part
    def begun(self) -> list[str]:
        """The steps that somebody works on or that stand still, those that need something first."""
        state = self.state
        found = [path for path in state.plan.leaves() if state.step(path).status in lifecycle.STUCK | lifecycle.OPEN]
        return sorted(found, key=lambda path: state.step(path).status == lifecycle.ACTIVE)

    @part
    def stopped(self) -> bool:
        """Whether the whole workflow stands still, whatever its steps lack."""
        return self.first is not None and self.first.kind in ("mark", "bound")

    @part
    def after(self) -> str | None:
        return queries.next_step(self.state)

    @part
    def after_ready(self) -> bool:
        return not (self.after and gates.missing(self.state, self.after, self.facts))

    # What the work is

    @part
    def task(self) -> TaskText:
        return self.task_of(self.step) if self.step else TaskText()

    def task_of(self, path: str) -> TaskText:
        plain = TaskText(self.state.plan.step(path).description)
        return self._texts.task(self.state, path) if self._texts else plain

    @part
    def signal(self) -> str:
        return self._texts.signal(self.state) if self._texts else ""

    @part
    def conditions(self) -> tuple[Condition, ...]:
        return conditions.of_step(self.state, self.step, self.facts) if self.step else ()

    @part
    def done(self) -> dict[str, tuple[Output, ...]]:
        """The finished steps without steps below them, with what they left."""
        finished = [p for p in self.state.plan.leaves() if self.state.step(p).status in lifecycle.FINISHED]
        return {path: tuple(self._left(path)) for path in finished}

    @part
    def skipped(self) -> dict[str, str]:
        """Those of them that nobody did: `skipped by human ada: not needed here`."""
        state, moves = self.state, {}
        for entry in self.state.history:
            if entry.get("event") == lifecycle.SKIPPED:
                moves[entry.get("step")] = f" by {entry.get('by')}"
        found = [path for path in self.done if state.step(path).status == lifecycle.SKIPPED]
        return {path: f"skipped{moves.get(path, '')}: {state.step(path).reason}".removesuffix(": ") for path in found}

    @part
    def inputs(self) -> tuple[Output, ...]:
        """What the steps left that the current one builds on."""
        before = self.state.plan.closure(self.step) if self.step else ()
        return tuple(one for path in self.state.plan.paths if path in before for one in self._left(path))

    def _left(self, path: str) -> Iterator[Output]:
        for name, artifact in self.state.step(path).artifacts.items():
            seen = self.facts.hashes.get(artifact.path, (artifact.hash, 0))
            changed = "gone" if seen is None else "" if seen[0] == artifact.hash else "changed since"
            yield Output(path, name, artifact.path, changed)

    @part
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(self._decided())

    def _decided(self) -> Iterator[Decision]:
        for path in self.state.plan.paths:
            step, progress = self.state.plan.step(path), self.state.step(path)
            grant, wanted = progress.grant, progress.data.get("modifications")
            if grant is not None and (grant.variant or grant.modifications):
                offered = (
                    *(step.choice.options if step.choice else ()),
                    *(one.variant for one in progress.past_grants),
                )
                others = tuple(dict.fromkeys(one for one in offered if one and one != grant.variant))
                chosen = others if grant.variant else ()
                yield Decision(path, grant.by, grant.at, grant.variant, chosen, grant.modifications)
            elif grant is None and isinstance(wanted, Mapping) and wanted:
                yield Decision(path, "", "", modifications=wanted)

    @part
    def decided(self) -> list[str]:
        """The same in sentences, with what a rejection asked for that is still open."""
        from holdfast.plain.plainjson import spaced

        out = []
        for one in self.decisions:
            chosen = f"{one.variant} was chosen" if one.variant else ""
            others = f"not {', '.join(one.not_chosen)}" if one.not_chosen else ""
            wanted = f"changes wanted: {spaced(dict(one.modifications))}" if one.modifications else ""
            out.append(f"{one.step}: {'; '.join(filter(None, (chosen, others, wanted)))}")
        return out + [f"{one.step}, asked for: {one.text}" for one in self.feedback if one.open]

    @part
    def modifications(self) -> dict[str, Any]:
        """What people changed when they approved the steps right before this one."""
        before = self.state.plan.requires(self.step) if self.step else ()
        grants = [self.state.step(path).grant for path in before]
        return {name: value for grant in grants if grant for name, value in grant.modifications.items()}

    @part
    def feedback(self) -> tuple[Said, ...]:
        """Changes that were asked for, unfinished steps first, the newest of each first."""
        found: list[Said] = []
        for path in sorted(self.state.plan.paths, key=lambda path: self.state.step(path).status in lifecycle.FINISHED):
            progress = self.state.step(path)
            asked = [one.feedback for one in progress.verdicts if one.verdict == "needs_revision" and one.feedback]
            reasons = {one.reason for one in progress.tries}
            given = [text for text in progress.feedback if text not in reasons]
            texts = reversed(list(dict.fromkeys([*asked, *given])))
            found += (Said(path, text, text == progress.advice) for text in texts)
        return tuple(found)

    @part
    def tried(self) -> tuple[Try, ...]:
        """The tries at this step that ended, newest first."""
        return tuple(reversed(self.state.step(self.step).tries)) if self.step else ()

    @part
    def failures(self) -> list[str]:
        """The newest failures of all steps, newest first. One that was put down to another step is told once."""
        state = self.state
        found: dict[tuple[str, str], tuple[str, str]] = {}
        for path in state.plan.paths:
            progress = state.step(path)
            reasons = [one.reason for one in progress.tries]
            if progress.status in lifecycle.STUCK and progress.reason not in ("", *reasons):
                found[(state.updated_at, path)] = (state.updated_at, f"{path} is {progress.status}: {progress.reason}")
            for one in progress.tries:
                said = f"{path}, attempt {one.attempt} {one.ended}: {_ended(one)}"
                found[(one.at, one.reason)] = (one.at, said)  # of two, the later failed, and sent the earlier back
            if progress.status in lifecycle.OPEN | lifecycle.STUCK:
                for name, seen in progress.evidence.items():
                    if not seen.passed:
                        said = f"{path}, the check {name} failed: {gates.telling(seen)}"
                        found[(seen.at, f"{path}#{name}")] = (seen.at, said)
        oldest_first = sorted(found.values(), key=lambda pair: pair[0])
        return [text.removesuffix(": ") for _, text in oldest_first[: -NEWEST - 1 : -1]]

    @part
    def avoid(self) -> list[str]:
        """What was tried or offered and is not wanted: antipatterns, changes asked for, options not chosen."""
        learned = [lesson(one.lesson, one.pattern) for one in reversed(self.state.learnings) if one.type == AVOID]
        asked = [f"{one.step}, changes asked for: {one.text}" for one in self.feedback]
        chosen = [
            f"{one.step}, rejected: {variant} ({one.variant} was chosen)"
            for one in self.decisions
            for variant in one.not_chosen
        ]
        return list(dict.fromkeys([*learned, *asked, *chosen]))

    # What must not be forgotten, and what is around

    @part
    def reading(self) -> Sequence[Required]:
        return self._required()

    @part
    def alerts(self) -> list[Alert]:
        """What went wrong with the document of late, newest first."""
        recent = (alert for alert in reversed(self.state.alerts))
        return [alert for alert in recent if (moment.age(alert.at, self.facts.now) or 0) < ALERTS_FOR]

    @part
    def held(self) -> list[Lease]:
        """The holds of other sessions on the whole workflow, which keep this one from writing."""
        return [
            lease
            for lease in self.state.leases.values()
            if not (lease.step or lease.agent or lease.session in ("", self.session))
            and not lease.expired(self.facts.boot, self.facts.mono)
        ]

    @part
    def packet(self) -> str:
        """The id of this session's resume packet."""
        return queries.packet_id(self.state, self.session)

    @part
    def must_catch_up(self) -> bool:
        return self.state.require_ack and not queries.has_caught_up(self.state, self.session)


def position(state: State) -> str:
    """`dev-497df179 "User login": step 3/5 "Write a test" (task_execution/1/red), in_progress`: for a new reader."""
    from holdfast.core.packet_parts import clean, short
    from holdfast.plain.plainjson import quote

    brief = Briefing(state, Facts(""))
    title, label = (quote(short(clean(text), 80)) for text in (brief.title, brief.label))
    step = f" ({brief.step})" if brief.step and brief.step != brief.label else ""
    status = f"{brief.status}, {brief.tries}" if brief.tries else brief.status
    return f"{state.id} {title}: step {brief.number}/{brief.total} {label}{step}, {status}"


def alert_text(alert: Alert) -> str:
    return f"{alert.message}{f' (kept in {alert.kept})' if alert.kept else ''}"


def lesson(text: str, pattern: str) -> str:
    return f"{text} (pattern: {pattern})" if pattern else text


def _ended(one: Try) -> str:
    """Why a try ended, with what its result said beyond the reason."""
    from holdfast.plain.plainjson import spaced

    violations, guidance = one.data.get("violations"), one.data.get("retry_guidance")
    texts = [_violation(item) for item in violations] if isinstance(violations, (list, tuple)) else []
    more = [text for text in texts if text not in one.reason]
    said = one.reason
    if more:
        said += f"; violations: {'; '.join(more)}"
    if guidance:
        said += f"; next time: {guidance if isinstance(guidance, str) else spaced(guidance)}"
    return said


def _violation(item: object) -> str:
    from holdfast.plain.plainjson import spaced

    if not isinstance(item, Mapping):
        return str(item)
    return str(item.get("message") or item.get("issue") or item.get("check") or spaced(dict(item)))
