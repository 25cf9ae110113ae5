"""A document without a journal becomes a workflow with all that its definition asks for; its claims stay claims."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.core import commands as cmd
from holdfast.core import gates
from holdfast.errors import HoldfastError, Refused
from holdfast.systems.seam.adoption import adopt, understood
from holdfast.systems.seam.found import Found, dialect_of
from tests.losing import SCENES, forgotten
from tests.tiers import is_full
from tests.workbench import LOGIN, Bench

RELEASE = """\
name = "release"
dialect = "{dialect}"

[[step]]
id = "write"

[[step]]
id = "sign-off"
approval = {{ by = "human" }}

[[step]]
id = "publish"
"""


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path / "project").begun()


def given_up(bench: Bench, dialect: str) -> tuple[Path, dict[str, Any]]:
    """The document of a release that a person gave up, and where it lay."""
    bench.write(".holdfast/workflows/release.toml", RELEASE.format(dialect=dialect))
    work = bench.start("release", "1.0")
    document = dict(work.document())
    path = next(p for p in bench.root.rglob("*.json") if work.id in p.name)
    bench.open("human").workflow(work.id).cancel("enough")
    return path, json.loads(json.dumps(document))


def put(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))


def without_the_gate(dialect: str, document: dict[str, Any]) -> dict[str, Any]:
    """A document of another run that leaves the approval out."""
    if dialect == "skill":
        document["workflow"].update(created_at="2026-01-01T00:00:00Z", status="in_progress")
        del document["state_machine"]["phases"][1]
    elif dialect == "story":
        document.update(created_at="2026-01-01T00:00:00Z", status="in_progress")
        del document["generation"]["steps"][1]
    else:
        document.update(created_at="2026-01-01T00:00:00Z")
        document["phase"].update(total=2, status="in_progress")
    return document


@pytest.mark.parametrize("dialect", ["skill", "story", "compaction"])
def test_a_gate_that_a_document_leaves_out_comes_from_the_definition_and_is_told(bench, dialect):
    path, document = given_up(bench, dialect)
    put(path, without_the_gate(dialect, document))
    answer = bench.ok("begin", "write")
    assert "restored" in answer.out
    work = bench.open().workflow()
    assert [(one, work.state.step(one).status) for one in work.state.plan.paths] == [
        ("write", "active"),
        ("sign-off", "pending"),
        ("publish", "pending"),
    ]
    assert [alert.code for alert in work.state.alerts] == ["steps_put_back"]
    work.done("write")
    with pytest.raises(Refused):
        bench.open().workflow().begin("publish")
    bench.open().workflow().begin("sign-off").done("sign-off")
    with pytest.raises(Refused):
        bench.open().workflow().begin("publish")
    bench.open("human").workflow().approve("sign-off")
    bench.open().workflow().begin("publish").done("publish")


def another_id(document: dict[str, Any]) -> None:
    document["workflow"]["id"] = "release-2"


def by_hand(document: dict[str, Any]) -> None:
    phases = [{"name": name, "status": "pending"} for name in ("write", "publish")]
    said = {"id": "release-by-hand", "status": "in_progress"}
    document.clear()
    document.update(workflow=said, state_machine={"current_phase": "write", "phases": phases})


def another_word_for_it(document: dict[str, Any]) -> None:
    document["_schema"]["skill"] = "nothing"


def pointing_past_it(document: dict[str, Any]) -> None:
    document["state_machine"]["current_phase"] = "publish"
    document["state_machine"]["phases"][-1]["status"] = "in_progress"


def completed(document: dict[str, Any]) -> None:
    document["workflow"]["status"] = "completed"
    for phase in document["state_machine"]["phases"]:
        phase["status"] = "completed"


@pytest.mark.parametrize("change", [another_id, by_hand, another_word_for_it, pointing_past_it])
def test_no_form_of_a_document_gets_past_the_gate_that_it_leaves_out(bench, change):
    path, document = given_up(bench, "skill")
    document = without_the_gate("skill", document)
    change(document)
    put(path.with_name(f"{document['workflow']['id']}.json"), document)
    state = bench.open().workflow().state
    assert state.step("sign-off").status == "pending"
    with pytest.raises(Refused):
        bench.open().workflow().done("publish")


def test_a_document_that_says_completed_and_leaves_a_gate_out_is_not(bench):
    path, document = given_up(bench, "skill")
    completed(without_the_gate("skill", document))
    put(path, document)
    state = bench.open().workflow().state
    assert [state.step(one).status for one in state.plan.paths] == ["done", "pending", "done"]
    assert not state.finished_at


def test_left_out_may_be_what_is_optional_and_what_the_work_went_past_without_a_gate(bench):
    steps = ["a", "b", "c", "d", "e"]
    lines = [f'[[step]]\nid = "{one}"\n' + ("optional = true\n" if one == "d" else "") for one in steps]
    bench.write(".holdfast/workflows/plain.toml", "\n".join(['name = "plain"', *lines]))
    phases = [{"name": "a", "status": "completed"}, {"name": "c", "status": "in_progress"}, {"name": "mine"}]
    said = {"workflow": {"id": "plain-1"}, "state_machine": {"current_phase": "c", "phases": phases}}
    put(bench.root / ".claude/workflow-state/active/plain-1.json", said)
    state = bench.open().workflow().state
    assert list(state.plan.paths) == ["a", "c", "e", "mine"]
    assert "did not name e:" in state.alerts[0].message


def test_a_document_whose_definition_nobody_knows_keeps_what_it_says(bench):
    said = {"workflow": {"id": "odd-1"}, "state_machine": {"phases": [{"name": "a"}, {"name": "b"}]}}
    put(bench.root / ".claude/workflow-state/active/odd-1.json", said)
    state = bench.open().workflow().state
    assert list(state.plan.paths) == ["a", "b"]
    assert not state.alerts


def test_a_step_that_is_worked_on_is_not_done_before_one_that_comes_first(bench):
    path, document = given_up(bench, "skill")
    pointing_past_it(document)
    document["workflow"]["created_at"] = "2026-01-01T00:00:00Z"
    document["state_machine"]["current_phase"] = "write"
    put(path, document)
    with pytest.raises(Refused) as caught:
        bench.open().workflow().done("publish")
    assert "sign-off" in caught.value.message


def test_what_the_definition_says_beside_its_steps_holds_too(bench):
    path, document = given_up(bench, "skill")
    more = 'keep_going = true\nrequire_ack = true\nread_only = ["*-reviewer"]\n'
    bench.write(".holdfast/workflows/release.toml", more + RELEASE.format(dialect="skill"))
    put(path, without_the_gate("skill", document))
    state = bench.open().workflow().state
    assert (state.keep_going, state.require_ack, state.read_only) == (True, True, ("*-reviewer",))


def test_a_compaction_document_names_its_definition_in_a_clone(bench, tmp_path):
    path, document = given_up(bench, "compaction")
    clone = Bench(tmp_path / "clone").begun()
    clone.write(".holdfast/workflows/release.toml", RELEASE.format(dialect="compaction"))
    put(clone.root / path.relative_to(bench.root), document)
    state = clone.open().workflow().state
    assert (state.type, list(state.plan.paths)) == ("release", ["write", "sign-off", "publish"])
    assert state.plan.step("sign-off").approval


# Commands


def cloned(bench: Bench, definition: str, subject: str = "", **context: Any) -> Bench:
    """A fresh clone of a project whose documents are in git: there is no journal."""
    bench.start(definition, subject, context=context)
    bench.git("add", "-f", ".claude")
    bench.save("the document")
    bench.git("clone", "-q", ".", "../clone")
    return Bench(bench.root.parent / "clone")


def checks_of(bench: Bench) -> dict[str, tuple[tuple[str, ...], str]]:
    plan = bench.open().workflow().state.plan
    found = [(path, check) for path in plan.paths for check in plan.step(path).checks]
    return {f"{path}#{check.name}": (check.run, check.run_by) for path, check in found}


@pytest.mark.parametrize(("definition", "context"), [("dev", {}), ("tdd", {"task": "Add a form"})])
def test_a_clone_runs_the_checks_that_the_project_has_commands_for(bench, definition, context):
    bench.write("Makefile", "test:\n\tfalse\nlint:\n\tfalse\n")
    bench.saved_feature()
    clone = cloned(bench, definition, LOGIN if definition == "dev" else "", **context)
    assert checks_of(clone) == checks_of(bench)
    answer = clone.agent("check", "test_fails", "--passed", "--json")
    assert answer.error["code"] == "engine_must_run"


def test_a_lost_document_that_comes_back_keeps_the_commands_of_its_run(bench):
    bench.saved_feature()
    work = bench.start("dev", LOGIN, context={"test_command": "false"})
    before = checks_of(bench)
    path = bench.root / f".claude/workflow-state/active/{work.id}.json"
    document = json.loads(path.read_text())
    bench.open("human").workflow(work.id).cancel("enough")
    document["workflow"]["created_at"] = "2026-01-01T00:00:00Z"
    put(path, document)
    assert bench.open().workflow().ulid != work.ulid
    assert checks_of(bench) == before


def test_where_the_project_has_no_command_the_way_out_leads_on(bench):
    bench.write("Makefile", "test:\n\tfalse\n")
    bench.save("a test command")
    clone = cloned(bench, "tdd", task="Add a form")
    clone.git("rm", "-q", "Makefile")
    for how in ("--passed", "--run"):
        refused = clone.agent("check", "test_fails", how)
        assert "\n→ holdfast set test_command='COMMAND'\nfor a person: to configure it: printf " in refused.err
    clone.write("Makefile", "test:\n\tfalse\n")
    assert "✓ test_fails passed, by exit code only" in clone.agent("check", "test_fails", "--run").out


def test_a_task_that_is_not_done_has_the_phases_that_its_document_leaves_out(bench):
    bench.saved_feature()
    work = bench.start("dev", LOGIN)
    path = bench.root / f".claude/workflow-state/active/{work.id}.json"
    document = json.loads(path.read_text())
    bench.open("human").workflow(work.id).cancel("enough")
    document["workflow"]["created_at"] = "2026-01-01T00:00:00Z"
    document["tasks"][0].update(status="in_progress", tdd_phases={})
    put(path, document)
    plan = bench.open().workflow().state.plan
    assert list(plan.children("task_execution/1")) == [
        f"task_execution/1/{one}" for one in ("red", "green", "refactor")
    ]


# Completed by claim


@pytest.mark.parametrize("commands", [True, False], ids=["commands", "no commands"])
def test_what_is_completed_by_claim_is_told_as_claimed_until_a_person_confirms_it(bench, commands):
    if commands:
        bench.write("Makefile", "test:\n\tfalse\n")
    bench.saved_feature()
    work = bench.start("dev", LOGIN)
    path = bench.root / f".claude/workflow-state/active/{work.id}.json"
    document = json.loads(path.read_text())
    bench.open("human").workflow(work.id).cancel("enough")
    document["workflow"].update(created_at="2026-01-01T00:00:00Z", status="completed")
    for one in (*document["state_machine"]["phases"], *document["tasks"]):
        one["status"] = "completed"
    document["tasks"][0]["tdd_phases"] = dict.fromkeys(("red", "green", "refactor"), "completed")
    put(path, document)
    (state,) = adopt(bench.open().wired)
    assert bench.ok("signal").out.startswith("DEV_BLOCKED: ")
    assert " claimed " in bench.ok("list", "--all").out
    for words in (("status",), ("next",)):
        assert "holdfast approve --claimed" in bench.ok(*words, "-w", state.ulid).out
    told = bench.ok("status", "-w", state.ulid, "--json").json
    assert (told["status"], told["detail"]) == ("claimed", "claimed")
    person = bench.open("human").workflow(state.ulid)
    claims = gates.claimed(person.state, person.facts())
    person.execute(cmd.Together(tuple(cmd.Confirm(one) for one in claims)))
    assert bench.ok("signal").out.startswith("DEV_COMPLETE: ")
    assert bench.ok("status", "-w", state.ulid, "--json").json["status"] == "completed"


# Documents that are none

ODD: tuple[Any, ...] = (None, "x", -1, True, [], {}, ["x"], [{}], {"x": None})
GONE = object()


def places(document: Any, depth: int, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if not isinstance(document, (dict, list)) or not depth:
        return []
    inner = document.items() if isinstance(document, dict) else enumerate(document[:1])
    return [one for name, value in inner for one in ((*at, name), *places(value, depth - 1, (*at, name)))]


def changed(document: dict[str, Any], at: tuple[Any, ...], value: Any) -> dict[str, Any]:
    document = copy.deepcopy(document)
    here: Any = document
    for name in at[:-1]:
        here = here[name]
    if value is GONE:
        del here[at[-1]]
    else:
        here[at[-1]] = value
    return document


@pytest.mark.parametrize("system", list(SCENES))
def test_no_shape_of_a_document_leads_to_more_than_a_refusal(bench, system):
    scene = SCENES[system](bench)
    path, document = str(scene.path.relative_to(bench.root)), scene.document
    wired = bench.open().wired
    if system == "orchestrator":
        document["milestones"] = [{"phase": 0, "name": "One"}]
    for at in places(document, 4 if is_full() else 3):
        for value in (GONE, *ODD) if is_full() else (GONE, "x", [], {}):
            said = changed(document, at, value)
            try:
                understood(wired, Found(path, dialect_of(path), json.dumps(said).encode(), said))
            except HoldfastError as refusal:
                assert refusal.remedies, refusal  # noqa: PT017


OTHER = {
    "skill": (".claude/workflow-state/active/odd.json", {"workflow": "x", "state_machine": []}),
    "story": ("workspace/workflow-state/odd.json", {"workflow_id": "odd", "workflow_type": "generation"}),
    "orchestrator": (".claude/agent-state.json", {"orchestrator": {"status": "executing"}, "pending_tasks": ["x"]}),
    "gated": (
        "workflow/odd/workflow-state.json",
        {"feature": "odd", "status": "in_progress", "phases": {"05-documentation": {"status": "in_progress"}}},
    ),
}


@pytest.mark.parametrize("system", list(OTHER))
def test_a_document_that_is_none_is_refused_with_a_remedy_that_can_be_typed(bench, system):
    name, document = OTHER[system]
    put(bench.root / name, document)
    for words in (("status",), ("next",), ("list",), ("doctor",)):
        bench.agent(*words)
    refused = bench.agent("adopt", name, "--json")
    assert refused.error["code"] == "not_a_workflow"
    assert bench.typed(refused.error["remedies"][0]["command"]).code == 0


def test_a_file_that_only_a_document_names_has_not_changed(bench):
    steps = [{"id": "one", "outputs": ["contract"], "approval": {"by": "human"}}, {"id": "two"}]
    bench.open().start({"name": "plain", "step": steps}, "x").begin("one")
    bench.write("c.md", "agreed\n")
    bench.ok("done", "one", "--artifact", "contract=c.md")
    forgotten(bench.root)
    bench.ok("adopt")
    assert "contract  → c.md, as a document says" in bench.ok("status").out
    assert "changed since" not in bench.ok("status").out + bench.ok("show").out


def test_a_person_confirms_what_is_claimed_as_the_first_thing_in_a_clone(bench):
    steps = [{"id": "one", "approval": {"by": "human"}}, {"id": "two"}]
    bench.open().start({"name": "plain", "step": steps}, "x").begin("one").done("one")
    bench.open("human").workflow().approve("one")
    bench.git("add", "-Af", ".claude")
    bench.git("commit", "-qm", "the document")
    bench.git("clone", "-q", ".", "../clone")
    answer = Bench(bench.root.parent / "clone").person("approve", "--claimed", "--yes")
    assert (answer.code, "is confirmed" in answer.out) == (0, True), answer


def test_a_project_that_was_moved_says_why_its_approvals_are_claimed(bench):
    steps = [{"id": "one", "approval": {"by": "human"}}, {"id": "two"}]
    bench.open().start({"name": "plain", "step": steps}, "x").begin("one").done("one")
    assert bench.person("approve", "one", "--yes").code == 0
    moved = Bench(bench.root.rename(bench.root.with_name("moved")))
    for words in (("status",), ("next",), ("begin", "two")):
        answer = moved.agent(*words)
        assert "it counts only in the folder where it was given" in " ".join((answer.out + answer.err).split()), words
