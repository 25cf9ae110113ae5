"""Coming back: after a compaction, a killed session, beside another session, and to a state file that is damaged."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.machine import settings
from holdfast.project.project import open_project
from tests.acceptance.checkout import FEATURE, FEATURE_TEXT, PATIENCE_SECONDS, TASKS, Checkout
from tests.forges.loopback import Fault

BRANCH = "feat/user-login"
RESUME = ("start", "dev", FEATURE, "--resume")
FIRST, SECOND = ({"CLAUDE_CODE_SESSION_ID": name} for name in ("first", "second"))
STATE = ".claude/workflow-state"
SHELL = """\
"$PYTHON" -m holdfast check test_fails --set test=test_user || exit
"$PYTHON" -m holdfast done red || exit
printf '%s' "$CODE" > auth/user.py
GATE="$DOOR" "$PYTHON" -m holdfast check test_passes
"""


@pytest.fixture
def at_second(checkout: Checkout) -> Checkout:
    """Task 2 of 3, whose test was seen failing and then failing still."""
    checkout.ok("start", "dev", FEATURE)
    first, second, _ = TASKS
    checkout.red(first)
    checkout.green(first)
    checkout.refactor(first)
    checkout.ok("task", "done", "1")
    checkout.red(second)
    checkout.write(second.code_file, second.wrong)
    checkout.failing("test_passes")
    return checkout


@pytest.fixture
def described(untested: Checkout) -> Checkout:
    """All tasks are done, and nothing is verified."""
    untested.ok("start", "dev", FEATURE)
    for number, name in enumerate(("door.md", "key.md"), 1):
        untested.write(name, "It is there.\n")
        untested.ok("task", "done", str(number))
    return untested


@pytest.fixture
def verified(described: Checkout) -> Checkout:
    """All that is missing is the pull request."""
    described.write("tests/test_house.py", "def test_house():\n    assert True\n")
    described.git("add", "tests")
    described.git("commit", "-q", "-m", "Something to run")
    described.ok("check", "test")
    for name in ("lint", "security_review", "code_simplifier"):
        described.ok("check", name, "--passed")
    described.ok("done", "verification")
    return described


@pytest.fixture
def shortened(checkout: Checkout) -> Checkout:
    """The second of three tasks, without the long way there."""
    text = FEATURE_TEXT.replace("- [ ] Add User", "- [x] Add User")
    checkout.write(FEATURE, text)
    checkout.git("commit", "-q", "-a", "-m", "Users are there already")
    checkout.ok("start", "dev", FEATURE)
    return checkout


def document_file(checkout: Checkout) -> Path:
    (name,) = checkout.documents("active")
    return checkout.root / STATE / "active" / name


def left(file: Path, content: bytes) -> None:
    """Written some time ago: nobody can still be at it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    before = time.time() - 60
    os.utime(file, (before, before))


def kept(checkout: Checkout) -> list[bytes]:
    """What is in quarantine."""
    folder = checkout.root / ".holdfast" / "quarantine"
    return [path.read_bytes() for path in folder.iterdir()] if folder.is_dir() else []


def test_after_a_compaction_in_the_middle_of_a_task_the_work_goes_on_there(shortened):
    shortened.red(TASKS[1])
    shortened.ok("compacted", "--note", "context limit")
    answer = shortened.ok(*RESUME, "--json").json
    assert answer["summary"] == "Resuming task 2/3, currently in GREEN phase"
    assert (answer["step"], answer["resumed"], answer["read_only"]) == ("task_execution/2/green", True, False)
    assert shortened.ok("signal").out == "DEV_CONTINUE\n"

    shortened.green(TASKS[1])
    shortened.refactor(TASKS[1])
    shortened.ok("task", "done", "2")
    assert shortened.ok(*RESUME, "--json").json["summary"] == "Resuming task 3/3, currently in RED phase"
    notes = [one["note"] for one in shortened.document()["history"] if one["event"] == "context_compacted"]
    assert notes == ["context limit"]


def test_a_person_who_comes_back_by_folder_sees_it_all_and_presses_enter(at_second):
    sha = at_second.commits()[0]
    answer = at_second.person("start", "dev", "features/auth/", prompt="[Y/n]", says="")
    assert answer.code == 0, answer
    lines = [line.strip() for line in answer.out.splitlines()]
    for line in (
        f"Feature: {FEATURE}",
        "✅ Load feature (1/3 tasks complete)",
        f"✅ Create branch ({BRANCH})",
        f"✅ Task 1: Add User model (committed: {sha[:7]})",
        "🔄 Task 2: Add password hashing (GREEN phase - tests failing)",
        "⏳ Task 3: Add login method",
        "⏳ Verification (lint, test, security, simplify)",
        "⏳ PR creation",
        "🔄 Resuming: Task 2/3 - Add password hashing",
        "Phase: GREEN (make tests pass)",
        "❌ test_password",
        "Resuming task 2/3, currently in GREEN phase",
    ):
        assert line in lines, answer
    assert "Resume from Task 2 (GREEN phase)? [Y/n]" in answer.out


def test_a_person_who_says_no_leaves_everything_as_it_is(shortened):
    before = shortened.document()
    assert shortened.person("start", "dev", FEATURE, prompt="[Y/n]", says="n").code == 1
    assert shortened.document() == before


def test_after_the_session_s_shell_was_killed_a_new_one_goes_on_where_it_was(checkout, gate):
    checkout.ok("start", "dev", FEATURE)
    task = TASKS[0]
    checkout.write(task.test_file, task.test)
    surroundings = {"PYTHON": sys.executable, "CODE": task.right, "DOOR": gate.environ["GATE"]}
    shell = subprocess.Popen(
        ["sh", "-c", SHELL],
        cwd=checkout.root,
        env={**checkout.env, **surroundings, **FIRST},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    running = gate.arrived()
    os.killpg(shell.pid, signal.SIGKILL)
    assert shell.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    gate.let_through(running)

    answer = checkout.ok(*RESUME, "--json", env=FIRST).json
    assert answer["summary"] == "Resuming task 1/3, currently in GREEN phase"
    assert checkout.ok("done", "green", "--json", env=FIRST).json["evidence"][0]["run_by"] == "engine"


def test_a_second_session_may_look_and_not_write(checkout):
    checkout.ok("start", "dev", FEATURE, env=FIRST)
    joined = checkout.ok(*RESUME, "--json", env=SECOND).json
    assert (joined["read_only"], joined["resumed"]) == (True, True)
    assert "Another session is at work here" in checkout.ok(*RESUME, env=SECOND).out
    assert checkout.ok("show", env=SECOND).json["workflow"]["status"] == "in_progress"

    before = checkout.document()
    assert checkout.refused("block", "red", "--reason", "mine", env=SECOND, code=5)["code"] == "lease_held"
    assert checkout.document() == before
    checkout.ok("block", "red", "--reason", "mine", env=FIRST)


def test_nothing_that_a_second_session_types_changes_the_workflow(checkout):
    checkout.write(TASKS[0].test_file, TASKS[0].test)
    checkout.ok("start", "dev", FEATURE, env=FIRST)
    before = checkout.document()
    typed = (
        "done red", "fail red --reason mine", "check test_fails", "check lint --passed", "note mine", "set owner=me",
        "task add More", "reopen load_feature", "pause --reason mine", "snapshot",
        f"start dev {FEATURE} --fresh", "cancel",
    )  # fmt: skip
    answers = {words: checkout.agent(*words.split(), "--json", env=SECOND) for words in typed}
    assert {words: answer.code for words, answer in answers.items()} == dict.fromkeys(typed, 5)
    assert {answer.error["code"] for answer in answers.values()} == {"lease_held"}
    assert checkout.document() == before


def test_two_sessions_never_commit_the_same_task(untested):
    untested.ok("start", "dev", FEATURE, env=FIRST)
    untested.write("door.md", "It is there.\n")
    assert untested.refused("task", "done", "1", env=SECOND, code=5)["code"] == "lease_held"
    assert (untested.commits(), untested.status()) == ([], ["?? door.md"])
    untested.ok("task", "done", "1", env=FIRST)
    assert len(untested.commits()) == 1


def test_an_expired_session_is_taken_over_and_then_may_not_write_itself(checkout):
    checkout.ok("start", "dev", FEATURE)
    own = settings.read({**os.environ, **FIRST}, terminal=False, surface="python")
    assert open_project(str(checkout.root), settings=own).workflow().join(ttl=1) is None
    deadline = time.monotonic() + PATIENCE_SECONDS
    while checkout.ok(*RESUME, "--json", env=SECOND).json["read_only"]:
        assert time.monotonic() < deadline

    assert checkout.refused("block", "red", "--reason", "mine", env=FIRST, code=5)["code"] == "lease_held"
    assert checkout.ok(*RESUME, "--json", env=FIRST).json["read_only"] is True
    checkout.write(TASKS[0].test_file, TASKS[0].test)
    checkout.ok("check", "test_fails", "--set", "test=test_user", env=SECOND)
    checkout.ok("done", "red", env=SECOND)


@pytest.mark.parametrize("damage", [b"", b'{"_schema": {"vers', b"\0" * 300], ids=["empty", "torn", "zeros"])
def test_a_damaged_state_file_is_kept_aside_and_written_again_from_the_journal(shortened, damage):
    before, file = shortened.document(), document_file(shortened)
    left(file, damage)
    answer = shortened.ok(*RESUME, "--json").json
    assert answer["summary"] == "Resuming task 2/3, currently in RED phase"
    after = json.loads(file.read_bytes())
    assert {**after, "history": 0, "workflow": 0} == {**before, "history": 0, "workflow": 0}
    assert after["history"][: len(before["history"])] == before["history"]
    assert damage in kept(shortened)


def test_a_damaged_state_file_without_a_journal_is_kept_aside_and_the_work_starts_fresh(checkout, tmp_path):
    twin = Checkout(tmp_path / "twin")
    twin.ok("start", "dev", FEATURE)
    name = document_file(twin).name
    left(checkout.root / STATE / "active" / name, b"{ broken")

    answer = checkout.ok("start", "dev", FEATURE)
    assert "⚠ the state file was corrupted: starting fresh, a copy is in .holdfast/quarantine/" in answer.out
    assert b"{ broken" in kept(checkout)
    assert checkout.documents("active") == [name]
    assert checkout.document()["tasks"][0]["tdd_phases"]["red"] == "in_progress"


def test_once_all_tasks_are_done_what_is_still_to_be_checked_is_listed(described):
    described.ok("compacted")
    pending = "All tasks complete. Pending: lint, test, security_review, code_simplifier, pr"
    assert f"\n{pending}\n" in described.ok(*RESUME).out
    described.ok("check", "lint", "--passed")
    assert described.ok(*RESUME, "--json").json["summary"] == pending.replace("lint, ", "")


def test_a_branch_that_is_pushed_already_gets_exactly_one_pull_request(verified, github):
    verified.git("push", "-q", "-u", "origin", BRANCH)
    assert verified.ok(*RESUME, "--json").json["summary"] == "All tasks complete. Pending: pr"
    assert github.opened == []
    verified.ok("done", "pr_creation")
    assert [(one.head, one.base) for one in github.opened] == [(BRANCH, "main")]
    assert verified.stored("completed")["checkpoints"]["pr_created"]["pr_number"] == 1
    pushed = subprocess.run(["git", "-C", github.bare, "rev-parse", BRANCH], capture_output=True, text=True, check=True)
    assert pushed.stdout.strip() == verified.commits()[-1]


def test_a_pull_request_that_was_made_and_not_recorded_is_found_and_not_doubled(verified, github):
    github.faults += [*[Fault(passes=True)] * 2, Fault(happens=True, hangs_up=True), Fault(hangs_up=True)]
    assert verified.refused("done", "pr_creation", code=1)["code"] == "forge_unreachable"
    assert len(github.opened) == 1
    assert verified.document()["checkpoints"]["pr_created"]["status"] == "pending"

    assert verified.ok(*RESUME, "--json").json["summary"] == "All tasks complete. Pending: pr"
    assert verified.ok("done", "pr_creation").out.splitlines()[-1] == "DEV_COMPLETE: user-login"
    (opened,) = github.opened
    assert verified.stored("completed")["checkpoints"]["pr_created"] == {
        "status": "completed",
        "pr_number": opened.number,
        "pr_url": opened.url,
    }


def test_on_another_branch_nothing_goes_on_unless_it_is_said_how(shortened):
    shortened.git("stash", "-q", "-u", "--", "auth", "tests")
    shortened.git("switch", "-q", "main")
    refusal = shortened.refused(*RESUME)
    assert refusal["code"] == "branch_mismatch"
    assert f"git switch {BRANCH}" in json.dumps(refusal["facts"]["options"])
    assert shortened.git("branch", "--show-current") == "main\n"
