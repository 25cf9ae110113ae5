"""The shell scripts of the convention, run as they are on documents that Holdfast keeps."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import holdfast
from holdfast.core import commands as cmd
from holdfast.core import gates
from holdfast.errors import Refused
from tests.trusted import trust_file
from tests.workbench import Bench

DATA = Path(__file__).parent / "data"

PHASE = """
jq --arg phase "refactor" --arg time "$(date -Iseconds)" '
  .state_machine.current_phase = $phase |
  .workflow.updated_at = $time |
  .history += [{"at": $time, "event": "phase_started", "phase": $phase}]
' "$STATE_FILE" > "$STATE_FILE.tmp" && mv "$STATE_FILE.tmp" "$STATE_FILE"
"""
TASK = """
jq --arg idx "2" --arg sha "abc1234" --arg time "$(date -Iseconds)" '
  .tasks[$idx | tonumber - 1].status = "completed" |
  .tasks[$idx | tonumber - 1].commit_sha = $sha |
  .workflow.updated_at = $time |
  .history += [{"at": $time, "event": "task_completed", "task": ($idx | tonumber), "commit": $sha}]
' "$STATE_FILE" > "$STATE_FILE.tmp" && mv "$STATE_FILE.tmp" "$STATE_FILE"
"""
CHECKPOINT = """
jq --arg time "$(date -Iseconds)" --arg passed "true" '
  .checkpoints.lint.status = "completed" |
  .checkpoints.lint.last_run = $time |
  .checkpoints.lint.passed = ($passed == "true")
' "$STATE_FILE" > "$STATE_FILE.tmp" && mv "$STATE_FILE.tmp" "$STATE_FILE"
"""
COMPLETE = """
jq --arg time "$(date -Iseconds)" '
  .workflow.status = "completed" |
  .workflow.completed_at = $time
' "$STATE_FILE" > "$STATE_FILE.tmp"
mkdir -p .claude/workflow-state/completed
mv "$STATE_FILE.tmp" ".claude/workflow-state/completed/$(basename $STATE_FILE)"
rm "$STATE_FILE"
"""


@pytest.fixture
def skill(tmp_path):
    """A folder with the document of a skill, which Holdfast has adopted."""

    class Skill:
        def __init__(self, name: str, stem: str, called: str = "") -> None:
            self.file = f".claude/workflow-state/active/{stem}.json"
            (tmp_path / self.file).parent.mkdir(parents=True)
            shutil.copy(DATA / f"{name}.json", tmp_path / self.file)
            if called:
                document = self.document()
                document["_schema"]["skill"] = called
                (tmp_path / self.file).write_text(json.dumps(document))
            self.workflow()

        def lets_report_tests(self) -> None:
            config = tmp_path / ".holdfast/config.toml"
            config.write_text('[commands]\ntest = "report"\n')
            trust_file(holdfast.open(str(tmp_path)), str(config))
            person = Bench(tmp_path).open("human").workflow()
            for path in gates.claimed(person.state, person.facts()):
                person.execute(cmd.Confirm(path))

        def run(self, script: str) -> None:
            env = {"STATE_FILE": self.file, "PATH": "/usr/local/bin:/usr/bin:/bin"}
            subprocess.run(["bash", "-euc", script], cwd=tmp_path, env=env, check=True)

        def drop(self, stem: str, document: dict) -> None:
            (tmp_path / f".claude/workflow-state/active/{stem}.json").write_text(json.dumps(document))

        def workflow(self, word: str = "") -> holdfast.Workflow:
            return holdfast.open(str(tmp_path)).workflow(word)

        def document(self) -> dict:
            return json.loads((tmp_path / self.file).read_text())

    return Skill


def test_the_script_that_moves_on_is_refused_where_a_shipped_definition_asks_for_a_test(skill):
    tdd = skill("tdd", "tdd-b2c3d4e5")
    tdd.run(PHASE)
    state = tdd.workflow().state
    assert state.step("green").status == "active"
    assert [alert.code for alert in state.alerts] == ["edit_refused"]


def test_a_document_that_says_its_tests_ran_finishes_nothing_until_a_person_confirms_it(skill):
    tdd = skill("tdd", "tdd-b2c3d4e5")
    forged = tdd.document()
    forged["workflow"]["id"] = "tdd-11111111"
    forged["workflow"]["created_at"] = "2026-01-02T00:00:00Z"
    for phase in forged["state_machine"]["phases"][:3]:
        phase["status"] = "completed"
    forged["state_machine"]["phases"][3]["status"] = "in_progress"
    forged["state_machine"]["current_phase"] = "commit"
    tdd.drop("tdd-11111111", forged)
    with pytest.raises(Refused) as caught:
        tdd.workflow("tdd-11111111").done("commit")
    assert "the checks of red are only claimed" in str(caught.value)


def test_the_script_that_moves_on_to_the_next_phase(skill):
    tdd = skill("tdd", "tdd-b2c3d4e5", "mine")
    tdd.run(PHASE)
    assert tdd.workflow().status()["step"] == "refactor"
    assert [phase["status"] for phase in tdd.document()["state_machine"]["phases"]] == [
        "completed",
        "completed",
        "in_progress",
        "pending",
    ]
    assert tdd.workflow().state.alerts == ()


def test_the_script_that_completes_a_task_is_refused_where_a_shipped_definition_asks_for_a_test(skill):
    dev = skill("dev", "dev-ed6828a3")
    dev.run(TASK)
    state = dev.workflow().state
    assert state.step("task_execution/2/green").status == "active"
    assert len(state.alerts) == 1


def test_the_script_that_completes_a_task(skill):
    dev = skill("dev", "dev-ed6828a3", "mine")
    dev.run(TASK)
    assert dev.workflow().status()["step"] == "task_execution/3"
    assert dev.document()["tasks"][1]["commit_sha"] == "abc1234"
    assert dev.document()["tasks"][1]["tdd_phases"]["refactor"] == "completed"


def test_the_script_that_records_a_checkpoint(skill):
    dev = skill("dev", "dev-ed6828a3")
    dev.lets_report_tests()
    workflow = dev.workflow()
    for step in ("2/green", "2/refactor", "2", "3/red", "3/green", "3/refactor", "3"):
        path = f"task_execution/{step}"
        workflow.begin(path)
        for check in workflow.state.plan.step(path).checks:
            workflow.check(check.name, passed=True, step=path)
        workflow.done(path)
    workflow.begin("verification")
    dev.run(CHECKPOINT)
    assert dev.workflow().state.step("verification").evidence["lint"].passed
    assert dev.document()["checkpoints"]["lint"]["passed"] is True


def test_a_checkpoint_that_comes_too_early_is_refused_and_kept(skill):
    dev = skill("dev", "dev-ed6828a3")
    dev.run(CHECKPOINT)
    (alert,) = dev.workflow().state.alerts
    assert alert.code == "edit_refused"
    assert dev.document()["checkpoints"]["lint"]["passed"] is None


def test_the_script_that_completes_the_workflow(skill, tmp_path):
    tdd = skill("tdd", "tdd-b2c3d4e5", "mine")
    tdd.run(COMPLETE)
    found = tdd.workflow("tdd-auth-login-b2c3")
    assert found.status()["status"] == "claimed"  # nobody here knows which gates a skill of that name has
    completed = tmp_path / ".claude/workflow-state/completed/tdd-b2c3d4e5.json"
    assert json.loads(completed.read_text())["workflow"]["status"] == "completed"
    index = json.loads((tmp_path / ".claude/workflow-state/index.json").read_text())
    assert index["active_workflows"] == []


def test_what_a_script_writes_into_the_history_is_not_said_twice(skill):
    dev = skill("dev", "dev-ed6828a3", "mine")
    dev.run(TASK)
    dev.workflow()
    told = [entry for entry in dev.document()["history"] if entry["event"] == "task_completed" and entry["task"] == 2]
    assert [entry["commit"] for entry in told] == ["abc1234"]


def test_a_copy_among_the_finished_ones_finishes_a_workflow_that_may_be_finished(skill, tmp_path):
    """The script of the convention leaves the document itself where it was."""
    tdd = skill("tdd", "tdd-b2c3d4e5", "mine")
    tdd.run(COMPLETE.replace('rm "$STATE_FILE"', ""))
    assert tdd.workflow("tdd-auth-login-b2c3").state.finished_at
    assert not (tmp_path / tdd.file).exists()
