"""Two clones of one feature: who comes second is told, nothing that was decided or committed is lost, and every
refusal leads on when its remedy is typed.
"""

from __future__ import annotations

import json
import random
import shlex
import subprocess
from typing import Any

import pytest

from tests.acceptance.feature import BRANCH, FIRST, HOME, PHASES, SLUG, House
from tests.phases import write_outputs
from tests.tiers import is_full

SEEDS = tuple(range(1, 21))
PATIENCE = 12
"""Remedies that are typed one after the other until a command is let through."""


@pytest.fixture
def here(tmp_path) -> House:
    house = House(tmp_path / "here").publish().begun()
    house.git("push", "-q", "-u", "origin", BRANCH)
    return house


@pytest.fixture
def there(here, tmp_path) -> House:
    other = here.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    return other


def waiting(house: House, phase: str) -> None:
    """A phase is handed in and reviewed, and the branch pushed."""
    house.make(phase)
    house.ok("done", phase)
    house.opinion(phase, 1)
    house.ok("review", phase)
    house.git("push", "-q", "origin", BRANCH)


def tip(house: House, name: str = "HEAD") -> str:
    return house.git("rev-parse", name).strip()


def on_remote(house: House) -> str:
    return house.git("ls-remote", "origin", f"refs/heads/{BRANCH}").split("\t")[0]


def typed(house: House, command: str) -> None:
    """Does what a remedy says, as a person at a terminal who takes what came with git."""
    words = shlex.split(command.replace("GIT_OR_HERE", "git"))
    if words[0] == "git":
        subprocess.run(words, cwd=house.root, check=True, capture_output=True)
    else:
        house.person(*words[1:])


def led_on(house: House, *words: str) -> list[str]:
    """Types a command, and the remedies of what is refused, until it is let through; the codes of the refusals."""
    codes: list[str] = []
    error: dict[str, Any] = {}
    for _ in range(PATIENCE):
        answer = house.person(*words, "--json")
        start = answer.out.find("{")
        if answer.code == 0:
            return codes
        error = json.loads(answer.out[start:])["error"]
        codes.append(error["code"])
        assert "holdfast cancel" not in str(error["remedies"]), error
        if words[0] == "approve" and words[1] in PHASES and house.phase(words[1])["status"] != "user_review":
            return codes  # by the journal that holds now, it does not wait any more
        for one in error["remedies"]:
            if "command" in one and one["who"] != "agent":
                typed(house, one["command"])
    raise AssertionError(f"a dead end: {words} {codes} {error}")


def test_the_second_to_approve_is_told_before_anything_is_decided(here, there):
    waiting(here, FIRST)
    there.git("pull", "-q", "--ff-only")
    assert f"pushed {BRANCH} to origin" in here.approve(FIRST)
    assert on_remote(here) == tip(here)
    answer = there.person("approve", FIRST, "--yes", "--json")
    assert '"branch_behind"' in answer.out, answer
    assert f"git merge --ff-only origin/{BRANCH}" in answer.out
    typed(there, f"git merge --ff-only origin/{BRANCH}")
    assert there.phases()[0] == "approved"


def test_an_approval_counts_where_it_was_given_also_after_another_clone_confirmed_it(here, there):
    waiting(here, FIRST)
    there.git("pull", "-q", "--ff-only")
    there.approve(FIRST)
    there.ok("feature", "continue")
    here.git("pull", "-q", "--ff-only")
    assert "only claimed" in here.ok("status").out
    assert here.person("approve", "--claimed", "--yes").code == 0
    here.ok("feature", "continue")
    there.git("pull", "-q", "--ff-only")
    assert "claimed" not in there.ok("status").out
    there.ok("feature", "continue")
    assert "claimed" not in here.ok("status").out


def test_a_branch_that_was_never_pushed_is_named_once_a_person_decided(tmp_path):
    house = House(tmp_path / "here").publish().up_to(FIRST)
    assert "is not on origin yet" not in house.ok("status").out
    house.approve(FIRST)
    for words in ("status", "doctor"):
        assert f"git push -u origin {BRANCH}" in house.agent(words).out
    house.git("push", "-q", "-u", "origin", BRANCH)
    assert "is not on origin yet" not in house.ok("status").out


def test_a_branch_that_another_clone_pushed_is_asked_for_although_this_one_never_heard_of_it(here, there, tmp_path):
    other = House(tmp_path / "other")
    other.git("remote", "add", "origin", here.git("remote", "get-url", "origin").strip())
    other.up_to(FIRST)
    answer = other.agent("feature", "continue", "--json")
    assert json.loads(answer.out)["error"]["code"] in ("branch_diverged", "journal_forked"), answer
    assert "holdfast approve" not in other.ok("next").out


def test_an_agent_reopens_nothing_that_a_person_elsewhere_approved(here, there):
    waiting(here, FIRST)
    here.approve(FIRST)
    there.git("pull", "-q", "--ff-only")
    assert there.refused("reopen", FIRST, "--feedback", "No")["code"] == "person_needed"


def test_a_review_that_was_written_again_after_it_was_read_is_noticed_before_an_approval(here):
    waiting(here, FIRST)
    path = here.opinion(FIRST, 1, "Passwords are logged.")
    answer = here.person("approve", FIRST, "--yes", "--json")
    assert '"review_changed"' in answer.out, answer
    here.git("restore", "--source=HEAD", "--", path)
    (here.root / path).unlink()
    assert '"review_changed"' in here.person("approve", FIRST, "--yes", "--json").out
    here.git("restore", "--source=HEAD", "--", path)
    here.approve(FIRST)


def test_a_changed_review_that_is_committed_is_brought_back_from_the_commit_that_was_read(here):
    waiting(here, FIRST)
    here.opinion(FIRST, 1, "Passwords are logged.")
    here.git("commit", "-q", "-a", "-m", "x")
    for words in (("next", "--json"), ("feature", "continue", "--json")):
        assert "is not as it was read" in here.agent(*words).out, words
    answer = here.person("approve", FIRST, "--yes", "--json")
    way = json.loads(answer.out[answer.out.index("{") :])["error"]["remedies"][0]["command"]
    assert "--source=HEAD" not in way
    here.git(*way.split()[1:])
    here.approve(FIRST)


def test_a_person_can_reject_where_the_review_was_changed(here):
    waiting(here, FIRST)
    here.opinion(FIRST, 1, "Passwords are logged.")
    here.git("commit", "-q", "-a", "-m", "x")
    assert here.person("reject", FIRST, "--feedback", "No passwords", prompt="Reject", says="y").code == 0
    assert here.phase(FIRST)["status"] == "in_progress"


def test_next_says_first_that_the_remote_has_more(here, there):
    waiting(here, FIRST)
    there.git("fetch", "-q")
    for words in ("next", "status"):
        said = there.ok(words).out
        assert f"git merge --ff-only origin/{BRANCH}" in said
        assert "holdfast approve" not in said
    there.git("merge", "-q", "--ff-only", f"origin/{BRANCH}")
    assert "holdfast approve" in there.ok("next").out


def test_continue_asks_the_remote_first(here, there):
    waiting(here, FIRST)
    error = there.refused("feature", "continue")
    assert (error["code"], error["facts"]["behind"]) == ("branch_behind", len(here.commits()) - 1)
    typed(there, error["remedy"])
    there.ok("feature", "continue")


def test_journals_that_went_different_ways_are_brought_together_by_a_person(here, there):
    waiting(here, FIRST)
    there.make(FIRST, "Something else.\n")
    there.ok("done", FIRST)
    theirs, ours = tip(here), tip(there)
    error = there.refused("feature", "continue", code=5)
    assert error["code"] == "journal_forked"
    assert f"holdfast feature recover {SLUG} --take GIT_OR_HERE" in error["remedy"]
    assert there.refused("feature", "recover", SLUG, code=5)["code"] == "journal_forked"
    assert there.person("feature", "recover", SLUG, "--take", "git").code == 0
    assert there.phases()[0] == "user_review"
    for commit in (theirs, ours):
        there.git("merge-base", "--is-ancestor", commit, "HEAD")
    assert on_remote(there) == tip(there)
    assert there.status() == []
    assert list((there.root / ".holdfast" / "archive").glob("*-here-*.jsonl"))
    here.git("pull", "-q", "--ff-only")
    here.approve(FIRST)


def test_the_journal_here_can_be_the_one_that_holds(here, there):
    waiting(here, FIRST)
    there.make(FIRST, "Something else.\n")
    there.ok("done", FIRST)
    assert there.person("feature", "recover", SLUG, "--take", "here").code == 0
    assert there.phases()[0] == "in_review"
    assert "Something else." in there.read(f"{HOME}/{FIRST}/requirements.md")
    assert on_remote(there) == tip(there)
    led_on(here, "feature", "continue")
    assert here.phases()[0] == "in_review"


def test_code_alone_that_went_different_ways_is_merged_with_git(here, there):
    here.write("src/a.py", "A = 1\n")
    here.git("add", "src")
    here.git("commit", "-q", "-m", "A")
    here.git("push", "-q")
    there.make(FIRST)
    there.ok("done", FIRST)
    error = there.refused("feature", "continue")
    assert error["code"] == "branch_diverged"
    typed(there, error["remedy"])
    there.ok("feature", "continue")
    assert on_remote(there) == tip(there)


def test_in_a_merge_that_conflicts_every_remedy_leads_on(here, there):
    waiting(here, FIRST)
    there.make(FIRST, "Something else.\n")
    there.ok("done", FIRST)
    there.git("fetch", "-q")
    merged = subprocess.run(["git", "-C", str(there.root), "merge", f"origin/{BRANCH}"], capture_output=True)
    assert merged.returncode == 1
    there.ok("status")
    error = there.refused("feature", "continue")
    assert [one["command"] for one in error["remedies"]] == ["git merge --abort", f"holdfast feature recover {SLUG}"]
    led_on(there, "feature", "continue")
    assert there.phases()[0] == "user_review"
    assert there.status() == []


def test_what_is_not_pushed_stays_visible(here):
    waiting(here, FIRST)
    remote = here.root.with_name("remote.git")
    remote.rename(remote.with_name("away.git"))
    said = here.person("approve", FIRST, "--yes")
    assert said.code == 0, said
    assert "cannot be asked, so this continues here" in said.out
    assert "not pushed to origin yet" in here.ok("status").out
    assert "not pushed" in here.ok("status", "--json").json["out_of_sync"]
    findings = here.agent("doctor", "--json").json["findings"]
    assert "branch_not_pushed" in [one["code"] for one in findings]
    remote.with_name("away.git").rename(remote)
    assert f"pushed {BRANCH} to origin" in here.ok("feature", "continue").out
    assert on_remote(here) == tip(here)
    assert "not pushed" not in here.ok("status").out


def test_a_branch_that_nobody_pushed_stays_here(tmp_path):
    house = House(tmp_path / "house").publish().up_to(FIRST)
    house.approve(FIRST)
    house.ok("feature", "continue")
    assert on_remote(house) == ""
    assert "is not on origin yet" in house.ok("status", "--json").json["out_of_sync"]


@pytest.mark.parametrize("seed", [SEEDS[0], *(pytest.param(one, marks=pytest.mark.full) for one in SEEDS[1:])])
def test_two_clones_race_through_every_phase(here, there, seed):
    """Each hands in, reviews, approves and continues when its turn comes, by chance, without a look at the other."""
    chance = random.Random(seed)
    made: set[str] = set()
    phases = PHASES if is_full() else PHASES[:2]
    for phase in phases:
        for _ in range(PATIENCE * 2):
            house = chance.choice((here, there))
            state = house.phase(phase)["status"] if (house.root / HOME).exists() else ""
            if all(one.phase(phase)["status"] == "approved" for one in (here, there)):
                break
            if state == "pending":
                led_on(house, "feature", "continue")
            elif state == "in_progress":
                write_outputs(house.write, HOME, phase, f"{house.root.name} says so.")
                house.person("done", phase)
            elif state == "in_review":
                number = max(house.phase(phase)["iterations"], 1)
                house.opinion(phase, number)
                house.person("review", phase)
            elif state == "user_review":
                led_on(house, "approve", phase, "--yes")
            else:
                led_on(house, "feature", "continue")
            made |= set(house.git("rev-list", "HEAD").split())
        for house in (here, there, here):
            led_on(house, "approve", "--claimed", "--yes")
            if house.phase(phase)["status"] == "user_review":
                led_on(house, "approve", phase, "--yes")
            led_on(house, "feature", "continue")
        assert {one.phase(phase)["status"] for one in (here, there)} == {"approved"}, phase
    for house in (here, there, here):
        led_on(house, "feature", "continue")
    assert tip(here) == tip(there) == on_remote(here)
    assert made <= set(here.git("rev-list", "HEAD").split())
    assert here.read(f"{HOME}/journal.jsonl") == there.read(f"{HOME}/journal.jsonl")
    assert here.phases()[: len(phases)] == there.phases()[: len(phases)] == ["approved"] * len(phases)


def test_a_conflict_in_code_is_named_before_any_work_on_the_feature(tmp_path):
    house = House(tmp_path / "house").up_to(FIRST)
    house.write("app.py", "ONE = 1\n")
    house.git("add", "app.py")
    house.git("commit", "-q", "-m", "One")
    house.git("switch", "-q", "main")
    house.write("app.py", "ONE = 2\n")
    house.git("add", "app.py")
    house.git("commit", "-q", "-m", "Two")
    house.git("switch", "-q", BRANCH)
    subprocess.run(["git", "merge", "-q", "main"], cwd=house.root, capture_output=True)
    said = house.ok("next").out
    assert "git is in the middle of a merge" in said
    assert "git merge --abort" in said
    assert "holdfast approve" not in said
    assert house.refused("approve", FIRST)["code"] in ("git_busy", "person_needed")
