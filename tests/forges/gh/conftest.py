"""A working tree with a branch to propose, and the GitHub it belongs to."""

from __future__ import annotations

import subprocess

import pytest

from tests.forges.gh.github import GitHub

BRANCH = "fix/door"


class Checkout:
    """A working tree whose `origin` is the GitHub of the test; `fix/door` has one commit more than `main`."""

    def __init__(self, folder):
        self.top = str(folder)
        subprocess.run(["git", "init", "-q", "-b", "main", self.top], check=True)
        self.git("commit", "-q", "--allow-empty", "-m", "A house")
        self.git("branch", "release")
        self.git("checkout", "-q", "-b", BRANCH)
        self.git("commit", "-q", "--allow-empty", "-m", "Mend the door")

    def git(self, *args):
        subprocess.run(["git", "-C", self.top, *args], check=True, capture_output=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def github(tmp_path, monkeypatch):
    with GitHub(tmp_path / "github") as server:
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server
    assert server.objections == []


@pytest.fixture
def checkout(github, tmp_path):
    made = Checkout(tmp_path / "checkout")
    github.adopt(made.top)
    made.git("push", "-q", "origin", "main", "release")
    return made


@pytest.fixture
def pushed(checkout):
    checkout.git("push", "-q", "-u", "origin", BRANCH)
    return checkout
