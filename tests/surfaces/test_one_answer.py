"""What several surfaces say of the same thing is the same, and what a refusal suggests can be typed as it is."""

from __future__ import annotations

import json
import signal

import pytest

from holdfast.surfaces import tools
from holdfast.surfaces.hooks import events
from holdfast.surfaces.mcp import prompts
from tests.workbench import LOGIN, Bench

NAMELESS = """\
name = "nameless"
dialect = "compaction"

[[step]]
id = "work"

[[step]]
id = "end"
"""
TWICE = """\
name = "twice"

[[step]]
id = "one"
checks = [{ name = "lint" }, { name = "tests" }]
approval = { by = "relayed" }

[[step]]
id = "two"
checks = [{ name = "lint" }]
"""


@pytest.fixture
def bench(tmp_path) -> Bench:
    bench = Bench(tmp_path / "project").begun()
    for name, text in (("nameless", NAMELESS), ("twice", TWICE)):
        bench.write(f".holdfast/workflows/{name}.toml", text)
    bench.save("Definitions")
    return bench


def test_a_misused_check_of_one_of_two_workflows_leads_on_with_its_name(bench):
    ids = [json.loads(bench.ok("start", "twice", subject, "--json").out)["workflow_id"] for subject in ("a", "b")]
    refused = bench.agent("check", "lint", "--passed", "--failed", "-w", ids[0])
    assert refused.code == 2
    line = refused.err.partition("→ ")[2].strip()
    assert bench.typed(line).code == 0, line


def test_a_start_with_a_command_that_is_none_is_repeated_with_its_subject(bench):
    error = bench.agent("start", "tdd", "Greet", "--set", 'test_command=["python3"]', "--json").error
    assert error["remedies"][0]["command"] == "holdfast start tdd Greet --set test_command='COMMAND'"


def test_a_check_that_is_not_there_is_told_with_those_that_are_each_once(bench):
    bench.ok("start", "twice", "a")
    said = bench.agent("check", "nosuch", "--run").err
    assert "this workflow has no check 'nosuch'; it has lint, tests\n" in said


def test_a_phase_without_a_name_is_called_the_same_everywhere(bench):
    bench.ok("start", "nameless", "a")
    told = json.loads(bench.ok("next", "--json").out)["current_step_name"]
    document = json.loads(bench.ok("show").out)
    assert told == document["phase"]["name"] == "work"


def test_what_was_asked_for_of_a_finished_step_is_told_nowhere(bench):
    bench.ok("start", "twice", "a")
    bench.ok("begin", "one")
    for name in ("lint", "tests"):
        bench.ok("check", name, "--passed")
    bench.ok("done", "one")
    bench.person("reject", "one", "--feedback", "Longer please")
    assert json.loads(bench.ok("next", "--json").out)["asked_for"][0]["text"] == "Longer please"
    for name in ("lint", "tests"):
        bench.ok("check", name, "--passed")
    bench.ok("done", "one")
    bench.person("approve", "one", says="y")
    answer = bench.ok("next", "--json")
    assert json.loads(answer.out)["step"] == "two"
    told = tools.call(bench.open(), "get_next_step", {"workflow_id": json.loads(answer.out)["workflow_id"]})
    assert "Longer please" not in answer.out + json.dumps(told) + bench.ok("resume-packet").out


def test_the_status_line_and_the_status_have_the_same_bar(bench):
    bench.ok("start", "twice", "a")
    from holdfast.plain.terminal import Style
    from holdfast.surfaces.hooks import standing

    shown = standing.shown(bench.open().workflow().briefing(), Style(False))
    bar = "".join(one for one in shown if one in "▰▱")
    assert f"\n{bar} 1/2" in bench.ok("status").out


def _by_hook(bench: Bench) -> str:
    event = {"hook_event_name": "SessionStart", "source": "compact"}
    told = events._answers(events.project_of(str(bench.root), "S1"), event, "S1")
    return str(json.loads(told)["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize(
    "taken_up",
    [
        lambda bench: bench.ok("resume").out,
        lambda bench: "\n".join(json.loads(bench.ok("resume", "--json").out)["said"]),
        lambda bench: bench.ok("resume-packet").out,
        lambda bench: str(tools.call(bench.open(), "get_resume_packet", {"limit": 9000})["text"]),
        lambda bench: prompts._text(bench.open(), "resume", ""),
        _by_hook,
    ],
    ids=["resume", "resume --json", "resume-packet", "the tool", "the prompt", "the hook"],
)
def test_work_that_is_taken_up_knows_what_its_feature_file_says_now(bench, taken_up):
    bench.saved_feature(LOGIN, "Add login", "Add logout", "Write docs (no tests)")
    bench.start()
    bench.feature(LOGIN, "Add a login", "Write docs (no tests)", "Remember me")
    told = taken_up(bench)
    for line in (
        "task 1 is reworded: 'Add login' is 'Add a login' now",
        "task 4 is new: Remember me",
        f"task 2, 'Add logout', is not in {LOGIN} any more: not applied, a person decides (holdfast resume)",
    ):
        assert line in told
    plan = bench.open().workflow().state.plan
    assert [plan.step(path).name for path in plan.children("task_execution")] == [
        "Add a login",
        "Add logout",
        "Write docs",
        "Remember me",
    ]


def test_a_hook_with_little_time_left_gives_its_packet_and_says_what_it_did_not_read(bench):
    bench.saved_feature(LOGIN, "Add login")
    bench.start()
    bench.feature(LOGIN, "Add login", "Remember me")
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, events.ENOUGH / 2, events.ENOUGH / 2)
    try:
        told = _by_hook(bench)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "not yet, as time was short: holdfast resume" in told
    assert "Remember me" not in told
    assert "Next command: " in told


def test_a_packet_for_another_branch_or_beside_another_session_changes_nothing(bench):
    bench.saved_feature(LOGIN, "Add login")
    bench.ok("start", "dev", LOGIN)
    bench.feature(LOGIN, "Add login", "Remember me")
    bench.git("switch", "-q", "-c", "elsewhere")
    assert "Remember me" not in bench.ok("resume-packet").out
    bench.git("switch", "-q", "feat/user-login")
    bench.ok("resume", env={"CLAUDE_CODE_SESSION_ID": "S1"})
    bench.feature(LOGIN, "Add login", "Remember me", "Forget me")
    assert "Forget me" not in bench.ok("resume-packet", env={"CLAUDE_CODE_SESSION_ID": "S2"}).out
    assert "task 3 is new: Forget me" in bench.ok("resume-packet", env={"CLAUDE_CODE_SESSION_ID": "S1"}).out
