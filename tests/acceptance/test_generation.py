"""A scene is written from its blueprint, from the start to the last file, through real processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.surfaces import tools
from tests.workbench import Bench

DATA = Path(__file__).parents[1] / "systems" / "story" / "data"
SESSION = "work-on-chapter-02"
SCENE = "0204"
BLUEPRINT = f"acts/act-1/chapters/chapter-02/scenes/scene-{SCENE}-blueprint.md"
CONSTRAINED = "# Scene 0204\n\n## Constraints\n\n- 900 to 1100 words\n- no rain\n"
TONE = "professional detachment with cracks"
FILES = {
    2: {"constraints_list": "constraints-list.json"},
    3: {"verification_plan": "verification-plan.md"},
    4: {"draft": "scene-0204-draft.md", "compliance_echo": "compliance-echo.md"},
    5: {"fast_compliance_result": "fast-compliance-result.json"},
    6: {"final_validation_report": "final-validation-report.json"},
    7: {"final_report": "final-report.md", "scene_content": "scene-0204.md"},
}
PASS = {"status": "PASS", "violations": []}
VALIDATORS = ("plot", "voice", "timeline", "names", "places", "dialogue", "length")
REPORT = {
    "overall_status": "PASS",
    "validators_run": 7,
    "validators_passed": 7,
    "results": [{"validator": name, "status": "PASS"} for name in VALIDATORS],
    "blocking_issues": [],
    "non_blocking_warnings": [{"check": "word_count", "message": "12 % too long"}],
}
KILLED = """\
import os, signal, sys, json
import holdfast
from holdfast import tools

tools.call(holdfast.open("."), sys.argv[1], json.loads(sys.argv[2]))
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A process that dies as soon as a tool has answered."""


def failing(number: int) -> dict[str, Any]:
    found = {"check": "word_count", "severity": "error", "found": 700 + number, "required": 900}
    return {
        "status": "FAIL",
        "violations": [{**found, "message": f"{700 + number} words"}],
        "retry_guidance": {"emphasis_needed": [f"length, said {number} times"]},
    }


def example(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


class Novel(Bench):
    """A writer's project with a session, and one run of a scene in it."""

    def __init__(self, root: Path, blueprint: str = CONSTRAINED) -> None:
        super().__init__(root)
        self.id = ""
        self.drafts = 0
        if blueprint:
            self.write(BLUEPRINT, blueprint)
        self.ok("session", "create", SESSION)

    def begin_run(self) -> Novel:
        self.id = self.ok("start", "generation", SCENE, "--session", SESSION, "--json").json["workflow_id"]
        return self

    @property
    def folder(self) -> str:
        return f"workspace/sessions/{SESSION}"

    @property
    def state_file(self) -> str:
        return f"{self.folder}/workflow-state/{self.id}.json"

    def stored(self) -> dict[str, Any]:
        return json.loads(self.read(self.state_file))

    def step(self, number: int) -> dict[str, Any]:
        return self.stored()["generation"]["steps"][number - 1]

    def statuses(self) -> list[str]:
        return [one["status"] for one in self.stored()["generation"]["steps"]]

    def made(self, number: int, said: Any = "words\n") -> dict[str, str]:
        """Writes what a step is to produce; its files by name."""
        text = said if isinstance(said, str) else json.dumps(said)
        found = {
            name: f"{self.folder}/generation-runs/{self.id}/{file}" for name, file in FILES.get(number, {}).items()
        }
        for path in found.values():
            self.write(path, text)
        return found

    def handed_in(self, number: int, said: Any = "words\n") -> None:
        """Begins a step, produces its files and hands it in, as an agent types it."""
        files = [f"--artifact={name}={path}" for name, path in self.made(number, said).items()]
        self.ok("begin", str(number), "-w", self.id)
        self.ok("done", str(number), "-w", self.id, *files)

    def waiting(self) -> Novel:
        self.begin_run()
        for number in (1, 2, 3):
            self.handed_in(number)
        return self

    def approved(self) -> Novel:
        self.waiting().tool("approve_step", step=3, approved=True, modifications={"emotional_tone": TONE})
        return self

    def tool(self, name: str, *, kind: str = "agent", **arguments: Any) -> dict[str, Any]:
        return tools.call(self.open(kind), name, {"workflow_id": self.id, **arguments})

    def round(self, said: dict[str, Any]) -> None:
        """The prose is written, not as before, and its check says this. The short way, through the tools."""
        self.drafts += 1
        for number, text in ((4, f"prose {self.drafts}\n"), (5, said)):
            files = {name: str(self.root / path) for name, path in self.made(number, text).items()}
            self.tool("update_workflow_state", step=number, status="completed", artifacts=files)

    def finished(self) -> Novel:
        self.round(PASS)
        for number, text in ((6, REPORT), (7, "the scene\n")):
            self.handed_in(number, text)
        return self

    def refusal(self, *words: str) -> dict[str, Any]:
        answer = self.agent(*words, "-w", self.id, "--json")
        assert answer.code == 3, answer
        return answer.error

    def killed(self, tool: str, **arguments: Any) -> None:
        """Another process calls a tool and is gone at once."""
        said = json.dumps({"workflow_id": self.id, **arguments})
        done = subprocess.run(
            [sys.executable, "-c", KILLED, tool, said], cwd=self.root, capture_output=True, timeout=60
        )
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.fixture
def novel(tmp_path) -> Novel:
    return Novel(tmp_path / "novel")


def settled(value: Any, novel: Novel, key: str = "") -> Any:
    """Ids as the convention's example has them; a time is only there or not."""
    if isinstance(value, dict):
        return {name: settled(one, novel, name) for name, one in value.items()}
    if isinstance(value, list):
        return [settled(one, novel) for one in value]
    if isinstance(value, str) and key.endswith("_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value)
        return "a time"
    return value.replace(novel.id, "generation-scene-0204-20251110-143000") if isinstance(value, str) else value


def test_when_step_three_waits_the_state_and_the_index_are_those_of_the_convention(novel):
    novel.waiting()
    assert re.fullmatch(r"generation-scene-0204-\d{8}-\d{6}", novel.id)
    assert settled(novel.stored(), novel) == settled(example("generation"), novel)
    index = json.loads(novel.read(f"{novel.folder}/workflow-state/index.json"))
    assert settled(index, novel) == settled(example("index"), novel)


def test_a_scene_from_the_start_to_the_last_file(novel):
    novel.approved()
    shown = novel.ok("next", "-w", novel.id)
    assert TONE in " ".join(shown.out.split())
    assert TONE in novel.ok("next", "-w", novel.id, "--json").out
    novel.finished()
    assert novel.statuses() == ["completed"] * 7
    document = novel.stored()
    assert document["status"] == "completed"
    assert document["generation"]["current_step"] == 7
    assert document["generation"]["steps"][2]["human_approval"]["modifications"] == {"emotional_tone": TONE}
    assert document["generation"]["artifacts"]["blueprint_path"] == BLUEPRINT
    assert document["generation"]["artifacts"]["working_dir"] == f"{novel.folder}/generation-runs/{novel.id}"
    made = {name: path for one in document["generation"]["steps"] for name, path in one["artifacts"].items()}
    assert set(made) == {name for files in FILES.values() for name in files}
    assert all((novel.root / path).is_file() for path in made.values())
    index = json.loads(novel.read(f"{novel.folder}/workflow-state/index.json"))
    assert [one["status"] for one in index["workflows"]] == ["completed"]


def test_without_a_session_the_run_lies_in_the_projects_own_workspace(novel):
    novel.id = novel.ok("start", "generation", SCENE, "--json").json["workflow_id"]
    document = json.loads(novel.read(f"workspace/workflow-state/{novel.id}.json"))
    assert "session_name" not in document
    assert document["generation"]["artifacts"]["working_dir"] == f"workspace/generation-runs/{novel.id}"
    index = json.loads(novel.read("workspace/workflow-state/index.json"))
    assert [one["workflow_id"] for one in index["workflows"]] == [novel.id]


def test_nothing_is_written_before_the_plan_is_approved(novel):
    novel.waiting()
    for number in (4, 5, 6, 7):
        assert novel.refusal("begin", str(number))["code"] == "step_blocked"
    assert novel.refusal("done", "3")["code"] == "gate_unmet"
    assert novel.refusal("skip", "3")["code"] == "wrong_status"
    assert novel.statuses() == ["completed", "completed", "waiting_approval", *["pending"] * 4]


def test_a_forged_approval_in_the_state_file_is_put_back(novel):
    document = novel.waiting().stored()
    step = document["generation"]["steps"][2]
    step["status"] = "completed"
    step["human_approval"].update(approved=True, approved_at="2026-01-01T00:00:00Z")
    novel.write(novel.state_file, json.dumps(document))
    assert novel.refusal("begin", "4")["code"] == "step_blocked"
    assert novel.step(3)["status"] == "waiting_approval"
    assert novel.step(3)["human_approval"]["approved"] is False


def test_a_scene_without_a_blueprint_does_not_get_past_the_first_step(tmp_path):
    novel = Novel(tmp_path / "novel", blueprint="").begin_run()
    novel.ok("begin", "1", "-w", novel.id)
    refusal = novel.refusal("done", "1")
    assert refusal["code"] == "no_blueprint"
    assert "chapters/chapter-02/scenes/scene-0204-blueprint.md" in refusal["remedy"]
    novel.write(BLUEPRINT, CONSTRAINED)
    novel.ok("done", "1", "-w", novel.id)
    assert novel.stored()["generation"]["artifacts"]["blueprint_path"] == BLUEPRINT


def test_of_two_blueprints_the_one_that_is_named_is_taken(novel):
    other = novel.write(BLUEPRINT.replace("act-1", "act-2"), CONSTRAINED)
    novel.begin_run().ok("begin", "1", "-w", novel.id)
    assert novel.refusal("done", "1")["code"] == "ambiguous_blueprint"
    novel.ok("done", "1", "-w", novel.id, "--artifact", f"blueprint_path={other}")
    assert novel.stored()["generation"]["artifacts"]["blueprint_path"] == BLUEPRINT.replace("act-1", "act-2")
    assert novel.step(1)["artifacts"] == {}


def test_a_blueprint_without_constraints_does_not_get_past_the_second_step(tmp_path):
    novel = Novel(tmp_path / "novel", blueprint="# Scene\n\n## Constraints\n\nNone.\n").begin_run()
    novel.handed_in(1)
    files = [f"{name}={path}" for name, path in novel.made(2).items()]
    novel.ok("begin", "2", "-w", novel.id)
    refusal = novel.refusal("done", "2", "--artifact", *files)
    assert refusal["code"] == "no_constraints"
    assert novel.step(2)["status"] == "in_progress"
    novel.write(BLUEPRINT, CONSTRAINED)
    novel.ok("done", "2", "-w", novel.id, "--artifact", *files)
    assert novel.step(2)["status"] == "completed"


def test_the_check_sends_the_prose_back_with_what_it_lacked(novel):
    novel.approved().round(failing(1))
    assert novel.statuses()[3:5] == ["in_progress", "pending"]
    attempts = novel.step(4)["attempts"]
    assert (attempts["current"], attempts["max"]) == (2, 3)
    (only,) = attempts["history"]
    assert (only["attempt"], only["status"]) == (1, "failed")
    assert only["violations"] == failing(1)["violations"]
    assert only["emphasis_needed"] == ["length, said 1 times"]
    said = novel.ok("next", "-w", novel.id, "--json").json
    assert said["tries"][0]["retry_guidance"] == {"emphasis_needed": ["length, said 1 times"]}
    assert "701 words" in novel.ok("next", "-w", novel.id).out

    novel.round(failing(2))
    said = novel.ok("next", "-w", novel.id, "--json").json
    assert [one["attempt"] for one in said["tries"]] == [2, 1]
    novel.finished()
    assert novel.stored()["status"] == "completed"
    assert novel.step(4)["attempts"]["current"] == 3
    assert [one["attempt"] for one in novel.step(4)["attempts"]["history"]] == [1, 2]


def test_after_three_tries_it_has_failed_and_a_person_who_mends_the_blueprint_resumes_it(novel):
    novel.approved()
    for number in (1, 2, 3):
        assert novel.stored()["status"] == "in_progress"
        novel.round(failing(number))
    assert novel.stored()["status"] == "failed"
    assert "failed" in novel.statuses()
    assert [one["attempt"] for one in novel.step(4)["attempts"]["history"]] == [1, 2, 3]
    for words in (("resume",), ("resume", "--from", "4")):
        assert novel.refusal(*words)["code"] == "person_needed"
    assert novel.refusal("reopen", "4")["code"] in ("person_needed", "wrong_status")
    again = novel.agent("start", "generation", SCENE, "--session", SESSION, "--json")
    assert again.error["code"] == "already_active"
    assert again.error["facts"]["workflow"] == novel.id
    assert again.error["remedy"].startswith("show this to a person and stop, or holdfast wait ")

    novel.write(BLUEPRINT, CONSTRAINED.replace("900 to 1100", "600 to 800"))
    answer = novel.person("resume", "--from", "4", "-w", novel.id, says="y")
    assert answer.code == 0, answer
    assert novel.stored()["status"] == "in_progress"
    assert novel.stored()["generation"]["current_step"] == 4
    for number in (4, 5):
        novel.round(failing(number))
        assert novel.stored()["status"] == "in_progress"
    novel.finished()
    assert novel.stored()["status"] == "completed"


def test_a_full_validation_that_fails_stops_the_run_until_it_is_resumed(novel):
    novel.approved().round(PASS)
    novel.handed_in(6, {**REPORT, "overall_status": "FAIL", "blocking_issues": [{"message": "she knows too early"}]})
    assert novel.step(6)["status"] == "failed"
    assert novel.step(6)["reason"] == "she knows too early"
    assert novel.step(4)["attempts"]["history"][-1]["violations"] == [{"message": "she knows too early"}]
    assert novel.agent("resume", "-w", novel.id).code == 3
    novel.person("resume", "-w", novel.id, says="y")
    files = [f"--artifact={name}={path}" for name, path in novel.made(6, REPORT).items()]
    novel.ok("done", "6", "-w", novel.id, *files)
    assert novel.statuses()[5:] == ["completed", "pending"]


def test_whoever_comes_after_a_crash_goes_on_at_the_same_step(novel):
    """A process is killed after every step; the next one finds the run where it was, and its file with it."""
    novel.begin_run()
    texts = {5: PASS, 6: REPORT}
    for number in range(1, 8):
        novel.killed("update_workflow_state", step=number, status="in_progress")
        assert novel.ok("status", "-w", novel.id, "--json").json["current_step"] == number
        assert novel.step(number)["status"] == "in_progress"
        files = {
            name: str(novel.root / path) for name, path in novel.made(number, texts.get(number, "words\n")).items()
        }
        novel.killed("update_workflow_state", step=number, status="completed", artifacts=files)
        if number == 3:
            assert novel.tool("get_workflow_status")["waiting_for_approval"] is True
            novel.killed("approve_step", step=3, approved=True)
        assert novel.ok("status", "-w", novel.id, "--json").json["current_step"] == min(number + 1, 7)
        assert novel.statuses() == ["completed"] * number + ["pending"] * (7 - number)
    assert novel.stored()["status"] == "completed"


def test_the_metrics_have_exactly_the_fields_of_the_convention(novel):
    novel.approved().round(failing(1))
    workflow = novel.open().workflow(novel.id)
    wanted = example("metrics")["workflow_metrics"]
    found = tools.workflow_metrics(novel.open(), novel.id)
    assert list(found) == ["workflow_metrics"]
    said = found["workflow_metrics"]
    assert list(said) == list(wanted)
    assert (said["workflow_id"], said["retry_count"]) == (novel.id, 1)
    assert [list(one) for one in said["step_times"]] == [["step", "duration_seconds"]] * 5
    assert [one["step"] for one in said["step_times"]] == [1, 2, 3, 4, 5]

    novel.round(PASS)
    novel.ok("begin", "6", "-w", novel.id)
    workflow.refresh()
    tokens = [workflow.start_agent(f"validator-{number}", "full-validation") for number in range(1, 8)]
    for token in tokens:
        workflow.end_agent(token)
    said = tools.workflow_metrics(novel.open(), novel.id)["workflow_metrics"]
    assert (said["agent_calls"], said["parallel_executions"]) == (7, 7)
    assert all(isinstance(said[name], int) for name in wanted if name.endswith("_seconds"))


def test_the_log_tells_what_happened_in_order_once(novel):
    novel.waiting()
    path = f"workspace/logs/workflow-orchestration/{novel.id}.log"
    before = novel.read(path)
    novel.tool("approve_step", step=3, approved=True)
    novel.round(failing(1))
    lines = novel.read(path).splitlines()
    assert novel.read(path).startswith(before)
    told = [line.split()[1] for line in lines]
    assert told[:3] == ["started", "began", "completed"]
    assert [word for word in told if word in ("awaited", "approved", "failed", "reopened")] == [
        *("awaited", "approved", "failed", "reopened")
    ]
    revisions = [int(line.rpartition("#")[2]) for line in lines]
    assert revisions == sorted(revisions)
    assert len(set(lines)) == len(lines)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \w+ \S", line) for line in lines)
    assert "701 words" in next(line for line in lines if " failed " in line)


def test_each_line_of_a_log_has_single_spaces_between_its_words(novel):
    novel.begin_run().ok("cancel", "-w", novel.id)
    novel.ok("resume", "-w", novel.id)
    text = novel.read(f"workspace/logs/workflow-orchestration/{novel.id}.log")
    assert "  " not in text
