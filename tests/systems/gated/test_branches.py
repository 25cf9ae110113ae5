"""A feature and the branch that is checked out: what is advised works as typed, and our own files block nothing."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

import pytest

from tests.acceptance.feature import BRANCH, CODE, FIRST, HOME, SLUG, House


@pytest.fixture
def house(tmp_path) -> House:
    """The first phase is under way, and the branch is pushed."""
    house = House(tmp_path / "house").publish().begun()
    house.git("add", ".")
    house.git("commit", "-q", "-m", "Write")
    house.git("push", "-q", "-u", "origin", BRANCH)
    return house


def git(house: House, *words: str) -> int:
    """Git as a person types it: it may refuse."""
    return subprocess.run(["git", "-C", str(house.root), *words], capture_output=True).returncode


def follow(house: House, remedies: list[dict[str, Any]]) -> None:
    """Types what is advised, one after the other, as an agent."""
    for one in remedies:
        words = shlex.split(one["command"])
        if words[0] == "git":
            subprocess.run(words, cwd=house.root, check=True, capture_output=True)
        else:
            house.ok(*words[1:])


def first_of(house: House, *words: str) -> list[dict[str, Any]]:
    """What `next` or `status` advise before anything else."""
    return house.ok(*words, "--json").json["blockers"][0]["remedies"]


# Nothing is written beside the branch


@pytest.mark.parametrize("words", [("status",), ("feature", "continue", SLUG)])
def test_nothing_is_written_on_another_branch(house, words):
    house.git("switch", "-q", "main")
    house.git("branch", "-q", "-D", BRANCH)
    house.agent(*words)
    assert not (house.root / "workflow" / SLUG).exists()
    house.git("switch", "-q", BRANCH)
    assert house.status() == []


def test_what_moves_nothing_leaves_nothing_uncommitted(tmp_path):
    """A refused hand-in, a note: git switches to another branch, as it is advised."""
    house = House(tmp_path / "house").up_to(CODE, "in_progress")
    house.make(CODE)
    house.write("Makefile", "test:\n\t@false\n")
    house.git("add", ".")
    house.git("commit", "-q", "-m", "Write")
    house.ok("note", "Keys are short")
    assert house.agent("done", CODE).code != 0
    assert house.status() == []
    house.git("switch", "-q", "main")


# What could not be pushed stays visible, and its remedy works


def away(house: House) -> None:
    remote = house.root.with_name("remote.git")
    remote.rename(remote.with_name("away.git"))


def back(house: House) -> None:
    remote = house.root.with_name("remote.git")
    remote.with_name("away.git").rename(remote)


def is_pushed(house: House) -> bool:
    theirs = house.git("ls-remote", "origin", f"refs/heads/{BRANCH}").split("\t")[0]
    return theirs == house.git("rev-parse", BRANCH).strip()


def test_a_cancelled_feature_is_pushed(house):
    house.ok("cancel", "--reason", "Doors stay open")
    assert is_pushed(house)
    assert "not pushed" not in house.agent("doctor").out


def test_a_cancelled_feature_that_could_not_be_pushed_is_named_until_it_is(house):
    away(house)
    house.ok("cancel", "--reason", "Doors stay open")
    for words in (("status",), ("list",), ("doctor",)):
        answer = house.agent(*words)
        said = answer.out + answer.err
        assert "not pushed to origin yet" in said, (words, answer)
        assert f"holdfast feature continue {SLUG}" in said, (words, answer)
    back(house)
    assert f"pushed {BRANCH} to origin" in house.ok("feature", "continue", SLUG).out
    assert is_pushed(house)
    assert "not pushed" not in house.agent("doctor").out
    assert house.refused("feature", "continue", SLUG)["code"] == "cancelled"


def test_a_feature_that_is_cancelled_from_another_branch_is_committed_there_later(house):
    house.git("switch", "-q", "main")
    house.ok("cancel", SLUG, "--reason", "Doors stay open")
    assert house.status() == []
    house.ok("start", "feature", "Open windows")
    assert "not committed" not in house.agent("next").err, "a reminder of another feature"
    assert f"{SLUG} is cancelled, and that is not committed on {BRANCH} yet" in house.agent("doctor").out
    error = house.refused("feature", "continue", SLUG)
    follow(house, error["remedies"])
    assert "the current branch is" not in house.agent("status").err
    house.ok("feature", "continue", SLUG)
    assert house.status() == []
    assert house.state()["status"] == "cancelled"
    assert is_pushed(house)


# Off the branch, and in the middle of something


@pytest.mark.parametrize("words", [("next",), ("status",)])
def test_on_another_branch_the_way_to_the_own_one_is_advised(house, words):
    house.git("switch", "-q", "main")
    advised = first_of(house, *words)
    assert [one["command"] for one in advised] == [f"git switch {BRANCH}"]
    assert "holdfast done" not in house.ok(*words).out
    follow(house, advised)
    house.ok("done", FIRST)


def diverged(house: House, tmp_path) -> House:
    """Another clone handed the first phase in, and so did this one."""
    other = house.clone(tmp_path / "other")
    other.git("switch", "-q", BRANCH)
    other.make(FIRST, "Something else.")
    other.ok("done", FIRST)
    other.git("push", "-q", "origin", BRANCH)
    house.ok("done", FIRST)
    house.git("fetch", "-q")
    return other


@pytest.mark.parametrize("how", ["merge", "rebase"])
@pytest.mark.parametrize("words", [("next",), ("status",)])
def test_in_a_conflict_what_is_advised_is_what_the_commands_say(house, tmp_path, how, words):
    diverged(house, tmp_path)
    assert git(house, how, f"origin/{BRANCH}")
    advised = first_of(house, *words)
    assert [one["command"] for one in advised] == [f"git {how} --abort", f"holdfast feature recover {SLUG}"]
    for refused in (("done", FIRST), ("review", FIRST), ("feature", "continue")):
        assert house.refused(*refused)["remedies"] == advised, refused
    assert f"git {how} --abort" in house.ok(*words).out
    house.git(how, "--abort")
    assert house.person("feature", "recover", SLUG, "--take", "here").code == 0
    assert not git(house, "diff", "--quiet")


@pytest.mark.parametrize("words", [("next",), ("status",)])
def test_a_journal_that_went_another_way_is_what_is_said_first(house, tmp_path, words):
    diverged(house, tmp_path)
    house.git("reset", "-q", "--hard", f"origin/{BRANCH}")
    advised = first_of(house, *words)
    assert "holdfast feature recover" in advised[0]["command"]
    assert "was edited" not in house.agent("doctor").out


# Another worktree, a branch that is gone


def test_a_branch_that_another_worktree_has_gives_a_way_out(house, tmp_path):
    house.git("switch", "-q", "main")
    house.git("worktree", "add", "-q", str(tmp_path / "w"), BRANCH)
    linked = house.at(tmp_path / "w")
    error = house.refused("feature", "continue", SLUG)
    assert str(tmp_path / "w") in error["message"]
    assert linked.refused("feature", "continue", SLUG)["remedies"] == error["remedies"]
    follow(linked, error["remedies"])
    linked.ok("feature", "continue")
    house.ok("done", FIRST)


def test_in_a_worktree_the_feature_of_its_branch_is_meant(house, tmp_path):
    house.git("switch", "-q", "main")
    house.ok("start", "feature", "Open windows")
    house.git("worktree", "add", "-q", str(tmp_path / "w"), BRANCH)
    assert house.at(tmp_path / "w").ok("status", "--json").json["workflow_id"] == SLUG


def test_a_branch_that_is_gone_comes_back_with_its_work(tmp_path):
    house = House(tmp_path / "house").begun()
    house.ok("done", FIRST)
    tip = house.git("rev-parse", "HEAD").strip()
    house.git("switch", "-q", "main")
    house.git("branch", "-q", "-D", BRANCH)
    error = house.refused("feature", "continue", SLUG)
    assert [one["command"] for one in error["remedies"]] == [f"git switch -c {BRANCH} {tip}"]
    follow(house, error["remedies"])
    house.ok("feature", "continue")
    assert house.phases()[0] == "in_review"


# A feature that the remote has


def test_a_feature_that_the_remote_has_is_not_begun_again(house, tmp_path):
    other = house.clone(tmp_path / "other")
    error = other.refused("start", "feature", "Sign in by key")
    assert error["remedies"][0]["command"] == f"git switch {BRANCH}"
    assert other.git("branch", "--list", BRANCH).strip() == ""
    error = other.refused("feature", "recover", SLUG, code=4)
    assert error["remedies"][0]["command"] == f"git switch {BRANCH}"
    follow(other, error["remedies"][:1])
    other.ok("feature", "continue")


# Nobody is asked about what is refused anyway


def test_a_person_is_not_asked_about_what_is_refused_anyway(house):
    house.ok("done", FIRST)
    house.opinion(FIRST, 1)
    house.ok("review", FIRST)
    house.git("switch", "-q", "main")
    for words in (("approve", FIRST), ("reset", FIRST)):
        answer = house.person(*words, "-w", SLUG, "--json")
        assert "[y/N]" not in answer.out, answer
        assert "branch_mismatch" in answer.out, answer
    assert json.loads(house.git("show", f"{BRANCH}:{HOME}/workflow-state.json"))["status"] == "in_progress"


def test_of_many_active_workflows_the_rest_is_counted(house):
    project = house.project()
    house.git("switch", "-q", "main")
    for number in range(10):
        project.start("feature", f"Open window {number}")
        house.git("switch", "-q", "main")
    error = house.refused("next", code=2)
    assert "and 3 more (holdfast list)" in error["message"]
