"""Every command that an answer or a refusal prints works as it is, with one active workflow or with two."""

from __future__ import annotations

import shlex

import pytest

from holdfast.core import naming
from tests.surfaces.cli.conftest import DEFINITION
from tests.trusted import trust_file

REFUSED = [
    ("begin", "nope"),
    ("begin", "verify"),
    ("done", "draft"),
    ("attach", "draft", "--artifact", "draft=missing.md"),
    ("check", "nope"),
    ("check", "lint", "--run"),
    ("fail", "draft", "--reason", "x"),
    ("unblock", "draft"),
    ("skip", "draft"),
    ("submit", "draft"),
    ("review", "draft", "--verdict", "approved"),
    ("review", "look"),
    ("approve", "draft"),
    ("approve", "sign-off"),
    ("reject", "sign-off", "--feedback", "no"),
    ("reopen", "draft"),
    ("reset", "draft"),
    ("resume", "--from", "nope"),
    ("revalidate",),
    ("extend", "--cost", "5"),
    ("extend",),
    ("restore", "7"),
    ("ack", "nothing"),
    ("agent", "end"),
    ("agent", "spend", "0"),
    ("orchestrator", "retry", "draft"),
    ("remind", "nothing", "--remove"),
    ("begin", "draft", "--token", "7-00000000000000000000000000000000"),
    ("begin", "draft", "--revision", "999"),
    ("amend", "--add", "x", "--after", "nope"),
    ("feature", "finalize"),
    ("orchestrator", "milestone", "draft", "--url", "https://example.com/1"),
    ("commit", "draft", "-m", "x"),
]


@pytest.fixture
def two(project):
    """Two workflows of the same kind, of which a command without `-w` picks none."""
    first = project.ok("status", "--json").json["workflow_id"]
    second = project.ok("start", "release", "1.5.0", "--json").json["workflow_id"]
    return project, first, second


def commands(answer) -> list[dict]:
    return [one for one in answer.error["remedies"] if one.get("command", "").startswith("holdfast ")]


def name_of(command: str) -> str:
    words = shlex.split(command)[1:]
    return " ".join(words[:2]) if " ".join(words[:2]) in naming.NAMES else words[0]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_every_command_of_a_refusal_names_its_workflow_and_runs(two, words):
    project, first, _ = two
    answer = project.agent(*words, "-w", first, "--json")
    assert answer.code != 0
    assert answer.error["remedies"], answer
    for one in commands(answer):
        typed = one["command"]
        assert (f" -w {first}" in typed) == naming.is_about_workflow(name_of(typed)), typed
        assert one["who"] == "person" or typed != shlex.join(["holdfast", *words, "-w", first])
        if "blanks" not in one and one["who"] != "person" and name_of(typed) != "wait":
            assert project.agent(*shlex.split(typed)[1:]).code != 2, typed


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_where_one_workflow_is_active_no_command_of_a_refusal_names_it(project, words):
    answer = project.agent(*words, "--json")
    assert answer.code != 0
    assert not [one["command"] for one in commands(answer) if " -w " in one["command"]]


@pytest.mark.parametrize("step", ["draft", "verify", "look", "sign-off", "pick"])
def test_what_next_and_status_print_names_the_workflow_at_every_step(project, step):
    project.people_ok("trust", "release", says="y")
    project.until(step)
    first = project.ok("status", "--json").json["workflow_id"]
    assert " -w " not in project.ok("next").out
    project.ok("start", "release", "1.5.0")
    for at in ("before", "within"):
        if at == "within":
            project.ok("begin", step, "-w", first)
            project.agent("submit", step, "-w", first)
        for answer in (project.ok("next", "-w", first), project.ok("status", "-w", first)):
            lines = [line.strip() for line in answer.out.splitlines() if "holdfast " in line]
            assert lines
            assert all(f" -w {first}" in line for line in lines), lines
        action = project.ok("next", "-w", first, "--json").json["required_action"]
        assert f" -w {first}" in action
        assert "holdfast approve" not in action


def test_a_command_that_could_mean_several_workflows_is_repeated_with_each_of_them(two):
    project, first, second = two
    for words in (("begin", "draft"), ("--json", "next"), ("note", "- a 'text'"), ("note", "--", "-x")):
        answer = project.agent(*words, *([] if "--" in words else ["--json"]))
        if "--" in words:
            lines = answer.err.rpartition("→ ")[2].split(" · or ")
        else:
            assert answer.error["code"] == "ambiguous_workflow"
            lines = [one["command"] for one in commands(answer)]
        for line, id in zip(lines, (second, first), strict=True):
            assert f" -w {id}" in line
            assert project.agent(*shlex.split(line)[1:]).code == 0


def test_what_a_command_decided_is_not_repeated_where_it_could_mean_several_workflows(two):
    project, first, second = two
    for words, left_open in (
        (("check", "lint", "--passed"), "holdfast check lint --PASSED-OR-FAILED"),
        (("check", "--failed", "lint"), "holdfast check --PASSED-OR-FAILED lint"),
        (("review", "look", "--verdict", "approved"), "holdfast review look --verdict APPROVED_OR_NEEDS_REVISION"),
        (("review", "look", "--verdict=approved"), "holdfast review look --verdict APPROVED_OR_NEEDS_REVISION"),
    ):
        found = commands(project.agent(*words, "--json"))
        assert [one["command"] for one in found] == [f"{left_open} --json -w {id}" for id in (second, first)]
        assert all(one["blanks"] for one in found)
        assert [project.agent(*shlex.split(one["command"])[1:]).code for one in found] == [2, 2]
    for decision in (("approve", "sign-off"), ("reject", "sign-off", "--feedback", "no"), ("extend", "--cost", "5")):
        answer = project.agent(*decision, "--json")
        assert answer.error["remedy"] == "show this to a person and stop"
        assert {one["who"] for one in commands(answer)} == {"person"}
        assert len(commands(answer)) == 2
    assert "holdfast approve" not in project.agent("approve", "sign-off").err.partition("for a person: ")[0]


def test_a_step_or_check_that_only_one_workflow_has_says_which_is_meant(two):
    project, first, second = two
    third = project.ok("start", "custom", "Clean up", "--phases", "Sort,Sweep", "--json").json["workflow_id"]
    step = project.ok("next", "-w", third, "--json").json["step"]
    for words, ids in (
        (("begin", step), [third]),
        (("check", "lint"), [second, first]),
        (("begin", "draft"), [second, first]),
    ):
        found = [one["command"] for one in commands(project.agent(*words, "--json"))]
        assert [line.rpartition(" -w ")[2].replace(" --json", "") for line in found] == ids


def test_a_check_that_nobody_trusted_is_a_persons_duty_before_it_is_refused(project):
    project.until("verify").ok("begin", "verify")
    project.ok("check", "lint", "--passed")
    said = project.ok("next", "--json").json
    first = said["blockers"][0]
    assert (said["turn"], [one["who"] for one in first["remedies"]]) == ("person", ["agent", "person"])
    assert first["remedies"][1]["command"].startswith("holdfast trust release")
    assert "nobody on this machine has trusted" in first["message"]
    assert "  holdfast done\n" not in project.ok("next").out
    trust_file(project.opened(), str(project.root / DEFINITION))
    assert "  holdfast done\n" in project.ok("next").out


def test_an_agent_is_told_to_wait_for_a_person_and_a_person_what_to_type(project):
    project.until("sign-off").ok("begin", "sign-off")
    project.ok("done", "sign-off")
    refused = project.agent("begin", "pick")
    assert "→ show sign-off to a person and stop, or holdfast wait --for person\n" in refused.err
    assert "for a person: holdfast approve sign-off\n" in refused.err
    assert "→ holdfast approve sign-off" in project.person("begin", "pick").out
    said = project.agent("begin", "pick", "--json").error
    assert said["remedy"] == "show sign-off to a person and stop, or holdfast wait --for person"
    assert {one["who"] for one in said["remedies"] if one.get("command", "").startswith("holdfast approve")} == {
        "person"
    }


def test_a_refusal_and_next_say_the_same_of_a_check_that_nobody_trusted(project):
    project.until("verify").ok("begin", "verify")
    said = project.ok("next", "--json").json["required_action"]
    for words in (("done", "verify"), ("begin", "look")):
        refused = project.agent(*words, "--json").error
        assert refused["remedy"] == said == "show this to a person and stop", words
        assert "--run" not in str(refused)


def test_where_the_resume_packet_comes_first_every_answer_says_so(project):
    project.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    first = project.ok("start", "custom", "Clean up", "--phases", "Sort,Sweep", "--json").json["workflow_id"]
    session = {"CLAUDE_CODE_SESSION_ID": "one"}
    said = project.agent("compacted", "-w", first, env=session)
    assert said.code == 0, said
    action = project.agent("next", "-w", first, "--json", env=session).json["required_action"]
    assert action.startswith("holdfast ack ")
    assert f"({action})" in said.out
    for command in ("next", "status", "resume-packet"):
        assert action in project.agent(command, "-w", first, env=session).out
    assert project.agent(*shlex.split(action)[1:], env=session).code == 0
    after = project.agent("next", "-w", first, "--json", env=session).json["required_action"]
    assert project.agent(*shlex.split(after)[1:], env=session).code == 0


def test_a_workflow_that_another_session_holds_is_no_work_of_this_one(project):
    mine, other = ({"CLAUDE_CODE_SESSION_ID": name} for name in ("one", "two"))
    assert project.agent("start", "release", "1.4.0", "--resume", env=other).code == 0
    project.agent("agent", "start", "release", env=other)
    said = project.agent("next", "--json", env=mine).json
    refused = project.agent("begin", "draft", "--json", env=mine).error
    assert refused["code"] == "lease_held"
    assert refused["remedy"] == said["required_action"]
    assert said["required_action"].startswith("wait until it ends: holdfast wait --for change")
    assert "another session (two…) is at work here since" in said["blocking_reason"]
    assert "--token" not in str(refused)
    assert "holdfast begin" not in project.agent("next", env=mine).out
    packet = project.agent("resume-packet", env=mine).out
    assert "\nNext command: wait until it ends: holdfast wait --for change" in packet
    assert project.agent("next", "--json", env=other).json["required_action"] == "holdfast begin draft"


def test_the_commands_of_a_person_are_shown_to_a_person_who_reads_status_or_the_packet(project):
    project.until("sign-off").ok("begin", "sign-off")
    project.ok("done", "sign-off")
    assert "        For a person: holdfast approve sign-off\n" in project.ok("status").out
    assert "\nFor a person:\n- holdfast approve sign-off -w " in project.ok("resume-packet").out
    assert "For a person" not in project.person("status").out


def test_at_a_check_that_nobody_trusted_only_the_command_of_trust_names_no_workflow(project):
    first = project.until("verify").ok("status", "--json").json["workflow_id"]
    project.ok("start", "release", "1.5.0")
    for command, moves in (("next", ("begin", "done")), ("status", ("begin",))):
        shown = [line.strip() for line in project.ok(command, "-w", first).out.splitlines() if "holdfast " in line]
        assert shown == [f"holdfast {move} verify -w {first}" for move in moves]
    assert project.ok("next", "-w", first, "--json").json["required_action"] == f"holdfast begin verify -w {first}"
    project.ok("begin", "verify", "-w", first)
    said = project.ok("next", "-w", first)
    lines = [line.strip() for line in said.out.splitlines() if "holdfast " in line]
    assert lines == [f"holdfast check lint --PASSED-OR-FAILED -w {first}", "read it, then: holdfast trust release"]
    assert said.out.index("For a person") < said.out.index("holdfast trust")
    shown = [line.strip() for line in project.ok("status", "-w", first).out.splitlines() if "holdfast " in line]
    assert shown == ["For a person: read it, then: holdfast trust release"]
    assert project.ok("next", "-w", first, "--json").json["required_action"] == "show this to a person and stop"
