"""A process that lives on makes a document while its line is being synced: what is there is the newest state's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

STEPS = [{"id": name} for name in ("one", "two")]
BOUND = 60

FORKED = """
import os, sys
import holdfast
work = holdfast.open(sys.argv[1]).workflow()
work.note("before the fork")
child = os.fork()
work = holdfast.open(sys.argv[1]).workflow() if child == 0 else work
work.note(f"after the fork, {'there' if child else 'here'}")
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""

THREADS = """
import sys, threading
import holdfast
project = holdfast.open(sys.argv[1])
def work(name):
    for turn in range(25):
        project.workflow(name).note(f"{name} {turn}")
threads = [threading.Thread(target=work, args=(name,)) for name in sys.argv[2:] for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


@pytest.fixture
def project(tmp_path):
    return holdfast.open(str(tmp_path))


def run(program: str, *words: str) -> None:
    subprocess.run([sys.executable, "-c", program, *words], check=True, timeout=BOUND)


def shown(project: holdfast.Project, ulid: str) -> None:
    """What is there is what another process makes of the newest state."""
    work = project.workflow(ulid)
    lying = Path(project.wired.place.root, ".claude/workflow-state/active", f"{work.id}.json")
    assert lying.read_bytes() == project.wired.documents.render(work.state)


def test_after_a_fork_both_processes_go_on(project, tmp_path):
    work = project.start({"name": "plain", "step": STEPS}, "forked")
    run(FORKED, str(tmp_path))
    assert {note["text"] for note in work.refresh().state.notes} == {
        "before the fork",
        "after the fork, there",
        "after the fork, here",
    }
    shown(project, work.ulid)


def test_threads_that_share_a_project_show_each_its_own_workflow(project, tmp_path):
    works = [project.start({"name": "plain", "step": STEPS}, f"number {number}") for number in range(2)]
    run(THREADS, str(tmp_path), *(work.ulid for work in works))
    for work in works:
        assert sorted(note["text"] for note in work.refresh().state.notes) == sorted(
            f"{work.ulid} {turn}" for turn in range(25) for _ in range(2)
        )
        shown(project, work.ulid)
