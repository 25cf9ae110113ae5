"""Events, records and states as JSON: what is read back is what was written, by this version and by older ones."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import definition as de
from holdfast.core import events as ev
from holdfast.core import lifecycle
from holdfast.core import state as state_module
from holdfast.core.apply import Record, replay
from holdfast.core.plan import Plan
from holdfast.core.state import (
    Act,
    Actor,
    Alert,
    Artifact,
    Escalation,
    Evidence,
    Grant,
    Hold,
    Intervention,
    Learning,
    Lease,
    Mark,
    Progress,
    Seat,
    Snapshot,
    State,
    Supervision,
    Try,
    Verdict,
)
from holdfast.core.value import Value
from holdfast.engine import codec
from holdfast.errors import Broken
from holdfast.plain import plainjson
from tests.core.stories import Story, stories

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
    approval=de.Approval("human", rejected="revise"),
    choice=de.Choice(options=("A", "B"), by="human", rejected="revise"),
    retry=de.Retry(max=3, back_to="build", exhausted="escalated"),
    optional=True,
    mandatory=True,
    parallel=True,
    kind="task",
    action="commit",
    result="log",
    task=de.Step(id="task", steps=(de.Step(id="red"),)),
    deny=("Bash(git push*)",),
    steps=(de.Step(id="inner", steps=(de.Step(id="innermost"),)),),
)
ARTIFACT = Artifact("CHANGELOG.md", "ab12", AT, 7)
EVIDENCE = Evidence(True, AT, 2, "engine", "agent coder", 0, 1200, "abc", "def", True, "ok\n", "d1", "timed out", True,
                    {"count": 3, "failing": ["test_a"]})  # fmt: skip
GRANT = Grant(AT, "ada", "own", 2, {"log": "ab12"}, "B", {"size": 3, "deep": [{"a": None}]}, True)
VERDICT = Verdict("needs_revision", AT, "agent reviewer", 2, "more 🧪")
LEASE = Lease("coder", 3, AT, "boot", 99.5, 600, "verify", "session", "agent-7")
HOLD = Hold("coder", 4, AT, "boot", 99.5, 600, "session", 3)
SEAT = Seat(AT, 2, 1)
LEARNING = Learning(AT, "secrets leaked", "antipattern", "use the environment", "deployment", "verify", 2)
INTERVENTION = Intervention(AT, "pre_task", "1.2", "security", "critical", "re_plan", "no secrets in code")
SUPERVISION = Supervision(True, True, 4, 3, 2, 1, AT, (INTERVENTION,))
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
    evidence={"tests": EVIDENCE},
    verdicts=(VERDICT,),
    reviewed=True,
    grant=GRANT,
    past_grants=(GRANT, GRANT),
    tries=(TRY,),
    data={"commit_sha": "abc"},
    spent=250_000,
)
STATE = State(
    ulid="0" * 26,
    id="release-1",
    type="release",
    plan=Plan((STEP, de.Step(id="publish"))),
    dialect="story",
    version=2,
    digest="d",
    source="a.toml",
    title="Release",
    subject="1.0 \u2028 ü",
    context={"k": [1, 2.5, None, True, {"n": "x"}]},
    branch="main",
    worktree="/w",
    session="s",
    loads="feature",
    advance=True,
    head="abc",
    dirt={"a.py": "b1"},
    origin="adopted",
    created_at=AT,
    updated_at=AT,
    finished_at=AT,
    revision=7,
    progress={"verify": PROGRESS, "verify/inner": Progress("active", 1)},
    bounds=BOUNDS,
    spent=4,
    agent_calls=2,
    warned=("cost:75",),
    rest_since="2026-01-01T00:00:00Z",
    rested_seconds=1.5,
    cancelled=Mark(AT, "ada", "enough"),
    paused=Mark(AT, "ada"),
    finalized=Mark(AT, "ada"),
    parent="1" * 26,
    parent_seal="as it was",
    outdated=Mark(AT, "engine", "it changed"),
    committed_from="darker",
    reading=("@docs/a.md",),
    reminders=("run the tests",),
    keep_going=True,
    require_ack=True,
    file="untracked/workflow-state/x/state-x.json",
    sighted={"CLAUDE.local.md": {"phase": {"current": 2}}},
    learnings=(LEARNING,),
    learnings_count=7,
    supervision=SUPERVISION,
    escalations=(ESCALATION,),
    read_only=("*-reviewer",),
    leases={"coder@verify": LEASE},
    locks={"src/a.py": HOLD},
    seats={"session": SEAT},
    urged=2,
    fence=3,
    keys={"k1": ("payload", 2)},
    notes=({"at": AT, "by": "ada", "text": "n"},),
    history=({"at": AT, "event": "started", "by": "ada"},),
    history_count=101,
    snapshots=(SNAPSHOT,),
    alerts=(ALERT,),
    base={"workflow": {"id": "x"}, "unknown": [1]},
    renderings=((6, {"a.json": "h6"}), (7, {"a.json": "h7"})),
    stands_at=1,
)
EVENTS: list[ev.Event] = [
    ev.Started("0" * 26, "r-1", "r", (STEP,), "story", 2, "d", "a.toml", "t", "s", {"k": 1}, BOUNDS, "main", "/w", "s",
               "feature", True, "abc", {"a.py": "b1"}, "1" * 26, "as it was", ("@a.md",), ("heed",), True, True,
               ("*-reviewer",), SUPERVISION),
    ev.Adopted("0" * 26, "x-1", "x", (STEP,), {}, "ours", "t", "s", {"k": 1}, "main", "/w", AT, {"a": PROGRESS}, ({},),
               5, 2, "d", "a.toml", BOUNDS, "feature", "darker", ("@a.md",), ("heed",), True, True, ("reader",),
               "x/state.json", SUPERVISION, (LEARNING,), (SNAPSHOT,), 4, 1.5, {"coder@verify": LEASE}, (ALERT,),
               (ESCALATION,)),
    ev.Moved("completed", "verify", 2, "why", "feedback", True, {"violations": [{"check": "words"}]}, "build"),
    ev.Produced("verify", "log", ARTIFACT),
    ev.Checked("verify", "tests", EVIDENCE),
    ev.Reviewed("verify", VERDICT),
    ev.Granted("verify", GRANT),
    ev.Noted("chose B", "verify"),
    ev.Recorded({"k": {"deep": [1]}}, "verify", ("gone",)),
    ev.Marked("paused", False, "lunch"),
    ev.Founded("1" * 26, "as it is now"),
    ev.Rehomed("darker", "workspace/sessions/darker/", "workspace/", ("generation-runs",)),
    ev.Spent(1000, "coder", "verify"),
    ev.Warned("cost", 75, "$7", "$10"),
    ev.Extended(BOUNDS),
    ev.Leased(LEASE, 2),
    ev.Beat(3, "boot", 120.25),
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
    ev.Supervised("pre_task", "1.2", "RE_PLAN", INTERVENTION, 2),
    ev.Refiled(".claude/archive/r-1/agent-state.json"),
    ev.Sighted("CLAUDE.local.md", {"phase": {"current": 2}}),
    ev.Amended("add", "verify", STEP, "build"),
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
    return codec.decode_state(json.loads(plainjson.compact(codec.encode(state))))


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
        LEASE,
        HOLD,
        SEAT,
        LEARNING,
        SUPERVISION,
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
        *(ARTIFACT, EVIDENCE, GRANT, VERDICT, LEASE, HOLD, SEAT, LEARNING, INTERVENTION, SUPERVISION, SNAPSHOT),
        *(ALERT, PROGRESS, STATE, ACT, ESCALATION),
    )
    shown = {Actor, Mark, Try, *map(type, parts)}
    defined = {cls for cls in vars(state_module).values() if isinstance(cls, type) and issubclass(cls, Value)}
    assert {cls for cls in defined if cls.__module__ == state_module.__name__} <= shown


def test_a_record_comes_back_with_all_it_carries():
    one = record(*EVENTS, key="k1", payload="p", documents={"a.json": "hash"})
    assert codec.decode_record(line(one)) == one


def test_what_is_at_its_default_takes_no_room():
    assert codec.encode_event(ev.Noted("n")) == {"event": "noted", "text": "n"}
    assert set(line(record(ev.Noted("n")))) == {"v", "at", "actor", "command", "events", "seq"}


def test_a_line_is_one_line_of_readable_text():
    text = codec.encode_record(record(ev.Noted("zwei\nZeilen — ü 🧪")))
    assert "\n" not in text
    assert "ü 🧪" in text


@settings(max_examples=60)
@given(stories())
def test_the_journal_of_any_story_comes_back_and_replays_to_the_same_state(story: Story):
    back = [codec.decode_record(line(one)) for one in story.records]
    assert back == story.records
    assert replay(back) == story.states[-1]


@settings(max_examples=60)
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


def test_older_records_are_lifted_one_version_at_a_time():
    lifted = []

    def one_to_two(data):
        lifted.append((1, data["events"][0]["event"]))
        return {**data, "events": [{**event, "event": "remark"} for event in data["events"]]}

    def two_to_three(data):
        lifted.append((2, data["events"][0]["event"]))
        return {**data, "events": [{"event": "noted", "text": event["words"]} for event in data["events"]]}

    old = {**line(record()), "v": 1, "events": [{"event": "said", "words": "n"}]}
    upcasts = {1: one_to_two, 2: two_to_three}
    assert codec.decode_record(old, version=3, upcasts=upcasts).events == (ev.Noted("n"),)
    assert lifted == [(1, "said"), (2, "remark")]
    lifted.clear()
    middle = {**old, "v": 2}
    assert codec.decode_record(middle, version=3, upcasts=upcasts).events == (ev.Noted("n"),)
    assert lifted == [(2, "said")]


def test_a_record_of_this_version_is_lifted_by_nothing():
    def never(data):
        raise AssertionError("lifted a record that is not old")

    one = record(ev.Noted("n"))
    assert codec.decode_record({**line(one), "v": 3}, version=3, upcasts={1: never, 2: never}) == one


def test_there_is_a_lift_from_every_version_that_was_ever_written():
    assert set(codec.UPCASTS) == set(range(1, codec.VERSION))


@pytest.mark.parametrize("version", [codec.VERSION + 1, 99, "2", None, 1.5])
def test_a_record_of_a_version_that_is_not_known_is_refused_with_a_remedy(version):
    with pytest.raises(Broken) as caught:
        codec.decode_record({**line(record(ev.Noted("n"))), "v": version})
    assert (caught.value.code, caught.value.exit_code) == ("newer_version", 6)
    assert caught.value.facts == {"format": version, "known": codec.VERSION}
    assert "upgrade" in caught.value.remedy
