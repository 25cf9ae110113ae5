"""What whoever comes back is shown: the whole of it, line by line, on a clock that only the test moves."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core import tasks
from holdfast.core.commands import Block, Cancel, Done, Equip, RecordCheck, Start
from holdfast.core.definition import Definition
from holdfast.core.reading import read
from holdfast.core.state import Evidence
from holdfast.surfaces.cli.call import unmarked
from holdfast.systems.seam.registry import conduct_of
from holdfast.systems.skill.texts import TEXTS
from tests.core.play import HOUR, MINUTE, PERSON, Play

TASKS = ("Add User model", "Add password hashing", "Add AuthService", "Add login method", "Add logout method")
SHAS = ("abc1234" + "0" * 33, "def4567" + "0" * 33, "9a8b7c6" + "0" * 33)
LOGIN = "features/auth/user-login.md"
RULE = "━" * 47


def built_in(name: str) -> Definition:
    path = Path(holdfast.__file__).parent / "systems" / "skill" / "definitions" / f"{name}.toml"
    return read(tomllib.loads(path.read_text()))


def dev(*texts: str, untested: tuple[str, ...] = (), **start: Any) -> Play:
    """A feature of these tasks, loaded and on its branch."""
    made = built_in("dev")
    home = next(step for step in made.steps if step.task)
    below = [tasks.shaped(home.task, str(n), text, tested=text not in untested) for n, text in enumerate(texts, 1)]
    steps = tuple(step.replace(steps=tuple(below)) if step is home else step for step in made.steps)
    context = {"feature_file": LOGIN, "feature_title": "User Login", "folder_mode": False}
    begun = {"id": "dev-auth-a1b2c3", "title": "User Login", "branch": "feat/user-auth", "context": context}
    play = Play()
    play.do(Start.of(made.replace(steps=steps), "0" * 26, **{**begun, **start}))
    play.do(Done("load_feature", data={"loaded": LOGIN}), Done("create_branch", data={"branch": "feat/user-auth"}))
    return play


def seen(play: Play, step: str, name: str, *, passed: bool, code: int | None = None, **data: Any) -> None:
    play.wait(1)
    check = play.state.plan.step(step).check(name)
    assert check is not None
    how = "engine" if code is not None or check.run_by == "engine" else "reported"
    play.do(RecordCheck(step, name, Evidence(passed, play.now, 0, run_by=how, exit_code=code, data=data)))


def red(play: Play, task: str) -> None:
    seen(
        play,
        f"{task}/red",
        "test_fails",
        passed=True,
        code=1,
        failing=["tests/a.py::test_login_with_valid_credentials"],
    )
    play.do(Done(f"{task}/red"))


def worked(play: Play, task: str, sha: str) -> None:
    """A task through all its phases, and committed."""
    red(play, task)
    for phase in ("green", "refactor"):
        seen(play, f"{task}/{phase}", "test_passes", passed=True, code=0, count=3, failing=[])
        play.do(Done(f"{task}/{phase}"))
    play.do(Done(task, data={"commit_sha": sha}))


@pytest.fixture
def play() -> Play:
    """Three of five tasks are committed, and the fourth is at the green that does not come."""
    play = dev(*TASKS)
    play.wait(HOUR)
    for number, sha in enumerate(SHAS, 1):
        worked(play, f"task_execution/{number}", sha)
    play.wait(15 * MINUTE)
    red(play, "task_execution/4")
    name = "tests/auth_service_test.py::test_login_with_valid_credentials"
    seen(play, "task_execution/4/green", "test_passes", passed=False, code=1, failing=[name], count=4)
    return play.wait(45 * MINUTE)


def test_the_summary_is_the_one_of_the_convention(play):
    assert TEXTS.summary(play.state, play.now) == (
        "Found active workflow:\n"
        "  ID: dev-auth-a1b2c3\n"
        "  Feature: features/auth/user-login.md\n"
        "  Started: 2 hours ago\n"
        "  Last activity: 45 minutes ago\n"
        "\n"
        "  Progress:\n"
        "    ✅ Load feature (3/5 tasks complete)\n"
        "    ✅ Create branch (feat/user-auth)\n"
        "    🔄 Task execution:\n"
        "       ✅ Task 1: Add User model (committed: abc1234)\n"
        "       ✅ Task 2: Add password hashing (committed: def4567)\n"
        "       ✅ Task 3: Add AuthService (committed: 9a8b7c6)\n"
        "       🔄 Task 4: Add login method (GREEN phase - tests failing)\n"
        "       ⏳ Task 5: Add logout method\n"
        "    ⏳ Verification (lint, test, security, simplify)\n"
        "    ⏳ PR creation\n"
    )
    assert TEXTS.question(play.state) == "Resume from Task 4 (GREEN phase)?"


def test_the_banner_is_the_one_of_the_convention(play):
    assert TEXTS.resumed(play.state, play.now) == (
        f"{RULE}\n"
        "🔄 Resuming: Task 4/5 - Add login method\n"
        "   Phase: GREEN (make tests pass)\n"
        f"{RULE}\n"
        "\n"
        "Last test run (45 minutes ago):\n"
        "  ❌ test_login_with_valid_credentials\n"
        "\n"
        "Continuing implementation...\n"
        "\n"
        "Resuming task 4/5, currently in GREEN phase\n"
    )


def test_the_sentence_names_the_task_and_its_phase(play):
    assert TEXTS.sentence(play.state) == "Resuming task 4/5, currently in GREEN phase"


def test_a_terminal_without_marks_gets_letters(play):
    shown = unmarked(TEXTS.summary(play.state, play.now) + TEXTS.resumed(play.state, play.now))
    assert shown.isascii()
    for line in (
        "    [x] Load feature",
        "    [>] Task execution:",
        "       [ ] Task 5",
        f"{'-' * 47}\n[>] Resuming:",
        "  [-] test_",
    ):
        assert line in shown


def test_of_many_failing_tests_ten_are_named():
    play = dev("One")
    red(play, "task_execution/1")
    names = [f"test_{n}" for n in range(12)]
    seen(play, "task_execution/1/green", "test_passes", passed=False, code=1, failing=names)
    shown = TEXTS.resumed(play.state, play.now)
    assert shown.count("❌") == 10
    assert "  … 2 more\n" in shown


def test_a_task_that_was_reported_to_pass_is_not_shown_as_failing():
    play = dev("One")
    play.do(Equip("test", (), run_by="any"))
    seen(play, "task_execution/1/red", "test_fails", passed=True)
    play.do(Done("task_execution/1/red"))
    seen(play, "task_execution/1/green", "test_passes", passed=True)
    assert "Task 1: One (GREEN phase - tests passing)" in TEXTS.summary(play.state, play.now)


def test_a_run_that_failed_without_naming_a_test_is_not_shown_as_passed():
    play = dev("One")
    red(play, "task_execution/1")
    seen(play, "task_execution/1/green", "test_passes", passed=False, code=2)
    shown = TEXTS.resumed(play.state, play.now)
    assert "✅" not in shown
    assert "❌" in shown


def test_a_run_that_passed_is_shown_with_its_count():
    play = dev("One")
    red(play, "task_execution/1")
    seen(play, "task_execution/1/green", "test_passes", passed=True, code=0, count=7, failing=[])
    assert "Last test run (just now):\n  ✅ 7 passed\n" in TEXTS.resumed(play.state, play.now)
    assert "(GREEN phase - tests passing)" in TEXTS.summary(play.state, play.now)


def test_before_any_run_none_is_spoken_of():
    play = dev("One")
    shown = TEXTS.resumed(play.state, play.now)
    assert "Last test run" not in shown
    assert "   Phase: RED (write a failing test)\n" in shown
    assert shown.endswith("Continuing with the test...\n\nResuming task 1/1, currently in RED phase\n")
    assert "Task 1: One (RED phase)" in TEXTS.summary(play.state, play.now)


def test_a_task_whose_phases_are_over_waits_for_its_commit():
    play = dev("One")
    red(play, "task_execution/1")
    for phase in ("green", "refactor"):
        seen(play, f"task_execution/1/{phase}", "test_passes", passed=True, code=0, count=1, failing=[])
        play.do(Done(f"task_execution/1/{phase}"))
    assert "🔄 Task 1: One (ready to commit)" in TEXTS.summary(play.state, play.now)
    assert TEXTS.question(play.state) == "Resume from Task 1 (commit)?"
    assert TEXTS.sentence(play.state) == "Resuming task 1/1, ready to commit"
    assert "   Phase: COMMIT" in TEXTS.resumed(play.state, play.now)


def test_tasks_that_were_ticked_before_are_done_with_the_reason():
    play = dev("One", "Two", finished={"task_execution/1": "ticked in the feature file"})
    shown = TEXTS.summary(play.state, play.now)
    assert "✅ Load feature (1/2 tasks complete)" in shown
    assert "✅ Task 1: One (ticked in the feature file)" in shown


def test_when_all_tasks_are_done_the_open_checks_are_named():
    play = dev("One")
    worked(play, "task_execution/1", SHAS[0])
    pending = "lint, test, security_review, code_simplifier, pr"
    assert TEXTS.sentence(play.state) == f"All tasks complete. Pending: {pending}"
    seen(play, "verification", "lint", passed=True)
    seen(play, "verification", "code_simplifier", passed=True, issues=0)
    assert TEXTS.sentence(play.state) == "All tasks complete. Pending: test, security_review, pr"
    assert "   All tasks complete. Pending: test, security_review, pr\n" in TEXTS.resumed(play.state, play.now)
    assert "🔄 Verification (lint, test, security, simplify)" in TEXTS.summary(play.state, play.now)
    seen(play, "verification", "test", passed=False)
    assert TEXTS.sentence(play.state) == "All tasks complete. Pending: test, security_review, pr"


def test_when_only_the_pull_request_is_left_it_is_the_only_thing_named():
    play = dev("One")
    worked(play, "task_execution/1", SHAS[0])
    for check in ("lint", "test", "security_review", "code_simplifier"):
        seen(play, "verification", check, passed=True)
    play.do(Done("verification"))
    assert TEXTS.sentence(play.state) == "All tasks complete. Pending: pr"
    assert TEXTS.question(play.state) == "Resume from PR creation?"


def test_a_blocked_task_is_marked_with_the_reason():
    play = dev("One", "Two")
    play.do(Block("task_execution/1", "no database"))
    assert "⛔ Task 1: One (blocked: no database)" in TEXTS.summary(play.state, play.now)


def test_when_everything_is_done_there_is_nothing_to_go_on_with():
    play = dev("One")
    worked(play, "task_execution/1", SHAS[0])
    for check in ("lint", "test", "security_review", "code_simplifier"):
        seen(play, "verification", check, passed=True)
    play.do(Done("verification"))
    seen(play, "pr_creation", "pr_created", passed=True)
    play.do(Done("pr_creation", data={"pr_url": "https://github.com/a/b/pull/1"}))
    assert TEXTS.sentence(play.state) == "All steps are done."
    assert TEXTS.question(play.state) == "Resume from the end?"


def test_of_several_features_the_current_one_is_unfolded():
    made = built_in("dev")
    home = next(step for step in made.steps if step.task)
    below = []
    for name, titles in (("01-in", ("Form", "Page")), ("02-out", ("Link", "Button")), ("03-more", ("Else",))):
        inner = tuple(tasks.shaped(home.task, str(n), title, tested=False) for n, title in enumerate(titles, 1))
        below.append(home.task.replace(id=name, name=f"Feature {name[3:]}", kind="feature", action="", steps=inner))
    steps = tuple(step.replace(steps=tuple(below)) if step is home else step for step in made.steps)
    listed = [{"file": f"features/auth/{step.id}.md", "title": step.name} for step in below]
    context = {"folder_mode": True, "folder_path": "features/auth/", "folder_features": listed}
    play = Play()
    made = made.replace(steps=steps)
    how = {"branch": "feat/auth", "context": context, "conduct": conduct_of("feature")}
    play.do(Start.of(made, "0" * 26, "dev-1", **how))
    play.do(Done("load_feature", data={"loaded": "x"}), Done("create_branch", data={"branch": "feat/auth"}))
    for number in ("1", "2"):
        play.do(Done(f"task_execution/01-in/{number}", data={"commit_sha": SHAS[0]}))
    shown = TEXTS.summary(play.state, play.now)
    assert "  Feature: features/auth/02-out.md\n" in shown
    assert shown.partition("Create branch (feat/auth)\n")[2] == (
        "    🔄 Task execution:\n"
        "       ✅ Feature in\n"
        "       🔄 Feature out:\n"
        "         🔄 Task 1: Link (ready to commit)\n"
        "         ⏳ Task 2: Button\n"
        "       ⏳ Feature more\n"
        "    ⏳ Verification (lint, test, security, simplify)\n"
        "    ⏳ PR creation\n"
    )
    assert "Load feature (0/2 tasks complete)" in shown


def test_a_cycle_is_shown_by_its_task_and_phases():
    play = Play()
    play.do(Start.of(built_in("tdd"), "0" * 26, "tdd-1", title="Add login", subject="Add login"))
    assert TEXTS.summary(play.state, play.now) == (
        "Found active workflow:\n"
        "  ID: tdd-1\n"
        "  Task: Add login\n"
        "  Started: just now\n"
        "  Last activity: just now\n"
        "\n"
        "  Progress:\n"
        "    🔄 Write a test that fails\n"
        "    ⏳ Make the test pass\n"
        "    ⏳ Tidy up, the tests still passing\n"
        "    ⏳ Commit\n"
    )
    assert TEXTS.question(play.state) == "Resume from RED phase?"
    assert "🔄 Resuming: Add login\n   Phase: RED (write a failing test)\n" in TEXTS.resumed(play.state, play.now)


def test_the_last_run_of_a_cycle_is_shown():
    play = Play()
    play.do(Start.of(built_in("tdd"), "0" * 26, "tdd-1", title="Add login"))
    seen(play, "red", "test_fails", passed=True, code=1, failing=["test_login"])
    play.do(Done("red"))
    play.wait(3 * MINUTE)
    assert "Last test run (3 minutes ago):\n  ❌ test_login\n" in TEXTS.resumed(play.state, play.now)


@pytest.mark.parametrize("evil", ["\x1b[31mred", "a\rb", "up\x9b2J", "x\u202ey"])
def test_what_others_wrote_cannot_command_the_terminal(evil):
    play = dev(f"One {evil}", branch=f"feat/{evil}", id="dev-1", title=evil)
    play.do(Block("task_execution/1", f"because {evil}"))
    seen_by_people = [TEXTS.summary, TEXTS.resumed]
    shown = "".join(show(play.state, play.now) for show in seen_by_people)
    shown += TEXTS.question(play.state) + TEXTS.sentence(play.state)
    for sign in ("\x1b", "\r", "\x9b", "\u202e"):
        assert sign not in shown


def test_a_name_of_a_failing_test_cannot_command_the_terminal():
    play = dev("One")
    red(play, "task_execution/1")
    seen(play, "task_execution/1/green", "test_passes", passed=False, code=1, failing=["test_x[\x1b[2J]"])
    shown = TEXTS.resumed(play.state, play.now)
    assert "\x1b" not in shown


def test_a_cancelled_workflow_can_still_be_shown():
    play = dev("One")
    play.do(Cancel("enough"), by=PERSON)
    assert "Found active workflow" in TEXTS.summary(play.state, play.now)
