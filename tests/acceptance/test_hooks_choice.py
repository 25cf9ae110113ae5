"""Which workflow comes back after a compaction, where plans, notes and state files speak of several."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.checkout import Checkout
from tests.acceptance.hosting import Session, state_files

DAY = 24 * 3600
NOTES = "CLAUDE.local.md"


@pytest.fixture
def house(tmp_path):
    return Checkout(tmp_path / "house")


class Project:
    """A project whose agents write files as agents do: each at its time, told to the hook of their session."""

    def __init__(self, house: Checkout) -> None:
        self.house = house

    def put(self, path: str, text: str, *, age: float = 0, by: Session | None = None) -> None:
        full: Path = self.house.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)
        then = time.time() - age
        os.utime(full, (then, then))
        if by:
            by.send(
                "PostToolUse",
                tool_name="Write",
                tool_input={"file_path": str(full), "content": text},
                tool_use_id="toolu_1",
                tool_response={},
                duration_ms=7,
            )

    def run(self, line: str, by: Session) -> None:
        """A shell line of a session, which its hook hears of."""
        subprocess.run(["sh", "-c", line], cwd=self.house.root, check=True)
        call = {"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "toolu_1"}
        by.send("PostToolUse", **call, tool_response={}, duration_ms=7)

    def plan(self, number: int, title: str, status: str = "In Progress", **more: Any) -> None:
        text = f"# Plan {number:03}: {title}\n\n**Status**: {status}\n\n"
        text += "## Phase 1: Design\n- [x] a\n## Phase 2: Build\n- [x] b\n- [ ] c\n## Phase 3: Test\n- [ ] d\n"
        self.put(f"CLAUDE/Plan/{number:03}-plan/PLAN.md", text, **more)

    def notes(self, workflow: str, phase: str, **more: Any) -> None:
        self.put(NOTES, f"# Current Workflow State\n\nWorkflow: {workflow}\nPhase: {phase}\n", **more)

    def account(self, workflow: str, current: int, name: str, **more: Any) -> str:
        slug = workflow.lower().replace(" ", "-")
        path = f"untracked/workflow-state/{slug}/state-{slug}-20261101_090000.json"
        document = {
            "workflow": workflow,
            "workflow_type": "custom",
            "phase": {"current": current, "total": 5, "name": name, "status": "in_progress"},
            "required_reading": [],
            "created_at": "2026-11-01T09:00:00Z",
        }
        self.put(path, json.dumps(document), **more)
        return path


@pytest.fixture
def project(house):
    return Project(house)


def named(packet: str) -> str:
    return next((line.removeprefix("Workflow: ") for line in packet.splitlines() if line.startswith("Workflow: ")), "")


def test_a_state_file_that_the_session_wrote_comes_back_although_holdfast_was_never_here(house, project):
    project.plan(7, "Old Plan", age=3600)
    session = Session(house, "S1")
    assert not (house.root / ".holdfast").exists()
    project.account("Data Move", 3, "Transform", by=session)
    packet = session.compact()
    assert named(packet) == "Data Move"
    assert "This one was chosen because this session worked on it last." in packet
    assert "Plan 007: Old Plan" in packet
    assert "holdfast resume-packet -w ID" in packet


def test_notes_of_today_count_more_than_a_plan_of_last_month(house, project):
    project.plan(7, "Old Plan", age=30 * DAY)
    project.notes("Case Studies", "2/4 - Texts")
    packet = Session(house, "S1").compact()
    assert named(packet) == "Case Studies"
    assert f"{NOTES}, written" in packet


def test_a_state_file_of_today_counts_more_than_notes_of_last_week(house, project):
    project.notes("Case Studies", "2/4 - Texts", age=7 * DAY)
    project.account("Data Move", 3, "Transform", age=60)
    assert named(Session(house, "S1").compact()) == "Data Move"


def test_notes_that_name_another_job_bring_that_one_back_from_then_on(house, project):
    session = Session(house, "S1")
    project.notes("First Job", "2/4 - Texts", age=3600)
    assert named(session.compact()) == "First Job"
    project.notes("Second Job", "1/3 - Start", by=session)
    assert [named(session.compact()) for _ in range(2)] == ["Second Job"] * 2


def test_each_of_two_sessions_gets_its_own_workflow_back(house, project):
    first, second = Session(house, "S1"), Session(house, "S2")
    project.account("Data Move", 3, "Transform", by=first)
    project.account("Page Build", 2, "Layout", by=second)
    for _ in range(2):
        assert (named(first.compact()), named(second.compact())) == ("Data Move", "Page Build")


_FILE = "untracked/workflow-state/alpha-job/state-alpha-job-20261101_090000.json"


@pytest.mark.parametrize(
    "line",
    [
        "mkdir -p untracked/workflow-state/alpha-job && cat new.json > " + _FILE,
        "mkdir -p untracked/workflow-state/alpha-job && cp new.json " + _FILE,
        "python3 make.py",
    ],
)
def test_a_state_file_that_a_shell_line_wrote_is_its_session_s_although_holdfast_was_never_here(house, project, line):
    path = project.account("Alpha job", 2, "Build")
    (house.root / path).rename(house.root / "new.json")
    project.put("make.py", f"import os; os.makedirs({os.path.dirname(_FILE)!r}, exist_ok=True)\n"
                           f"open({_FILE!r}, 'w').write(open('new.json').read())\n")  # fmt: skip
    one, two = Session(house, "S1"), Session(house, "S2")
    project.run(line, one)
    project.account("Beta job", 3, "Test", by=two)
    assert [named(one.compact()), named(two.compact())] == ["Alpha job", "Beta job"]


@pytest.mark.parametrize(
    "line",
    [f'sed -i \'s/"current": 2/"current": 4/\' {_FILE}', "python3 edit.py", f"sed s/2,/4,/ {_FILE} > x; mv x {_FILE}"],
)
def test_a_session_that_changes_its_earlier_state_file_by_a_shell_line_is_at_that_one(house, project, line):
    one = Session(house, "S1")
    project.account("Alpha job", 2, "Build", by=one)
    project.account("Beta job", 3, "Test", by=one)
    assert named(one.compact()) == "Beta job"
    project.put("edit.py", f"t = open({_FILE!r}).read(); open({_FILE!r}, 'w').write(t.replace('2,', '4,', 1))\n")
    project.run(line, one)
    assert named(one.compact()) == "Alpha job"


def test_a_session_that_only_reads_a_state_file_stays_at_its_own(house, project):
    one, two = Session(house, "S1"), Session(house, "S2")
    project.account("Alpha job", 2, "Build", by=two)
    project.account("Beta job", 3, "Test", by=one)
    project.run(f"cat {_FILE}", one)
    assert named(one.compact()) == "Beta job"


def test_the_command_that_a_packet_names_for_another_workflow_switches_to_it(house, project):
    one = Session(house, "S1")
    project.account("Alpha job", 2, "Build", by=one)
    project.account("Beta job", 3, "Test", by=one)
    told = one.compact()
    assert named(told) == "Beta job"
    assert "To switch to another one: holdfast resume-packet -w ID" in told
    one.ok("resume-packet", "-w", "alpha-job-20261101_090000")
    assert named(one.compact()) == "Alpha job"


def test_twelve_days_of_a_project(house, project):
    """Plans are opened, paused and finished, notes change, two sessions work at once: the right one returns."""
    one, two = Session(house, "S1"), Session(house, "S2")
    project.plan(1, "Login", age=12 * DAY)
    assert named(one.compact()) == "Plan 001: Login"
    project.plan(1, "Login", "Blocked - no certificate", age=11 * DAY)
    packet = one.compact()
    assert (named(packet), "no certificate" in packet) == ("Plan 001: Login", True)
    project.plan(2, "Search", age=10 * DAY)
    assert named(one.compact()) == "Plan 002: Search"
    project.notes("Case Studies", "2/4 - Texts", age=9 * DAY)
    assert named(two.compact()) == "Case Studies"
    project.notes("Case Studies", "3/4 - Pictures", age=8 * DAY)
    assert "Phase: 3/4 - Pictures (in_progress)" in two.compact()
    project.plan(1, "Login", "On Hold", age=7 * DAY)
    assert (named(one.compact()), named(two.compact())) == ("Plan 001: Login", "Case Studies")
    project.plan(2, "Search", "Needs Review", age=6 * DAY)
    assert len(state_files(house)) == 3
    assert named(one.compact()) == "Plan 002: Search"
    project.plan(2, "Search", "✅ Complete", age=5 * DAY)
    one.compact()
    assert len(state_files(house)) == 2
    project.notes("Newsletter", "1/2 - List", age=4 * DAY)
    assert named(two.compact()) == "Newsletter"
    (house.root / "CLAUDE/Plan/001-plan/PLAN.md").rename(house.root / "CLAUDE/Plan/001-plan/OLD.md")
    assert named(two.compact()) == "Newsletter"
    project.account("Data Move", 3, "Transform", by=one)
    assert (named(one.compact()), named(two.compact())) == ("Data Move", "Newsletter")
    project.notes("Newsletter", "2/2 - Send", by=two)
    assert named(two.compact()) == "Newsletter"
    assert named(one.compact()) == "Data Move"
    assert len(state_files(house)) == 4
    ended = {row["title"]: row["status"] for row in house.ok("list", "--all", "--json").json["workflows"]}
    assert {title for title, status in ended.items() if status == "completed"} == {"Plan 002: Search"}


def test_an_agent_that_deletes_the_state_file_it_wrote_has_finished(house, project):
    session = Session(house, "S1")
    path = house.root / project.account("Move the data", 2, "Schema", by=session)
    assert named(session.compact()) == "Move the data"
    path.unlink()
    path.parent.rmdir()
    assert "Move the data" not in session.compact()
    assert not path.exists()
    assert house.ok("list", "--all", "--json").json["workflows"][0]["status"] == "completed"


def test_the_end_that_a_plan_says_is_told_once_to_the_session_that_was_at_it(house, project):
    project.plan(7, "Search")
    session = Session(house, "S1")
    assert named(session.compact()) == "Plan 007: Search"
    project.plan(7, "Search", "✅ Complete")
    told = session.compact()
    assert "CLAUDE/Plan/007-plan/PLAN.md says: ✅ Complete, so the workflow ended" in told
    assert "workflow ended" not in session.compact()


def test_the_end_that_a_plan_says_is_told_beside_the_packet_of_another_workflow(house, project):
    project.plan(7, "Search")
    project.account("Release 2", 3, "Ship", age=-5)
    session = Session(house, "S1")
    assert named(session.compact()) == "Release 2"
    project.plan(7, "Search", "✅ Complete")
    told = session.compact()
    assert named(told) == "Release 2"
    assert "so the workflow ended" in told


def test_an_edit_that_is_no_json_is_told_at_once_and_shown_as_text(house, project):
    session = Session(house, "S1")
    path = project.account("Alpha job", 2, "Build", by=session)
    full = house.root / path
    full.write_text("workflow: Alpha job\nphase: 3 of 5, the index is built\n")
    heard = session.send(
        "PostToolUse",
        tool_name="Write",
        tool_input={"file_path": str(full), "content": full.read_text()},
        tool_use_id="toolu_1",
        tool_response={},
        duration_ms=7,
    )
    assert "is no JSON (line 1, column 1: expecting value), and left as it is" in heard.text
    told = session.compact()
    assert named(told) == "Alpha job"
    assert "the index is built" in told
    assert full.read_text().startswith("workflow: Alpha job")
