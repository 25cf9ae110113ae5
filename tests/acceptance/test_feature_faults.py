"""A GitHub that says no, says nothing or breaks off: nothing is lost, and the same command continues where it was."""

from __future__ import annotations

import pytest

from tests.acceptance.feature import BRANCH, FIRST, House, Talk, hosted
from tests.forges.loopback import Fault

PASSES = Fault(passes=True)
HUNG_UP = Fault(hangs_up=True)


@pytest.fixture
def house(tmp_path, github):
    return hosted(House(tmp_path / "house"), github).up_to(FIRST)


@pytest.fixture
def talk(house, github):
    house.ok("feature", "continue")
    return Talk(github, house)


LIMIT = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1893456000"}
FAULTS = [
    ([Fault(401, {"message": "Bad credentials"})], 3, "forge_unauthorized"),
    ([Fault(404, {"message": "Not Found"})], 4, "forge_not_found"),
    ([Fault(403, {"message": "API rate limit exceeded"}, LIMIT)], 3, "forge_rate_limited"),
    ([Fault(429, {"message": "You have exceeded a secondary rate limit"}, {"retry-after": "60"})], 3,
     "forge_rate_limited"),
    ([Fault(503, {"message": "Unavailable"})] * 3, 1, "forge_down"),
    ([HUNG_UP], 1, "forge_unreachable"),
    ([Fault(raw=b"<html>Sign in to the hotel</html>")], 1, "forge_odd_answer"),
]  # fmt: skip


def failed(house: House, code: str) -> dict:
    """What an agent is told when a command stopped at a GitHub."""
    answer = house.agent("feature", "continue", "--json")
    assert answer.code != 0, answer
    assert answer.error["code"] == code
    assert answer.error["remedy"]
    return answer.error


@pytest.mark.parametrize(
    ("faults", "exit_code", "code"), FAULTS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_look_that_fails_says_why_and_moves_nothing(talk, house, github, faults, exit_code, code):
    talk.approves()
    before, at = house.state(), house.git("rev-parse", "HEAD")
    github.faults += faults
    answer = house.agent("feature", "continue", "--json")
    assert (answer.code, answer.error["code"]) == (exit_code, code), answer
    assert answer.error["remedy"]
    assert (house.state(), house.git("rev-parse", "HEAD"), house.status()) == (before, at, [])
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "approved"


@pytest.mark.parametrize("before", range(4))
def test_an_answer_that_fails_in_the_middle_of_the_looks_moves_nothing(talk, house, github, before):
    """Of the pull request, its reviews, its comments or its threads."""
    talk.asks("Numbers")
    github.faults += [PASSES] * before + [HUNG_UP]
    failed(house, "forge_unreachable")
    assert house.phase(FIRST)["status"] == "user_review"
    assert house.state()["last_reviewed_at"] is None
    house.ok("feature", "continue")
    assert "Numbers" in house.status_of(FIRST)["current_feedback"]


def test_a_pull_request_whose_answer_is_lost_is_found_again_by_the_same_command(house, github):
    github.faults += [PASSES, PASSES, Fault(happens=True, hangs_up=True)]
    house.ok("feature", "continue")
    assert len(github.opened) == 1
    assert house.state()["pr_number"] == 1


def test_a_network_that_is_lost_while_the_pull_request_is_opened_leaves_no_second_one(house, github):
    github.faults += [PASSES, PASSES, Fault(happens=True, hangs_up=True), HUNG_UP]
    failed(house, "forge_unreachable")
    assert (house.state()["pr_number"], house.phase(FIRST)["status"]) == (None, "user_review")
    house.ok("feature", "continue")
    assert (len(github.opened), house.state()["pr_number"]) == (1, 1)
    assert house.subjects().count(f"[workflow] {FIRST}: Open pull request 1") == 1


def test_a_login_that_may_not_open_one_is_told_so(house, github):
    github.faults += [PASSES, PASSES, Fault(403, {"message": "Resource not accessible by personal access token"})]
    failed(house, "forge_forbidden")
    assert github.opened == []
    house.ok("feature", "continue")
    assert len(github.opened) == 1


def test_a_push_that_is_refused_says_so_and_opens_nothing(house, github):
    hook = github.bare / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho no entry\nexit 1\n")
    hook.chmod(0o755)
    error = house.refused("feature", "continue")
    assert error["code"] == "push_failed"
    assert github.opened == []
    hook.unlink()
    house.ok("feature", "continue")
    assert len(github.opened) == 1


def test_a_branch_that_somebody_else_pushed_to_is_not_overwritten(talk, house, github):
    """They did so since this clone last heard of it."""
    theirs = house.git("commit-tree", "-p", "main", "-m", "Theirs", "main^{tree}").strip()
    house.git("push", "-q", "-f", str(github.bare), f"{theirs}:refs/heads/{BRANCH}")
    house.write("src/more.py", "")
    house.git("add", "src/more.py")
    house.git("commit", "-q", "-m", "More")
    assert house.refused("feature", "continue")["code"] == "branch_diverged"
    assert github.tip(BRANCH) == theirs
    assert house.phase(FIRST)["status"] == "user_review"


def test_without_a_login_people_decide_at_their_terminals(house, github):
    del house.env["GH_TOKEN"]
    answer = house.ok("feature", "continue")
    assert "holdfast approve" in answer.out
    assert "GH_TOKEN" in answer.out
    assert github.operations == []
    house.approve(FIRST)
    assert house.phase(FIRST)["status"] == "approved"


def test_a_login_that_is_gone_after_the_pull_request_was_opened_is_an_error(talk, house):
    del house.env["GH_TOKEN"]
    assert house.refused("feature", "continue")["code"] == "forge_no_login"


def test_a_token_is_nowhere_in_what_is_kept_or_said(talk, house, github):
    talk.approves(f"The token is {github.token}")
    said = house.ok("feature", "continue")
    assert github.token not in said.out + said.err
    assert github.token not in house.git("log", "-p", "main..HEAD")
