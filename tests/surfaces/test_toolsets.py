"""What the tools of each system do: as the commands whose functions they run, and no gate is passed by them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core import lifecycle
from holdfast.core.tasks import COMMIT
from holdfast.errors import HoldfastError
from holdfast.surfaces import tools
from holdfast.surfaces.tools.remedies import in_tools
from tests.orchestrated import TASKS
from tests.workbench import Bench

SCENE = "acts/act-1/chapters/chapter-02/scenes/scene-0204.md"


class Desk:
    """A project whose workflow is worked on by tools alone. Every call opens the project again."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.id = bench, ""

    def call(self, tool: str, **given: Any) -> dict[str, Any]:
        named = {"workflow_id": self.id} if self.id and tool != "story_session" else {}
        return tools.call(self.bench.open(), tool, {**named, **given})

    def refused(self, tool: str, **given: Any) -> HoldfastError:
        with pytest.raises(HoldfastError) as caught:
            self.call(tool, **given)
        return caught.value

    def started(self, **how: Any) -> Desk:
        self.id = self.call("start_workflow", **how)["workflow_id"]
        return self

    @property
    def state(self) -> Any:
        return self.bench.open().workflow(self.id).state


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(Bench(tmp_path / "project").begun())


@pytest.fixture
def custom(desk) -> Desk:
    return desk.started(workflow="custom", subject="Port", phases=["Design", "Build", "Ship"])


def test_a_custom_workflow_has_the_phases_that_its_start_names(custom):
    assert [custom.state.plan.step(path).label for path in custom.state.plan.children("")] == [
        "Design",
        "Build",
        "Ship",
    ]


def test_a_start_without_phases_is_told_the_call_that_has_them(desk):
    error = desk.refused("start_workflow", workflow="custom", subject="Port")
    call = 'start_workflow {"workflow": "custom", "subject": "Port", "phases": ["PHASES"]}'
    assert in_tools(error.remedies, desk.bench.open().scope()) == call
    given = {"workflow": "custom", "subject": "Port", "phases": ["PHASES"]}
    assert "is not filled in" in desk.refused("start_workflow", **given).message


def test_reading_and_reminders_are_kept_together_or_not_at_all(custom):
    custom.bench.write("docs/plan.md", "a plan\n")
    plan = str(custom.bench.root / "docs/plan.md")
    said = custom.call("brief_agents", read=[plan], remind=["no rain", "short sentences"])
    assert said["reading"] == [{"entry": "@docs/plan.md", "standing": "there"}]
    assert said["reminders"] == ["no rain", "short sentences"]
    assert custom.refused("brief_agents", read=["docs/absent.md"], forget=["no rain"]).code == "no_file"
    said = custom.call("brief_agents", forget=["no rain"], unread=["docs/plan.md"])
    assert (said["reading"], said["reminders"]) == ([], ["short sentences"])
    assert custom.call("inspect_workflow", view="reading")["reading"] == []


def test_values_pauses_and_snapshots(custom):
    custom.call("change_workflow", action="set", values={"audience": "children", "pages": 12})
    assert custom.state.context["pages"] == 12
    assert custom.call("change_workflow", action="snapshot", reason="before")["snapshot"]["number"] == 1
    custom.call("change_workflow", action="pause", reason="lunch")
    assert custom.state.paused
    custom.call("resume_workflow")
    custom.call("change_workflow", action="restore", number=1)
    assert custom.refused("change_workflow", action="set").code == "bad_arguments"
    assert custom.refused("change_workflow", action="set", values={"a b": 1}).code == "bad_pair"
    assert custom.refused("change_workflow", action="pause").facts["mistakes"] == ["reason is missing"]


def test_a_step_is_blocked_and_goes_on_with_guidance_but_what_a_person_blocked_stays(custom):
    first = custom.state.plan.children("")[0]
    custom.call("update_workflow_state", step=1, status="in_progress")
    custom.call("change_step", step=1, action="block", reason="no data")
    assert custom.state.step(first).status == lifecycle.BLOCKED
    custom.call("change_step", step=1, action="unblock", reason="use the sample")
    assert custom.state.step(first).feedback == ("use the sample",)
    custom.bench.person("block", first, "--reason", "wait for me")
    assert custom.refused("change_step", step=1, action="unblock").code == "person_needed"
    assert custom.refused("change_step", step=2, action="skip", reason="dull").code == "step_blocked"
    assert custom.refused("change_step", step=1, action="block").code == "bad_arguments"


def test_the_tree_is_changed_and_looked_at(custom):
    custom.call("change_plan", action="add_step", id="proofread", text="Proofread")
    assert custom.state.plan.step("proofread").label == "Proofread"
    custom.call("change_plan", action="add_task", text="spell names", under="proofread")
    assert [one["text"] for one in custom.call("inspect_workflow", view="tasks")["tasks"]] == ["spell names"]
    custom.call("update_workflow_state", step="design", status="in_progress")
    for view, key in (("log", "records"), ("document", "workflow"), ("diagram", "diagram"), ("locks", "locks")):
        assert key in custom.call("inspect_workflow", view=view)
    definitions = [one["name"] for one in custom.call("inspect_workflow", view="definitions")["workflows"]]
    assert {"custom", "generation", "orchestrate"} <= set(definitions)


def test_a_gate_cannot_be_taken_away_by_a_tool(desk):
    desk.bench.write(
        ".holdfast/workflows/gate.toml",
        'name = "gate"\n\n[[step]]\nid = "sign"\napproval = { by = "human" }\n\n[[step]]\nid = "ship"\n',
    )
    desk.started(workflow="gate", subject="it")
    desk.call("update_workflow_state", step="sign", status="completed")
    tries = (
        ("change_step", {"step": "sign", "action": "skip", "reason": "x"}),
        ("change_step", {"step": "sign", "action": "reopen", "reason": "x"}),
        ("change_step", {"step": "sign", "action": "unblock"}),
        ("change_plan", {"action": "retire", "step": "sign"}),
        ("approve_step", {"step": "sign", "approved": True}),
        ("update_workflow_state", {"step": "ship", "status": "in_progress"}),
        ("resume_workflow", {"from_step": "ship"}),
    )
    for tool, given in tries:
        desk.refused(tool, **given)
    assert desk.state.step("sign").status == lifecycle.WAITING
    assert desk.state.step("ship").status == lifecycle.PENDING


@pytest.fixture
def orchestra(desk) -> Desk:
    desk.bench.write("docs/task.md", TASKS)
    desk.bench.save()
    desk.started(workflow="orchestrate", subject=str(desk.bench.root / "docs/task.md"))
    desk.call("update_workflow_state", step="plan", status="completed")
    desk.call("approve_step", step="plan", approved=True)
    return desk


def test_a_task_is_supervised_iterated_and_committed(orchestra):
    at = "phase-1/1.1"
    orchestra.call("update_workflow_state", step="1.1", status="in_progress")
    asked = orchestra.call("supervise_task", check_type="pre_task", task="1.1")
    assert [one["text"] for one in asked["criteria"]] == ["Model updated", "Tests pass"]
    said = orchestra.call("supervise_task", check_type="pre_task", task="1.1", verdict="PASS")
    assert (said["verdict"], said["checks_performed"]) == ("PASS", 1)
    assert orchestra.call("change_step", step="1.1", action="iterate", reason="a test fails")["iteration"] == 2
    orchestra.bench.write("model.py", "x = 1\n")
    made = orchestra.call("commit_work", task="1.1", message="Update the model", paths=["model.py"])
    assert made["commit"] == orchestra.bench.head
    assert orchestra.bench.committed() == ["model.py"]
    assert orchestra.state.step(at).data["commits"] == [made["commit"]]
    orchestra.call("record_work", step="1.1", learning="small steps", learning_type="pattern")
    assert [one["lesson"] for one in orchestra.call("inspect_workflow", view="learnings")["learnings"]] == [
        "small steps"
    ]
    assert orchestra.call("inspect_workflow", view="learnings", words=["large"])["learnings"] == []
    assert orchestra.refused("record_milestone", phase="1", url="https://x.org/i/1").code == "phase_not_done"


def test_a_step_is_handed_in_with_a_message_or_a_commit_that_was_made_already(desk):
    steps = "".join(f'[[step]]\nid = "{name}"\naction = "commit"\n\n' for name in ("first", "second"))
    desk.bench.write(".holdfast/workflows/ship.toml", f'name = "ship"\n\n{steps}')
    desk.bench.save()
    desk.started(workflow="ship", subject="it")
    desk.bench.write("one.py", "x = 1\n")
    desk.call("update_workflow_state", step="first", status="completed", message="feat: one")
    assert desk.bench.git("log", "-1", "--format=%s") == "feat: one"
    desk.call("update_workflow_state", step="second", status="in_progress")
    desk.bench.write("two.py", "x = 2\n")
    sha = desk.bench.save("feat: two")
    desk.call("update_workflow_state", step="second", status="completed", commit=sha)
    made = [desk.bench.git("rev-parse", "HEAD~1"), sha]
    assert [desk.state.step(path).data[COMMIT] for path in ("first", "second")] == made


def test_a_feature_is_prepared_continued_and_not_finalized_before_its_time(desk):
    assert desk.call("deliver_feature", action="init")["made"]
    desk.bench.save()
    desk.started(workflow="feature", subject="Export CSV")
    said = desk.call("deliver_feature", action="continue")
    assert said["workflow_id"] == desk.id
    assert desk.refused("deliver_feature", action="finalize").code in ("gate_unmet", "not_completed")


@pytest.fixture
def novel(desk) -> Desk:
    desk.call("story_session", action="create", name="chapter-02", description="the second chapter")
    desk.call("story_session", action="use", name="chapter-02")
    return desk


def session(desk: Desk, action: str, **given: Any) -> dict[str, Any]:
    return desk.call("story_session", action=action, **given)


def test_a_session_is_written_looked_at_and_committed_after_a_preview(novel):
    assert session(novel, "write", path=SCENE, content="It was late.\n")["path"] == SCENE
    assert session(novel, "read", path=SCENE)["content"] == "It was late.\n"
    assert session(novel, "write", path=str(novel.bench.root / SCENE), content="It was late.\n")["path"] == SCENE
    assert novel.refused("story_session", action="write", path="/etc/motd", content="x").code == "outside_root"
    assert novel.refused("story_session", action="write", path="../motd", content="x").code == "outside_root"
    assert not (novel.bench.root / SCENE).exists()
    assert session(novel, "status")["changes"]["created"] == [SCENE]
    preview = session(novel, "commit", name="chapter-02")
    assert (preview["committed"], preview["created"]) == (False, [SCENE])
    assert not (novel.bench.root / SCENE).exists()
    assert session(novel, "commit", name="chapter-02", confirm=True)["committed"] is True
    assert novel.bench.read(SCENE) == "It was late.\n"
    assert session(novel, "list")["sessions"] == []


def test_a_conflict_refuses_the_commit_until_it_is_settled(novel):
    novel.bench.write(SCENE, "one\n")
    copy = session(novel, "path", path=SCENE)["path"]
    with open(copy, "w") as file:
        file.write("two\n")
    novel.bench.write(SCENE, "three\n")
    preview = session(novel, "commit", name="chapter-02")
    assert [one["path"] for one in preview["conflicts"]] == [SCENE]
    error = novel.refused("story_session", action="commit", name="chapter-02", confirm=True)
    assert error.code == "session_conflict"
    session(novel, "keep", path=SCENE)
    session(novel, "commit", name="chapter-02", confirm=True)
    assert novel.bench.read(SCENE) == "two\n"


def test_a_new_try_keeps_what_was_there_and_a_cancel_has_to_be_confirmed(novel):
    session(novel, "write", path=SCENE, content="dull\n")
    note = session(novel, "retry", path=SCENE, reason="the person wants more tension")
    assert (note["file"], note["reason"]) == (SCENE, "the person wants more tension")
    session(novel, "delete", path=SCENE)
    assert novel.refused("story_session", action="read", path=SCENE).code == "no_file"
    assert novel.refused("story_session", action="cancel", name="chapter-02").code == "not_confirmed"
    assert session(novel, "cancel", name="chapter-02", confirm=True)["cancelled"] is True
    assert session(novel, "leave")["active"] == ""
    assert novel.refused("story_session", action="status").code == "no_session"
    assert novel.refused("story_session", action="write", path=SCENE).facts["mistakes"] == ["content is missing"]


def test_metrics_come_in_the_wrapper_of_the_convention(novel):
    novel.bench.write("acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md", "# Scene\n")
    novel.started(workflow="generation", subject="0204")
    found = novel.call("get_workflow_metrics")
    assert list(found) == ["workflow_metrics"]
    assert found["workflow_metrics"]["workflow_id"] == novel.id
