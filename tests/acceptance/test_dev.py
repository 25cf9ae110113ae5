"""A feature of three tasks, from the start to its pull request, with a crash and a compaction in the middle."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys

from tests.acceptance.checkout import FEATURE, FEATURE_TEXT, TASKS, Checkout, Task, argv, wait_for_end
from tests.acceptance.shape import example, keys, shape

BRANCH = "feat/user-login"
CONFIG = ".holdfast/config.toml"
LINTING = f'[commands]\nlint = ["{sys.executable}", "-m", "ruff", "check", "--isolated", "--no-cache"]\n'
DIRT = [" M notes.txt", "?? scratch.txt"]
MESSAGES = ["Add User model", "Add password hashing", "Add login method"]
BESIDES = {
    "state_machine.current_step",
    "state_machine.phases[load_feature].started_at",
    "state_machine.phases[create_branch].started_at",
    "state_machine.phases[task_execution].progress",
    "history[workflow_started].subject",
    *keys("history[phase_started]", "at", "event", "phase"),
    *keys("history[task_started]", "at", "event", "task"),
    *keys("history[step_started]", "at", "event", "step"),
    *keys("history[step_completed]", "at", "event", "step"),
    *keys("history[checkpoint]", "at", "event", "step", "check", "passed", "run_by", "detail"),
    *keys("history[test_written]", "at", "event", "file"),
    *keys("history[failure_confirmed]", "at", "event", "reason"),
}
"""What a document has at the same place in the work that the convention's example does not show."""
KILLING = """\
#!/bin/sh
rm "$0"
echo "$PPID" > "$KILLED"
pid=$$
while [ "$pid" -gt 1 ]; do
  read -r _ _ _ pid _ < "/proc/$pid/stat"
  if tr '\\0' ' ' < "/proc/$pid/cmdline" | grep -q -e '-m holdfast'; then
    kill -9 "$pid"
    exit
  fi
done
"""


def soil(checkout: Checkout) -> None:
    """One tracked and one untracked file are as somebody left them, and are nobody's business."""
    checkout.write("notes.txt", "A note, half changed.\n")
    checkout.write("scratch.txt", "Try this.\n")


def lasting(document: dict) -> dict:
    """A document without what every event changes."""
    kept = {name: value for name, value in document.items() if name != "history"}
    kept["workflow"] = {name: value for name, value in document["workflow"].items() if name != "updated_at"}
    return kept


def do(checkout: Checkout, number: int) -> None:
    task = TASKS[number - 1]
    checkout.red(task)
    checkout.green(task)
    checkout.refactor(task)
    checkout.ok("task", "done", str(number))


def half_green(checkout: Checkout, task: Task) -> None:
    """The test is there, and the code for it is wrong so far."""
    checkout.red(task)
    checkout.write(task.code_file, task.wrong)
    assert "assert 'key' != 'key'" in checkout.failing("test_passes")


def verify(checkout: Checkout) -> None:
    checkout.ok("check", "lint")
    checkout.ok("check", "test")
    checkout.ok("check", "security_review", "--passed", "--set", "findings=0")
    checkout.ok("check", "code_simplifier", "--passed", "--set", "issues=2")
    checkout.ok("done", "verification")


def test_a_feature_of_three_tasks_survives_a_kill_and_a_compaction_and_ends_as_a_pull_request(hosted, github, gate):
    soil(hosted)
    hosted.write(CONFIG, LINTING)
    assert hosted.person("trust", CONFIG, prompt="[y/N]", says="y").code == 0
    assert f"on the new branch {BRANCH}" in hosted.ok("start", "dev", FEATURE).out
    do(hosted, 1)
    half_green(hosted, TASKS[1])

    before = hosted.document()
    hosted.killed_at(gate, "check", "test_passes")
    hosted.ok("compacted", "--note", "session resumed")
    for subject in (FEATURE, "features/auth/"):
        said = hosted.ok("start", "dev", subject, "--resume").out
        assert "🔄 Resuming: Task 2/3 - Add password hashing\n   Phase: GREEN (make tests pass)\n" in said
        assert "🔄 Task 2: Add password hashing (GREEN phase - tests failing)\n" in said
        assert re.search(r"\nLast test run \([^)]+\):\n  ❌ test_password\n\n", said)
        assert "Resuming task 2/3, currently in GREEN phase\n" in said
    after = hosted.document()
    assert lasting(after) == lasting(before)
    assert after["history"][: len(before["history"])] == before["history"]
    assert [{**one, "at": ""} for one in after["history"][len(before["history"]) :]] == [
        {"at": "", "event": "context_compacted", "note": "session resumed"}
    ]

    hosted.green(TASKS[1])
    hosted.refactor(TASKS[1])
    hosted.ok("task", "done", "2")
    do(hosted, 3)
    verify(hosted)
    assert hosted.ok("done", "pr_creation").out.splitlines()[-1] == "DEV_COMPLETE: user-login"

    shas = hosted.commits()
    assert [hosted.git("show", "-s", "--format=%s", sha).strip() for sha in shas] == MESSAGES
    assert [hosted.files_of(sha) for sha in shas] == [[t.code_file, FEATURE, t.test_file] for t in TASKS]
    assert hosted.status() == DIRT
    assert hosted.read(FEATURE).partition("## Tasks")[2].count("- [x] ") == 3
    assert hosted.documents("active") == []
    document = hosted.stored("completed")
    assert document["workflow"]["status"] == "completed"
    assert [task["commit_sha"] for task in document["tasks"]] == shas
    assert hosted.read(".claude/workflow-state/index.json").count(document["workflow"]["id"]) == 0
    (opened,) = github.opened
    assert (opened.head, opened.base, opened.title) == (BRANCH, "main", "User login")
    checkpoints = document["checkpoints"]
    assert checkpoints["pr_created"] == {"status": "completed", "pr_number": opened.number, "pr_url": opened.url}
    assert checkpoints["lint"]["passed"] is True
    assert (checkpoints["test"]["passed"], checkpoints["test"]["count"]) == (True, 3)
    assert (checkpoints["security_review"]["findings"], checkpoints["code_simplifier"]["issues"]) == (0, 2)
    assert {one["status"] for one in checkpoints.values()} == {"completed"}


def test_only_the_tasks_boxes_are_ticked_and_nothing_else_of_the_feature_file_changes(checkout):
    checkout.ok("start", "dev", FEATURE)
    do(checkout, 1)
    assert checkout.read(FEATURE) == FEATURE_TEXT.replace("- [ ] Add User", "- [x] Add User")


def test_in_the_middle_of_a_task_the_document_has_the_keys_of_the_convention(checkout):
    checkout.ok("start", "dev", FEATURE)
    do(checkout, 1)
    half_green(checkout, TASKS[1])
    checkout.ok("compacted", "--note", "session resumed")
    found, expected = shape(checkout.stored("active")), example("dev")
    assert expected - found == set()
    assert found - expected == BESIDES


def test_every_moment_in_a_document_is_written_to_the_second(checkout):
    checkout.ok("start", "dev", FEATURE)
    checkout.red(TASKS[0])
    assert [one for one in checkout.document()["history"] if len(one["at"]) != len("2026-01-01T00:00:00Z")] == []


def test_a_feature_whose_boxes_are_all_ticked_starts_with_its_verification(checkout):
    checkout.write(FEATURE, FEATURE_TEXT.replace("- [ ]", "- [x]"))
    checkout.git("commit", "-q", "-a", "-m", "All is there")
    started = checkout.ok("start", "dev", FEATURE, "--json").json
    assert started["step"] == "verification"
    checkout.ok("check", "lint", "--passed")


def test_a_configured_command_does_not_run_before_a_person_trusts_it(checkout):
    checkout.write(FEATURE, "# Feature: A door\n\n## Tasks\n\n- [ ] Describe it (no tests)\n")
    checkout.write(CONFIG, LINTING)
    checkout.ok("start", "dev", FEATURE)
    checkout.write("door.md", "It opens.\n")
    checkout.ok("task", "done", "1")
    refusal = checkout.refused("check", "lint")
    assert refusal["code"] == "untrusted"
    assert refusal["remedy"] == "show this to a person and stop"
    stop, own = refusal["remedies"]
    assert stop == {"who": "agent", "text": "show this to a person and stop"}
    assert (own["who"], own["command"]) == ("person", f"holdfast trust {CONFIG}")
    assert checkout.agent("trust", CONFIG).code == 3
    shown = checkout.person("trust", CONFIG, prompt="[y/N]", says="y")
    assert "-m ruff check --isolated --no-cache" in shown.out
    checkout.ok("check", "lint")


def test_without_a_forge_the_command_to_type_is_named_and_the_address_finishes_it(checkout, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").symlink_to(shutil.which("git"))
    checkout.env["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), str(programs)))
    checkout.write(FEATURE, "# Feature: User's login\n\n## Tasks\n\n- [ ] Describe it (no tests)\n")
    checkout.git("commit", "-qam", "A smaller feature")
    checkout.ok("start", "dev", FEATURE)
    checkout.write("door.md", "It opens.\n")
    checkout.ok("task", "done", "1")
    checkout.write("tests/test_door.py", "def test_door():\n    assert True\n")
    for name in ("lint", "security_review", "code_simplifier"):
        checkout.ok("check", name, "--passed")
    checkout.ok("check", "test")
    checkout.ok("done", "verification")

    assert checkout.refused("done", "pr_creation")["code"] == "uncommitted_changes"
    checkout.git("add", "tests/test_door.py")
    checkout.git("commit", "-qm", "A test of the door")
    refusal = checkout.refused("done", "pr_creation")
    assert refusal["code"] == "no_forge"
    text = f".holdfast/checks/{checkout.ok('status', '--json').json['ulid']}/pull-request.md"
    assert refusal["remedy"] == (
        f"git push -u origin {BRANCH}, then open the pull request where the repository is served and take the text of "
        f"{text}, then: holdfast done pr_creation --url URL"
    )
    assert "- [x] Describe it (no tests)" in (checkout.root / text).read_text()
    assert checkout.git("ls-remote", "--heads", "origin").count("refs/heads/") == 1

    url = "https://github.com/octo-org/octo-repo/pull/7"
    assert checkout.refused("done", "pr_creation", "--url", url)["code"] == "not_pushed"
    checkout.git("push", "-q", "-u", "origin", BRANCH)
    assert checkout.ok("done", "pr_creation", "--url", url).out.splitlines()[-1] == "DEV_COMPLETE: user-login"
    made = checkout.stored("completed")["checkpoints"]["pr_created"]
    assert made == {"status": "completed", "pr_number": 7, "pr_url": url}


def test_a_commit_that_was_made_before_the_kill_is_recorded_and_not_made_again(checkout, tmp_path):
    soil(checkout)
    checkout.ok("start", "dev", FEATURE)
    task, killed = TASKS[0], tmp_path / "killed"
    checkout.red(task)
    checkout.green(task)
    checkout.refactor(task)
    checkout.write(".git/hooks/post-commit", KILLING)
    os.chmod(checkout.root / ".git/hooks/post-commit", 0o755)
    words = argv("task", "done", "1")
    done = subprocess.run(words, cwd=checkout.root, env={**checkout.env, "KILLED": str(killed)}, capture_output=True)
    assert done.returncode == -signal.SIGKILL
    wait_for_end(int(killed.read_text()))
    (made,) = checkout.commits()
    assert checkout.document()["tasks"][0]["status"] == "in_progress"

    assert checkout.ok("task", "done", "1", "--json").json["commit"] == made
    assert checkout.commits() == [made]
    first = checkout.document()["tasks"][0]
    assert (first["status"], first["commit_sha"]) == ("completed", made)
    assert checkout.files_of(made) == [task.code_file, FEATURE, task.test_file]
    assert checkout.status() == DIRT
