"""The world of this machine keeps the contract, with git and without; and no journal is locked while it looks."""

from __future__ import annotations

import subprocess
import sys

import pytest

import holdfast
from holdfast.core.needs import Needs
from tests.engine.world_contract import WorldContract


class InFolder(WorldContract):
    @pytest.fixture
    def root(self, tmp_path):
        return tmp_path

    @pytest.fixture
    def world(self, root):
        return holdfast.open(str(root)).wired.world

    @pytest.fixture
    def put(self, root):
        return lambda path, text: (root / path).write_text(text)


class TestPlainFolder(InFolder):
    def test_without_git_there_is_no_head(self, world, state):
        assert world.facts(state, Needs(head=True)).head is None


class TestRepository(InFolder):
    @pytest.fixture
    def root(self, tmp_path):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "first")):
            subprocess.run(["git", *words], cwd=tmp_path, check=True)
        return tmp_path

    def test_the_head_is_known_with_the_tree_or_alone(self, world, state):
        head = world.facts(state, Needs(head=True)).head
        assert head == world.facts(state, Needs(tree=True)).head
        assert len(head) == 40

    def test_commits_that_the_branch_does_not_have_are_unknown(self, world, state):
        head = world.facts(state, Needs(head=True)).head
        assert world.facts(state, Needs(commits=(head, "c0ffee", 7))).unknown_commits == ("c0ffee", "7")


LOOKS = """
import fcntl, glob, sys
import holdfast

def is_locked():
    for journal in glob.glob(".holdfast/journal/*/*.jsonl"):
        with open(journal, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False

seen = []
looking = False

def hook(event, args):
    global looking
    watched = event == "subprocess.Popen" or (event == "open" and str(args[0]).endswith("report.txt"))
    if watched and not looking:
        looking = True
        seen.append((event, is_locked()))
        looking = False

checks = [{"name": "lint", "run": ["true"]}]
steps = [{"id": "build", "checks": checks}, {"id": "ship"}]
workflow = holdfast.open().start({"name": "small", "step": steps}, "x")
workflow.begin("build")
workflow.check("lint")
sys.addaudithook(hook)
workflow.attach("build", {"report": "report.txt"})
workflow.done("build")
workflow.begin("ship")
workflow.note("n")
assert {event for event, _ in seen} == {"subprocess.Popen", "open"}, seen
assert not any(locked for _, locked in seen), seen
"""


def test_no_git_process_starts_and_no_artifact_is_read_while_the_journal_is_locked(tmp_path):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "report.txt").write_text("good")
    subprocess.run([sys.executable, "-c", LOOKS], cwd=tmp_path, check=True)
