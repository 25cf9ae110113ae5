"""The end of a feature reaches the remote: before the merge, after it, and where the base branch is protected."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.feature import BRANCH, DOCS, HOME, PHASES, SLUG, House

PROTECTED = """#!/bin/sh
while read old new ref; do
    [ "$ref" = refs/heads/main ] && echo "GH006: Protected branch update failed" >&2 && exit 1
done
exit 0
"""


@pytest.fixture
def house(tmp_path) -> House:
    """A completed feature, pushed."""
    house = House(tmp_path / "house").publish().completed()
    house.git("push", "-q", "-u", "origin", BRANCH)
    return house


def remote(house: House, branch: str) -> str:
    return house.git("ls-remote", "origin", f"refs/heads/{branch}").split("\t")[0]


def protect(house: House) -> None:
    hook = house.root.with_name("remote.git") / "hooks" / "pre-receive"
    hook.write_text(PROTECTED)
    hook.chmod(0o755)


def merge(house: House, *how: str, delete: bool = True) -> None:
    """Somebody merges the pull request, and the branch goes."""
    house.git("switch", "-q", "main")
    house.git("merge", "-q", *how, BRANCH)
    if "--squash" in how:
        house.git("commit", "-q", "-m", "Sign in by key (#7)")
    house.git("push", "-q", "origin", "main")
    if delete:
        house.git("branch", "-q", "-D", BRANCH)
        house.git("push", "-q", "origin", "--delete", BRANCH)


def is_ended(house: House, branch: str) -> None:
    assert not (house.root / HOME).exists()
    assert "What 01-requirements says." in house.git("show", f"{branch}:docs/requirements.md")
    assert HOME not in house.git("ls-tree", "-r", "--name-only", branch)
    assert "is finalized" in house.ok("feature", "finalize", SLUG).out


def test_before_the_merge_it_is_pushed_and_said(house):
    said = house.ok("feature", "finalize").out
    assert f"pushed {BRANCH} to origin" in said
    assert remote(house, BRANCH) == house.git("rev-parse", "HEAD").strip()
    is_ended(house, BRANCH)


@pytest.mark.parametrize("how", [("--no-ff", "-m", "Merge"), ("--ff-only",), ("--squash",)])
@pytest.mark.parametrize("delete", [True, False])
def test_after_the_merge_it_ends_on_the_base(house, how, delete):
    merge(house, *how, delete=delete)
    said = house.ok("feature", "finalize", SLUG).out
    assert "pushed main to origin" in said
    assert remote(house, "main") == house.git("rev-parse", "main").strip()
    is_ended(house, "main")


def test_after_the_merge_another_clone_can_end_it(house, tmp_path):
    merge(house, "--no-ff", "-m", "Merge")
    other = house.clone(tmp_path / "other")
    assert other.refused("feature", "finalize", SLUG)["code"] == "gate_unmet"  # only a person takes claims over
    assert other.person("feature", "finalize", SLUG, "--yes").code == 0
    is_ended(other, "main")
    house.git("pull", "-q", "--ff-only", "origin", "main")
    assert house.agent("status", "--json").code != 0 or not house.ok("list", "--json").json["workflows"]


def follow(house: House, error: dict[str, Any]) -> None:
    """Types the remedies of a refusal, one after the other."""
    for one in error["remedies"]:
        words = shlex.split(one["command"])
        house.git(*words[1:]) if words[0] == "git" else house.ok(*words[1:])


WAYS = [("--no-ff", "-m", "Merge"), ("--squash",)]


def merged_by_another(house: House, root: Path, *how: str) -> House:
    """Somebody merges the pull request in a clone, or at the forge, and this clone stays on the branch."""
    other = house.clone(root)
    other.git("merge", "-q", *how, f"origin/{BRANCH}")
    if "--squash" in how:
        other.git("commit", "-q", "-m", "Sign in by key (#7)")
    other.git("push", "-q", "origin", "main")
    return other


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("words", [("feature", "finalize"), ("feature", "continue")])
def test_on_its_branch_after_the_merge_it_says_where_to_go(house, tmp_path, how, words):
    merged_by_another(house, tmp_path / "other", *how)
    before = remote(house, BRANCH)
    error = house.refused(*words)
    assert error["code"] == "already_merged"
    follow(house, error)
    is_ended(house, "main")
    assert remote(house, BRANCH) == before


def test_next_leads_to_the_base_once_it_is_known_to_have_the_feature(house, tmp_path):
    merged_by_another(house, tmp_path / "other", "--squash")
    house.git("fetch", "-q")
    told = house.ok("next", "--json").json
    assert told["blockers"][0]["remedies"][0]["command"] == "git switch main", told
    assert "git switch main" in house.ok("status").out


@pytest.mark.parametrize("how", WAYS)
def test_a_clone_with_claims_ends_it_on_the_base_too(house, tmp_path, how):
    other = house.clone(tmp_path / "second")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    merged_by_another(house, tmp_path / "other", *how)
    answer = other.person("approve", "--claimed", "--yes", "--json")
    assert '"already_merged"' in answer.out, answer
    assert other.status() == []
    error = json.loads(answer.out[answer.out.find("{") :])["error"]
    for one in error["remedies"]:
        words = shlex.split(one["command"])
        if words[0] == "git":
            other.git(*words[1:])
    assert other.person("approve", "--claimed", "--yes").code == 0
    other.ok("feature", "finalize")
    is_ended(other, "main")


def test_what_ended_beside_the_base_is_named_there_and_can_end_there_again(house, tmp_path):
    """The merge was not known when the docs were published: the base has the workspace and not the docs."""
    other = merged_by_another(house, tmp_path / "other", "--squash")
    there = house.root.with_name("remote.git")
    there.rename(there.with_name("away.git"))
    house.ok("feature", "finalize")
    there.with_name("away.git").rename(there)
    house.git("switch", "-q", "main")
    house.git("pull", "-q", "--ff-only", "origin", "main")
    assert (house.root / HOME).exists()
    for words in (("list",), ("doctor",)):
        said = house.agent(*words).out
        assert f"holdfast feature finalize {SLUG}" in said, said
    assert "pushed main to origin" in house.ok("feature", "finalize", SLUG).out
    is_ended(house, "main")
    assert HOME not in house.agent("doctor").out
    other.git("pull", "-q", "--ff-only")
    assert not (other.root / HOME).exists()
    assert "What 01-requirements says." in other.read("docs/requirements.md")


def test_on_the_base_without_a_merge_it_says_what_to_do(house):
    house.git("switch", "-q", "main")
    error = house.refused("feature", "finalize", SLUG)
    assert error["code"] == "not_merged"
    assert error["remedies"][0]["command"] == f"git switch {BRANCH}"
    assert error["remedy"] == f"git switch {BRANCH} · or git merge {BRANCH}"
    assert "cancel" not in str(error)
    house.git("merge", "-q", BRANCH)
    house.ok("feature", "finalize", SLUG)
    is_ended(house, "main")


# A second worktree


def typed_anywhere(house: House, error: dict[str, Any]) -> None:
    """Types what is advised, in whichever worktree."""
    for one in error["remedies"]:
        words = shlex.split(one["command"])
        house.git(*words[1:]) if words[0] == "git" else house.ok(*words[1:])


@pytest.mark.parametrize("typed_in", ["feature", "base"])
def test_where_another_worktree_has_the_base_the_feature_ends_as_advised(house, tmp_path, typed_in):
    house.git("worktree", "add", "-q", str(tmp_path / "fw"), "main")
    linked = house.at(tmp_path / "fw")
    linked.git("merge", "-q", "--no-ff", "-m", "Merge", BRANCH)
    linked.git("push", "-q", "origin", "main")
    there = {"feature": house, "base": linked}[typed_in]
    assert "no workflow" not in there.ok("next").out
    error = there.refused("feature", "finalize", SLUG)
    assert error["code"] == "already_merged"
    assert there.ok("next", "--json").json["blockers"][0]["remedies"] == error["remedies"]
    typed_anywhere(there, error)
    is_ended(house, "main")


@pytest.mark.parametrize("typed_in", ["base", "feature"])
def test_where_another_worktree_has_the_branch_the_feature_ends_as_advised(house, tmp_path, typed_in):
    house.git("switch", "-q", "main")
    house.git("worktree", "add", "-q", str(tmp_path / "fw"), BRANCH)
    there = {"base": house, "feature": house.at(tmp_path / "fw")}[typed_in]
    error = there.refused("feature", "finalize", SLUG)
    assert f"git -C {tmp_path / 'fw'} switch --detach" in error["remedy"]
    first = error["remedies"][:2]
    typed_anywhere(there, {"remedies": first})
    there.ok("feature", "finalize", SLUG)
    is_ended(house, BRANCH)


# The base of the remote moved on


def test_a_base_that_others_pushed_to_is_merged_and_tested_before_the_end(house, tmp_path):
    merge(house, "--no-ff", "-m", "Merge", delete=False)
    other = house.clone(tmp_path / "other")
    other.write("Makefile", "test:\n\t@echo other\n")
    other.git("commit", "-q", "-am", "Others")
    other.git("push", "-q", "origin", "main")
    before = house.git("rev-parse", "HEAD")
    error = house.refused("feature", "finalize", SLUG)
    assert error["code"] == "branch_behind"
    assert error["remedies"][0]["command"] == "git merge --ff-only origin/main"
    assert (house.git("rev-parse", "HEAD"), house.status()) == (before, [])
    house.git(*shlex.split(error["remedies"][0]["command"])[1:])
    assert "passed before the work changed" in house.refused("feature", "finalize", SLUG)["message"]
    house.ok("check", "test", "--step", "04-testing", "-w", SLUG)
    assert "pushed main to origin" in house.ok("feature", "finalize", SLUG).out
    is_ended(house, "main")


def test_an_end_that_others_were_faster_than_names_the_merge_everywhere(house, tmp_path):
    merge(house, "--no-ff", "-m", "Merge")
    there = house.root.with_name("remote.git")
    there.rename(there.with_name("away.git"))
    house.ok("feature", "finalize", SLUG)
    there.with_name("away.git").rename(there)
    other = house.clone(tmp_path / "other")
    other.write("other.txt", "Of others\n")
    other.git("add", ".")
    other.git("commit", "-q", "-m", "Others")
    other.git("push", "-q", "origin", "main")
    assert "git merge --no-edit origin/main" in house.ok("feature", "finalize", SLUG).out
    for words in (("status",), ("list",), ("doctor",)):
        answer = house.agent(*words)
        assert "git merge --no-edit origin/main" in answer.out + answer.err, (words, answer)
    house.git("merge", "-q", "--no-edit", "origin/main")
    assert "pushed main to origin" in house.ok("feature", "finalize", SLUG).out
    assert "not pushed" not in house.agent("doctor").out


def test_a_protected_base_gets_a_branch_to_be_merged(house):
    merge(house, "--no-ff", "-m", "Merge")
    protect(house)
    before = remote(house, "main")
    said = house.ok("feature", "finalize", SLUG).out
    assert "⚠ origin does not take a push to main" in said
    assert f"pushed finalize/{SLUG} to origin" in said
    assert remote(house, f"finalize/{SLUG}") == house.git("rev-parse", "main").strip()
    assert remote(house, "main") == before
    for words in (("status",), ("list",), ("doctor",)):
        answer = house.agent(*words)
        assert f"finalize/{SLUG} is to be merged there" in answer.out + answer.err, words
    house.git("push", "-q", "origin", "--delete", f"finalize/{SLUG}")
    (house.root.with_name("remote.git") / "hooks" / "pre-receive").unlink()
    house.git("push", "-q", "origin", "main")
    house.git("fetch", "-q", "origin")
    assert "is to be merged" not in house.agent("status").out


def test_a_base_that_a_request_brought_up_to_date_is_taken_as_it_is(house, tmp_path):
    merge(house, "--no-ff", "-m", "Merge")
    protect(house)
    said = house.ok("feature", "finalize", SLUG).out
    other = house.clone(tmp_path / "other")
    (house.root.with_name("remote.git") / "hooks" / "pre-receive").unlink()
    other.git("merge", "-q", "--squash", f"origin/finalize/{SLUG}")
    other.git("commit", "-q", "-m", "Finalize (#8)")
    other.git("push", "-q", "origin", "main", f":finalize/{SLUG}")
    advised = re.search(r"once it is merged, (.*) brings main here up to date", said)
    assert advised is not None, said
    house.git("fetch", "-q", "--prune")
    assert "not pushed" not in house.ok("list").out
    for command in advised[1].split(" && "):
        house.git(*shlex.split(command)[1:])
    assert house.git("rev-parse", "main") == house.git("rev-parse", "origin/main")
    assert house.status() == []
    is_ended(house, "main")


def test_a_remote_that_does_not_answer_is_said_and_asked_again(house):
    there = house.root.with_name("remote.git")
    there.rename(there.with_name("away.git"))
    said = house.ok("feature", "finalize").out
    assert f"⚠ {BRANCH} is not pushed to origin" in said
    assert "⚠ origin cannot be asked" in said
    for words in (("status",), ("list",), ("doctor",)):
        answer = house.agent(*words)
        assert f"holdfast feature finalize {SLUG}" in answer.out + answer.err, (words, answer)
    there.with_name("away.git").rename(there)
    assert f"pushed {BRANCH} to origin" in house.ok("feature", "finalize", SLUG).out
    assert remote(house, BRANCH) == house.git("rev-parse", "HEAD").strip()
    assert "not pushed" not in house.agent("doctor").out


def test_without_a_remote_nothing_is_pushed_and_said(tmp_path):
    house = House(tmp_path / "house").completed()
    assert "nothing is pushed: this repository has no remote" in house.ok("feature", "finalize").out


def test_what_is_completed_and_not_finalized_is_shown_beside_other_work(house):
    house.git("switch", "-q", "main")
    house.ok("start", "feature", "Open windows")
    for words in (("status",), ("list",)):
        said = house.ok(*words).out
        assert SLUG in said, words
        assert f"holdfast feature finalize {SLUG}" in said, words
    assert [one["workflow_id"] for one in house.ok("status", "--json").json["to_finalize"]] == [SLUG]
    assert SLUG in [one["workflow_id"] for one in house.ok("list", "--json").json["workflows"]]


def test_in_a_merge_nothing_ends_and_nothing_is_written(house):
    house.git("switch", "-q", "main")
    house.write("other.txt", "Of others\n")
    house.git("add", "other.txt")
    house.git("commit", "-q", "-m", "Of others")
    house.git("switch", "-q", BRANCH)
    house.git("merge", "-q", "--no-commit", "--no-ff", "main")
    before = house.git("status", "--porcelain")
    assert house.refused("feature", "finalize")["code"] == "git_busy"
    assert house.git("status", "--porcelain") == before
    assert not house.workflow().state.finalized


def test_what_is_not_completed_is_not_advised_to_be_merged(tmp_path):
    house = House(tmp_path / "house").publish().up_to(PHASES[1], "in_progress")
    house.git("add", ".")
    house.git("stash", "-q")
    house.git("switch", "-q", "main")
    refused = house.refused("feature", "finalize", SLUG)
    assert "git merge" not in str(refused)


def test_after_a_merge_of_a_broken_base_the_tests_pass_again_before_the_end(house):
    house.on_main("Makefile", "test:\n\t@false\n")
    refused = house.refused("feature", "finalize")
    assert "passed before the work changed" in refused["message"]
    way = refused["remedies"][0]["command"]
    assert way == "holdfast check test --step 04-testing"
    assert way in house.ok("next", "-w", SLUG).out
    for words in (way.split()[1:], ("next", "-w", SLUG), ("feature", "finalize")):
        answer = house.agent(*words)
        said = " ".join((answer.out + answer.err).split())
        assert "failed" in said, (words, answer)
        assert f"fix it, commit it, then: {way}" in said, (words, answer)
    house.on_main("Makefile", "test:\n\t@true\n")
    house.ok(*way.split()[1:])
    house.ok("feature", "finalize")


def test_no_feature_is_completed_on_code_that_was_not_tested(tmp_path):
    house = House(tmp_path / "house").publish().up_to(DOCS)
    house.on_main("Makefile", "test:\n\t@echo merged\n")
    answer = house.person("approve", DOCS, "--yes", "--json")
    assert (answer.code, answer.error["code"]) == (3, "gate_unmet")
    assert answer.error["remedies"][0]["command"] == "holdfast check test --step 04-testing"
    house.ok("check", "test", "--step", "04-testing")
    house.approve(DOCS)
    assert house.state()["status"] == "completed"


@pytest.mark.parametrize("how", WAYS)
def test_on_the_branch_that_it_ended_on_it_says_that_a_merge_is_due(house, tmp_path, how):
    house.ok("feature", "finalize")
    said = f"{SLUG} is finalized, and {BRANCH} is still to be merged into main"
    for words in (("next",), ("status",)):
        answer = house.agent(*words)
        assert said in " ".join((answer.out + answer.err).split()), (words, answer)
    merged_by_another(house, tmp_path / "other", *how)
    house.git("fetch", "-q")
    for words in (("next",), ("status",)):
        answer = house.agent(*words)
        assert "to be merged" not in answer.out + answer.err, (words, answer)


def test_what_is_not_completed_is_told_which_phase_is_due(house):
    assert house.person("feature", "reset", SLUG, PHASES[1], "--yes").code == 0
    error = house.refused("feature", "finalize")
    assert error["code"] == "not_completed"
    assert error["message"].endswith(f": {PHASES[1]} is not done")
    assert [one["command"] for one in error["remedies"]] == ["holdfast next"]


@pytest.mark.parametrize("how", [("--no-ff", "-m", "Merge"), ("--ff-only",)])
def test_a_merge_before_the_last_approval_leaves_the_approvals_valid(tmp_path, how):
    house = House(tmp_path / "house").publish().up_to(DOCS)
    house.git("push", "-q", "-u", "origin", BRANCH)
    house.git("switch", "-q", "main")
    house.git("merge", "-q", *how, BRANCH)
    house.git("push", "-q", "origin", "main")
    house.git("switch", "-q", BRANCH)
    house.git("commit", "-q", "--allow-empty", "-m", "Later")
    assert "no longer holds" not in house.ok("status").out
    house.approve(DOCS)
    assert house.state()["status"] == "completed"
