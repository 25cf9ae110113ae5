"""What every surface says of a workflow at one moment: where it stands, what to do now, what the work is.

One value is made for a request, and all surfaces render from it. Parts are computed when they are first asked for.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import cycle, gates, lifecycle, moment, queries, recognition, record, remedies
from holdfast.core.commands import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Remedy
from holdfast.core.state import State
from holdfast.core.value import Any, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property as part
    from typing import Protocol

    from holdfast.core.conditions import Condition
    from holdfast.core.packet_parts import Required
    from holdfast.core.record import Decision, Output, Said
    from holdfast.core.state import Alert, Lease, Try
    from holdfast.errors import HoldfastError

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


SESSION = ("ack", "held", "read_only")
"""Kinds of blockers that keep one session from going on, whatever the step lacks."""
LINES = 4
"""How many lines of a failed check's output are told."""


class TaskText(Value):
    """What the work of a step is: its text, the file that it comes from, and what must hold beyond the step's gates.

    `files` are those that the work is written to, where the convention names them.
    """

    text: str = ""
    file: str = ""
    criteria: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class Briefing:
    """A state with facts, ready to be told to a session, which may have the `token` of a lease, or to a person.

    `words` are the system's words for a status, `refusal` why its code cannot be used, `read_only` why nothing can be
    written, and `noticed` what waits for somebody who can.
    """

    def __init__(
        self,
        state: State,
        facts: Facts,
        texts: Words | None = None,
        *,
        required: Callable[[], Sequence[Required]] = tuple,
        session: str = "",
        token: str = "",
        person: bool = False,
        words: Mapping[str, str] | None = None,
        read_only: HoldfastError | None = None,
        noticed: Sequence[Alert] = (),
        refusal: HoldfastError | None = None,
    ) -> None:
        self.state, self.facts, self.session = state, facts, session
        self._token, self._person = token, person
        self._texts, self._required, self._words = texts, required, words or {}
        self._read_only, self._noticed = read_only, noticed
        self.refusal = refusal

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
        """The number of the step's top-level step, from 1; the last one when all are done."""
        return self.state.plan.number(self.step.partition("/")[0]) if self.step else self.total

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
        """The path of the step that this session works on; None when all are done."""
        return queries.worked_on(self.state, self.session, self.facts)

    @part
    def label(self) -> str:
        return self.state.plan.step(self.step or self.state.plan.children("")[-1]).label

    @part
    def step_status(self) -> str:
        return self.state.step(self.step).status if self.step else lifecycle.DONE

    @part
    def tries(self) -> str:
        """`try 2 of 3`, from the second try on."""
        from holdfast.core import conditions

        return conditions.tries(self.state, self.step) if self.step else ""

    # What to do now

    @part
    def blockers(self) -> tuple[Unmet, ...]:
        """What keeps this session from going on comes before what the step lacks, unless only a person goes on."""
        found = self.blockers_of(self.step) if self.step else ()
        if self._read_only and found:
            return (Unmet("read_only", "", self._read_only.message, self._read_only.remedies), *found)
        is_persons = any(way.who == "person" for one in found[:1] for way in one.remedies)
        return found if is_persons or not queries.is_active(self.state) else (*self._first_of_all, *found)

    @part
    def _first_of_all(self) -> tuple[Unmet, ...]:
        """What keeps an agent's session from writing: it has not caught up, or another one holds the workflow."""
        if self._person or not self.step:
            return ()
        behind = "this session has not taken up the workflow again, and writes are refused until it has"
        ack = [Unmet("ack", self.packet, behind, (remedies.ack(self.packet),))] if self.must_catch_up else []
        held = [
            Unmet("held", lease.role, f"{lease.holder} is at work here {self.span(lease)}", remedies.held(lease.token))
            for lease in self.held
        ]
        return (*held, *ack)

    def span(self, lease: Lease) -> str:
        """Since when a hold is there, and until when it lasts if its session does nothing more."""
        return f"since {lease.at}, for {moment.span(lease.deadline - self.facts.mono)} more without a sign of life"

    def blockers_of(self, path: str) -> tuple[Unmet, ...]:
        """What a step lacks, or what every change of the workflow is refused for."""
        if self.refusal:
            return (Unmet("system", self.state.dialect, self.refusal.message, self.refusal.remedies),)
        found = queries.blockers(self.state, path, self.facts)
        return tuple(self._with_file(path, one) if one.kind == "review" else one for one in found)

    def _with_file(self, path: str, one: Unmet) -> Unmet:
        """Where a file holds the review, what the reviewer has to write comes before the command that reads it."""
        gate = self.state.plan.step(path).review
        file = self._texts.review(self.state, path) if self._texts and gate and gate.files else ""
        if not file:
            return one
        message = f"{one.message}: {file}, with the line {' or '.join(gates.DECISIONS)}"
        ways = tuple(way.replace(text="once it is written") for way in one.remedies)
        return one.replace(message=message, remedies=ways)

    @part
    def first(self) -> Unmet | None:
        return self.blockers[0] if self.blockers else None

    @part
    def ready(self) -> bool:
        """Whether nothing but the work itself stands between this step and the next one."""
        return self.first is not None and self.first.kind in queries.READY

    @part
    def lacks(self) -> str:
        """What stands between this step and the next one, beyond the work itself."""
        return "" if self.ready or self.first is None else self.first.message

    @part
    def reason(self) -> str | None:
        """What failed or was asked for, then what the step lacks."""
        return "; ".join(filter(None, (self._to_change, self.lacks))) or None

    @part
    def _to_change(self) -> str:
        """Why the work has to be changed: the try before failed, or somebody asked for changes."""
        if not self.step or self.stopped or self.step_status not in (lifecycle.PENDING, lifecycle.ACTIVE):
            return ""
        progress = self.state.step(self.step)
        said = gates.to_change(self.state.plan.step(self.step), progress, self.facts)
        return f"{'the last try failed' if cycle.is_failure(progress) else 'asked for'}: {said}" if said else ""

    @part
    def now(self) -> tuple[Remedy, ...]:
        """What leads on, for agents and people: the best first."""
        return self.first.remedies if self.first else ()

    @part
    def ways(self) -> tuple[tuple[Remedy, ...], ...]:
        """The same of each check where several are missing: their order is free."""
        checks = tuple(one.remedies for one in self.blockers if one.kind == "check")
        return checks if self.first and self.first.kind == "check" else (self.now,)

    @part
    def for_person(self) -> tuple[Remedy, ...]:
        """The commands that are a person's to type now."""
        return people_of(self.ways)

    @part
    def turn(self) -> str:
        """Whose move it is: `agent`, `person`, `reviewer` or `nobody`."""
        if self.first is None or self.first.kind == "held" or self.status in ("completed", "finalized", "cancelled"):
            return "nobody"
        if any(one.who == "person" for one in self.now):
            return "person"
        if self.first.kind == "read_only":
            return "nobody"
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
        if self.first.kind in ("mark", "requires", "ack", "read_only") or any(
            way.command == "done" for way in self.now
        ):
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
    def beside(self) -> list[str]:
        """The other steps that somebody works on or that stand still, with the agents that have them."""
        roles = {lease.step: lease.role for lease in self.state.leases.values() if lease.step}
        others = [path for path in self.begun if path != self.step]
        return [f"{path} ({roles[path]})" if path in roles else path for path in others]

    @part
    def stopped(self) -> bool:
        """Whether the whole workflow stands still, whatever its steps lack."""
        return self.first is not None and self.first.kind in ("mark", "bound", "system", *SESSION)

    @part
    def after(self) -> str | None:
        return queries.next_step(self.state, self.step)

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
        from holdfast.core import conditions

        return conditions.of_step(self.state, self.step, self.facts) if self.step else ()

    # What went before

    @part
    def done(self) -> dict[str, tuple[Output, ...]]:
        """The finished steps without steps below them, with what they left."""
        finished = [p for p in self.state.plan.leaves() if self.state.step(p).status in lifecycle.FINISHED]
        return {path: tuple(record.left(self.state, path, self.facts)) for path in finished}

    @part
    def skipped(self) -> dict[str, str]:
        return record.skipped(self.state)

    @part
    def inputs(self) -> tuple[Output, ...]:
        """What the steps left that the current one builds on."""
        before = self.state.plan.closure(self.step) if self.step else ()
        found = (path for path in self.state.plan.paths if path in before)
        return tuple(one for path in found for one in record.left(self.state, path, self.facts))

    @part
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(record.decisions(self.state, self.facts))

    @part
    def decided(self) -> list[str]:
        """The same in sentences."""
        return [record.sentence(one) for one in self.decisions]

    @part
    def claimed(self) -> list[str]:
        """The approvals of finished steps that this clone does not recognise."""
        grants = {path: self.state.step(path).grant for path in gates.claimed(self.state, self.facts)}
        return [f"the approval of {path} is {recognition.claim(grant)}" for path, grant in grants.items() if grant]

    @part
    def also_claimed(self) -> list[str]:
        """Those of them that are no blocker of the current step."""
        told = {one.message for one in self.blockers}
        return [text for text in self.claimed if text not in told]

    @part
    def modifications(self) -> dict[str, Any]:
        """What people changed when they approved the steps right before this one."""
        before = self.state.plan.requires(self.step) if self.step else ()
        grants = [self.state.step(path).grant for path in before]
        return {name: value for grant in grants if grant for name, value in grant.modifications.items()}

    @part
    def feedback(self) -> tuple[Said, ...]:
        return tuple(record.feedback(self.state))

    @part
    def asked(self) -> list[str]:
        """The changes that were asked for and are still to be made, then those of before that have to stay made."""
        first = [f"{one.step}: {one.text}" for one in self.feedback if one.open]
        return first + [f"{one.step}, before: {one.text}" for one in self.feedback if not one.open]

    @part
    def tried(self) -> tuple[Try, ...]:
        """The tries at this step that ended, newest first."""
        return tuple(reversed(self.state.step(self.step).tries)) if self.step else ()

    @part
    def failures(self) -> list[str]:
        return record.failures(self.state)

    @part
    def output(self) -> list[str]:
        """The last lines that each failed check of the step printed, beyond the one that says why it failed."""
        out = []
        for name, seen in self.state.step(self.step).evidence.items() if self.step else ():
            lines = [line.strip() for line in seen.tail.split("\n")[-LINES:]]
            more = [line for line in lines if line and line != gates.telling(seen)]
            if more and not seen.passed:
                out.append(f"{name} printed: {' / '.join(more)}")
        return out

    @part
    def avoid(self) -> list[str]:
        """What was learned not to do."""
        learned = [record.lesson(one) for one in reversed(self.state.learnings) if one.type == record.AVOID]
        return list(dict.fromkeys(learned))

    # What must not be forgotten, and what is around

    @part
    def reading(self) -> Sequence[Required]:
        return self._required()

    @part
    def alerts(self) -> list[Alert]:
        """What went wrong with the document of late, newest first."""
        recent = (alert for alert in reversed(self.state.alerts))
        return [*self._noticed] + [
            alert for alert in recent if (moment.age(alert.at, self.facts.now) or 0) < ALERTS_FOR
        ]

    @part
    def held(self) -> list[Lease]:
        """The holds of other sessions on the whole workflow, which keep this one from writing."""
        leases = () if self._token else self.state.leases.values()
        return [
            lease
            for lease in leases
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


def people_of(ways: Iterable[Iterable[Remedy]]) -> tuple[Remedy, ...]:
    """The commands among the ways on that only a person types, each once."""
    found: list[Remedy] = []
    for one in (one for way in ways for one in way if one.who == "person"):
        found += [one] if one not in found else []
    return tuple(found)


def position(brief: Briefing) -> str:
    """`dev-497df179 "User login": step 3/5 "Write a test" (task_execution/1/red), in_progress`: for a new reader."""
    from holdfast.core.packet_parts import clean, short
    from holdfast.plain.plainjson import quote

    title, label = (quote(short(clean(text), 80)) for text in (brief.title, brief.label))
    step = f" ({brief.step})" if brief.step and brief.step != brief.label else ""
    status = f"{brief.status}, {brief.tries}" if brief.tries else brief.status
    return f"{brief.state.id} {title}: step {brief.number}/{brief.total} {label}{step}, {status}"


def alert_text(alert: Alert) -> str:
    return f"{alert.message}{f' (kept in {alert.kept})' if alert.kept else ''}"
