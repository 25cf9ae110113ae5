"""The status line: one line about the work, as fast as a hook, and the host's own figure of what a session costs."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.hosts.installing import lines
from holdfast.machine import settings
from holdfast.project.project import open_project
from holdfast.surfaces.hooks import quick, statusline

RELEASE = {
    "name": "release",
    "bounds": {"max_cost": "$10"},
    "step": [{"id": "draft"}, {"id": "sign-off", "approval": {"by": "human"}}, {"id": "publish"}],
}


class Desk:
    """A project, a session that works in it, and its host."""

    def __init__(self, root: Path) -> None:
        self.root, self.home = root, root / ".holdfast"

    def open(self, session="S1"):
        found = settings.read({**os.environ, "CLAUDE_CODE_SESSION_ID": session}, terminal=False, surface="test")
        return open_project(str(self.root), settings=found)

    def start(self, subject="1.4", **changes):
        return self.open().start({**RELEASE, **changes}, subject)

    def question(self, cost=None, session="S1", **more):
        said = {"session_id": session, "cwd": str(self.root), "workspace": {"project_dir": str(self.root)}, **more}
        return {**said, "cost": {"total_cost_usd": cost}} if cost is not None else said

    def raw(self, data: bytes, **environment):
        env = {**os.environ, "NO_COLOR": "1", **environment}
        for left in reversed(range(10)):
            began = time.monotonic()
            done = subprocess.run(lines.status_words(), input=data, capture_output=True, cwd=self.root, env=env)
            assert (done.returncode, done.stderr) == (0, b"")
            # On a busy machine it gave up, and a host asks again.
            if not left or time.monotonic() - began < quick.PATIENCE:
                return done.stdout.decode()
        raise AssertionError

    def line(self, cost=None, session="S1", **environment):
        said = self.raw(json.dumps(self.question(cost, session)).encode(), **environment)
        assert said.endswith("\n")
        assert said.count("\n") == 1
        return said[:-1]

    def spent(self) -> int:
        self.open().heal()
        return self.open().workflow().state.spent


@pytest.fixture
def desk(tmp_path) -> Desk:
    root = tmp_path / "project"
    root.mkdir()
    return Desk(root)


def test_it_names_the_workflow_the_step_and_what_is_spent(desk):
    workflow = desk.start()
    assert desk.line() == f"{workflow.id} ▱▱▱▱▱▱▱▱▱▱ 1/3 draft · $0.00/$10.00"


def test_it_moves_with_the_work_and_says_who_is_waited_for(desk):
    workflow = desk.start()
    desk.line()
    workflow.begin("draft").done("draft")
    assert "▰▰▰▱▱▱▱▱▱▱ 2/3 sign-off" in desk.line()
    workflow.begin("sign-off").submit("sign-off")
    assert re.search(r"sign-off · .*approv", desk.line())


def test_without_work_it_is_empty(desk):
    assert desk.line() == ""
    desk.start().cancel()
    assert desk.line(cost=1.0) == ""
    assert not (desk.home / "inbox").exists()


def test_a_session_sees_its_own_workflow(desk):
    first = desk.start("one")
    second = desk.open("S2").start({**RELEASE, "name": "other"}, "two")
    assert desk.line().startswith(first.id)
    assert desk.line(session="S2").startswith(second.id)


def test_when_nothing_has_happened_the_engine_is_not_started(desk):
    desk.start()
    before = desk.line()
    kept = json.loads((desk.home / "statusline").read_text())
    kept["S1"]["line"] = "from memory"
    (desk.home / "statusline").write_text(json.dumps(kept))
    assert desk.line() == "from memory"
    desk.open().workflow().note("something")
    assert desk.line() == before


def test_a_line_that_is_old_is_made_anew(desk):
    desk.start()
    before = desk.line()
    kept = json.loads((desk.home / "statusline").read_text())
    kept["S1"].update(line="from memory", at=time.time() - statusline.FRESH_FOR - 1)
    (desk.home / "statusline").write_text(json.dumps(kept))
    assert desk.line() == before


def test_what_the_host_counts_becomes_what_the_workflow_spent(desk):
    desk.start()
    desk.line(cost=0)
    desk.line(cost=0.25)
    desk.line(cost=0.25)
    assert desk.line(cost=1.5).endswith("$1.50/$10.00")
    assert desk.spent() == 1_500_000


def test_what_a_session_had_cost_before_it_was_first_seen_is_not_counted(desk):
    desk.start()
    desk.line(cost=7)
    desk.line(cost=7.5)
    assert desk.spent() == 500_000


def test_a_host_that_counts_anew_begins_at_nothing(desk):
    desk.start()
    for cost in (0, 2, 0.5, 0.75):
        desk.line(cost=cost)
    assert desk.spent() == 2_750_000


def test_sessions_are_counted_each_for_itself_and_a_session_at_no_workflow_costs_none(desk):
    desk.start()
    for session in ("S1", "S2"):
        desk.line(cost=0, session=session)
    desk.line(cost=1, session="S1")
    desk.line(cost=5, session="S2")
    assert desk.spent() == 1_000_000


def test_a_bound_that_the_host_s_figures_reach_stops_the_workflow(desk):
    workflow = desk.start()
    workflow.begin("draft")
    desk.line(cost=0)
    assert "bound on cost is used up" in desk.line(cost=12)
    with pytest.raises(holdfast.Refused) as refusal:
        desk.open().workflow().done("draft")
    assert refusal.value.code == "bound_reached"


@pytest.mark.parametrize("cost", [-1, "1", True, None, [], 1e300])
def test_a_figure_that_makes_no_sense_is_not_counted(desk, cost):
    desk.start()
    desk.line(cost=0)
    question = {**desk.question(), "cost": {"total_cost_usd": cost}}
    desk.raw(json.dumps(question).encode())
    assert desk.spent() == 0


def test_many_questions_at_once_count_every_cent_once(desk):
    desk.start()
    desk.line(cost=0)
    processes = []
    for cents in range(1, 11):
        process = subprocess.Popen(lines.status_words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=desk.root)
        process.stdin.write(json.dumps(desk.question(1 + cents / 100, session=f"P{cents}")).encode())
        process.stdin.close()
        processes.append(process)
    for process in processes:
        process.stdout.read()
        process.stdout.close()
        assert process.wait(60) == 0
    desk.line(cost=0.1)
    assert desk.spent() == 100_000
    assert len(json.loads((desk.home / "statusline").read_text())) == 11


def test_a_cost_that_is_being_counted_when_the_time_is_up_is_counted_all_the_same(desk):
    desk.start()
    desk.line(cost=0)
    with open(desk.home / "inbox", "a") as inbox:
        fcntl.flock(inbox, fcntl.LOCK_EX)
        process = subprocess.Popen(lines.status_words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=desk.root)
        process.stdin.write(json.dumps(desk.question(0.25)).encode())
        process.stdin.close()
        assert process.stdout.readline()  # the host has its line, although the inbox is locked
    with process:
        assert process.wait(60) == 0
    assert desk.spent() == 250_000


def test_no_more_sessions_are_kept_than_are_needed(desk):
    desk.start()
    (desk.home / "statusline").write_text(json.dumps({f"old{n}": {"cost": 1} for n in range(200)}))
    desk.line(cost=1)
    assert len(json.loads((desk.home / "statusline").read_text())) == statusline.SESSIONS


@pytest.mark.parametrize(
    "data",
    [b"", b"nonsense", b"[]", b"null", b'{"session_id": 5, "workspace": "x", "cost": 3}', b"\xff\xfe", b"{" * 5000],
)
def test_whatever_comes_it_ends_well_with_one_line(desk, data):
    desk.start()
    assert desk.raw(data).count("\n") == 1


@pytest.mark.parametrize("content", ["", "torn {", "[]", '{"S1": 5}', '{"S1": {"line": 3, "at": "x", "cost": "y"}}'])
def test_a_damaged_memory_is_made_anew(desk, content):
    desk.start()
    (desk.home / "statusline").write_text(content)
    assert "1/3 draft" in desk.line(cost=1)
    assert desk.line(cost=1.25).endswith("$0.25/$10.00")


def test_a_link_in_its_place_leads_nowhere(desk, tmp_path):
    desk.start()
    (desk.home / "statusline").symlink_to(tmp_path / "elsewhere")
    assert desk.line(cost=1) == ""
    assert not (tmp_path / "elsewhere").exists()
    assert "StatusLine" in (desk.home / "hook.log").read_text()


def test_a_title_cannot_write_escapes_to_the_terminal(desk):
    desk.start(step=[{"id": "draft", "approval": {"by": "human"}}])
    assert "\x1b" not in desk.line()
    assert "\x1b[1m" in desk.line(NO_COLOR="", session="S9", TERM="xterm")


def test_a_host_that_never_ends_its_question_gets_an_answer(desk):
    desk.start()
    with subprocess.Popen(
        lines.status_words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=desk.root
    ) as process:
        assert process.stdout.read() == b"\n"
        assert process.wait(60) == 0


def test_being_asked_to_end_it_finishes_what_it_has_begun(desk):
    desk.start()
    desk.line(cost=0)
    with subprocess.Popen(
        lines.status_words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=desk.root
    ) as process:
        process.stdin.write(json.dumps(desk.question(0.5)).encode()[:-1])
        process.stdin.flush()
        until_ignored(process.pid)
        process.send_signal(signal.SIGTERM)
        process.stdin.write(b"}")
        process.stdin.close()
        assert b"$0.50" in process.stdout.read()
    assert desk.spent() == 500_000


def until_ignored(pid: int) -> None:
    """Waits until a process has said that it does not care for SIGTERM."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ignored = re.search(r"SigIgn:\s+(\w+)", Path(f"/proc/{pid}/status").read_text())
        if ignored and int(ignored[1], 16) & 1 << (signal.SIGTERM - 1):
            return
    pytest.fail("it never began to work")


def test_the_command_does_the_same(desk):
    desk.start()
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "statusline"],
        input=json.dumps(desk.question()),
        capture_output=True,
        text=True,
        cwd=desk.root,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert (done.returncode, done.stdout.rstrip("\n")) == (0, desk.line())
    wrong = subprocess.run([sys.executable, "-m", "holdfast", "statusline", "--nonsense"], capture_output=True)
    assert wrong.returncode == 0


def test_nothing_of_the_package_is_loaded_when_nothing_has_happened(desk):
    desk.start()
    desk.line()
    words = lines.status_words()
    done = subprocess.run(
        [*words[:1], "-v", *words[1:]], input=json.dumps(desk.question()).encode(), capture_output=True, cwd=desk.root
    )
    loaded = set(re.findall(r"^import '([\w.]+)'", done.stderr.decode(), flags=re.MULTILINE))
    hooks = {name for name in loaded if name.startswith("holdfast.surfaces.hooks.")}
    assert "holdfast.surfaces.hooks.quick" in hooks
    assert not {name for name in loaded - hooks if name.partition(".")[0] in ("holdfast", "json", "re", "os", "site")}
