"""Journals that went different ways and were merged by hand: nobody's decision is left out of sight, whatever a merge
took, and what a person decided about it holds in every clone.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.acceptance.checkout import Answer
from tests.acceptance.feature import BRANCH, FIRST, HOME, SECOND, SLUG, House

JOURNAL = f"{HOME}/journal.jsonl"


@pytest.fixture
def here(tmp_path) -> House:
    """The first phase is approved here by a person, and pushed."""
    house = House(tmp_path / "here").publish().begun()
    house.git("push", "-q", "-u", "origin", BRANCH)
    house.ok("done", FIRST)
    house.git("push", "-q", "origin", BRANCH)
    return house


@pytest.fixture
def there(here, tmp_path) -> House:
    """In a second clone, a review asks for changes of what was approved in the first one."""
    other = here.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    here.opinion(FIRST, 1)
    here.ok("review", FIRST)
    here.approve(FIRST)
    other.opinion(FIRST, 1, "Who opens?")
    other.ok("review", FIRST)
    return other


def git(house: House, *words: str) -> int:
    """Git as somebody types it: it may refuse."""
    return subprocess.run(["git", "-C", str(house.root), *words], capture_output=True).returncode


def tip(house: House, name: str = "HEAD") -> str:
    return house.git("rev-parse", name).strip()


def on_remote(house: House) -> str:
    return house.git("ls-remote", "origin", f"refs/heads/{BRANCH}").split("\t")[0]


def ours(house: House) -> None:
    house.git("pull", "-q", "--no-rebase", "-s", "ours")


def chosen(house: House) -> None:
    assert git(house, "pull", "-q", "--no-rebase")
    house.git("checkout", "--ours", "workflow")
    house.git("add", ".")
    house.git("commit", "-q", "-m", "Resolve")


def rebased(house: House) -> None:
    house.git("fetch", "-q")
    house.git("rebase", "-q", "-X", "theirs", f"origin/{BRANCH}")


def marked(house: House) -> None:
    """The marks of the conflict are committed, and what is damaged is written again."""
    assert git(house, "pull", "-q", "--no-rebase")
    house.git("add", ".")
    house.git("commit", "-q", "-m", "Resolve")
    house.agent("feature", "recover", SLUG)


MERGES = [ours, chosen, rebased, marked]


@pytest.mark.parametrize("merge", MERGES)
def test_an_approval_that_a_merge_left_out_is_decided_about_by_a_person(here, there, merge: Callable[[House], None]):
    approved = on_remote(here)
    merge(there)
    assert there.refused("feature", "recover", SLUG, code=5)["code"] == "journal_forked"
    assert there.refused("feature", "recover", SLUG, "--take", "here")["code"] == "person_needed"
    for words in (("feature", "continue"), ("done", FIRST, "--unchanged", "So")):
        answer = there.agent(*words, "--json")
        assert (answer.code, answer.error["code"]) in ((5, "journal_forked"), (6, "copy_damaged")), answer
    assert f"holdfast feature recover {SLUG}" in there.ok("next").out
    found = {one["code"] for one in there.agent("doctor", "--json").json["findings"]}
    assert found & {"journal_forked", "copy_damaged"}
    assert on_remote(there) == approved


@pytest.mark.parametrize("merge", [ours, chosen, rebased])
def test_a_clone_of_such_a_merge_finds_the_approval_too(here, there, tmp_path, merge):
    merge(there)
    there.git("push", "-q", "origin", BRANCH)
    third = there.clone(tmp_path / "third")
    third.git("switch", "-q", BRANCH)
    assert third.refused("feature", "continue", code=5)["code"] == "journal_forked"
    assert f"holdfast feature recover {SLUG} --take GIT_OR_HERE" in third.ok("status").out


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize(("take", "status"), [("git", "approved"), ("here", "in_progress")])
def test_what_the_person_takes_holds_in_both_clones_and_in_a_new_one(here, there, tmp_path, merge, take, status):
    merge(there)
    answer = there.person("feature", "recover", SLUG, "--take", take)
    assert answer.code == 0, answer
    assert there.phases()[0] == status
    assert there.status() == []
    there.person("approve", "--claimed", "--yes")
    there.ok("feature", "continue")
    assert on_remote(there) == tip(there)
    third = there.clone(tmp_path / "third")
    third.git("switch", "-q", BRANCH)
    here.git("pull", "-q", "--no-rebase")
    for house in (here, third):
        assert "recover" not in house.ok("status").out
        assert house.phases()[0] == status
        assert house.read(JOURNAL) == there.read(JOURNAL)
        assert house.status() == []


def test_of_a_journal_that_is_taken_from_a_merge_the_workspace_comes_too(here, there):
    ours(there)
    there.write(f"{HOME}/{FIRST}/late.md", "Not handed in\n")
    assert there.person("feature", "recover", SLUG, "--take", "git").code == 0
    review = f"{HOME}/{FIRST}/reviews/review-1.md"
    assert there.read(review) == here.git("show", f"{BRANCH}:{review}")
    assert not (there.root / HOME / FIRST / "late.md").exists()
    assert "Not handed in" in there.git("log", "-p", "--", f"{HOME}/{FIRST}/late.md")


def test_an_approval_that_only_a_merge_left_out_is_applied_without_a_person(here, tmp_path):
    """Nothing was decided here, so that the journal that came with git only has more."""
    other = here.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    here.opinion(FIRST, 1)
    here.ok("review", FIRST)
    here.approve(FIRST)
    other.write("notes.txt", "Mine\n")
    other.git("commit", "-q", "-am", "A note")
    ours(other)
    error = other.refused("feature", "continue", code=5)
    assert (error["code"], error["remedy"]) == ("journal_left_out", f"holdfast feature recover {SLUG}")
    other.ok("feature", "recover", SLUG)
    assert other.phases()[0] == "approved"
    assert other.person("approve", "--claimed", "--yes").code == 0
    other.ok("feature", "continue")
    assert on_remote(other) == tip(other)


def test_a_feature_does_not_end_without_what_a_merge_left_out(tmp_path):
    house = House(tmp_path / "here").publish().completed()
    house.git("push", "-q", "-u", "origin", BRANCH)
    other = house.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    assert other.person("reopen", FIRST, "--feedback", "Keys expire").code == 0
    other.git("push", "-q", "origin", BRANCH)
    house.git("commit", "-q", "--allow-empty", "-m", "Mine")
    ours(house)
    before = tip(house)
    assert house.refused("feature", "finalize", code=5)["code"] == "journal_left_out"
    assert (tip(house), house.status()) == (before, [])
    house.ok("feature", "recover", SLUG)
    assert house.phases()[0] == "in_progress"


def test_a_damaged_journal_that_is_committed_is_not_advised_to_be_restored_from_there(here, there):
    assert git(there, "pull", "-q", "--no-rebase")
    there.git("add", ".")
    there.git("commit", "-q", "-m", "Resolve")
    for words in (("next",), ("status",)):
        said = there.ok(*words).out
        assert f"holdfast feature recover {SLUG}" in said, words
        assert "git restore" not in said, words


# What a person decided reaches the other clones


def test_the_clone_whose_journal_gave_way_is_told_and_asks_nobody(here, there):
    assert there.person("feature", "recover", SLUG, "--take", "here").code == 0
    error = here.refused("feature", "continue")
    assert error["code"] == "branch_behind"
    assert "a person decided there" in error["message"]
    assert error["remedy"] == f"git merge --ff-only origin/{BRANCH}"
    here.git(*shlex.split(error["remedy"])[1:])
    said = here.person("next").out
    assert "a person decided in another clone" in " ".join(said.split())
    kept = re.search(r"\.holdfast/archive/\S+\.jsonl", said)
    assert kept is not None, said
    assert '"approve"' in here.read(kept[0])
    assert here.phases()[0] == "in_progress"
    assert "a person decided in another clone" not in here.ok("next").err
    here.ok("feature", "continue")
    assert here.read(JOURNAL) == there.read(JOURNAL)


def test_what_was_done_after_a_decision_it_did_not_know_is_decided_about_again(here, there):
    assert there.person("feature", "recover", SLUG, "--take", "here").code == 0
    here.ok("begin", SECOND)
    error = here.refused("feature", "continue", code=5)
    assert error["code"] == "journal_forked"


# A branch that was rewritten and pushed by force


OF_BRANCHES = ("branch_diverged", "merge_conflict", "journal_forked", "journal_left_out", "git_busy", "copy_damaged")


def error_of(answer: Answer) -> dict[str, Any] | None:
    """What is refused as git is; what a person has still to confirm is something else."""
    start = answer.out.find('{\n  "error"')
    error = json.loads(answer.out[start:])["error"] if answer.code and start >= 0 else None
    return error if error and error["code"] in OF_BRANCHES else None


def follow(house: House, error: dict[str, Any], resolve: Callable[[], None]) -> dict[str, Any] | None:
    """Types what is advised, one after the other, and resolves the code where that is due; what is refused then."""
    for one in error["remedies"]:
        if "resolve" in one.get("text", ""):
            resolve()
        words = shlex.split(one["command"].replace("GIT_OR_HERE", "here"))
        if words[0] == "git":
            assert git(house, *words[1:]) == 0 or words[1] == "merge", words
        elif (refused := error_of(house.person(*words[1:], "--json"))) is not None:
            return refused
    return error_of(house.agent("feature", "continue", "--json"))


@pytest.fixture
def rewritten(here, tmp_path) -> House:
    """A clone with code that the other one amended and pushed by force."""
    here.opinion(FIRST, 1)
    here.ok("review", FIRST)
    here.approve(FIRST)
    here.write("src/key.py", "KEY = 1\n")
    here.git("add", "src")
    here.git("commit", "-q", "-m", "Code")
    here.git("push", "-q", "origin", BRANCH)
    other = here.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    return other


def amended(house: House, text: str) -> None:
    """The commits of the workspace are made again as well, as a rebase makes them."""
    house.git("reset", "-q", "--soft", "HEAD~3")
    house.write("src/key.py", text)
    house.git("add", "src")
    house.git("commit", "-q", "-m", "Code, and the workspace")
    house.git("push", "-q", "--force", "origin", BRANCH)


def moved(house: House) -> None:
    """The journal gets another line."""
    house.ok("begin", SECOND)


def confirmed(house: House) -> None:
    assert house.person("approve", "--claimed", "--yes").code == 0


@pytest.mark.parametrize("text", ["KEY = 1\n", "KEY = 2\n"])
@pytest.mark.parametrize("ahead", ["nobody", "here", "there", "both"])
def test_after_a_forced_push_the_first_way_leads_on(here, rewritten, text, ahead):
    there = rewritten
    if ahead in ("there", "both"):
        confirmed(there)
    if ahead in ("here", "both"):
        moved(here)
    amended(here, text)
    error = error_of(there.agent("feature", "continue", "--json"))

    def resolve() -> None:
        there.write("src/key.py", "KEY = 3\n")
        there.git("add", "src/key.py")

    codes = []
    while error is not None:
        codes.append(error["code"])
        assert len(codes) < 3, codes
        assert "--ours" not in str(error)
        assert "--abort" not in str(error)
        error = follow(there, error, resolve)
    assert codes
    assert there.status() == []
    assert not (there.root / ".git" / "MERGE_HEAD").exists()
    there.git("merge-base", "--is-ancestor", f"origin/{BRANCH}", "HEAD")


def test_in_a_merge_of_code_and_workspace_what_is_advised_ends_it(here, rewritten):
    confirmed(rewritten)
    moved(here)
    amended(here, "KEY = 2\n")
    rewritten.git("fetch", "-q")
    assert git(rewritten, "merge", "--no-edit", f"origin/{BRANCH}")
    error = error_of(rewritten.agent("feature", "continue", "--json"))
    assert error is not None
    assert "--abort" not in str(error)
    assert [one["command"] for one in rewritten.ok("next", "--json").json["blockers"][0]["remedies"]] == [
        one["command"] for one in error["remedies"]
    ]

    def resolve() -> None:
        rewritten.write("src/key.py", "KEY = 3\n")
        rewritten.git("add", "src/key.py")

    assert follow(rewritten, error, resolve) is None
    assert rewritten.status() == []
    assert on_remote(rewritten) == tip(rewritten)
