"""A feature that was merged before its last approval and finalized on its branch: the base needs that branch again."""

from __future__ import annotations

import pytest

from tests.acceptance.feature import BRANCH, DOCS, HOME, SLUG, House

MERGES = (("merge", "-q", "--no-ff", "--no-edit", BRANCH), ("merge", "-q", "--squash", BRANCH))


@pytest.fixture(params=MERGES, ids=["merge", "squash"])
def house(request, tmp_path) -> House:
    house = House(tmp_path / "here").publish().up_to(DOCS)
    house.git("push", "-q", "-u", "origin", BRANCH)
    house.git("switch", "-q", "main")
    house.git(*request.param)
    if "--squash" in request.param:
        house.git("commit", "-q", "-m", "Sign in by key")
    house.git("push", "-q", "origin", "main")
    house.git("switch", "-q", BRANCH)
    house.approve(DOCS)
    house.ok("feature", "finalize")
    house.git("switch", "-q", "main")
    return house


def test_the_base_is_told_to_merge_the_end_and_then_has_it(house):
    for words in (("status",), ("next",), ("list",)):
        answer = house.agent(*words)
        said = answer.out + answer.err
        assert f"{BRANCH} is to be merged into main again" in said, words
        assert f"git merge {BRANCH}" in said, words
    refusal = house.refused("feature", "finalize", code=5)
    assert refusal["code"] == "end_not_merged"
    assert refusal["remedy"].startswith(f"git merge {BRANCH}")
    house.git("merge", "-q", "--no-edit", BRANCH)
    if (house.root / HOME).exists():  # after a squash, git has no way to know that the branch deleted it
        refusal = house.refused("feature", "finalize", code=5)
        assert refusal["remedy"].startswith(f"git rm -r -q -- :/{HOME}")
        house.git("rm", "-r", "-q", "--", HOME)
        house.git("commit", "-q", "-m", "Delete the workspace")
    assert SLUG in house.read("docs/features.md")
    assert "merged" not in house.ok("feature", "finalize").out
    assert "merged" not in house.ok("list").out


def test_a_new_clone_of_the_base_is_sent_to_the_branch_by_every_answer(house, tmp_path):
    there = house.clone(tmp_path / "there")
    for words in (("next", "-w", SLUG), ("feature", "finalize", SLUG)):
        answer = there.agent(*words)
        assert f"git switch {BRANCH}" in answer.out + answer.err, words
    assert there.refused("feature", "finalize", SLUG)["code"] == "branch_mismatch"
    there.git("switch", "-q", BRANCH)
    assert not (there.root / HOME).exists()


def test_a_branch_that_was_deleted_after_the_end_is_not_pushed_again(tmp_path):
    ends = House(tmp_path / "here").publish().completed()
    ends.git("push", "-q", "-u", "origin", BRANCH)
    other = ends.clone(tmp_path / "other")
    other.git("switch", "-q", BRANCH)
    other.ok("status")
    ends.git("switch", "-q", "main")
    ends.git("merge", "-q", "--squash", BRANCH)
    ends.git("commit", "-q", "-m", "Sign in by key")
    ends.git("push", "-q", "origin", "main", f":{BRANCH}")
    ends.ok("feature", "finalize")
    other.git("switch", "-q", "main")
    other.git("pull", "-q", "--prune", "--ff-only")
    for words in (("status",), ("list",)):
        answer = other.agent(*words)
        assert "not pushed" not in answer.out + answer.err, words
    assert "pushed" not in other.ok("feature", "finalize", SLUG).out
    assert other.git("ls-remote", "origin", BRANCH) == ""
