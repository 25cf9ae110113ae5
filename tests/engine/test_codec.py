"""Events, records and states as JSON: what is read back is what was written."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import definition as de
from holdfast.core import events as ev
from holdfast.core import lifecycle
from holdfast.core import state as state_module
from holdfast.core.apply import Record, replay
from holdfast.core.definition import Conduct
from holdfast.core.plan import Plan
from holdfast.core.state import (
    Act,
    Actor,
    Alert,
    Artifact,
    Carried,
    Claim,
    Escalation,
    Evidence,
    Grant,
    Hold,
    Learning,
    Lease,
    Mark,
    Progress,
    Proof,
    Seat,
    Shown,
    Snapshot,
    State,
    Try,
    Verdict,
)
from holdfast.core.value import Value
from holdfast.engine import codec
from holdfast.errors import Broken
from holdfast.plain import plainjson
from tests.core.stories import Story, stories
from tests.tiers import examples

AT = "2026-01-01T09:00:00.000Z"
STEP = de.Step(
    id="verify",
    name="Vérifier",
    description="Run everything once more",
    agents=("coder",),
    requires=("build",),
    outputs=("log",),
    checks=(
        de.Check("tests", run=("pytest", "-q"), run_by="engine", timeout=60, test="fails", report="junit.xml"),
        de.Check("lint", uses="lint", source="Makefile", text="nothing to complain about"),
    ),
    review=de.Review(by=("reviewer",), max=4),
    approval=de.Approval("human", rejected="revise", of="log"),
    choice=de.Choice(options=("A", "B"), by="human", rejected="revise"),
    retry=de.Retry(max=3, back_to="build", exhausted="escalated"),
    optional=True,
    mandatory=True,
    code=True,
    parallel=True,
    kind="task",
    action="commit",
    own_fact="order",
    supervised="pre_task",
    supervised_after="post_task",
    result="log",
    passed="OK",
    failed="NOT OK",
    task=de.Step(id="task", steps=(de.Step(id="red"),)),
    deny=("Bash(git push*)",),
    steps=(de.Step(id="inner", steps=(de.Step(id="innermost"),)),),
)
ARTIFACT = Artifact("CHANGELOG.md", "ab12", AT, 7)
EVIDENCE = Evidence(True, AT, 2, "engine", "agent coder", 0, 1200, "abc", "def", True, "ok\n", "d1", "timed out", True,
                    {"count": 3, "failing": ["test_a"]}, {"JWT": 1}, "build")  # fmt: skip
PROOF = Proof("holdfast approval 2\n", "MEUC", "a2V5", "eyJ0", "SZYN")
GRANT = Grant(AT, "ada", "passkey", 2, {"log": "ab12"}, "B", {"size": 3, "deep": [{"a": None}]}, "laptop", PROOF, "ab",
              limits=("only_here: helper.sh",))  # fmt: skip
VERDICT = Verdict("needs_revision", AT, "agent reviewer", 2, "more 🧪")
LEASE = Lease(3, AT, "boot", 99.5, 600, "session", role="coder", step="verify", agent="agent-7", key="ab",
              worktree=".worktrees/a/verify", branch="hf/a/verify", into="main")  # fmt: skip
HOLD = Hold(4, AT, "boot", 99.5, 600, "session", agent="coder", lease=3)
SEAT = Seat(AT, 2, 1)
LEARNING = Learning(AT, "secrets leaked", "antipattern", "use the environment", "deployment", "verify", 2)
SNAPSHOT = Snapshot(1, 3, AT, "abc", "label")
ALERT = Alert(AT, "edit_refused", "an edit was refused", "a.json", ".holdfast/quarantine/x")
ACT = Act(AT, "created", 1, "NEEDS_REVISION")
ESCALATION = Escalation("verify", "four reviews", 4, AT, AT, "override")
TRY = Try(1, "failed", AT, "broke", {"violations": [{"check": "words"}]})
BOUNDS = de.Bounds(max_cost=10, max_time=20, max_iterations=3)
PROGRESS = Progress(
    status="failed",
    attempt=3,
    failures=2,
    rounds=1,
    started_at=AT,
    finished_at=AT,
    waiting_since=AT,
    reason="broke",
    feedback=("one", "two"),
    advice="two",
    acts=(ACT,),
    artifacts={"log": ARTIFACT},
    sent_back={"log": "f00"},
    turned_down={"log": ("f00", "f01")},
    evidence={"tests": EVIDENCE},
    verdicts=(VERDICT,),
    reviewed=True,
    grant=GRANT,
    past_grants=(GRANT, GRANT),
    tries=(TRY,),
    data={"commit_sha": "abc"},
    spent=250_000,
)
IDENTITY: dict[str, Any] = {
    "ulid": "0" * 26,
    "id": "release-1",
    "type": "release",
    "dialect": "story",
    "version": 2,
    "digest": "d",
    "source": "a.toml",
    "title": "Release",
    "subject": "1.0 \u2028 ü",
    "context": {"k": [1, 2.5, None, True, {"n": "x"}]},
    "bounds": BOUNDS,
    "branch": "main",
    "worktree": "/w",
    "session": "s",
    "loads": "feature",
    "conduct": Conduct(("feature",), ("task",), ("task",), ("task",), ("task",), True, False, True, True),
    "advance": True,
    "head": "abc",
    "dirt": {"a.py": "b1"},
    "parent": "1" * 26,
    "parent_seal": "as it was",
    "reading": ("@docs/a.md",),
    "reminders": ("run the tests",),
    "keep_going": True,
    "require_ack": True,
    "read_only": ("*-reviewer",),
    "own": {"orchestrator": {"checks": 4, "interventions": [{"at": AT, "task": "1.2"}]}, "story": {}},
}
CARRIED: dict[str, Any] = {
    "created_at": AT,
    "progress": {"verify": PROGRESS, "verify/inner": Progress("active", 1)},
    "history": ({"at": AT, "event": "started", "by": "ada"},),
    "history_count": 101,
    "file": "untracked/workflow-state/x/state-x.json",
    "learnings": (LEARNING,),
    "snapshots": (SNAPSHOT,),
    "spent": 4,
    "rested_seconds": 1.5,
    "leases": {"coder@verify": LEASE},
    "alerts": (ALERT,),
    "escalations": (ESCALATION,),
}
STATE = State(
    **IDENTITY,
    **CARRIED,
    plan=Plan((STEP, de.Step(id="publish"))),
    origin="adopted",
    updated_at=AT,
    moved_at=AT,
    finished_at=AT,
    revision=7,
    agent_calls=2,
    warned=("cost:75",),
    redacted={"JWT": 1},
    rest_since="2026-01-01T00:00:00Z",
    cancelled=Mark(AT, "ada", "enough"),
    paused=Mark(AT, "ada"),
    finalized=Mark(AT, "ada"),
    outdated=Mark(AT, "engine", "it changed"),
    learnings_count=7,
    locks={"src/a.py": HOLD},
    seats={"session": SEAT},
    urged=2,
    fence=3,
    keys={"k1": ("payload", 2)},
    notes=({"at": AT, "by": "ada", "text": "n"},),
    base={"workflow": {"id": "x"}, "unknown": [1]},
    renderings=(Shown(6, {"a.json": "h6"}), Shown(7, {"a.json": "h7"})),
    stands_at=1,
)
EVENTS: list[ev.Event] = [
    ev.Started(**IDENTITY, steps=(STEP,)),
    ev.Adopted(**IDENTITY, **CARRIED, steps=(STEP,), document={}),
    ev.Moved("completed", "verify", 2, "why", "feedback", True, {"violations": [{"check": "words"}]}, "build", PROOF),
    ev.Produced("verify", "log", ARTIFACT),
    ev.Dropped("verify", "log"),
    ev.Checked("verify", "tests", EVIDENCE),
    ev.Reviewed("verify", VERDICT),
    ev.Granted("verify", GRANT),
    ev.Noted("chose B", "verify"),
    ev.Recorded({"k": {"deep": [1]}}, "verify", ("gone",)),
    ev.Marked("paused", False, "lunch", "terminal"),
    ev.Founded("1" * 26, "as it is now"),
    ev.Rehomed("darker", "workspace/sessions/darker/", "workspace/", ("generation-runs",)),
    ev.Spent(1000, "coder", "verify"),
    ev.Warned("cost", 75, "$7", "$10"),
    ev.Extended(BOUNDS),
    ev.Leased(LEASE, 2),
    ev.Beat(3, "boot", 120.25, "ab"),
    ev.Released(3, "done"),
    ev.Locked({"src/a.py": HOLD}),
    ev.Unlocked(("src/a.py",)),
    ev.Compacted("auto"),
    ev.Seated(),
    ev.Advised("verify", "shorter"),
    ev.Acknowledged(),
    ev.Urged(),
    ev.Briefed("reading", ("@a.md",)),
    ev.Learned(LEARNING),
    ev.Owned("orchestrator", {"checks": 2}, {"event": "supervised", "verdict": "PASS"}, "supervisor: PASS"),
    ev.Refiled(".claude/archive/r-1/agent-state.json"),
    ev.Branched("main"),
    ev.Renamed("Move to Postgres"),
    ev.Amended("add", "verify", STEP, "build"),
    ev.Equipped("test", ("make", "test"), "a/Makefile", "a/report.xml", "a", "any", "verify", "agent coder"),
    ev.Snapshotted(1, "abc", "label"),
    ev.Restored(1, (STEP,), {"verify": PROGRESS}),
    ev.Edited("a.json", {"d": 1}, "git"),
    ev.Remembered({"action": "chose B"}),
    ev.Alerted(ALERT),
]  # fmt: skip


def record(*events: ev.Event, **more) -> Record:
    return Record(3, AT, Actor("agent", "coder", "cli", "s1"), "done", events, **more)


def line(one: Record) -> dict:
    """A record as it comes back from a journal, which adds the sequence number."""
    return {**json.loads(codec.encode_record(one)), "seq": one.revision}


def reread(state: State) -> State:
    return codec.decode(State, json.loads(plainjson.compact(codec.encode(state))))


def unset(value: Value) -> set[str]:
    """Fields that are at their default: an example that leaves them so shows nothing about them."""
    return {name for name, field in value.items() if getattr(type(value), name, ...) == field}


# What is written can be read


def test_there_is_an_example_of_every_event():
    assert {type(event) for event in EVENTS} == set(get_args(ev.Event))


@pytest.mark.parametrize(
    "example",
    [
        *EVENTS,
        STATE,
        PROGRESS,
        TRY,
        ACT,
        ESCALATION,
        EVIDENCE,
        GRANT,
        PROOF,
        LEASE,
        HOLD,
        SEAT,
        LEARNING,
        SNAPSHOT,
        STEP,
        STEP.approval,
        STEP.choice,
    ],
    ids=lambda e: type(e).__name__,
)
def test_the_examples_leave_no_field_at_its_default(example):
    assert unset(example) - {"exit_code"} == set()


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_every_event_comes_back_as_it_was(event):
    assert codec.decode_event(json.loads(json.dumps(codec.encode_event(event)))) == event


@pytest.mark.parametrize("move", lifecycle.MOVES)
def test_a_move_is_stored_under_its_own_name(move):
    stored = codec.encode_event(ev.Moved(move, "build"))
    assert stored == {"event": move, "step": "build"}
    assert codec.decode_event(stored) == ev.Moved(move, "build")


def test_no_move_is_named_like_another_event():
    assert not set(lifecycle.MOVES) & (set(codec._EVENTS) - {"moved"})


def test_a_state_with_everything_comes_back_as_it_was():
    assert reread(STATE) == STATE


def test_every_value_a_state_holds_has_an_example_above():
    parts: tuple[Value, ...] = (
        *(ARTIFACT, EVIDENCE, GRANT, PROOF, VERDICT, LEASE, HOLD, SEAT, LEARNING, SNAPSHOT),
        *(ALERT, PROGRESS, STATE, ACT, ESCALATION),
    )
    shown = {Actor, Mark, Shown, Try, Carried, Claim, *map(type, parts)}
    defined = {cls for cls in vars(state_module).values() if isinstance(cls, type) and issubclass(cls, Value)}
    assert {cls for cls in defined if cls.__module__ == state_module.__name__} <= shown


def test_a_record_comes_back_with_all_it_carries():
    one = record(*EVENTS, key="k1", payload="p", shown=Shown(3, {"a.json": "hash"}))
    assert codec.decode_record(line(one)) == one


def test_what_is_at_its_default_takes_no_room():
    assert codec.encode_event(ev.Noted("n")) == {"event": "noted", "text": "n"}
    assert set(line(record(ev.Noted("n")))) == {"v", "at", "actor", "command", "events", "seq"}


def test_a_line_is_one_line_of_readable_text():
    text = codec.encode_record(record(ev.Noted("zwei\nZeilen — ü 🧪")))
    assert "\n" not in text
    assert "ü 🧪" in text


@settings(max_examples=examples(60))
@given(stories())
def test_the_journal_of_any_story_comes_back_and_replays_to_the_same_state(story: Story):
    back = [codec.decode_record(line(one)) for one in story.records]
    assert back == story.records
    assert replay(back) == story.states[-1]


@settings(max_examples=examples(60))
@given(stories(), st.data())
def test_the_state_of_any_story_comes_back_and_goes_on_like_the_original(story: Story, data):
    at = data.draw(st.integers(0, len(story.states) - 1))
    assert reread(story.states[at]) == story.states[at]
    assert replay(story.records[at + 1 :], reread(story.states[at])) == story.states[-1]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), JSON_VALUES, max_size=4))
def test_any_document_and_context_comes_back_as_it_was(values):
    one = record(ev.Edited("a.json", values), ev.Recorded(values), ev.Remembered(values))
    assert codec.decode_record(line(one)) == one


# Other versions


def test_a_record_of_an_unreleased_version_is_refused_with_a_remedy():
    with pytest.raises(Broken) as caught:
        codec.decode_record({**line(record(ev.Noted("n"))), "v": 1})
    assert (caught.value.code, caught.value.exit_code) == ("older_version", 6)
    assert caught.value.facts == {"format": 1, "known": codec.VERSION}
    (own,) = [one for one in caught.value.remedies if getattr(one, "who", "") == "person"]
    assert "holdfast adopt" in str(own)


def test_an_event_that_is_not_known_comes_from_a_newer_version():
    with pytest.raises(Broken) as caught:
        codec.decode_record({**line(record()), "events": [{"event": "frobnicated", "step": "a"}]})
    assert (caught.value.code, caught.value.facts) == ("newer_version", {"event": "frobnicated"})


@pytest.mark.parametrize("version", [codec.VERSION + 1, 99, "2", None, 1.5])
def test_a_record_of_a_version_that_is_not_known_is_refused_with_a_remedy(version):
    with pytest.raises(Broken) as caught:
        codec.decode_record({**line(record(ev.Noted("n"))), "v": version})
    assert (caught.value.code, caught.value.exit_code) == ("newer_version", 6)
    assert caught.value.facts == {"format": version, "known": codec.VERSION}
    assert "upgrade" in caught.value.remedy
