"""Roles that may look at a workflow and change nothing of it: what hooks let their agents type and write."""

from __future__ import annotations

import json

import pytest

from holdfast.surfaces.cli.table import COMMANDS
from holdfast.surfaces.hooks import guard
from tests.surfaces.hooks.conftest import Project, denied
from tests.workbench import Bench

ROLES = ["creator", "*-creator", "reviewer", "*-reviewer"]
REVIEWER = "requirements-reviewer"
HOME = "workflow/dark-mode"
CHANGING = {
    *("start", "begin", "done", "attach", "check", "fail", "block", "unblock", "skip", "submit", "review", "approve"),
    *("reject", "reopen", "reset", "resume", "revalidate", "cancel"),
    *("feature init", "feature continue", "feature reset", "feature finalize", "feature recover"),
    *(
        "init",
        "install",
        "uninstall",
        "statusline",
        "mcp",
        "web",
        "run",
        "stop",
        "pause",
        "extend",
        "note",
        "reading add",
        "reading remove",
        "remind",
        "learn",
        "ack",
        "hook",
    ),
    *("compacted", "set", "snapshot", "restore", "agent start", "agent beat", "agent end", "agent spend", "lock"),
    *(
        "unlock",
        "task add",
        "task start",
        "task done",
        "orchestrator iterate",
        "orchestrator retry",
        "orchestrator skip",
        "orchestrator manual",
    ),
    *(
        "orchestrator supervise",
        "commit",
        "orchestrator milestone",
        "amend",
        "session create",
        "session use",
        "session write",
        "session path",
    ),
    *("session delete", "session keep", "session drop", "session retry", "session commit", "session cancel"),
    *("workflows new", "trust", "clean", "adopt", "demo", "receipt", "passkey add", "passkey remove"),
    "notify",
}


@pytest.fixture
def led(scene):
    """A scene with a workflow that only its lead writes to."""
    scene.given(read_only=ROLES, human=[{"step": "01-requirements", "names": ["01-requirements", "1"]}])
    return scene


# Which commands look, and which change something


def test_every_command_either_looks_or_changes_something():
    looking = guard._LOOKING - {"help"}
    assert looking | CHANGING == set(COMMANDS)
    assert not looking & CHANGING


def test_a_command_that_another_word_turns_into_another_one_is_known():
    twofold = {name for name in COMMANDS if any(other.startswith(f"{name} ") for other in COMMANDS)}
    assert twofold == set(guard._SPEAKING_OF_MORE)


@pytest.mark.parametrize("name", sorted(CHANGING))
def test_a_role_that_may_only_look_types_no_command_that_changes_something(led, name):
    assert led.bash(f"holdfast {name} 1 --reason x", agent_type=REVIEWER)


@pytest.mark.parametrize("name", sorted(guard._LOOKING))
def test_a_role_that_may_only_look_looks(led, name):
    assert led.bash(f"holdfast {name} --json", agent_type=REVIEWER) == ""


@pytest.mark.parametrize(
    "line",
    [
        "holdfast",
        "holdfast --version",
        "holdfast --help",
        "holdfast help done",
        "holdfast done --help",
        "holdfast reading add -h",
        "holdfast -w release-1 status",
        "holdfast --as reviewer next",
        "holdfast schema gated",
        "holdfast learnings done approve",
        "holdfast log --limit 5",
        "holdfast workflows check done.toml",
        "python -m holdfast status",
        "echo holdfast done 1",
        "git commit -m 'holdfast done 1'",
    ],
)
def test_these_lines_only_look(led, line):
    assert led.bash(line, agent_type=REVIEWER) == ""


@pytest.mark.parametrize(
    "line",
    [
        "holdfast done 1",
        "holdfast review 1",
        "holdfast -w release-1 review 1",
        "holdfast review 1 --workflow=rel",
        "holdfast review 1 -w $ID",
        "holdfast --as lead done 1",
        "cd src && python3 -m holdfast note seen",
        "bash -c 'holdfast fail 1 --reason x'",
        "timeout 9 holdfast begin 2; true",
        "echo $(holdfast cancel)",
        "holdfast status && holdfast done 1",
        "holdfast $COMMAND",
        "holdfast reading $MORE",
        "holdfast reading --json add docs/a.md",
        "holdfast workflows new mine",
        "holdfast doctor --repair",
        "holdfast done 1 -m --help",
        "holdfast agent",
        "HOLDFAST_ACTOR=lead holdfast done 1",
    ],
)
def test_these_lines_change_something_and_are_the_leads(led, line):
    reason = led.bash(line, agent_type=REVIEWER)
    assert "requirements-reviewer may look at release-1" in reason
    assert "Report what you found to the lead agent" in reason


def test_the_line_is_shown_without_what_a_terminal_would_obey(led):
    reason = led.bash("holdfast note 'a\x1b[31mb'", agent_type="x\x07-reviewer")
    assert "\x1b" not in reason
    assert "\x07" not in reason


# Whose role it is


@pytest.mark.parametrize(
    "role", ["reviewer", "creator", "code-reviewer", "architecture-creator", "kit:reviewer", "kit:test-creator"]
)
def test_a_role_fits_by_its_pattern_with_or_without_the_name_of_a_plugin(led, role):
    assert "the lead agent" in led.bash("holdfast done 1", agent_type=role)


@pytest.mark.parametrize("role", ["", "lead", "general-purpose", "reviewers", "reviewer-lead", "creative", 7, None, []])
def test_other_roles_and_the_session_itself_are_not_held_back(led, role):
    assert led.bash("holdfast done 1", agent_type=role) == ""


def test_an_agent_without_a_role_is_not_held_back(led):
    assert led.bash("holdfast done 1") == ""


def test_where_a_workflow_says_nothing_of_roles_every_agent_may_write(scene):
    scene.given()
    assert scene.bash("holdfast done 1", agent_type="reviewer") == ""


def test_the_workflow_that_is_meant_decides(led):
    led.workflows.append({"id": "story-1", "ulid": "02U", "worktree": "", "sessions": ["S9"]})
    assert led.bash("holdfast done 1 -w story-1", agent_type="reviewer") == ""
    assert led.bash("holdfast done 1 -w release-1", agent_type="reviewer")
    assert led.bash("holdfast done 1", agent_type="reviewer")
    assert led.bash("holdfast done 1", agent_type="reviewer", session_id="S9") == ""


@pytest.mark.parametrize("roles", [None, "reviewer", {"reviewer": 1}, [7, None]])
def test_a_view_of_another_shape_holds_nobody_back(scene, roles):
    scene.given(read_only=roles)
    assert scene.bash("holdfast done 1", agent_type="reviewer") == ""


def test_what_is_a_persons_stays_a_persons_for_every_role(led):
    assert "A person does this" in led.bash("holdfast approve 1", agent_type="reviewer")
    assert "A person does this" in led.bash("holdfast approve 1")


# With the view that the engine writes, and the hook as a host runs it


@pytest.fixture
def feature(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    bench.ok("start", "feature", "Dark mode")
    return Project(bench.root)


def asked(project, tool, given, **more):
    """The reason for which a host is told not to continue; empty when it may."""
    answer = project.hook("PreToolUse", tool_name=tool, tool_input=given, **more)
    return denied(answer) if answer else ""


def test_a_reviewer_of_a_feature_records_nothing_and_its_lead_does(feature):
    line = {"command": "holdfast review 1"}
    assert "the lead agent" in asked(feature, "Bash", line, agent_type=REVIEWER)
    assert asked(feature, "Bash", {"command": "holdfast status"}, agent_type=REVIEWER) == ""
    assert asked(feature, "Bash", line) == ""


@pytest.mark.parametrize("name", ["workflow-state.json", "01-requirements/status.json", "journal.jsonl"])
@pytest.mark.parametrize("role", [REVIEWER, "requirements-creator", "lead"])
def test_nobody_edits_the_state_of_a_feature(feature, name, role):
    path = f"{HOME}/{name}"
    assert "written by Holdfast" in asked(feature, "Edit", {"file_path": path}, agent_type=role)
    assert "written by Holdfast" in asked(feature, "Bash", {"command": f"echo '{{}}' > {path}"}, agent_type=role)


def test_the_view_names_the_roles_only_while_the_feature_goes_on(feature):
    def roles():
        return [row.get("read_only") for row in json.loads((feature.home / "guard").read_text())["workflows"]]

    assert roles() == [ROLES]
    Bench(feature.root).ok("cancel", "--reason", "enough")
    assert roles() == []


@pytest.mark.parametrize(
    "line", ["holdfast diagram --svg a.svg", "holdfast log --timeline=a.svg", "holdfast diagram --png a.png"]
)
def test_a_role_that_may_only_look_draws_no_file(led, line):
    assert led.bash(line, agent_type=REVIEWER)
