"""What holds whatever happens: over random definitions, commands, actors and worlds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, note, settings
from hypothesis import strategies as st

from holdfast.core import events as ev
from holdfast.core import gates, lifecycle
from holdfast.core.apply import KEPT_PER_STEP, Record, apply, fold, replay
from holdfast.core.commands import Acknowledge, Compacted, Iterate, Leave
from holdfast.core.decide import decide, decide_running
from holdfast.core.definition import POLICIES, Bounds, Check, Step
from holdfast.core.facts import Facts
from holdfast.core.patterns import overlap
from holdfast.core.plan import Plan, ancestors
from holdfast.core.policies import EITHER
from holdfast.core.remedy import described
from holdfast.core.state import (
    KEPT_SEATS,
    Actor,
    Alert,
    Artifact,
    Evidence,
    Grant,
    Hold,
    Learning,
    Lease,
    Progress,
    State,
    Verdict,
)
from holdfast.errors import HoldfastError
from holdfast.systems.seam.registry import rules
from tests.core.chance import IDS
from tests.core.play import AGENT
from tests.core.stories import OTHERS, Scene, Story, describe, stories, told
from tests.tiers import examples

GENERATE = (Phase.explicit, Phase.generate)
"""Without shrinking: a story that goes wrong is told whole, up to where it went wrong, and that reads well enough."""

BEGUN = lifecycle.OPEN | {lifecycle.DONE}


def single_steps(story: Story) -> Iterator[tuple[Scene, State, ev.Event, State]]:
    """Every event of a story with the state before and after it."""
    for scene in story.scenes:
        before = scene.before
        for event in scene.events:
            after = apply(before, event, scene.facts.now, scene.request.actor)
            yield scene, before, event, after
            before = after


# The stories themselves


@pytest.mark.full
def test_the_stories_get_somewhere():
    """Stories in which everything is refused would prove nothing."""
    moved: Counter[str] = Counter()
    codes: Counter[str] = Counter()
    happened: set[type] = set()

    @settings(max_examples=2500, phases=GENERATE)
    @given(stories())
    def tell(story: Story) -> None:
        moved.update(event.move for _, _, event, _ in single_steps(story) if isinstance(event, ev.Moved))
        happened.update(type(event) for scene in story.scenes for event in scene.events)
        codes.update(scene.refusal.code for scene in story.scenes if isinstance(scene.refusal, HoldfastError))

    tell()
    assert set(moved) == set(lifecycle.MOVES)
    expected = {"step_blocked", "gate_unmet", "person_needed", "bound_reached", "lease_held", "fenced", "too_late"}
    assert expected | {"not_caught_up", "wrong_packet", "locked"} <= set(codes)
    new = {ev.Seated, ev.Acknowledged, ev.Compacted, ev.Urged, ev.Briefed, ev.Learned, ev.Owned}
    assert new | {ev.Locked, ev.Unlocked, ev.Snapshotted} <= happened


# Replay


@settings(max_examples=examples(80), phases=GENERATE)
@given(stories())
def test_the_state_is_the_fold_of_the_records_from_any_point_on(story):
    note(story)
    assert replay(story.records) == story.states[-1]
    for revision, state in enumerate(story.states, start=1):
        assert state.revision == revision
        assert replay(story.records[:revision]) == state
        assert replay(story.records[revision:], state) == story.states[-1]


@settings(max_examples=examples(80), phases=GENERATE)
@given(stories())
def test_folding_never_changes_a_state_that_was_there_before(story):
    note(story)
    again = [replay(story.records[: n + 1]) for n in range(len(story.records))]
    assert again == story.states


# Order


def prerequisites(plan: Plan, path: str) -> set[str]:
    """What must be done before a step, worked out from the tree alone."""
    found: set[str] = set()
    level, above, parallel = plan.steps, "", False
    for part in path.split("/"):
        ids = [step.id for step in level]
        index = ids.index(part)
        requires = level[index].requires
        prefix = f"{above}/" if above else ""
        if requires is not None:
            found |= {prefix + name if name in ids else name for name in requires}
        elif index and not parallel:
            found.add(prefix + ids[index - 1])
        above, parallel, level = prefix + part, level[index].parallel, level[index].steps
    return found


def approval_holds(state: State, path: str, facts: Facts) -> bool:
    step, progress = state.plan.step(path), state.step(path)
    if progress.status == lifecycle.SKIPPED or not (step.approval or step.choice):
        return True
    grant = progress.grant
    return (
        grant is not None
        and not grant.claimed
        and grant.attempt == progress.attempt
        and {name: one.hash for name, one in progress.artifacts.items()} == dict(grant.hashes)
        and all((facts.hashes.get(one.path) or ("",))[0] == one.hash for one in progress.artifacts.values())
    )


@settings(max_examples=examples(300), phases=GENERATE)
@given(stories())
def test_no_step_becomes_active_or_done_before_its_prerequisites_are_done(story):
    note(story)
    for scene, before, event, after in single_steps(story):
        if not isinstance(event, ev.Moved) or event.step not in before.plan:
            continue
        was, is_now = before.step(event.step).status, after.step(event.step).status
        if was in BEGUN - {lifecycle.DONE} or is_now not in BEGUN:
            continue
        for needed in prerequisites(before.plan, event.step):
            assert before.step(needed).status in lifecycle.FINISHED, (scene.request, event, needed)
            if event.move == "began":
                assert approval_holds(before, needed, scene.facts), (scene.request, event, needed)


@settings(max_examples=examples(220), phases=GENERATE)
@given(stories())
def test_a_branch_is_done_only_while_its_children_are(story):
    note(story)
    for state in story.states:
        for path in state.plan.paths:
            if state.step(path).status == lifecycle.DONE and state.step(path).reason == "":
                undone = [c for c in state.plan.children(path) if state.step(c).status not in lifecycle.FINISHED]
                assert undone == [], path
        finished = all(state.step(path).status in lifecycle.FINISHED for path in state.plan.children(""))
        assert bool(state.finished_at) == finished


# Gates


class Witness:
    """What was said of a step: the gates' own events, with who said it."""

    def __init__(self) -> None:
        self.grants: list[tuple[str, Grant, Actor, str]] = []
        self.verdicts: list[tuple[str, Verdict]] = []
        self.results: list[tuple[str, str, Evidence]] = []

    def hears(self, event: ev.Event, scene: Scene) -> None:
        if isinstance(event, ev.Granted):
            self.grants.append((event.step, event.grant, scene.request.actor, scene.facts.signer))
        elif isinstance(event, ev.Reviewed):
            self.verdicts.append((event.step, event.verdict))
        elif isinstance(event, ev.Checked):
            self.results.append((event.step, event.name, event.evidence))

    def holds(self, step: Step, path: str, attempt: int) -> None:
        """Every gate of the step was passed by its own event, in this attempt."""
        policies = [gate.by for gate in (step.approval, step.choice) if gate]
        if policies:
            given_here = [one for one in self.grants if one[0] == path and one[1].attempt == attempt]
            assert given_here, f"{path} is done and nobody approved it"
            _, grant, actor, signer = given_here[-1]
            assert not grant.claimed
            proof = {EITHER: ("signature", "passkey"), "signed": ("signature",), "passkey": ("passkey",)}
            proofs = [proof[policy] for policy in policies if policy in proof]
            assert not proofs or (signer and grant.how in proofs[-1])
            assert "human" not in policies or actor.kind == "human" or signer
            assert not step.choice or grant.variant in step.choice.options
        if step.review:
            said = [verdict for p, verdict in self.verdicts if p == path and verdict.attempt == attempt]
            assert said, f"{path} is done and nobody reviewed it"
            assert said[-1].verdict == "approved"
        for check in step.checks:
            self._passed(check, path, attempt)

    def _passed(self, check: Check, path: str, attempt: int) -> None:
        seen = [e for p, name, e in self.results if (p, name, e.attempt) == (path, check.name, attempt)]
        assert seen, f"{path} is done and {check.name} never ran"
        assert seen[-1].passed
        assert check.run_by == "any" or seen[-1].run_by == "engine"


@settings(max_examples=examples(300), phases=GENERATE)
@given(stories())
def test_no_step_is_done_without_the_event_of_each_of_its_gates_in_that_attempt(story):
    note(story)
    witness = Witness()
    for scene, before, event, _ in single_steps(story):
        witness.hears(event, scene)
        if isinstance(event, ev.Moved) and event.move == "overridden":
            assert scene.request.actor.kind == "human"
        if isinstance(event, ev.Moved) and event.move == "completed":
            step, progress = before.plan.step(event.step), before.step(event.step)
            witness.holds(step, event.step, progress.attempt)
            assert set(step.outputs) <= set(progress.artifacts)


# Decisions and refusals


@settings(max_examples=examples(60), phases=GENERATE)
@given(stories())
def test_deciding_is_pure(story):
    """The same question has the same answer, and asking changes nothing."""
    note(story)
    for number, scene in enumerate(story.scenes):
        try:
            again: tuple = decide(scene.before, scene.request, scene.facts, rules)
        except Exception as refusal:  # noqa: BLE001 - whatever it was, it must be the same again
            again = describe(refusal)
        assert again == told(scene), number
        assert replay(story.records[: scene.before.revision]) == scene.before


@settings(max_examples=examples(60), phases=GENERATE)
@given(stories())
def test_a_decision_hands_on_the_state_its_events_lead_to(story):
    note(story)
    for scene in story.scenes:
        if scene.refusal is None:
            state = scene.before
            for event in scene.events:
                state = apply(state, event, scene.facts.now, scene.request.actor)
            assert decide_running(scene.before, scene.request, scene.facts, rules).state == state


@settings(max_examples=examples(80), phases=GENERATE)
@given(stories())
def test_every_refusal_has_a_code_a_sentence_a_remedy_and_facts_that_can_be_told(story):
    note(story)
    for scene in story.scenes:
        refusal = scene.refusal
        if refusal is None:
            continue
        assert isinstance(refusal, HoldfastError)
        assert refusal.code.replace("_", "").isalpha()
        assert refusal.code.islower()
        assert refusal.message.strip()
        assert refusal.remedy.strip()
        assert refusal.exit_code in (2, 3, 4, 5)
        assert json.loads(json.dumps(described(refusal)))["error"]["code"] == refusal.code


def is_renewed(before: State, path: str, hold: Hold) -> bool:
    """Whether this is a hold that was there before, with more time."""
    known = before.locks.get(path)
    return known is not None and known.replace(boot=hold.boot, deadline=hold.deadline) == hold


@settings(max_examples=examples(60), phases=GENERATE)
@given(stories())
def test_an_attempt_is_never_taken_back_and_a_token_never_given_twice(story):
    note(story)
    restored = any(isinstance(event, ev.Restored | ev.Amended) for _, _, event, _ in single_steps(story))
    tokens = []
    for _, before, event, _ in single_steps(story):
        if isinstance(event, ev.Leased):
            tokens.append(event.lease.token)
        elif isinstance(event, ev.Locked):
            tokens += {hold.token for path, hold in event.holds.items() if not is_renewed(before, path, hold)}
    assert len(tokens) == len(set(tokens))
    for earlier, later in zip(story.states, story.states[1:], strict=False):
        assert later.spent >= earlier.spent
        assert later.history_count >= earlier.history_count
        for path in earlier.progress if not restored else ():
            assert later.step(path).attempt >= earlier.step(path).attempt


def holder(hold: Hold) -> tuple[str, str, int]:
    return hold.agent, hold.session, hold.lease


@settings(max_examples=examples(120), phases=GENERATE)
@given(stories())
def test_no_file_is_held_by_two_agents_at_once(story):
    note(story)
    for scene, before, event, _ in single_steps(story):
        if isinstance(event, ev.Locked):
            for path, hold in event.holds.items():
                live = [p for p, one in before.locks.items() if not one.expired(scene.facts.boot, scene.facts.mono)]
                others = [p for p in live if holder(before.locks[p]) != holder(hold)]
                assert not any(overlap(path, p) for p in others), path


@settings(max_examples=examples(120), phases=GENERATE)
@given(stories())
def test_where_it_is_asked_for_no_agent_writes_that_has_not_caught_up(story):
    note(story)
    if not story.definition.require_ack:
        return
    for scene in story.scenes:
        actor, command = scene.request.actor, scene.request.command
        if scene.events and actor.kind == "agent" and not isinstance(command, Acknowledge | Compacted | Leave):
            seat = scene.before.seats[actor.session]
            assert seat.caught_up >= seat.compactions


@settings(max_examples=examples(60), phases=GENERATE)
@given(stories())
def test_nobody_is_held_longer_than_the_bound_without_a_move(story):
    note(story)
    for state in story.states:
        assert state.urged <= 30
        assert len(state.seats) <= KEPT_SEATS


# Agents alone


def agents_alone() -> st.SearchStrategy[Story]:
    """Stories in which no person says a word and nobody can sign."""
    return stories(OTHERS, signers=("",))


def strictness(step: Step) -> int:
    return max((POLICIES.index(gate.by) + 1 for gate in (step.approval, step.choice) if gate), default=0)


@settings(max_examples=examples(300), phases=GENERATE)
@given(agents_alone())
def test_agents_alone_never_get_past_a_gate_that_is_a_persons(story):
    note(story)
    plan = story.first.plan
    closed = [
        path
        for path in plan.paths
        if strictness(plan.step(path)) >= 2 and not any(plan.step(p).optional for p in (path, *ancestors(path)))
    ]
    behind = {p for path in closed for p in plan.dependents(path)}
    for state in story.states:
        for path in closed:
            assert state.step(path).status not in lifecycle.FINISHED, path
        for path in behind:
            assert state.step(path).status == lifecycle.PENDING, path


@settings(max_examples=examples(220), phases=GENERATE)
@given(agents_alone())
def test_agents_alone_never_extend_a_bound_nor_override_an_escalation(story):
    note(story)
    used_up: set[str] = set()
    for scene, before, event, after in single_steps(story):
        assert after.bounds == story.first.bounds
        assert not (isinstance(event, ev.Moved) and event.move == "overridden")
        for path in before.plan.paths:
            step, progress = before.plan.step(path), before.step(path)
            spent = step.retry is not None and progress.failures >= step.retry.max
            iterated = isinstance(scene.request.command, Iterate) and path == scene.request.command.step
            if progress.status == lifecycle.ESCALATED or (progress.status == lifecycle.FAILED and spent):
                used_up |= set() if iterated else {path}
        for path in used_up & set(after.plan.paths):
            assert after.step(path).status not in BEGUN, path


@settings(max_examples=examples(220), phases=GENERATE)
@given(agents_alone())
def test_agents_alone_never_loosen_a_gate(story):
    note(story)
    first, last = story.first.plan, story.states[-1].plan
    for path in first.paths:
        old = first.step(path)
        if path not in last:
            assert not old.gated, path
            continue
        new = last.step(path)
        assert strictness(new) >= strictness(old), path
        assert {check.name for check in old.checks} <= {check.name for check in new.checks}, path
        assert set(old.outputs) <= set(new.outputs), path
        assert new.review is not None or old.review is None, path
        assert old.optional or not new.optional, path


# Applying


def some(*options: object) -> st.SearchStrategy:
    return st.sampled_from(options)


PATHS = some("a", "b", "b/a", "b/b", "c", "nowhere", "b/nowhere", "")
NUMBERS = st.integers(0, 3)
WORDS = some("", "x")
TREES = st.builds(
    Step,
    id=some(*IDS),
    parallel=st.booleans(),
    steps=st.lists(st.builds(Step, id=some("a", "b")), max_size=2).map(tuple),
)
PROGRESS = st.dictionaries(PATHS, st.builds(Progress, status=some(*lifecycle.STATUSES), attempt=NUMBERS), max_size=3)
CLAIM = (NUMBERS, WORDS, WORDS, st.floats(0, 9), NUMBERS)
HOLDS = st.builds(Hold, *CLAIM, agent=WORDS)
EVENTS = st.one_of(
    st.builds(ev.Moved, some(*lifecycle.MOVES), PATHS, NUMBERS, WORDS, WORDS, st.booleans()),
    st.builds(ev.Moved, some(*lifecycle.MOVES), PATHS, NUMBERS, WORDS, WORDS, st.booleans()),
    st.builds(ev.Produced, PATHS, WORDS, st.builds(Artifact, WORDS, WORDS, WORDS)),
    st.builds(ev.Checked, PATHS, WORDS, st.builds(Evidence, st.booleans(), WORDS, NUMBERS)),
    st.builds(ev.Reviewed, PATHS, st.builds(Verdict, some("approved", "needs_revision"), WORDS, WORDS, NUMBERS)),
    st.builds(ev.Granted, PATHS, st.builds(Grant, WORDS, WORDS, WORDS, NUMBERS)),
    st.builds(ev.Noted, WORDS, PATHS),
    st.builds(ev.Recorded, st.just({"k": 1}), PATHS),
    st.builds(ev.Marked, some("cancelled", "paused", "finalized"), st.booleans(), WORDS),
    st.builds(ev.Spent, NUMBERS, WORDS, PATHS),
    st.builds(ev.Warned, some("cost", "time"), some(75, 90, 100), WORDS, WORDS),
    st.builds(ev.Extended, st.builds(Bounds, NUMBERS, NUMBERS, NUMBERS)),
    st.builds(ev.Leased, st.builds(Lease, *CLAIM, role=WORDS, step=PATHS)),
    st.builds(ev.Beat, NUMBERS, WORDS, st.floats(0, 9)),
    st.builds(ev.Released, NUMBERS),
    st.builds(ev.Locked, st.dictionaries(WORDS, HOLDS, min_size=1, max_size=2)),
    st.builds(ev.Unlocked, st.lists(WORDS, max_size=2).map(tuple)),
    some(ev.Compacted(), ev.Seated(), ev.Acknowledged(), ev.Urged()),
    st.builds(ev.Briefed, some("reading", "reminders"), st.lists(WORDS, max_size=2).map(tuple)),
    st.builds(ev.Learned, st.builds(Learning, WORDS, WORDS)),
    st.builds(ev.Owned, WORDS, some({}, {"k": 1}, {"l": []}), some({}, {"event": "seen"}, {"source": "f"}), WORDS),
    st.builds(ev.Refiled, WORDS),
    st.builds(ev.Renamed, WORDS),
    st.builds(
        ev.Amended, some("add", "retire", "change"), PATHS, st.one_of(st.none(), TREES), some(None, "a", "nowhere")
    ),
    st.builds(ev.Snapshotted, NUMBERS),
    st.builds(ev.Restored, NUMBERS, st.lists(TREES, max_size=3).map(tuple), PROGRESS),
    st.builds(ev.Edited, WORDS, st.just({})),
    st.builds(ev.Remembered, st.just({"k": 1})),
    st.builds(ev.Alerted, st.builds(Alert, WORDS, WORDS, WORDS)),
)
BEGINNING = ev.Started(
    ulid="0" * 26, id="w", type="t", steps=(Step("a"), Step("b", steps=(Step("a"), Step("b"))), Step("c"))
)


@settings(max_examples=examples(150))
@given(st.lists(EVENTS, max_size=25))
def test_applying_is_total_and_keeps_what_it_keeps_bounded(events):
    state = apply(None, BEGINNING, "2026-01-01T00:00:00Z", AGENT)
    for event in events:
        state = apply(state, event, "2026-01-01T00:00:01Z", AGENT)
        assert all(progress.status in lifecycle.STATUSES for progress in state.progress.values())
        assert len(state.history) <= 100
        assert len(state.alerts) <= 10
        assert len(state.seats) <= KEPT_SEATS
        assert len(state.learnings) <= 100
        assert state.spent >= sum(one.spent for one in state.progress.values())
        assert all(len(one.verdicts) <= KEPT_PER_STEP for one in state.progress.values())
        done = all(state.step(path).status in lifecycle.FINISHED for path in state.plan.children(""))
        assert bool(state.finished_at) == done


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(EVENTS, st.sampled_from(["", "k1", "k2"])), max_size=12))
def test_any_sequence_of_records_folds_to_the_same_state_at_once_and_one_by_one(told_events):
    records = [Record(1, "2026-01-01T00:00:00Z", AGENT, "Start", (BEGINNING,))]
    for number, (event, key) in enumerate(told_events, start=2):
        records.append(Record(number, "2026-01-01T00:00:01Z", AGENT, "x", (event,), key, "p", {"f": str(number)}))
    state = None
    for record in records:
        state = fold(state, record)
    assert state is not None
    assert replay(records) == state
    assert state.revision == len(records)
    assert len(state.renderings) <= 32


@settings(max_examples=examples(100))
@given(PROGRESS)
def test_an_approval_is_never_taken_for_valid_without_a_grant(progress):
    state = replay([Record(1, "2026-01-01T00:00:00Z", AGENT, "Start", (BEGINNING,))]).replace(progress=progress)
    for path in progress:
        assert gates.grant_verdict(state, path, Facts("2026-01-01T00:00:00Z")) == "none"
