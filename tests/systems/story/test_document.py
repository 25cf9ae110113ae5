"""The story dialect: what it writes, what it reads back, and what an edit by hand asks for."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

import holdfast
from holdfast.core import commands as cmd
from holdfast.core import lifecycle
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State
from holdfast.definitions.file import load
from holdfast.documents.lens.changes import changes
from holdfast.documents.lens.edits import edit
from holdfast.documents.lens.mapping import put
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import entry_of
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.systems.seam.registry import words
from holdfast.systems.story.document import DIALECT, DOCUMENT
from holdfast.systems.story.words import PHASE, STEP, WORKFLOW
from holdfast.upkeep import schemas
from tests.core.play import AGENT, FILE, PERSON, Play

DATA = Path(__file__).parent / "data"
BUILT_IN = Path(holdfast.__file__).parent / "systems" / "story" / "definitions"
NOW = "2026-01-01T09:00:00.000Z"
SESSION = "work-on-chapter-02"
GENERATION = load(f"{BUILT_IN}/generation.toml", words=words())
PLANNING = load(f"{BUILT_IN}/story-planning.toml")
DEFINITIONS = {"generation": GENERATION, "planning": PLANNING}
KNOWN_EXTRAS: dict[str, dict[int, Any]] = {"parallel_agents": {6: 7}, "parallel": {1: True}}
"""What the convention says of a step that is not the definition's to say: how many agents whoever runs it starts."""


def example(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def adopted(document: dict[str, Any], definition: Definition | None = None) -> State:
    return DIALECT.adopt(document, definition, Facts(now=NOW), "0" * 26)


def plain(document: Any) -> dict[str, Any]:
    """A document as it is after it was written and read."""
    return json.loads(Writer().write(document))


def document_of(state: State) -> dict[str, Any]:
    return plain(put(DOCUMENT, state.base, state))


def valid(document: dict[str, Any]) -> list[str]:
    return [error.message for error in Draft7Validator(schemas.schema("story")).iter_errors(document)]


def generation() -> Play:
    play = Play()
    how = {"subject": "0204", "context": {"scene_id": "0204"}, "session": SESSION}
    play.do(cmd.Start.of(GENERATION, "0" * 26, "generation-scene-0204-20260101-090000", **how))
    for name in ("constraints", "plan", "draft", "echo", "result", "report", "final", "scene"):
        play.write(f"{name}.md", name)
    return play


def planning() -> Play:
    play = Play()
    context = {"level": "scene", "act": 1, "chapter": 2, "scene": 4}
    how = {"subject": "scene-0204", "context": context, "session": SESSION}
    play.do(cmd.Start.of(PLANNING, "0" * 26, "planning-scene-0204-20260101-090000", **how))
    return play.write("work.md", "work")


def adopted_play(name: str) -> Play:
    document = example(name)
    play = Play()
    play.do(cmd.Adopt(adopted(document, DEFINITIONS[name]), document))
    return play


def edited(play: Play, change: Callable[[dict[str, Any]], Any]) -> Play:
    """Decides what somebody wrote into the document."""
    old = document_of(play.state)
    new = copy.deepcopy(old)
    change(new)
    play.do(edit(DOCUMENT, play.state, "state.json", old, new), by=FILE)
    return play


Turn = tuple[cmd.Command, dict[str, Any]]
SAME = "it is right as it is"
FAIL = {"status": "FAIL", "violations": [{"check": "word_count", "message": "too short"}], "retry_guidance": {}}


def turn(command: cmd.Command, **how: Any) -> Turn:
    return command, how


def tried(said: dict[str, Any]) -> list[Turn]:
    return [
        turn(cmd.Done("generation", {"draft": "draft.md", "compliance_echo": "echo.md"}, unchanged=SAME)),
        turn(cmd.Begin("fast-compliance-check")),
        turn(cmd.Done("fast-compliance-check", {"fast_compliance_result": "result.md"}), results={"result.md": said}),
    ]


BLUEPRINT = {"blueprint_path": "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md"}
WAITING: list[Turn] = [
    turn(cmd.Begin("file-check")),
    turn(cmd.Done("file-check", data=BLUEPRINT)),
    turn(cmd.Begin("blueprint-validation")),
    turn(cmd.Done("blueprint-validation", {"constraints_list": "constraints.md"}, data={"constraints": 3})),
    turn(cmd.Begin("verification-plan")),
    turn(cmd.Done("verification-plan", {"verification_plan": "plan.md"})),
]
GENERATED: list[Turn] = [
    *WAITING,
    turn(cmd.Reject("verification-plan", "", {"tone": "dry"})),
    turn(cmd.Done("verification-plan", unchanged=SAME)),
    turn(cmd.Reject("verification-plan")),
    turn(cmd.Resume()),
    turn(cmd.Done("verification-plan", unchanged=SAME)),
    turn(cmd.Approve("verification-plan", "", {"tone": "wet"})),
    turn(cmd.Begin("generation")),
    turn(cmd.Fail("generation", "the writer is stuck")),
    turn(cmd.Block("generation", "no ink")),
    turn(cmd.Unblock("generation")),
    turn(cmd.Pause("lunch")),
    turn(cmd.Resume()),
    *tried(FAIL),
    *tried(FAIL),
    turn(cmd.Resume("generation"), by=PERSON),
    *tried({"status": "PASS"}),
    turn(cmd.Cancel("enough")),
    turn(cmd.Resume()),
    turn(cmd.Skip("full-validation", "seen to by hand"), by=PERSON),
    turn(cmd.Begin("final-output")),
    turn(cmd.Done("final-output", {"final_report": "final.md", "scene_content": "scene.md"})),
]


def phase(name: str, *outputs: str) -> list[Turn]:
    return [turn(cmd.Begin(name)), turn(cmd.Done(name, dict.fromkeys(outputs, "work.md")))]


PLANNED: list[Turn] = [
    *phase("exploration", "exploration_results"),
    *phase("scenarios", "scenarios"),
    turn(cmd.Reject("scenarios")),
    turn(cmd.Done("scenarios", unchanged=SAME)),
    turn(cmd.Approve("scenarios", "A")),
    turn(cmd.Begin("path-planning")),
    turn(cmd.Fail("path-planning", "no path")),
    turn(cmd.Resume()),
    turn(cmd.Done("path-planning", {"path_plan": "work.md"})),
    *phase("detailing", "detailed_plans"),
    *phase("integration", "integration_analysis", "plan"),
    turn(cmd.Reject("integration", "", {"arc": "steeper"})),
    turn(cmd.Done("integration", unchanged=SAME)),
    turn(cmd.Approve("integration")),
    turn(cmd.Reopen("detailing", "once more")),
]


def moments(play: Play, turns: list[Turn]) -> Iterator[dict[str, Any]]:
    """The document at the start, and after every turn."""
    yield document_of(play.state)
    for command, how in turns:
        play.wait(60).do(command, **how)
        yield document_of(play.state)


def waiting() -> Play:
    play = generation()
    for command, how in WAITING:
        play.wait(60).do(command, **how)
    return play


def step_of(document: dict[str, Any], number: int) -> dict[str, Any]:
    run = document.get("generation") or document["planning"]
    return (run.get("steps") or run["phases"])[number - 1]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
@pytest.mark.parametrize("name", ["generation", "planning"])
def test_writing_an_adopted_document_back_gives_the_same_value(name, known):
    document = example(name)
    state = adopted(document, DEFINITIONS[name] if known else None)
    for revision in (0, 1):
        assert document_of(state.replace(revision=revision)) == document


@pytest.mark.parametrize("name", ["generation", "planning"])
def test_the_first_rendering_after_the_adoption_is_still_the_document_that_was_found(name):
    assert document_of(adopted_play(name).state) == example(name)


@pytest.mark.parametrize("name", ["generation", "planning"])
def test_a_run_adopted_in_a_session_stays_in_it(name):
    play = adopted_play(name)
    assert play.state.session == SESSION
    document = example(name)
    assert DOCUMENT.path(play.state) == f"workspace/sessions/{SESSION}/workflow-state/{document['workflow_id']}.json"
    after = document_of(play.wait(60).do(cmd.Note("on")) and play.state)
    assert after.pop("updated_at") != document.pop("updated_at")
    assert after == document


def test_the_choice_that_a_document_speaks_of_opens_nothing_until_a_person_confirms_it():
    play = adopted_play("planning")
    grant = play.state.step("scenarios").grant
    assert grant is not None
    assert (grant.claimed, grant.variant) == (True, "A")
    play.refuses(cmd.Begin("detailing"), "step_blocked")


def test_the_index_of_the_convention_is_what_holdfast_writes_for_the_same_run():
    wanted = example("index")
    entry = entry_of(adopted(example("generation"), GENERATION))
    assert DIALECT.index is not None
    path, said = DIALECT.index([entry], None, NOW, SESSION)
    assert path == f"workspace/sessions/{SESSION}/workflow-state/index.json"
    assert plain(said) == wanted


def test_the_index_of_the_project_has_the_runs_outside_of_sessions_and_no_session_name():
    entry = entry_of(adopted(example("generation"), GENERATION))
    assert DIALECT.index is not None
    path, said = DIALECT.index([entry, entry.replace(session="", status="escalated")], None, NOW, "")
    assert path == "workspace/workflow-state/index.json"
    (listed,) = said["workflows"]
    assert "session_name" not in listed
    assert listed["status"] == "failed"
    assert listed["state_file"] == f"workspace/workflow-state/{entry.id}.json"


def said_of(definition: Definition, key: str) -> list[dict[str, Any]]:
    """The definition in the convention's words."""
    plan = Plan(definition.steps)
    said = []
    for number, path in enumerate(plan.children(""), 1):
        step = plan.step(path)
        made = [step.fact] if step.action == "blueprint" else []
        gated = bool(step.approval or step.choice)
        own_tries = step.retry is not None and not step.retry.back_to
        one: dict[str, Any] = {key: number, "name": step.name, "agents": list(step.agents)}
        one["prerequisites"] = [plan.number(needed) for needed in plan.requires(path)]
        one["outputs"] = [*made, *step.outputs]
        one["human_approval"] = gated
        if key == "step":
            one.update(agent=step.agents[0], description=step.description, retry_enabled=own_tries)
            one |= {"max_attempts": step.retry.max} if own_tries and step.retry else {}
            one |= {"triggers_retry": True} if step.retry and step.retry.back_to and step.retry.max > 1 else {}
        elif step.choice:
            one["approval_type"] = "select_variant"
        said.append(one)
    return said


def without_extras(listed: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    for one in listed:
        for name, by_number in KNOWN_EXTRAS.items():
            assert one.pop(name, None) in (None, False, by_number.get(one[key]))
    return listed


def test_the_steps_of_generation_are_those_of_the_convention():
    wanted = without_extras(example("generation-steps")["generation_steps"], "step")
    found = said_of(GENERATION, "step")
    for one in found:
        assert one.pop("agents") == [one["agent"]]
    assert found == wanted


def test_the_phases_of_planning_are_those_of_the_convention_and_the_plan_is_approved_at_the_end():
    wanted = without_extras(example("planning-phases")["planning_phases"]["scene"], "phase")
    wanted[-1]["human_approval"] = True
    wanted[-1]["outputs"] = ["integration_analysis", "plan"]
    assert said_of(PLANNING, "phase") == wanted


def test_ids_say_what_a_run_is_about_and_when_it_began():
    now = "2025-11-10T14:30:00.123Z"
    assert DIALECT.identify(GENERATION, "0204", {}, now) == "generation-scene-0204-20251110-143000"
    for subject in ("scene-0204", "chapter-02", "act-1"):
        assert DIALECT.identify(PLANNING, subject, {}, now) == f"planning-{subject}-20251110-143000"


@pytest.mark.parametrize(
    ("status", "step", "phase_word"),
    [
        ("pending", "pending", "pending"),
        ("active", "in_progress", "in_progress"),
        ("in_review", "in_progress", "in_progress"),
        ("waiting", "waiting_approval", "waiting_approval"),
        ("done", "completed", "completed"),
        ("failed", "failed", "in_progress"),
        ("blocked", "in_progress", "in_progress"),
        ("escalated", "failed", "in_progress"),
        ("skipped", "completed", "completed"),
    ],
)
def test_every_status_of_a_step_has_its_word(status, step, phase_word):
    assert STEP.encode(status) == step
    assert PHASE.encode(status) == phase_word
    for play, path, word in ((generation(), "generation", step), (planning(), "path-planning", phase_word)):
        state = play.state
        said = document_of(state.replace(progress={**state.progress, path: Progress(status=status)}))
        (found,) = [
            one for one in (said.get("generation", {}).get("steps") or said["planning"]["phases"])
            if one["name"] == state.plan.step(path).name
        ]  # fmt: skip
        assert found["status"] == word
        assert found.get("status_detail", status) == status
        assert ("status_detail" in found) == (word not in _says(status))
        assert valid(said) == []


def _says(status: str) -> tuple[str, ...]:
    """The words that say all of a status."""
    plain_words = {
        "pending": "pending",
        "active": "in_progress",
        "waiting": "waiting_approval",
        "done": "completed",
        "failed": "failed",
    }
    return (plain_words[status],) if status in plain_words else ()


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("in_progress", "in_progress"),
        ("waiting", "in_progress"),
        ("paused", "in_progress"),
        ("blocked", "in_progress"),
        ("failed", "failed"),
        ("escalated", "failed"),
        ("completed", "completed"),
        ("finalized", "completed"),
        ("cancelled", "cancelled"),
    ],
)
def test_every_status_of_a_run_has_its_word(status, word):
    assert WORKFLOW.encode(status) == word
    assert DIALECT.status_words[status] == word


def test_a_run_that_is_said_to_wait_is_read_as_in_progress():
    document = {**example("generation"), "status": "waiting_approval"}
    assert WORKFLOW.decode("waiting_approval") == "in_progress"
    assert adopted(document, GENERATION).step("verification-plan").status == lifecycle.WAITING


def test_a_paused_run_says_so_beside_its_status():
    play = generation()
    play.do(cmd.Pause("lunch"))
    document = document_of(play.state)
    assert (document["status"], document["status_detail"]) == ("in_progress", "paused")
    play.do(cmd.Resume())
    assert "status_detail" not in document_of(play.state)


def test_the_waiting_generation_is_the_example_of_the_convention_but_for_times_and_paths():
    found, wanted = document_of(waiting().state), example("generation")
    assert _timeless(found) == _timeless(wanted)


def _timeless(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _timeless(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_timeless(one) for one in value]
    if isinstance(value, str) and (key.endswith("_at") or key in ("constraints_list", "verification_plan")):
        return "a time" if key.endswith("_at") else "a path"
    return "an id" if key in ("workflow_id", "working_dir") else value


@pytest.mark.parametrize(
    ("play", "turns"), [(generation, GENERATED), (planning, PLANNED)], ids=["generation", "planning"]
)
def test_documents_are_valid_at_every_moment_and_ask_for_nothing_by_themselves(play, turns):
    life = play()
    for document in moments(life, turns):
        assert valid(document) == []
        assert list(changes(DOCUMENT, life.state, document, document)) == []


@pytest.mark.parametrize("name", ["generation", "planning"])
def test_the_examples_of_the_convention_are_valid(name):
    assert valid(example(name)) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("workflow_id"),
        lambda d: d.update(workflow_id="../up"),
        lambda d: d.update(status="great"),
        lambda d: d.update(created_at="yesterday"),
        lambda d: d.pop("generation"),
        lambda d: d["generation"].update(steps=[]),
        lambda d: d["generation"]["steps"][0].update(status="nearly"),
        lambda d: d["generation"]["steps"][0].pop("name"),
        lambda d: d["generation"]["steps"][0].update(artifacts={"draft": 7}),
        lambda d: d["generation"]["steps"][2].update(human_approval=True),
        lambda d: d["generation"]["steps"][3]["attempts"].update(current="one"),
        lambda d: d["generation"].update(scene_id="204"),
        lambda d: d.update(workflow_type="planning"),
    ],
)
def test_what_is_no_story_document_the_schema_does_not_allow(spoil):
    document = example("generation")
    spoil(document)
    assert valid(document)


def test_the_plan_as_a_whole_is_asked_about_only_once_it_waits():
    documents = list(moments(planning(), PLANNED[:-4]))
    assert [step_of(one, 5)["status"] for one in documents[-2:]] == ["in_progress", "waiting_approval"]
    assert all("human_approval" not in step_of(one, 5) for one in documents[:-1])
    assert step_of(documents[-1], 5)["human_approval"] == {"required": True, "approved": False, "approved_at": None}


def test_a_plan_that_was_sent_back_says_what_should_change():
    (*_, sent_back) = moments(planning(), PLANNED[:-3])
    assert step_of(sent_back, 5)["status"] == "in_progress"
    assert step_of(sent_back, 5)["human_approval"]["modifications"] == {"arc": "steeper"}


def test_what_an_approval_or_a_rejection_modified_stands_in_the_document():
    play = waiting()
    play.do(cmd.Reject("verification-plan", "", {"tone": "dry"}))
    said = step_of(document_of(play.state), 3)
    assert said["status"] == "in_progress"
    assert said["human_approval"]["modifications"] == {"tone": "dry"}
    play.do(cmd.Done("verification-plan", unchanged=SAME))
    play.do(cmd.Approve("verification-plan", "", {"tone": "wet"}))
    approval = step_of(document_of(play.state), 3)["human_approval"]
    assert approval == {"required": True, "approved": True, "approved_at": _at(play), "modifications": {"tone": "wet"}}


def _at(play: Play) -> str:
    return play.now[:19] + "Z"


def test_the_tries_of_a_document_are_read_back_as_they_were_written():
    play = generation()
    for command, how in GENERATED[: GENERATED.index(turn(cmd.Fail("generation", "the writer is stuck"))) + 1]:
        play.wait(60).do(command, **how)
    play.do(cmd.Done("generation", {"draft": "draft.md", "compliance_echo": "echo.md"}))
    play.do(cmd.Begin("fast-compliance-check"))
    said = {**FAIL, "retry_guidance": {"emphasis_needed": ["length"]}}
    play.do(tried({})[2][0], results={"result.md": said})
    document = document_of(play.state)
    assert step_of(document, 4)["attempts"]["current"] == 3
    assert [(one["attempt"], one["emphasis_needed"]) for one in step_of(document, 4)["attempts"]["history"]] == [
        (1, []),
        (2, ["length"]),
    ]
    there = adopted(document, GENERATION)
    assert there.step("generation").failures == 2
    assert step_of(document_of(there), 4) == step_of(document, 4)


# What people and agents write into the document by hand.


def test_beginning_a_step_by_hand_begins_it():
    play = edited(generation(), lambda d: step_of(d, 1).update(status="in_progress"))
    assert play.status("file-check") == "active"


def test_completing_a_phase_by_hand_needs_its_output_and_counts_when_it_is_named_before():
    play = planning()
    play.do(cmd.Begin("exploration"))
    with pytest.raises(Refused) as refused:
        edited(play, lambda d: step_of(d, 1).update(status="completed"))
    assert refused.value.code == "gate_unmet"
    play.do(cmd.Attach("exploration", {"exploration_results": "work.md"}))
    edited(play, lambda d: step_of(d, 1).update(status="completed"))
    assert play.status("exploration") == "done"


def test_cancelling_and_resuming_by_hand():
    play = edited(generation(), lambda d: d.update(status="cancelled"))
    assert play.state.cancelled is not None
    edited(play, lambda d: d.update(status="in_progress"))
    assert play.state.cancelled is None


def test_fields_that_the_dialect_does_not_know_are_kept():
    def mine(document: dict[str, Any]) -> None:
        document["mine"] = {"a": 1}
        document["generation"]["mine"] = [2]
        step_of(document, 4)["mine"] = "three"

    play = edited(generation(), mine)
    play.do(cmd.Begin("file-check"))
    after = document_of(play.state)
    assert (after["mine"], after["generation"]["mine"], step_of(after, 4)["mine"]) == ({"a": 1}, [2], "three")


@pytest.mark.parametrize(
    "forge",
    [
        lambda d: step_of(d, 3)["human_approval"].update(approved=True, approved_at="2026-01-01T10:00:00Z"),
        lambda d: step_of(d, 3)["human_approval"].update(required=False),
        lambda d: step_of(d, 3).pop("human_approval"),
        lambda d: step_of(d, 3).update(status="completed"),
        lambda d: step_of(d, 4).update(status="in_progress"),
        lambda d: step_of(d, 4)["attempts"].update(max=99),
        lambda d: step_of(d, 4)["attempts"].update(current=0, history=[{}]),
        lambda d: step_of(d, 1).update(status="pending"),
        lambda d: step_of(d, 3)["artifacts"].update(verification_plan="other.md"),
        lambda d: d.update(status="completed"),
        lambda d: d.update(workflow_id="generation-scene-0205-20260101-090000"),
        lambda d: d.update(session_name="other"),
        lambda d: d["generation"]["artifacts"].update(blueprint_path="/etc/passwd"),
    ],
)
def test_what_only_a_command_may_do_is_refused_in_the_document(forge):
    play = waiting()
    before = play.state
    with pytest.raises(HoldfastError):
        edited(play, forge)
    assert play.state is before


def test_a_choice_cannot_be_forged_in_the_document():
    play = planning()
    for command, how in PLANNED[:4]:
        play.do(command, **how)

    def forge(document: dict[str, Any]) -> None:
        step_of(document, 2).update(status="completed", completed_at="2026-01-01T10:00:00Z")
        step_of(document, 2)["human_approval"].update(approved=True, selected_variant="B")

    with pytest.raises(Refused) as refused:
        edited(play, forge)
    assert refused.value.code == "forged"
    assert play.status("scenarios") == "waiting"


def test_an_agent_cannot_approve_by_completing_what_waits():
    play = waiting()
    play.refuses(cmd.Done("verification-plan"), "gate_unmet", by=AGENT)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"workflow_id": "x"},
        {"workflow_id": "../x", "workflow_type": "generation", "generation": {"steps": [{"name": "x"}]}},
        {"workflow_id": "x", "workflow_type": "generation", "generation": {"steps": []}},
        {"workflow_id": "x", "workflow_type": "generation", "generation": {"steps": [{"name": 7}]}},
        {"workflow_id": "x", "workflow_type": "generation", "generation": []},
    ],
)
def test_what_is_no_document_of_a_run_is_not_adopted(document):
    with pytest.raises(UsageError) as refused:
        adopted(document)
    assert refused.value.code == "not_a_workflow"


@pytest.mark.parametrize("value", [None, 7, "x", [], [[]], {"a": []}, True, -1, 1e308])
@pytest.mark.parametrize(
    "place",
    [
        ("status",),
        ("session_name",),
        ("created_at",),
        ("generation", "scene_id"),
        ("generation", "current_step"),
        ("generation", "steps"),
        ("generation", "artifacts"),
        ("generation", "steps", 2),
        ("generation", "steps", 2, "status"),
        ("generation", "steps", 2, "status_detail"),
        ("generation", "steps", 2, "artifacts"),
        ("generation", "steps", 2, "human_approval"),
        ("generation", "steps", 3, "attempts"),
        ("generation", "steps", 3, "attempts", "history"),
        ("generation", "steps", 3, "attempts", "current"),
    ],
)
def test_whatever_stands_in_a_field_adopting_and_editing_answer_in_holdfasts_words(place, value):
    document = example("generation")
    holder: Any = document
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    try:
        play = Play()
        play.do(cmd.Adopt(adopted(document, GENERATION), document))
        play.do(cmd.Note("on"))
        document_of(play.state)
    except HoldfastError:
        pass
    play = adopted_play("generation")
    try:
        play.do(edit(DOCUMENT, play.state, "state.json", document_of(play.state), document), by=FILE)
        document_of(play.state)
    except HoldfastError:
        pass
