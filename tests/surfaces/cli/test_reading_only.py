"""Looking where nothing can be written: a read-only mount, or a user who may read and no more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from tests.orchestrated import TASKS
from tests.surfaces.cli.conftest import Answer
from tests.tiers import need
from tests.workbench import LOGIN, Bench

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
READS = (
    "status",
    "next",
    "show",
    "log",
    "list",
    "resume-packet",
    "metrics",
    "reading",
    "locks",
    "agent list",
    "doctor",
)
SYSTEMS = {
    "skill": ("dev", LOGIN),
    "orchestrator": ("orchestrate", "task.md"),
    "compaction": ("qa-loop", "Nightly QA"),
    "gated": ("feature", "Dark mode for everyone"),
    "story": ("story/planning", "--set", "level=act", "--set", "act=1"),
}


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write("task.md", TASKS)
    made.write("plan.md", "a plan\n")
    made.saved_feature()
    return made


@pytest.fixture
def mounted(bench) -> Iterator[Path]:
    """The project once more, at a place where the kernel refuses every write."""
    need("root", "mounts")
    there = bench.root.parent / "mounted"
    there.mkdir()
    for words in (("--bind", str(bench.root), str(there)), ("-o", "remount,bind,ro", str(there))):
        subprocess.run(["mount", *words], check=True)
    yield there
    subprocess.run(["umount", "-l", str(there)], check=True)


def as_reader(bench: Bench, *words: str, stdin: str = "") -> Answer:
    """Another user with the right to read every file, and to write none of them."""
    need("root", "setpriv")
    right = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
    command = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", *right, HOLDFAST, *words)
    done = subprocess.run(command, cwd=bench.root, input=stdin, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return Answer(done.returncode, done.stdout, done.stderr)


def test_who_may_not_read_the_state_is_shown_what_keeps_them_from_it(bench):
    """No command sends to one that sends back to it."""
    need("root", "setpriv", "a folder that other users may read")
    bench.start()
    os.chmod(bench.root.parent, 0o755)
    os.chmod(bench.root / ".holdfast", 0o700)
    for path in (bench.root, *bench.root.rglob("*")):
        if path.name != ".holdfast" and ".holdfast" not in path.parts:
            os.chown(path, 0, 0)
    for words in ("status", "next", "list", "doctor", "note x"):
        command = ("setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", HOLDFAST, *words.split())
        done = subprocess.run(command, cwd=bench.root, capture_output=True, text=True)
        assert done.returncode, (words, done)
        assert "ls -ld" in done.stderr + done.stdout, (words, done)
        assert "→ holdfast" not in done.stderr, (words, done)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_read_works_on_a_read_only_mount(bench, mounted, system):
    bench.ok("start", *SYSTEMS[system])
    shown = bench.ok("show").json
    before = bench.everything()
    for words in READS:
        assert bench.ok(*words.split(), cwd=mounted).out
        if words != "show":
            assert bench.ok(*words.split(), "--json", cwd=mounted).json
    assert bench.ok("show", cwd=mounted).json == shown
    assert bench.everything() == before


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_read_works_for_another_user(bench, system):
    bench.ok("start", *SYSTEMS[system])
    before = bench.everything()
    for words in READS:
        answer = as_reader(bench, *words.split())
        assert answer.code == 0, answer
    assert bench.everything() == before


def test_python_reads_where_nothing_can_be_written(bench, mounted):
    started = bench.start()
    workflow = holdfast.open(str(mounted)).workflow()
    assert workflow.state == started.refresh().state
    assert workflow.status()["blockers"][0]["kind"] == "read_only"
    assert workflow.next()["current_step"] == started.next()["current_step"]
    assert [one.revision for one in workflow.history()] == [one.revision for one in started.history()]


def test_a_change_is_refused_and_nothing_ran(bench, mounted):
    bench.start()
    before = bench.everything()
    for words in (
        ("note", "x"),
        ("check", "test_fails", "--failed"),
        ("start", "qa-loop", "x"),
        ("doctor", "--repair"),
    ):
        answer = bench.agent(*words, "--json", cwd=mounted)
        assert (answer.code, answer.error["code"]) == (1, "read_only"), answer
        assert "read-only file system" in answer.error["message"]
    assert bench.everything() == before


def test_what_a_look_would_decide_is_said_and_left(bench, mounted):
    """An edit of the document, what hooks noted, and an index that a dead process left behind."""
    workflow = bench.start()
    document = bench.root / ".claude/workflow-state/active" / f"{workflow.id}.json"
    document.write_text(document.read_text().replace('"status"', '"mine": 1, "status"', 1))
    (bench.root / ".holdfast/inbox").write_text('{"event":"PostCompact","session":"s"}\n')
    (bench.root / ".holdfast/index").unlink()
    before = bench.everything()
    said = [alert["message"] for alert in bench.ok("status", "--json", cwd=mounted).json["alerts"]]
    assert any("was changed, and nothing can be written here" in one for one in said)
    assert any("what hooks noted since is not counted" in one for one in said)
    answer = bench.ok("list", cwd=mounted)
    assert workflow.id in answer.out
    assert "was changed" in answer.err
    assert bench.everything() == before
    assert "mine" in json.dumps(bench.ok("show").json)


def test_an_unsettled_workflow_is_listed_as_its_journal_has_it(bench, mounted):
    workflow = bench.start("qa-loop", "Nightly QA")
    index = (bench.root / ".holdfast/index").read_bytes()
    workflow.cancel()
    (bench.root / ".holdfast/index").write_bytes(index)
    (bench.root / ".holdfast/unsettled" / workflow.ulid).touch()
    assert bench.ok("list", "--json", cwd=mounted).json["total"] == 0
    assert (bench.root / ".holdfast/unsettled" / workflow.ulid).exists()


def test_a_document_without_a_journal_is_named_and_not_adopted(bench, mounted):
    workflow = bench.start()
    document = f".claude/workflow-state/active/{workflow.id}.json"
    text = bench.read(document)
    subprocess.run(["rm", "-r", bench.root / ".holdfast"], check=True)
    answer = bench.agent("status", "--json", cwd=mounted)
    assert (answer.code, answer.error["code"]) == (4, "no_workflow")
    assert answer.error["facts"]["documents"] == [document]
    assert (bench.read(document), os.path.exists(bench.root / ".holdfast")) == (text, False)


@pytest.mark.parametrize("name", ["SessionStart", "PreCompact", "Stop", "PostToolUse", "SessionEnd"])
def test_hooks_answer_where_nothing_can_be_written(bench, mounted, name):
    workflow = bench.open(session="s").start("qa-loop", "Nightly QA")
    event = {"hook_event_name": name, "session_id": "s", "cwd": str(mounted), "source": "compact"}
    event |= {"tool_name": "Write", "tool_input": {"file_path": str(mounted / "x")}}
    command = (HOLDFAST, "hook")
    done = subprocess.run(command, input=json.dumps(event), cwd=mounted, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert (workflow.id in done.stdout) == (name in ("SessionStart", "PreCompact"))
    line = subprocess.run(
        (HOLDFAST, "statusline"), input=json.dumps(event), cwd=mounted, capture_output=True, text=True
    )
    assert "1/3" in line.stdout
