"""The state of a workflow and what went before: facts that are the same for every reader.

Parts are computed when they are first asked for.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import cycle, gates, lifecycle, queries, record
from holdfast.core.definition import OPENING
from holdfast.core.facts import Facts
from holdfast.core.provenance import (
    BY,
    DROPPED,
    UNCOMMITTED,
    around,
    how,
    of_commit,
    other_packages,
    remarks,
    run_with,
    with_figures,
)
from holdfast.core.state import SAME_RUN, UNCHANGED, State
from holdfast.core.tasks import COMMIT
from holdfast.core.value import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from functools import cached_property

    from holdfast.core.conditions import Condition, Using
    from holdfast.core.record import Decision, Failure, Output, Ruling, Said
    from holdfast.core.state import Evidence, Try

    part = cached_property
else:

    class part:  # noqa: N801 - it reads as the property that it is
        """A property that is computed once; `functools` would have to be imported for its own."""

        def __init__(self, compute):
            self.compute = compute

        def __get__(self, of, _=None):
            value = of.__dict__[self.compute.__name__] = self.compute(of)
            return value


LINES = 4
"""How many lines of a failed check's output are told."""


def shown_of(state: State, path: str, facts: Facts) -> str:
    """The status of a step as people are shown it."""
    status = state.step(path).status
    if not gates.takes_word(state, path):
        return status
    lacking = {one.kind for one in queries.blockers(state, path, facts)}
    return lifecycle.WAITING if lacking and lacking <= {"approval", "choice"} else status


class Standing:
    """A state with facts, as a session finds it."""

    def __init__(self, state: State, facts: Facts, session: str = "", leased: str = "") -> None:
        """`leased` is the step of the lease by whose token or worktree the session is known."""
        self.state, self.facts, self.session, self.leased = state, facts, session, leased

    # Where the work is

    @part
    def status(self) -> str:
        """The engine's word; `claimed` where all steps are done, and only a document says so of some."""
        found = queries.status(self.state)
        return "claimed" if found == "completed" and self.claimed else found

    @part
    def shown_status(self) -> str:
        """The status as people are shown it: a step that is nothing but an approval waits before it has begun, too."""
        asking = (path for path in self.state.plan.asking() if self.status == "in_progress")
        is_asked = any(self.shown_of(path) == lifecycle.WAITING for path in asking)
        return lifecycle.WAITING if is_asked else self.status

    def shown_of(self, path: str) -> str:
        """The same of one step."""
        return shown_of(self.state, path, self.facts)

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
        """How much of the steps without steps below them is finished, apart from those that begin every run."""
        every, plan = self.state.plan.leaves(), self.state.plan
        leaves = [path for path in every if plan.step(path).action not in OPENING] or every
        return 100 * sum(self.state.step(path).status in lifecycle.FINISHED for path in leaves) // len(leaves)

    @part
    def step(self) -> str | None:
        """The path of the step that this session works on; None when all are done."""
        return queries.worked_on(self.state, self.session, self.facts, self.leased)

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

    @part
    def stands(self) -> str:
        """The step that gives the workflow its status, if one does."""
        paths = (self.step, *self.state.plan.paths)
        return next((path for path in paths if path and self.state.step(path).status == self.status), "")

    @part
    def begun(self) -> list[str]:
        """The steps that somebody works on or that are still, those that need something first."""
        state = self.state
        found = [path for path in state.plan.leaves() if state.step(path).status in lifecycle.STUCK | lifecycle.OPEN]
        return sorted(found, key=lambda path: state.step(path).status == lifecycle.ACTIVE)

    @part
    def beside(self) -> list[str]:
        """The other steps that somebody works on or that are still, with the agents that have them."""
        leases = (lease for lease in self.state.leases.values() if lease.step)
        roles = {one.step: one.role + (f" in {one.worktree}" if one.worktree else "") for one in leases}
        others = [path for path in self.begun if path != self.step]
        return [f"{path} ({roles[path]})" if path in roles else path for path in others]

    @part
    def after(self) -> str | None:
        return queries.next_step(self.state, self.step)

    @part
    def after_ready(self) -> bool:
        return not (self.after and gates.missing(self.state, self.after, self.facts))

    @part
    def conditions(self) -> tuple[Condition, ...]:
        from holdfast.core import conditions

        return conditions.of_step(self.state, self.step, self.facts) if self.step else ()

    @part
    def commands(self) -> tuple[Using, ...]:
        """The commands of the project that its checks run."""
        from holdfast.core import conditions

        return conditions.commands(self.state, self.step)

    @part
    def outputs(self) -> tuple[str, ...]:
        """The outputs that the step still has to name when it is handed in."""
        if not self.step or self.state.conduct.handed_whole:
            return ()
        named = self.state.step(self.step).artifacts
        return tuple(name for name in self.state.plan.step(self.step).outputs if name not in named)

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
        return self.inputs_of(self.step) if self.step else ()

    def inputs_of(self, path: str) -> tuple[Output, ...]:
        """The same of any step."""
        return tuple(one for step in self.before(path) for one in record.left(self.state, step, self.facts))

    def before(self, path: str) -> list[str]:
        """The steps that a step builds on, in the order of the plan."""
        closure = self.state.plan.closure(path)
        return [step for step in self.state.plan.paths if step in closure]

    @part
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(record.decisions(self.state, self.facts))

    @part
    def decided(self) -> list[str]:
        """The same in sentences."""
        return [record.sentence(one) for one in self.decisions]

    @part
    def rulings(self) -> list[Ruling]:
        """All that people decided, the newest first."""
        return record.rulings(self.state, self.facts)

    @part
    def modifications(self) -> dict[str, Any]:
        """What people changed when they approved the steps right before this one."""
        before = self.state.plan.requires(self.step) if self.step else ()
        grants = [self.state.step(path).grant for path in before]
        return {name: value for grant in grants if grant for name, value in grant.modifications.items()}

    @part
    def claimed(self) -> list[str]:
        """The approvals and checks of finished steps that this clone does not recognise."""
        paths = gates.claimed(self.state, self.facts)
        return [queries.absent_because(self.state, path, self.facts).message for path in paths]

    @part
    def by_exit_code(self) -> list[str]:
        """The checks of tests that passed, and of which nothing is known but how their command ended."""
        steps = ((path, self.state.step(path).evidence) for path in self.state.plan.paths)
        seen = ((path, name, one) for path, evidence in steps for name, one in evidence.items() if one.passed)
        return [f"{path}: {name} passed {BY}" for path, name, one in seen if how(one) == BY]

    @part
    def figures(self) -> list[str]:
        """The checks that passed although something was found."""
        steps = ((path, self.state.step(path).evidence) for path in self.state.plan.paths)
        seen = ((path, name, one) for path, evidence in steps for name, one in evidence.items() if with_figures(one))
        return [
            f"{path}: {name} passed{with_figures(one)}{f', {how(one)}' if how(one) else ''}" for path, name, one in seen
        ]

    @part
    def remarks(self) -> list[str]:
        """What limits the proof: tests that are not run any more, files and commits that are not what was tested."""
        found: list[str] = []
        newest: Evidence | None = None
        for path in self.state.plan.paths:
            progress = self.state.step(path)
            for one in progress.evidence.values() if progress.evidence else ():
                if one.run_by == "engine" and (newest is None or one.at >= newest.at):
                    newest = one
                found += [f"{path}: {said}" for said in remarks(one)] if SAME_RUN not in one.data else []
            whole = self.facts.hand_ins.get(path)
            if whole and whole.without_code and progress.status not in (lifecycle.PENDING, lifecycle.ACTIVE):
                found.append(f"{path}: the branch changes no code")
            sha = str(progress.data.get(COMMIT) or "")
            found += [f"{path}: {said}" for said in of_commit(progress.data)]
            is_lost = sha in self.facts.unknown_commits and not self.state.bound(path)  # there it is still to come
            found += [f"{path}: its commit {sha[:7]} {DROPPED}"] if sha and is_lost else []
        before = newest.data.get(UNCOMMITTED) if newest else None
        if isinstance(before, Mapping):
            found.append(f"the checks were {run_with(before.get('names') or (), int(before.get('count') or 0))}")
        return [*self.facts.warnings, *found, *around(self.state)]

    @part
    def packages(self) -> list[str]:
        """The checks that passed together with the tests of other packages, or without those of one that is gone."""
        steps = ((path, self.state.step(path).evidence) for path in self.state.plan.paths)
        seen = ((path, name, other_packages(one)) for path, found in steps for name, one in found.items() if one.passed)
        return [f"{path}: {name} {said}" for path, name, said in seen if said]

    @part
    def proof(self) -> list[str]:
        """What is to be known of how the work was proved, beside that the checks passed."""
        return [*self.by_exit_code, *self.figures, *self.remarks, *self.packages]

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
    def _failed(self) -> Mapping[str, Any]:
        """What the result said for which the newest try at this step failed."""
        return self.tried[0].data if self.tried else {}

    @part
    def violations(self) -> list[str]:
        """What the last try violated."""
        found = self._failed.get("violations")
        return [record.violation(one) for one in found] if isinstance(found, (list, tuple)) else []

    @part
    def emphasis(self) -> list[str]:
        """What the next try should stress."""
        guidance = self._failed.get("retry_guidance")
        needed = guidance.get("emphasis_needed") if isinstance(guidance, Mapping) else None
        return [str(one) for one in needed] if isinstance(needed, (list, tuple)) else []

    @part
    def unchanged(self) -> list[str]:
        """The work that is as it was when it failed or changes were asked for, and why it was handed in so."""
        state = self.state
        given = [(path, state.step(path).data.get(UNCHANGED)) for path in state.plan.paths]
        said = [f"{path} was handed in unchanged: {reason}" for path, reason in given if reason]
        progress = state.step(self.step) if self.step else None
        is_told = progress is None or progress.data.get(UNCHANGED)
        step = self.step or ""
        same = cycle.unchanged(step, progress, self.facts) if progress and not is_told else []
        return [cycle.unchanged_because(step, progress, same, self.facts), *said] if progress and same else said

    @part
    def all_failures(self) -> list[str]:
        return self.failed(lambda _: False)

    def failed(self, told: Callable[[Failure], bool]) -> list[str]:
        """The newest failures, newest first, without those that the same answer tells elsewhere."""
        return [one.text for one in record.failures(self.state) if not told(one)][: record.NEWEST]

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

    # What this session knows of it

    @part
    def packet(self) -> str:
        """The id of this session's resume packet."""
        return queries.packet_id(self.state, self.session)

    @part
    def must_catch_up(self) -> bool:
        return self.state.require_ack and not queries.has_caught_up(self.state, self.session)


def position(work: Standing) -> str:
    """`dev-497df179 "User login": step 3/5 "Write a test" (task_execution/1/red), in_progress`: for a new reader."""
    from holdfast.core.packet_parts import clean, short
    from holdfast.plain.plainjson import quote

    title, label = (quote(short(clean(text), 80)) for text in (work.title, work.label))
    step = f" ({work.step})" if work.step and work.step != work.label else ""
    status = f"{work.status}, {work.tries}" if work.tries else work.status
    return f"{work.state.id} {title}: step {work.number}/{work.total} {label}{step}, {status}"
