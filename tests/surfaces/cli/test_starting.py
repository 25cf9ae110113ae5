"""Starting and coming back, as people and agents type it: real processes, real terminals, real git."""

from __future__ import annotations

import json
import os
import shutil
import sys

import pytest

from tests.surfaces.cli.conftest import Answer
from tests.workbench import LOGIN, Bench

START = ("start", "dev", LOGIN)
TASK = "task_execution/1"
CLAUDE, CODEX = {"CLAUDE_CODE_SESSION_ID": "one"}, {"CODEX_THREAD_ID": "two"}
RULE = "━" * 47
TESTS = """\
import sys
print("tests/auth.py::test_login_with_valid_credentials FAILED")
print("=" * 10, "short test summary info", "=" * 10)
print("FAILED tests/auth.py::test_login_with_valid_credentials - not implemented")
print("=" * 10, "1 failed in 0.01s", "=" * 10)
sys.exit(1)
"""


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.saved_feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)")
    return made


@pytest.fixture
def started(bench) -> Bench:
    bench.start()
    return bench


def commands(remedy: str) -> list[str]:
    """The commands of a remedy, as they can be typed: between the words that explain them."""
    going_on, _, giving_up = remedy.removeprefix("continue with it: ").rpartition(" · or give it up: ")
    return [going_on, giving_up]


def active(bench: Bench) -> list[str]:
    return [workflow.ulid for workflow in bench.open().list(status="active")]


def document(bench: Bench, folder: str = "active") -> dict:
    (path,) = (bench.root / ".claude/workflow-state" / folder).glob("*.json")
    return json.loads(path.read_text())


# The first start.


def test_a_start_says_what_was_done_and_which_commands_will_run(bench):
    bench.write("pytest.ini", "")
    bench.save()
    answer = bench.ok(*START)
    lines = answer.out.splitlines()
    assert lines[0].startswith("✓ started dev-")
    assert lines[1:] == [
        "on the new branch feat/user-login",
        "lint: no command found: self-reported, Holdfast does not run it",
        "test: python3 -m pytest -v (from pytest.ini)",
        "security_review: no command found: self-reported, Holdfast does not run it",
        "code_simplifier: no command found: self-reported, Holdfast does not run it",
    ]


def test_a_start_in_json(bench):
    found = bench.ok(*START, "--json").json
    assert (found["resumed"], found["branch"], found["step"]) == (False, "feat/user-login", TASK)
    assert found["said"][0] == "on the new branch feat/user-login"


def test_the_branch_can_be_chosen(bench):
    bench.ok(*START, "--branch", "work/login")
    assert bench.branch == "work/login"


def test_a_command_that_was_typed_says_so(bench):
    said = bench.ok("start", "tdd", "Add login", "--set", "test_command=sh run.sh", "--json").json["said"]
    assert said == ["test: sh run.sh (set by agent, not by a person)"]


def test_a_subject_is_found_from_a_subfolder(bench):
    folder = bench.root / "features"
    first = bench.ok("start", "dev", "auth/user-login.md", "--json", cwd=folder).json["ulid"]
    assert bench.ok(*START, "--resume", "--json").json["ulid"] == first


# Coming back without a terminal.


def test_an_agent_has_to_say_whether_it_goes_on_or_begins_anew(started):
    before = started.everything()
    answer = started.agent(*START, "--json")
    assert (answer.code, answer.error["code"]) == (3, "already_active")
    assert started.everything() == before


def test_what_the_refusal_offers_can_be_typed_as_it_stands(started):
    (first,) = active(started)
    again, fresh_start = commands(started.agent(*START, "--json").error["remedy"])
    resumed = started.typed(again)
    assert resumed.code == 0, resumed
    assert active(started) == [first]
    fresh = started.typed(fresh_start)
    assert fresh.code == 0, fresh
    assert first not in active(started)
    assert len(active(started)) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--set", "note=it's; `odd` $HOME"),
        ("--set", "flag=true"),
        ("--set", 'list=["a", "b c"]'),
        ("--set", "nothing=null"),
        ("--title", "A title; really"),
        ("--branch", "work/login"),
        ("--session", "night-1"),
    ],
    ids=lambda words: words[1].partition("=")[0],
)
def test_what_the_refusal_offers_is_the_command_as_it_was_typed(bench, words):
    def said() -> tuple[object, ...]:
        (workflow,) = bench.open().list(status="active")
        state = workflow.state
        return dict(state.context), state.title, state.branch, state.session

    bench.ok(*START, *words)
    before = said()
    fresh_start = commands(bench.agent(*START, *words, "--json").error["remedy"])[-1]
    answer = bench.typed(fresh_start)
    assert answer.code == 0, answer
    assert said() == before


def test_resume_and_fresh_exclude_each_other(started):
    assert started.agent(*START, "--resume", "--fresh", "--json").error["code"] == "bad_usage"


def test_resume_where_nothing_is_there_starts(bench):
    assert bench.ok(*START, "--resume", "--json").json["resumed"] is False


def test_a_resumed_workflow_in_json(started):
    found = started.ok(*START, "--resume", "--json").json
    said = {name: found[name] for name in ("resumed", "read_only", "said", "signal", "summary")}
    assert said == {
        "resumed": True,
        "read_only": False,
        "said": [],
        "signal": "DEV_CONTINUE",
        "summary": "Resuming task 1/2, ready to commit",
    }
    assert found["step"] == TASK


def test_new_tasks_are_taken_up_when_the_work_goes_on(started):
    started.feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)", "Add a link (no tests)")
    found = started.ok(*START, "--resume", "--json").json
    assert [step["name"] for step in found["steps"] if step["path"].startswith("task_execution/")] == [
        "Add a form",
        "Add a page",
        "Add a link",
    ]


def test_what_changed_in_the_file_is_listed_when_the_work_goes_on(started):
    started.feature(LOGIN, "Add a form (no tests)", "Add pages (no tests)", "Add a link (no tests)")
    lines = started.ok(*START, "--resume").out.splitlines()
    assert "task 2 is reworded: 'Add a page' is 'Add pages' now" in lines
    assert "task 3 is new: Add a link" in lines


def test_an_agent_that_takes_a_gate_away_in_the_file_is_told_that_a_person_decides(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START, "--set", "test_command=true")
    bench.feature(LOGIN, "Add a form (no tests)")
    out = bench.ok(*START, "--resume").out
    untested = f"task 1, 'Add a form', is marked '(no tests)' in {LOGIN}, which takes its test phases away"
    gone = f"task 2, 'Add a page', is not in {LOGIN} any more"
    for why in (untested, gone):
        assert f"{why}: not applied, a person decides (holdfast resume" in out
    paths = [step["path"] for step in bench.ok("status", "--json").json["steps"]]
    assert {"task_execution/1/red", "task_execution/2"} < {*paths}
    bench.ok(*START, "--resume")
    alerts = [alert["message"] for alert in bench.ok("status", "--json").json["alerts"]]
    assert sorted(alerts) == sorted(f"{why}: a person decides, with holdfast resume" for why in (untested, gone))


def test_the_alert_is_gone_once_a_person_applied_it(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START, "--set", "test_command=true")
    bench.feature(LOGIN, "Add a form (no tests)", "Add a page")
    bench.ok(*START, "--resume")
    assert bench.ok("status", "--json").json["alerts"]
    assert "applied" in bench.person("resume", says="y").out
    assert bench.ok("status", "--json").json["alerts"] == []
    assert "a person decides" not in bench.ok("status").out + bench.agent("doctor").out


def test_a_task_that_was_added_by_a_command_is_not_missing_in_the_file(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START, "--set", "test_command=true")
    bench.ok("task", "add", "Add a link")
    bench.feature(LOGIN, "Add a form")
    answer = bench.person("resume", says="y").out
    assert "'Add a page', is not in" in answer
    assert "Add a link" not in [line for line in answer.splitlines() if "not in" in line]
    paths = [step["path"] for step in bench.ok("status", "--json").json["steps"]]
    assert "task_execution/3" in paths
    assert "task_execution/2" not in paths


def test_a_command_on_another_branch_says_so_before_the_commit_is_refused(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START, "--set", "test_command=true")
    branch = bench.branch
    bench.git("switch", "-q", "main")
    said = f"main is checked out, and this work belongs to {branch}: nothing is committed here (git switch {branch})"
    for words in (("check", "test_fails"), ("done",)):
        answer = bench.agent(*words)
        assert said in answer.out + answer.err
    bench.git("switch", "-q", branch)
    answer = bench.agent("done")
    assert "is checked out" not in answer.out + answer.err


def test_a_person_is_asked_before_a_gate_is_taken_away(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START, "--set", "test_command=true")
    bench.feature(LOGIN, "Add a form (no tests)")
    assert "not applied" in bench.person("resume", says="n").out
    assert bench.ok("status", "--json").json["step"] == "task_execution/1/red"
    answer = bench.person("resume", says="y")
    assert "What had to be done or tested before need not be any more:" in answer.out
    assert f"task 2, 'Add a page', is not in {LOGIN} any more: applied" in answer.out
    found = bench.ok("status", "--json").json
    assert found["step"] == TASK
    assert found["skipped"] == {"task_execution/2": f"removed: task 2, 'Add a page', is not in {LOGIN} any more"}
    bench.write("form.py", "1\n")
    bench.ok("done", TASK)
    assert bench.ok("status", "--json").json["step"] == "verification"


def test_a_person_who_takes_out_the_task_that_is_worked_on_goes_on_with_the_next(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a page (no tests)")
    bench.ok(*START, "--set", "test_command=true")
    bench.feature(LOGIN, "Add a page (no tests)")
    bench.person("resume", says="y")
    assert bench.ok("status", "--json").json["step"] == "task_execution/2"
    bench.write("page.py", "1\n")
    bench.ok("done", "task_execution/2")


def test_a_start_says_what_it_left_out_and_the_description_goes_with_the_task(bench):
    text = "# F\n## Tasks\n- [ ] Add a form (no tests)\n  - with a *name*\n- Look at it\n## Notes\n- [ ] ask Ada\n"
    bench.write("features/x.md", text)
    bench.save()
    out = bench.ok("start", "dev", "features/x.md").out
    assert "features/x.md:5: there is no check box, so this is no task\n" in out
    assert "features/x.md:7: 1 box below 'Notes': no heading of tasks, so no task\n" in out
    assert bench.ok("next", "--json").json["task"]["text"] == "Add a form\n\n- with a *name*"
    assert "with a *name*" in bench.ok("next").out
    assert "with a *name*" in bench.ok("resume-packet").out


def test_a_folder_is_started_without_its_files_that_have_no_tasks(bench):
    bench.write("features/auth/glossary.md", "# Words\n")
    bench.save()
    out = bench.ok("start", "dev", "features/auth/").out
    assert "features/auth/glossary.md is passed over: there is no task" in out


def test_the_folder_of_a_feature_that_is_worked_on_leads_to_it(started):
    (first,) = active(started)
    assert started.ok("start", "dev", "features/auth/", "--resume", "--json").json["ulid"] == first


def test_resume_without_a_name_takes_the_work_of_this_branch_and_else_the_newest(bench):
    bench.feature("features/other.md", "Else (no tests)", title="Other")
    bench.save()
    first = bench.ok(*START, "--json").json["ulid"]
    bench.git("switch", "-q", "main")
    second = bench.ok("start", "dev", "features/other.md", "--json").json["ulid"]
    bench.git("switch", "-q", "feat/user-login")
    assert bench.ok("resume", "--json").json["ulid"] == first
    bench.git("switch", "-q", "feat/other")
    assert bench.ok("resume", "--json").json["ulid"] == second


def test_resume_prints_the_summary_for_an_agent_too(started):
    out = started.ok(*START, "--resume").out
    assert out.startswith("📂 Resuming workflow from saved state...\n\nFound active workflow:\n")
    assert f"\n{RULE}\n🔄 Resuming: Task 1/2 - Add a form\n" in out
    assert "\nResuming task 1/2, ready to commit\n" in out
    assert out.endswith("\n→ holdfast done\n")


# Sessions.


def test_a_second_session_may_only_look(bench):
    bench.ok(*START, env=CLAUDE)
    found = bench.ok(*START, "--resume", "--json", env=CODEX).json
    assert (found["resumed"], found["read_only"]) == (True, True)
    bench.write("form.py", "1\n")
    head = bench.head
    refused = bench.agent("done", TASK, "--json", env=CODEX)
    assert (refused.code, refused.error["code"]) == (5, "lease_held")
    assert bench.head == head
    assert bench.ok(*START, "--resume", "--json", env=CLAUDE).json["read_only"] is False
    bench.ok("done", TASK, env=CLAUDE)
    assert bench.head != head


def test_a_second_session_is_told_that_it_may_only_look(bench):
    bench.ok(*START, env=CLAUDE)
    assert "Another session is at work here" in bench.ok(*START, "--resume", env=CODEX).out


def test_a_second_session_takes_no_new_tasks_up(bench):
    bench.ok(*START, env=CLAUDE)
    bench.feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)", "Add a link (no tests)")
    paths = [step["path"] for step in bench.ok(*START, "--resume", "--json", env=CODEX).json["steps"]]
    assert "task_execution/3" not in paths


# A person at a terminal.


def five(bench: Bench) -> None:
    """Five tasks, three of them committed, and the fourth at a green that does not come."""
    tasks = ["Add User model", "Add password hashing", "Add AuthService"]
    bench.saved_feature(LOGIN, *(f"{task} (no tests)" for task in tasks), "Add login method", "Add logout method")
    bench.write("run.py", TESTS)
    bench.save()
    workflow = bench.start(context={"test_command": f"{sys.executable} run.py"})
    for number in ("1", "2", "3"):
        bench.write(f"part{number}.py", "1\n")
        workflow.done(f"task_execution/{number}")
    bench.write("tests/auth.py", "def test_login_with_valid_credentials(): ...\n")
    workflow.check("test_fails")
    workflow.done("task_execution/4/red")
    workflow.check("test_passes")


def shown_by(answer: Answer, echo: str = "\n") -> list[str]:
    """The lines at the terminal, with what passes by the clock made the same."""
    lines = answer.out.replace(f"[Y/n] {echo}", "[Y/n]\n", 1).splitlines()
    times = ("  Started: ", "  Last activity: ", "Last test run (")
    return [next((f"{time}…" for time in times if line.startswith(time)), line) for line in lines]


def test_a_person_is_shown_everything_and_goes_on_with_enter(bench):
    five(bench)
    (workflow,) = bench.open().list()
    shas = [workflow.state.step(f"task_execution/{n}").data["commit_sha"][:7] for n in (1, 2, 3)]
    answer = bench.person(*START, says="")
    assert answer.code == 0, answer
    assert shown_by(answer)[:33] == [
        "📂 Checking for existing workflow state...",
        "",
        "Found active workflow:",
        f"  ID: {workflow.id}",
        "  Feature: features/auth/user-login.md",
        "  Started: …",
        "  Last activity: …",
        "",
        "  Progress:",
        "    ✅ Load feature (3/5 tasks complete)",
        "    ✅ Create branch (feat/user-login)",
        "    🔄 Task execution:",
        f"       ✅ Task 1: Add User model (committed: {shas[0]})",
        f"       ✅ Task 2: Add password hashing (committed: {shas[1]})",
        f"       ✅ Task 3: Add AuthService (committed: {shas[2]})",
        "       🔄 Task 4: Add login method (GREEN phase - tests failing)",
        "       ⏳ Task 5: Add logout method",
        "    ⏳ Verification (lint, test, security, simplify)",
        "    ⏳ PR creation",
        "",
        "Resume from Task 4 (GREEN phase)? [Y/n]",
        RULE,
        "🔄 Resuming: Task 4/5 - Add login method",
        "   Phase: GREEN (make tests pass)",
        RULE,
        "",
        "Last test run (…",
        "  ❌ test_login_with_valid_credentials",
        "",
        "Continuing implementation...",
        "",
        "Resuming task 4/5, currently in GREEN phase",
        "→ fix the work, then: holdfast done",
    ]


def test_a_terminal_that_cannot_show_marks_gets_letters(bench):
    five(bench)
    plain = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    person = bench.person(*START, says="", env=plain)
    agent = bench.agent(*START, "--resume", env=plain)
    for answer in (person, agent):
        assert answer.code == 0, answer
        assert answer.out.isascii(), answer
        assert "    [x] Load feature (3/5 tasks complete)" in answer.out
        assert "       [>] Task 4: Add login method (GREEN phase - tests failing)" in answer.out
        assert f"{'-' * 47}\n[>] Resuming: Task 4/5 - Add login method\n" in answer.out


@pytest.mark.parametrize("says", ["y", "Y", "yes", "YES"])
def test_yes_goes_on(started, says):
    (first,) = active(started)
    answer = started.person(*START, says=says)
    assert (answer.code, RULE in answer.out) == (0, True), answer
    assert active(started) == [first]


@pytest.mark.parametrize("says", ["n", "N", "no", "maybe", "yes please"])
def test_anything_else_leaves_everything_as_it_is(started, says):
    before = started.everything()
    answer = started.person(*START, says=says)
    assert answer.code == 1, answer
    assert "stays as it is" in answer.out
    assert RULE not in answer.out
    assert started.everything() == before


def test_a_person_who_says_what_they_want_is_not_asked(started):
    (first,) = active(started)
    assert "[Y/n]" not in started.person(*START, "--resume").out
    assert active(started) == [first]
    assert "[Y/n]" not in started.person(*START, "--fresh").out
    assert first not in active(started)


def test_json_is_never_mixed_with_a_question(started):
    answer = started.person(*START, "--json")
    assert (answer.code, "[Y/n]" in answer.out, "already_active" in answer.out) == (3, False, True)


def test_a_host_makes_an_agent_of_whoever_types_on_a_terminal(started):
    answer = started.person(*START, env={"CLAUDECODE": "1"})
    assert (answer.code, "[Y/n]" in answer.out) == (3, False)


def test_names_from_outside_cannot_command_the_terminal(bench):
    bench.ok("start", "tdd", "Add \x1b[31mred\x07 login", "--set", "test_command=sh run.sh")
    for answer in (
        bench.person("start", "tdd", "Add \x1b[31mred\x07 login", says="y"),
        bench.agent("start", "tdd", "Add \x1b[31mred\x07 login", "--resume"),
        bench.agent("start", "tdd", "Add \x1b[31mred\x07 login", "--resume", "--json"),
        bench.agent("start", "tdd", "Add \x1b[31mred\x07 login"),
    ):
        assert "\x1b[31m" not in answer.out + answer.err
        assert "\x07" not in answer.out + answer.err
        assert "red" in answer.out + answer.err


# Another branch.


def test_on_another_branch_an_agent_is_told_both_ways_and_switched_to_none(started):
    started.git("switch", "-q", "main")
    before = started.everything()
    answer = started.agent(*START, "--resume", "--json")
    assert (answer.code, answer.error["code"]) == (3, "branch_mismatch")
    facts = answer.error["facts"]
    assert (facts["branch"], facts["current_branch"]) == ("feat/user-login", "main")
    assert [option["do"] for option in facts["options"]] == ["switch", "abandon"]
    assert started.everything() == before


def test_both_ways_out_of_another_branch_can_be_typed(started):
    (first,) = active(started)
    started.git("switch", "-q", "main")
    switch, abandon = (
        option["command"] for option in started.agent(*START, "--resume", "--json").error["facts"]["options"]
    )
    assert started.typed(switch).code == 0
    assert started.ok(*START, "--resume", "--json").json["ulid"] == first
    started.git("switch", "-q", "main")
    fresh_start = started.typed(abandon)
    assert fresh_start.code == 0, fresh_start
    assert first not in active(started)


def test_bare_resume_on_another_branch_switches_to_none(started):
    started.git("switch", "-q", "main")
    answer = started.agent("resume", "--json")
    assert answer.error["code"] == "branch_mismatch"
    assert started.branch == "main"


def test_a_person_on_another_branch_switches_with_1(started):
    (first,) = active(started)
    started.git("switch", "-q", "main")
    answer = started.person(*START, says="1")
    assert answer.code == 0, answer
    assert "⚠️ State is for branch 'feat/user-login' but current branch is 'main'\n" in answer.out
    assert "Options: 1) Switch to feat/user-login  2) Abandon state and start fresh\n" in answer.out
    assert (started.branch, active(started), RULE in answer.out) == ("feat/user-login", [first], True)


def test_a_person_on_another_branch_starts_fresh_with_2(started):
    (first,) = active(started)
    started.git("switch", "-q", "main")
    answer = started.person(*START, says="2")
    assert answer.code == 0, answer
    assert first not in active(started)
    assert started.branch == "feat/user-login"
    assert started.open().workflow(first).summary()["status"] == "abandoned"


@pytest.mark.parametrize("says", ["", "y", "3", "12"])
def test_anything_else_on_another_branch_changes_nothing(started, says):
    started.git("switch", "-q", "main")
    before = started.everything()
    answer = started.person(*START, says=says)
    assert answer.code == 3, answer
    assert started.everything() == before


def test_a_switch_that_git_refuses_changes_nothing(started):
    (first,) = active(started)
    started.write("form.py", "1\n")
    started.ok("done", TASK)
    started.git("switch", "-q", "main")
    started.write("form.py", "in the way\n")
    answer = started.person(*START, says="1")
    assert answer.code == 3, answer
    assert (started.branch, started.read("form.py"), active(started)) == ("main", "in the way\n", [first])


def test_a_branch_name_cannot_command_the_terminal(started):
    started.git("switch", "-q", "-c", "odd\u202ename")
    answer = started.person(*START, says="x")
    assert answer.code == 3
    assert "\u202e" not in answer.out


# Work, signals and the end.


def test_a_task_is_handed_in_by_its_number_or_path(started):
    started.write("form.py", "1\n")
    answer = started.ok("task", "done", "1", "-m", "The form")
    assert f"committed {started.head[:7]}" in answer.out
    assert started.git("log", "-1", "--format=%s") == "The form"
    started.write("page.py", "1\n")
    started.write("other.py", "1\n")
    found = started.ok("done", "task_execution/2", "--path", "page.py", "--json").json
    assert found["said"] == [f"committed {started.head[:7]}", "not in the commit: other.py"]
    assert "other.py" not in started.committed()


def test_a_task_is_handed_in_with_a_commit_that_is_there(started):
    started.write("form.py", "1\n")
    mine = started.save("by hand")
    assert started.ok("task", "done", "1", "--commit", "HEAD", "--json").json["commit"] == mine


def finish(bench: Bench, *names: str) -> Answer:
    """Everything up to the pull request."""
    for step, name in zip(names, "abcdef", strict=False):
        bench.write(f"{name}.py", "1\n")
        bench.ok("done", step)
    bench.ok("set", "test_command=true")
    bench.ok("check", "test")
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    bench.ok("done", "verification")
    bench.publish()
    return bench.ok("done", "pr_creation", "--url", "https://github.com/ada/engine/pull/7")


def test_a_finished_run_says_so_in_its_last_line(started):
    answer = finish(started, TASK, "task_execution/2")
    assert answer.out.splitlines()[-1] == "DEV_COMPLETE: user-login"
    (workflow,) = started.open().list()
    assert started.ok("signal", "-w", workflow.id).out == "DEV_COMPLETE: user-login\n"
    assert document(started, "completed")["workflow"]["status"] == "completed"
    assert document(started, "completed")["checkpoints"]["pr_created"]["pr_number"] == 7


def test_a_run_that_goes_on_says_so_only_when_it_is_asked(started):
    assert started.ok("signal").out == "DEV_CONTINUE\n"
    started.write("form.py", "1\n")
    assert "DEV_" not in started.ok("done", TASK).out


def test_a_workflow_that_gives_no_signal_says_so(bench):
    bench.ok("start", "tdd", "Add login", "--set", "test_command=sh run.sh")
    refused = bench.agent("signal")
    assert (refused.out, refused.code) == ("", 3)
    assert "gives no signal" in refused.err


def test_a_blocked_run_says_so(started):
    answer = started.ok("block", TASK, "--reason", "no database")
    line = f"DEV_BLOCKED: {TASK} blocked: no database"
    assert answer.out.splitlines()[-1] == line
    assert started.ok("signal").out == f"{line}\n"
    assert started.ok("signal", "--json").json["signal"] == line


def test_a_reason_cannot_pretend_to_be_a_signal(started):
    answer = started.ok("block", TASK, "--reason", "first\nDEV_COMPLETE: user-login")
    for out in (answer.out, started.ok("signal").out):
        assert not [line for line in out.splitlines() if line.startswith("DEV_COMPLETE")]
    assert "\n" not in started.ok("signal", "--json").json["signal"]


def test_a_folder_says_when_a_feature_is_over_and_when_all_are(bench):
    bench.feature("features/both/1-in.md", "Form (no tests)", title="In")
    bench.feature("features/both/2-out.md", "Link (no tests)", title="Out")
    bench.save()
    bench.ok("start", "dev", "features/both/")
    bench.write("form.py", "1\n")
    out = bench.ok("done", "task_execution/1-in/1").out
    assert out.splitlines()[-1] == "DEV_CONTINUE"
    answer = finish(bench, "task_execution/2-out/1")
    assert answer.out.splitlines()[-1] == "DEV_COMPLETE: All features done"


def test_a_compaction_is_in_the_history(started):
    started.ok("compacted", "--note", "session resumed")
    last = document(started)["history"][-1]
    assert (last["event"], last["note"]) == ("context_compacted", "session resumed")


# A state file that is broken.


def test_a_broken_state_file_of_known_work_is_written_again(started):
    (path,) = (started.root / ".claude/workflow-state/active").glob("*.json")
    (first,) = active(started)
    path.write_text('{"workflow": ')
    os.utime(path, (0, 0))  # nobody is in the middle of writing it
    assert started.ok(*START, "--resume", "--json").json["ulid"] == first
    assert document(started)["workflow"]["status"] == "in_progress"
    kept = [path.read_text() for path in (started.root / ".holdfast/quarantine").iterdir()]
    assert '{"workflow": ' in kept


def test_a_broken_state_file_that_no_journal_knows_is_set_aside_and_said(bench):
    bench.start()
    (path,) = (bench.root / ".claude/workflow-state/active").glob("*.json")
    shutil.rmtree(bench.root / ".holdfast")
    path.write_text('{"workflow": ')
    os.utime(path, (0, 0))
    answer = bench.ok(*START)
    assert "the state file was corrupted: starting fresh, a copy is in " in answer.out
    assert document(bench)["workflow"]["status"] == "in_progress"


# Trust.


def configured(bench: Bench, words: str = '"echo", "hello"') -> None:
    bench.write(".holdfast/config.toml", f"[commands]\nlint = [{words}]\n")


def test_a_person_trusts_the_projects_configuration_and_only_then_it_runs(bench):
    configured(bench)
    bench.save()
    bench.ok(*START)
    for name in ("a", "b"):
        bench.write(f"{name}.py", "1\n")
        bench.ok("done", {"a": TASK, "b": "task_execution/2"}[name])
    refused = bench.agent("check", "lint", "--json")
    assert (refused.code, refused.error["code"]) == (3, "untrusted")
    command = refused.error["remedies"][1]["command"].removeprefix("holdfast ").split()
    assert command == ["trust", ".holdfast/config.toml"]
    assert bench.agent(*command, "--json").error["code"] == "person_needed"
    declined = bench.person(*command, says="n")
    assert (declined.code, "echo hello" in declined.out) == (1, True), declined
    assert bench.agent("check", "lint", "--json").code == 3
    given = bench.person(*command, says="y")
    assert given.code == 0, given
    assert bench.ok("check", "lint", "--json").json["evidence"]["run_by"] == "engine"
    bench.write(".holdfast/config.toml", bench.read(".holdfast/config.toml") + "# changed\n")
    assert bench.agent("check", "lint", "--json").error["code"] == "untrusted"


def test_trust_in_a_definition_shows_the_commands_of_its_tasks(bench):
    bench.write(
        ".holdfast/workflows/mine.toml",
        'name = "mine"\nloads = "feature"\n[[step]]\nid = "work"\n[step.task]\n'
        'checks = [{ name = "own", run = ["sh", "of-the-task.sh"] }]\n'
        '[[step.task.step]]\nid = "draft"\nchecks = [{ name = "deep", run = ["sh", "of-the-phase.sh"] }]\n',
    )
    shown = bench.person("trust", "mine", says="n")
    assert shown.code == 1
    assert "sh of-the-task.sh" in shown.out
    assert "sh of-the-phase.sh" in shown.out


def test_a_start_in_another_worktree_says_that_the_same_feature_is_worked_on_elsewhere(bench, tmp_path):
    bench.saved_feature(LOGIN, "Add a form", "Add a page")
    bench.ok(*START)
    other = tmp_path / "other"
    bench.git("worktree", "add", "-q", "-b", "other", str(other), "main")
    bench.git("mv", LOGIN, "features/renamed.md", cwd=other)
    said = bench.ok("start", "dev", "features/renamed.md", cwd=other).out
    assert f"about {LOGIN}, is active in {bench.root}" in said
    assert "this is another run" not in bench.ok("start", "dev", bench.saved_feature("features/b.md", title="B")).out
