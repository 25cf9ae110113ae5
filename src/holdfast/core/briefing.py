"""What every surface says of a workflow at one moment: its state, what to do now, what the work is.

One value is made for a request, and all surfaces render from it.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import cycle, gates, lifecycle, moment, queries, record, remedies
from holdfast.core.facts import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Remedy
from holdfast.core.standing import Standing, part
from holdfast.core.state import State
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.core.packet_parts import Required
    from holdfast.core.state import Alert, Lease
    from holdfast.errors import HoldfastError

    class Words(Protocol):
        """What a system says in its own words."""

        @property
        def task(self) -> Callable[[State, str], TaskText]: ...

        @property
        def review(self) -> Callable[[State, str], str]: ...

        @property
        def signal(self) -> Callable[[State, str], str]: ...


ALERTS_FOR = 86_400
"""Seconds for which surfaces continue telling what happened to a document."""
SESSION = ("ack", "held", "read_only")
"""Kinds of blockers that keep one session from continuing, whatever the step lacks."""
LEFT = "An agent before left work here that was not merged"
"""What is above the commands that bring it back."""
_ON_THE_PAGE = ("approval", "choice", "escalated", "bound", "mark")
"""Kinds of blockers that a person clears on the page."""
NEWEST_NOTES = 3
"""How many notes somebody who asks for the next step is given."""


class TaskText(Value):
    """What the work of a step is: its text, the file that it comes from, and what must hold beyond the step's gates.

    `files` are those that the work is written to, where the convention names them. `asked` is what is to be done now
    and is no gate; `at_end` what has to hold of the whole, later.
    """

    text: str = ""
    file: str = ""
    criteria: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    at_end: tuple[str, ...] = ()


class LeftWork(Value):
    """Work on a step that an agent left when it ended: where it is kept, and the command that brings it back."""

    step: str
    pin: str
    back: Remedy


class Briefing(Standing):
    """A state with facts, ready to be told to a session, which may have the `token` of a lease, or to a person.

    `words` are the system's words for a status, `refusal` why its code cannot be used, `unsuitable` gives why no work
    on it counts as git stands, `read_only` why nothing can be written, `noticed` what waits for somebody who can, and
    `page` the address of the page while it runs.
    """

    def __init__(
        self,
        state: State,
        facts: Facts,
        texts: Words | None = None,
        *,
        required: Callable[[], Sequence[Required]] = tuple,
        kept: Callable[[], Sequence[LeftWork]] = tuple,
        session: str = "",
        token: str = "",
        leased: str = "",
        person: bool = False,
        words: Mapping[str, str] | None = None,
        read_only: HoldfastError | None = None,
        noticed: Sequence[Alert] = (),
        refusal: HoldfastError | None = None,
        unsuitable: Callable[[], HoldfastError | None] = lambda: None,
        page: Callable[[], str] = str,
    ) -> None:
        super().__init__(state, facts, session, leased)
        self._token, self._person = token, person
        self._texts, self._required, self._words = texts, required, words or {}
        self._kept = kept
        self._read_only, self._noticed = read_only, noticed
        self.refusal = refusal
        self._unsuitable, self._page = unsuitable, page

    @part
    def word(self) -> str:
        """The status in the system's own word."""
        return self._words.get(self.status, self.status)

    # What to do now

    @part
    def blockers(self) -> tuple[Unmet, ...]:
        """What keeps this session from continuing comes before what the step lacks, unless only a person continues."""
        found = self.lacking
        if self._read_only and found:
            return (Unmet("read_only", "", self._read_only.message, self._read_only.remedies), *found)
        is_persons = any(way.who == "person" for one in found[:1] for way in one.remedies)
        return found if is_persons or not queries.is_active(self.state) else (*self._first_of_all, *found)

    @part
    def lacking(self) -> tuple[Unmet, ...]:
        """What the step lacks; what is left to do where all steps are done."""
        if self.step:
            return self.blockers_of(self.step)
        return self.halt if self.halt and not self.refusal else tuple(queries.left(self.state, self.facts))

    @part
    def halt(self) -> tuple[Unmet, ...]:
        """What every work on the workflow is refused for, whatever its steps lack."""
        if self.refusal:
            return (Unmet("system", self.state.dialect, self.refusal.message, self.refusal.remedies),)
        wrong = self._unsuitable()
        return (Unmet("git", self.state.branch or "", wrong.message, wrong.remedies),) if wrong else ()

    @part
    def _first_of_all(self) -> tuple[Unmet, ...]:
        """What keeps an agent's session from writing: it has not caught up, or another one holds the workflow."""
        if self._person or not self.step:
            return ()
        behind = "this session has not read the resume packet, and writes are refused until it has"
        ack = [Unmet("ack", self.packet, behind, (remedies.ack(self.packet),))] if self.must_catch_up else []
        held = [
            Unmet("held", lease.role, f"{lease.holder} is at work here {self.span(lease)}", remedies.held(lease))
            for lease in (*self.held, *self.taken)
        ]
        return (*held, *ack)

    def span(self, lease: Lease) -> str:
        """Since when a hold is there, and until when it lasts if its session does nothing more."""
        return f"since {lease.at}, for {moment.span(lease.deadline - self.facts.mono)} more without a sign of life"

    def blockers_of(self, path: str) -> tuple[Unmet, ...]:
        """What a step lacks, or what every change of the workflow is refused for."""
        if self.halt:
            return self.halt
        found = queries.blockers(self.state, path, self.facts)
        return tuple(self._with_page(self._with_file(path, one) if one.kind == "review" else one) for one in found)

    def _with_page(self, one: Unmet) -> Unmet:
        """Where a person decides, the page too, while it runs."""
        is_persons = one.kind in _ON_THE_PAGE and any(way.who == "person" for way in one.remedies)
        if not is_persons or not (address := self._page()):
            return one
        way = Remedy(text=f"the page {address}/w/{self.state.ulid}", who="person")
        return one.replace(remedies=(*(known for known in one.remedies if known.command != "web"), way))

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
        """Whether nothing but the work itself is between this step and the next one."""
        return self.first is not None and self.first.kind in queries.READY

    @part
    def lacks(self) -> str:
        """What is between this step and the next one, beyond the work itself."""
        return "" if self.ready or self.first is None else self.first.message

    @part
    def reason(self) -> str | None:
        """What failed or was asked for, then what the step lacks."""
        return "; ".join(filter(None, (self._to_change, *self.same, self.lacks))) or None

    @part
    def same(self) -> tuple[str, ...]:
        """That the work has to change first, where it is as it was when it failed or changes were asked for."""
        return (self.first.message,) if self.first and self.first.kind == "unchanged" else ()

    @part
    def left(self) -> str:
        """The same, and where all steps are done, what is left to do."""
        return self.reason or (self.first.message if self.first and not self.step else "")

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
        if self.first is None or self.first.kind == "held" or self.status == "cancelled":
            return "nobody"
        if any(one.who == "person" for one in self.now):
            return "person"
        if self.first.kind == "read_only":
            return "nobody"
        return "reviewer" if self.first.kind == "review" else "agent"

    @part
    def hand_in(self) -> Remedy | None:
        """The command that hands the step in later, where it is not the one to type now."""
        begun = self.step_status in (lifecycle.PENDING, lifecycle.ACTIVE)
        if not self.step or not begun or self.turn != "agent" or self.first is None:
            return None
        if self.first.kind in ("mark", "requires", "ack", "read_only", "system", "git") or any(
            way.command == "done" for way in self.now
        ):
            return None
        done = (remedies.done(self.step, outputs=self.outputs),)
        return queries.bare(self.state, self.step, self.facts, done)[0]

    @part
    def waiting(self) -> tuple[tuple[str, Unmet], ...]:
        """What people are asked for, with the step that it is about, each once; the current one comes first."""
        steps = dict.fromkeys(((self.step,) if self.step else ()) + tuple(self.begun))
        left = () if self.step else ((one.name, one) for one in self.lacking)
        found = (*((path, one) for path in steps for one in self.blockers_of(path)), *left)
        asked = ((one.of or path, one) for path, one in found if any(way.who == "person" for way in one.remedies))
        return tuple({(path, one.message): (path, one) for path, one in asked}.values())

    @part
    def stopped(self) -> bool:
        """Whether the whole workflow is still, whatever its steps lack."""
        return self.first is not None and self.first.kind in ("mark", "bound", "system", "git", *SESSION)

    # What the work is

    @part
    def task(self) -> TaskText:
        return self.task_of(self.step) if self.step else TaskText()

    def task_of(self, path: str) -> TaskText:
        plain = TaskText(self.state.plan.step(path).description)
        return self._texts.task(self.state, path) if self._texts else plain

    @part
    def signal(self) -> str:
        return self._texts.signal(self.state, self.status) if self._texts else ""

    # What is told beside it

    @part
    def also_claimed(self) -> list[str]:
        """Those of them that are no blocker of the current step."""
        told = {one.message for one in self.blockers}
        return [text for text in self.claimed if text not in told]

    @part
    def failures(self) -> list[str]:
        """What failed beyond what the first blocker says."""
        first = self.first.name if self.first and self.first.kind == "check" else ""
        return self.failed(lambda one: one.step == self.step and (one.stands or bool(one.check and one.check == first)))

    @part
    def reading(self) -> Sequence[Required]:
        return self._required()

    @part
    def left_work(self) -> Sequence[LeftWork]:
        """What agents left of steps that are not finished, and nobody has brought back."""
        return self._kept()

    @part
    def left_here(self) -> list[LeftWork]:
        """The same of the step that this session works on."""
        return [one for one in self.left_work if one.step == self.step]

    @part
    def alerts(self) -> list[Alert]:
        """What went wrong with the document of late, newest first."""
        recent = reversed(record.alerts(self.state))
        return [*self._noticed] + [
            alert for alert in recent if (moment.age(alert.at, self.facts.now) or 0) < ALERTS_FOR
        ]

    @part
    def held(self) -> list[Lease]:
        """The holds of other sessions on the whole workflow, which keep this one from writing."""
        return [lease for lease in self._of_others if lease.session and not lease.step]

    @part
    def taken(self) -> list[Lease]:
        """The leases of other agents on the step, which keep this one from it."""
        near = [lease for lease in self._of_others if lease.step and lease.step != self.leased]
        return [lease for lease in near if f"{self.step}/".startswith(f"{lease.step}/")]

    @part
    def _of_others(self) -> list[Lease]:
        leases = () if self._token else self.state.leases.values()
        found = [lease for lease in leases if not (lease.agent or lease.expired(self.facts.boot, self.facts.mono))]
        return [lease for lease in found if not lease.session or lease.session != self.session]


def people_of(ways: Iterable[Iterable[Remedy]]) -> tuple[Remedy, ...]:
    """The commands among the ways on that only a person types, each once."""
    found: list[Remedy] = []
    for one in (one for way in ways for one in way if one.who == "person"):
        found += [one] if one not in found else []
    return tuple(found)


def alert_text(alert: Alert) -> str:
    return f"{alert.message}{f' (kept in {alert.kept})' if alert.kept else ''}"
