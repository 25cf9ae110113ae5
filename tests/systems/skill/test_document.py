"""The skill dialect: what it writes, what it reads back, and what an edit by hand asks for."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries
from holdfast.core.apply import Record, fold
from holdfast.core.decide import decide
from holdfast.core.definition import Approval, Choice
from holdfast.core.facts import Facts
from holdfast.core.reading import read
from holdfast.core.state import Actor, Evidence, State
from holdfast.documents.lens.changes import changes
from holdfast.documents.lens.edits import edit
from holdfast.documents.lens.mapping import Memory, put
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import entry_of
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.systems.skill.document import DIALECT, DOCUMENT, found_at, index
from holdfast.systems.skill.words import PHASE_WORDS, WORKFLOW_WORDS
from tests.core.play import kept
from tests.tiers import examples

DATA = Path(__file__).parent / "data"
EXAMPLES = sorted(path.stem for path in DATA.glob("*.json") if path.stem != "index")
NOW = "2026-01-01T09:00:00.000Z"
PERSON = Actor("human", "ada", "terminal")
FILE = Actor("file")
PATH = "document.json"

RELEASE = read(
    {
        "name": "release",
        "title": "Release {subject}",
        "step": [
            {"id": "plan", "outputs": ["plan"], "approval": {"by": "human"}},
            {"id": "pick", "choice": {"options": ["A", "B"]}},
            {"id": "work", "checks": [{"name": "tests"}, {"name": "lint"}], "retry": {"max": 3}},
            {"id": "look", "review": {"by": ["reviewer"], "max": 2}, "optional": True},
            {"id": "publish", "parallel": True, "step": [{"id": "wheel"}, {"id": "docs", "optional": True}]},
        ],
    }
)


def example(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def adopted(document: dict[str, Any], definition: Any = None) -> State:
    return DIALECT.adopt(document, definition, Facts(now=NOW), "0" * 26)


def plain(document: Any) -> dict[str, Any]:
    """A document as it is after it was written and read."""
    return json.loads(Writer().write(document))


class Life:
    """A workflow that moves by decisions alone, a minute at a time."""

    def __init__(self, *first: cmd.Command) -> None:
        self.state: State | None = None
        self.minute = 0
        for command in first:
            self.do(command)

    @property
    def now(self) -> State:
        assert self.state is not None
        return self.state

    def do(self, command: cmd.Command, by: Actor = PERSON) -> Life:
        at = f"2026-01-01T{10 + self.minute // 60:02}:{self.minute % 60:02}:00.500Z"
        facts = Facts(now=at, boot="boot", mono=float(self.minute), hashes={"PLAN.md": ("hash", 3)})
        events = kept(command, lambda one: decide(self.state, cmd.Request(one, by), facts))
        if events:
            self.minute += 1
            revision = self.state.revision + 1 if self.state else 1
            self.state = fold(self.state, Record(revision, at, by, "test", events))
        return self

    def document(self) -> dict[str, Any]:
        return plain(put(DOCUMENT, self.now.base, self.now))

    def edited(self, new: dict[str, Any]) -> Life:
        """Decides what somebody wrote into the document, as an agent's script would have."""
        return self.do(edit(DOCUMENT, self.now, PATH, self.document(), new), FILE)


def release() -> Life:
    return Life(cmd.Start.of(RELEASE, "0" * 26, "release-1", subject="1.4.0", title="Release 1.4.0", branch="main"))


def life_of(name: str) -> Life:
    document = example(name)
    return Life(cmd.Adopt(adopted(document), document))


def status(life: Life, path: str) -> str:
    return life.now.step(path).status


@pytest.mark.parametrize("name", EXAMPLES)
def test_writing_an_adopted_document_back_gives_the_same_value(name):
    document = example(name)
    state = adopted(document)
    for revision in (0, 1, 2):
        assert plain(put(DOCUMENT, state.base, state.replace(revision=revision))) == document


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_first_rendering_after_the_adoption_is_still_the_document_that_was_found(name):
    assert life_of(name).document() == example(name)


@pytest.mark.parametrize("name", EXAMPLES)
def test_one_more_note_changes_only_the_time_and_the_history(name):
    before, life = example(name), life_of(name)
    after = life.do(cmd.Note("chose B")).document()
    assert after["workflow"].pop("updated_at") != before["workflow"].pop("updated_at")
    assert after["history"].pop() == {"at": "2026-01-01T10:01:00Z", "event": "note", "note": "chose B"}
    assert after == before


def test_the_index_of_the_convention_is_what_holdfast_writes_for_the_same_workflow():
    wanted = example("index")
    (listed,) = wanted["active_workflows"]
    entry = entry_of(adopted(example("dev"))).replace(
        id="dev-a1b2c3", created_at="2025-01-08T20:00:00.000Z", updated_at="2025-01-08T22:30:00.000Z"
    )
    path, said = index([entry], None, "2025-01-08T22:30:00.000Z", "")
    assert path == ".claude/workflow-state/index.json"
    assert said == wanted
    assert said["active_workflows"] == [listed]


def test_a_broken_index_is_simply_written_anew():
    entry = entry_of(adopted(example("dev")))
    for old in ({"active_workflows": [{"id": []}, 3, {}]}, {"active_workflows": 7}, {}):
        assert len(index([entry], old, NOW, "")[1]["active_workflows"]) == 1


# What a workflow may go through: any command at any time, refused ones aside.
STEPS = ["plan", "pick", "work", "look", "publish", "publish/wheel", "publish/docs"]
step = st.sampled_from(STEPS)
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(lambda t: t.strip())
evidence = st.builds(lambda passed: Evidence(passed, NOW, 0), st.booleans())
COMMANDS = st.one_of(
    st.builds(cmd.Begin, step),
    st.builds(cmd.Done, step, st.sampled_from([{}, {"plan": "PLAN.md"}])),
    st.builds(cmd.Submit, step),
    st.builds(cmd.Approve, step, st.sampled_from(["", "A", "B"])),
    st.builds(cmd.Reject, step, st.sampled_from(["", "more detail"])),
    st.builds(cmd.Review, st.just("look"), st.sampled_from(["approved", "needs_revision"]), text),
    st.builds(cmd.RecordCheck, st.just("work"), st.sampled_from(["tests", "lint"]), evidence),
    st.builds(cmd.Fail, step, text),
    st.builds(cmd.Block, step, text),
    st.builds(cmd.Unblock, step, text),
    st.builds(cmd.Skip, step, text),
    st.builds(cmd.Reopen, step, text),
    st.builds(cmd.Resume, st.just("")),
    st.builds(cmd.Cancel, text),
    st.builds(cmd.Pause, text),
    st.builds(cmd.Note, text),
    st.builds(cmd.Record, st.dictionaries(st.sampled_from(["a", "b"]), st.integers() | text, min_size=1)),
)
# The way through, so that lives get far: chance alone rarely passes five gates in a row.
ONWARD: list[cmd.Command] = [
    cmd.Begin("plan"),
    cmd.Done("plan", {"plan": "PLAN.md"}),
    cmd.Approve("plan"),
    cmd.Begin("pick"),
    cmd.Done("pick"),
    cmd.Approve("pick", "B"),
    cmd.Begin("work"),
    cmd.RecordCheck("work", "tests", Evidence(True, NOW, 0)),
    cmd.RecordCheck("work", "lint", Evidence(True, NOW, 0)),
    cmd.Done("work"),
    cmd.Begin("look"),
    cmd.Done("look"),
    cmd.Review("look", "approved"),
    cmd.Begin("publish/wheel"),
    cmd.Begin("publish/docs"),
    cmd.Done("publish/wheel"),
    cmd.Done("publish/docs"),
]


@st.composite
def lives(draw: st.DrawFn) -> Life:
    life = release()
    onward = ONWARD[: draw(st.integers(0, len(ONWARD)))]
    for command in [*onward, *draw(st.lists(COMMANDS, max_size=12))]:
        try:
            life.do(command)
        except HoldfastError:
            continue
    return life


@given(lives())
@settings(max_examples=examples(150))
def test_a_document_that_nobody_touched_asks_for_nothing(life):
    document = life.document()
    assert list(changes(DOCUMENT, life.now, document, document)) == []
    asked = edit(DOCUMENT, life.now, PATH, put(DOCUMENT, life.now.base, life.now), document)
    assert asked.parts == ()


@given(lives())
@settings(max_examples=examples(100))
def test_a_rendering_is_the_same_whatever_was_rendered_before(life):
    """What one process keeps of earlier documents must not show in the next."""
    memory, writer = Memory(), Writer()
    state = release().now
    writer.write(put(DOCUMENT, state.base, state, memory))
    assert writer.write(put(DOCUMENT, life.now.base, life.now, memory)) == Writer().write(
        put(DOCUMENT, life.now.base, life.now)
    )


@given(lives(), st.integers() | text | st.none() | st.lists(st.integers()))
@settings(max_examples=examples(100))
def test_fields_that_the_dialect_does_not_know_are_kept(life, value):
    if life.now.cancelled or life.now.paused:
        return
    new = life.document()
    new["mine"] = value
    new["workflow"]["mine"] = value
    new["state_machine"]["phases"][0]["mine"] = value
    new["checkpoints"]["mine"] = {"at": value}
    life.edited(new)
    after = life.do(cmd.Note("something else")).document()
    assert (after["mine"], after["workflow"]["mine"]) == (value, value)
    assert after["state_machine"]["phases"][0]["mine"] == value
    assert after["checkpoints"]["mine"] == {"at": value}


@given(lives())
@settings(max_examples=examples(150))
def test_a_document_adopted_elsewhere_says_what_it_said_here_and_claims_its_approvals(life):
    """A clone has the document but not the journal."""
    document = life.document()
    state = adopted(document, RELEASE)
    for path in life.now.plan.children(""):
        here, there = life.now.step(path), state.step(path)
        gated = path in ("plan", "pick")
        assert there.status == (lifecycle.DONE if gated and here.status == lifecycle.SKIPPED else here.status)
        if gated and there.status == lifecycle.DONE:
            assert there.grant is not None
            assert there.grant.claimed
    again = plain(put(DOCUMENT, state.base, state))
    for one, other in zip(document["state_machine"]["phases"], again["state_machine"]["phases"], strict=True):
        one.pop("approval", None)
        other.pop("approval", None)
    assert again == document


@given(lives())
@settings(max_examples=examples(150))
def test_every_status_is_one_of_the_convention_and_its_detail_is_the_engines_word(life):
    document, state = life.document(), life.now
    said = queries.status(state)
    assert document["workflow"]["status"] == WORKFLOW_WORDS[said]
    assert document["workflow"]["status"] in ("in_progress", "completed", "blocked", "abandoned")
    if said not in ("in_progress", "completed", "blocked", "cancelled"):
        assert document["workflow"]["status_detail"] == said
    for phase in document["state_machine"]["phases"]:
        engine = state.step(phase["name"]).status
        assert phase["status"] == PHASE_WORDS[engine]
        assert phase["status"] in ("pending", "in_progress", "completed")
        if engine not in (lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.DONE):
            assert phase["status_detail"] == engine


def test_the_id_is_what_the_shell_of_the_convention_computes():
    subject = "features/foundation/event-infrastructure.md"
    assert DIALECT.identify(RELEASE.replace(name="dev"), subject, {}, NOW) == "dev-ed6828a3"


def test_the_document_of_a_new_workflow():
    document = release().document()
    assert document["_schema"] == {"version": "1.0", "skill": "release"}
    assert document["workflow"] == {
        "id": "release-1",
        "status": "in_progress",
        "created_at": "2026-01-01T10:00:00Z",
        "updated_at": "2026-01-01T10:00:00Z",
        "branch": "main",
    }
    assert document["context"] == {"subject": "1.4.0", "title": "Release 1.4.0"}
    assert document["state_machine"]["current_phase"] == "plan"
    assert document["checkpoints"] == {
        "tests": {"status": "pending", "last_run": None, "passed": None},
        "lint": {"status": "pending", "last_run": None, "passed": None},
    }
    assert document["history"] == [{"at": "2026-01-01T10:00:00Z", "event": "workflow_started", "subject": "1.4.0"}]


@pytest.mark.parametrize(
    "moment",
    [
        "2025-01-08T20:00:00Z",
        "2025-01-08T20:00:00.123Z",
        "2025-01-08T21:00:00+01:00",
        "2025-01-08T20:00:00.123456+00:00",
        "2025-01-08T12:00:00-08:00",
    ],
)
def test_a_moment_keeps_the_form_it_was_written_in(moment):
    document = example("dev")
    document["workflow"]["created_at"] = moment
    document["state_machine"]["phases"][0]["completed_at"] = moment
    document["state_machine"]["phases"][2]["started_at"] = moment
    document["checkpoints"]["lint"] = {"status": "completed", "last_run": moment, "passed": True}
    life = Life(cmd.Adopt(adopted(document), document))
    after = life.do(cmd.Note("time continues")).document()
    for part in ("state_machine", "checkpoints"):
        assert after[part] == document[part]
    assert after["workflow"]["created_at"] == moment


def test_a_moment_that_is_none_is_put_right_where_it_only_follows_from_the_rest():
    life = release().do(cmd.Begin("plan"))
    new = life.document()
    new["workflow"]["updated_at"] = "yesterday"
    new["state_machine"]["phases"][0]["started_at"] = "noon"
    assert life.edited(new).document()["workflow"]["updated_at"].startswith("2026-01-01T10:")
    assert life.document()["state_machine"]["phases"][0]["started_at"] == "2026-01-01T10:01:00Z"


def test_history_keeps_the_newest_hundred_and_a_count_of_all():
    life = release()
    assert "history_count" not in life.document()
    for number in range(120):
        life.do(cmd.Note(f"note {number}"))
    document = life.document()
    assert len(document["history"]) == 100
    assert document["history"][-1]["note"] == "note 119"
    assert document["history_count"] == 121


def test_a_document_without_history_gets_one_when_there_is_something_to_tell():
    document = example("dev")
    del document["history"]
    life = Life(cmd.Adopt(adopted(document), document))
    assert life.document() == document
    assert life.do(cmd.Note("first")).document()["history"][0]["note"] == "first"


def test_entries_that_a_script_appends_to_the_history_stay_there_even_twice():
    life = release().do(cmd.Begin("plan"))
    new = life.document()
    entry = {"at": "2026-01-01T11:00:00+00:00", "event": "test_written", "file": "tests/a.py"}
    new["history"] += [entry, entry]
    assert [e for e in life.edited(new).document()["history"] if e["event"] == "test_written"] == [entry, entry]


# The scripts that the convention gives to skills, as they change a document.


def test_moving_the_pointer_finishes_what_is_before_and_begins_what_it_names():
    life = life_of("tdd")
    new = life.document()
    new["state_machine"]["current_phase"] = "refactor"
    new["workflow"]["updated_at"] = "2026-01-01T12:00:00+00:00"
    new["history"].append({"at": "2026-01-01T12:00:00+00:00", "event": "phase_started", "phase": "refactor"})
    life.edited(new)
    assert (status(life, "green"), status(life, "refactor")) == (lifecycle.DONE, lifecycle.ACTIVE)
    assert life.document()["state_machine"]["phases"][1]["status"] == "completed"


def test_completing_a_task_completes_its_tdd_phases_and_remembers_the_commit():
    life = life_of("dev")
    new = life.document()
    new["tasks"][1]["status"] = "completed"
    new["tasks"][1]["commit_sha"] = "abc1234"
    life.edited(new)
    assert life.document()["tasks"][1] == {
        "index": 2,
        "description": "Implement OutboxPublisher",
        "status": "completed",
        "commit_sha": "abc1234",
        "tdd_phases": {"red": "completed", "green": "completed", "refactor": "completed"},
    }
    completed = [entry for entry in life.document()["history"] if entry["event"] == "task_completed"]
    assert completed[-1]["task"] == 2
    assert completed[-1]["commit"] == "abc1234"


def test_a_tdd_phase_of_a_task_can_be_moved_by_hand():
    life = life_of("dev")
    new = life.document()
    new["tasks"][1]["tdd_phases"] = {"red": "completed", "green": "completed", "refactor": "in_progress"}
    life.edited(new)
    assert status(life, "task_execution/2/green") == lifecycle.DONE
    assert status(life, "task_execution/2/refactor") == lifecycle.ACTIVE
    assert life.document()["tasks"][1]["tdd_phases"]["refactor"] == "in_progress"


def test_a_task_can_be_given_its_tdd_phases_later():
    life = life_of("dev")
    new = life.document()
    new["tasks"][1]["status"] = "completed"
    new["tasks"][2].update(status="in_progress", tdd_phases={"red": "in_progress", "green": "pending"})
    life.edited(new)
    assert status(life, "task_execution/3/red") == lifecycle.ACTIVE
    assert life.document()["tasks"][2]["tdd_phases"]["red"] == "in_progress"


def test_a_task_that_is_added_by_hand_has_the_status_it_was_added_with():
    life = life_of("dev")
    new = life.document()
    for task in new["tasks"][1:]:
        task["status"] = "completed"
    new["tasks"].append({"index": 4, "description": "Write the docs", "status": "in_progress"})
    life.edited(new)
    assert status(life, "task_execution/4") == lifecycle.ACTIVE
    assert life.document()["tasks"][3] == {"index": 4, "description": "Write the docs", "status": "in_progress"}


def test_a_checkpoint_written_by_hand_is_reported_evidence_and_begins_its_phase():
    life = life_of("dev")
    new = life.document()
    for task in new["tasks"]:
        task["status"] = "completed"
    new["state_machine"]["phases"][2]["status"] = "completed"
    new["checkpoints"]["lint"] = {"status": "completed", "last_run": "2026-01-01T12:00:00+00:00", "passed": True}
    life.edited(new)
    assert status(life, "verification") == lifecycle.ACTIVE
    recorded = life.now.step("verification").evidence["lint"]
    assert (recorded.passed, recorded.run_by) == (True, "reported")
    checked = [entry for entry in life.document()["history"] if entry["event"] == "checkpoint"]
    assert len(checked) == 1
    assert life.document()["checkpoints"]["lint"] == new["checkpoints"]["lint"]


def test_a_checkpoint_that_did_not_pass_has_run_and_is_still_outstanding():
    life = release().do(cmd.Begin("plan")).do(cmd.Done("plan", {"plan": "PLAN.md"})).do(cmd.Approve("plan"))
    life.do(cmd.Begin("pick")).do(cmd.Approve("pick", "A")).do(cmd.Begin("work"))
    new = life.document()
    new["checkpoints"]["tests"] = {"status": "completed", "last_run": None, "passed": False}
    life.edited(new)
    assert life.document()["checkpoints"]["tests"]["passed"] is False
    new = life.document()
    new["state_machine"]["phases"][2]["status"] = "completed"
    with pytest.raises(Refused) as refused:
        life.edited(new)
    assert refused.value.code == "gate_unmet"


def test_an_approval_cannot_be_written_into_the_document():
    life = release().do(cmd.Begin("plan")).do(cmd.Done("plan", {"plan": "PLAN.md"}))
    new = life.document()
    new["state_machine"]["phases"][0]["approval"]["approved"] = True
    with pytest.raises(Refused) as refused:
        life.edited(new)
    assert refused.value.code == "forged"
    new = life.document()
    new["state_machine"]["current_phase"] = "work"
    with pytest.raises(Refused) as refused:
        life.edited(new)
    assert refused.value.code == "gate_unmet"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d["workflow"].update(id="other"),
        lambda d: d.update(workflow=[]),
        lambda d: d.update(tasks={}),
        lambda d: d["tasks"].append({"description": "no index"}),
        lambda d: d["tasks"].append("text"),
        lambda d: d["state_machine"].update(phases="none"),
        lambda d: d["state_machine"].update(current_phase=["green"]),
        lambda d: d["state_machine"]["phases"][2].update(status="nearly"),
        lambda d: d["state_machine"]["phases"][2].update(status=[1]),
        lambda d: d["workflow"].update(status="great"),
        lambda d: d["_schema"].update(file="elsewhere"),
        lambda d: d.clear(),
    ],
)
def test_an_edit_that_cannot_be_understood_is_refused_whole(spoil):
    life = life_of("dev")
    new = life.document()
    spoil(new)
    with pytest.raises((Refused, UsageError)):
        life.edited(new)


# Documents that others wrote, with gaps.


def test_a_pointer_ahead_of_the_statuses_says_that_the_phases_before_it_are_done():
    document = example("tdd")
    for phase in document["state_machine"]["phases"]:
        phase["status"] = "pending"
    document["state_machine"]["current_phase"] = "refactor"
    state = adopted(document)
    assert [state.step(p).status for p in state.plan.children("")] == ["done", "done", "active", "pending"]


def test_a_gate_before_the_pointer_is_claimed_and_opens_nothing():
    document = release().document()
    document["state_machine"]["current_phase"] = "work"
    state = adopted(document, RELEASE)
    assert (state.step("pick").status, state.step("work").status) == (lifecycle.DONE, lifecycle.ACTIVE)
    assert gates.missing(state, "pick", Facts(now=NOW)) == ["plan"]
    assert "pick" in gates.missing(state, "work", Facts(now=NOW))


def test_a_skipped_gate_in_a_document_is_a_claim_too():
    document = release().document()
    document["state_machine"]["phases"][0].update(status="completed", status_detail="skipped")
    life = Life(cmd.Adopt(adopted(document, RELEASE), document))
    with pytest.raises(Refused) as refused:
        life.do(cmd.Begin("pick"))
    assert refused.value.code == "step_blocked"


def test_gates_are_read_from_the_document_when_the_definition_is_not_at_hand():
    state = adopted(release().document())
    assert state.plan.step("plan").approval == Approval("human")
    assert state.plan.step("pick").choice == Choice(("A", "B"))
    assert [check.name for check in state.plan.step("work").checks] == ["tests", "lint"]


def test_how_far_an_unlisted_step_has_come_is_read_from_current_step():
    life = release()
    for command in ONWARD[:-1]:
        life.do(command)
    document = life.document()
    assert document["state_machine"]["current_step"] == "docs"
    state = adopted(document, RELEASE)
    assert state.step("publish/wheel").status == lifecycle.DONE
    assert queries.current(state) == "publish/docs"


def test_what_a_definition_requires_and_may_be_left_out_holds_nothing_up():
    steps = [{"id": "plan", "optional": True}, {"id": "red"}, {"id": "green", "requires": ["plan", "red"]}]
    definition = read({"name": "tdd", "step": steps})
    state = adopted(example("tdd"), definition)
    assert state.plan.requires("green") == ("red",)


@pytest.mark.parametrize(
    ("said", "engine"), [("completed", "completed"), ("blocked", "blocked"), ("abandoned", "cancelled")]
)
def test_the_status_of_the_whole_is_taken_from_the_document(said, engine):
    document = example("tdd")
    document["workflow"]["status"] = said
    state = adopted(document)
    assert queries.status(state) == engine
    assert plain(put(DOCUMENT, state.base, state))["workflow"] == document["workflow"]


def test_a_completed_task_has_completed_phases_whatever_was_left_standing():
    document = example("dev")
    document["tasks"][1]["status"] = "completed"
    state = adopted(document)
    assert state.step("task_execution/2/refactor").status == lifecycle.DONE


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("workflow"),
        lambda d: d["workflow"].update(id="../../etc/passwd"),
        lambda d: d["workflow"].update(id=""),
        lambda d: d["workflow"].update(status="great"),
        lambda d: d.update(state_machine=[]),
        lambda d: d["state_machine"].update(phases=[]),
        lambda d: d["state_machine"].update(phases=["red"]),
        lambda d: d["state_machine"]["phases"].append({"name": "a/b"}),
        lambda d: d["state_machine"]["phases"].append(copy.deepcopy(d["state_machine"]["phases"][0])),
        lambda d: d["state_machine"]["phases"][0].update(status="nearly"),
        lambda d: d["state_machine"]["phases"][0].update(status={}),
        lambda d: d["tasks"].append({"index": 1}),
        lambda d: d["tasks"].append({"index": True}),
        lambda d: d["tasks"].append({"index": -1}),
        lambda d: d["tasks"].append(7),
        lambda d: d["tasks"][1]["tdd_phases"].update(red="?"),
        lambda d: d.update(context=[]),
        lambda d: d.update(checkpoints=[]),
        lambda d: d.update(_schema="1.0"),
    ],
)
def test_what_is_no_workflow_is_refused_with_a_remedy(spoil):
    document = example("dev")
    spoil(document)
    with pytest.raises(UsageError) as refused:
        adopted(document)
    assert refused.value.remedy.startswith("holdfast schema")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    ("_schema", "skill"), ("workflow", "created_at"), ("workflow", "branch"), ("workflow", "status_detail"),
    ("context", "feature_file"), ("state_machine", "current_phase"), ("state_machine", "current_step"),
    ("state_machine", "phases", 0, "completed_at"), ("state_machine", "phases", 3, "steps"),
    ("state_machine", "phases", 2, "attempt"), ("state_machine", "phases", 2, "artifacts"),
    ("state_machine", "phases", 2, "approval"), ("state_machine", "phases", 2, "feedback"),
    ("state_machine", "phases", 2, "progress"), ("state_machine", "phases", 2, "status_detail"),
    ("tasks",), ("tasks", 1, "tdd_phases"), ("tasks", 1, "commit_sha"), ("tasks", 1, "description"),
    ("checkpoints", "lint"), ("checkpoints", "lint", "last_run"), ("checkpoints", "lint", "passed"), ("history",),
]  # fmt: skip


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=examples(400))
def test_any_value_anywhere_is_read_or_refused_and_never_an_accident(place, value):
    """Documents come from outside: whatever is in a field, adopting and editing answer in Holdfast's words."""
    document = example("dev")
    holder: Any = document
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    try:
        life = Life(cmd.Adopt(adopted(document), document))
        life.do(cmd.Note("on")).document()
    except HoldfastError:
        pass
    life = life_of("dev")
    try:
        life.edited(document).document()
    except HoldfastError:
        pass


def test_a_document_keeps_the_file_that_scripts_know_it_by():
    document = found_at(example("dev"), ".claude/workflow-state/active/dev-ed6828a3.json")
    assert document["_schema"]["file"] == "dev-ed6828a3"
    state = adopted(dict(document))
    assert state.id == "dev-evt-infra-a1b2"
    assert DOCUMENT.path(state) == ".claude/workflow-state/active/dev-ed6828a3.json"
    assert plain(put(DOCUMENT, state.base, state)) == document
    same = example("dev")
    assert found_at(same, ".claude/workflow-state/active/dev-evt-infra-a1b2.json") == same
    assert found_at(same, "x/..json") == same
