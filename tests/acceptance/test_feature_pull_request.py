"""A feature through its pull request: what people approve and ask for on a GitHub moves the work here."""

from __future__ import annotations

import pytest

from tests.acceptance.feature import (
    BRANCH,
    FIRST,
    HOME,
    PHASES,
    SECOND,
    SLUG,
    TITLE,
    House,
    row,
    timeless,
)
from tests.forges.github.server import GitHub

URL = "https://github.com/octo-org/octo-repo/pull/1"


def pushed(house: House, github: GitHub) -> bool:
    return house.git("rev-parse", "HEAD").strip() == github.tip(BRANCH)


def test_the_pull_request_is_opened_when_the_first_phase_passed_its_review(house, github):
    house.up_to(FIRST, "in_progress")
    house.ok("feature", "continue")
    assert (github.opened, github.tip(BRANCH)) == ([], "")
    house.make(FIRST)
    house.reviewed(FIRST, 1)
    assert URL in house.ok("feature", "continue").out
    (one,) = github.opened
    assert (one.title, one.base, one.head, one.url) == (f"[Feature] {TITLE}", "main", BRANCH, URL)
    assert all(phase in one.body for phase in PHASES)
    assert (house.state()["pr_url"], house.state()["pr_number"]) == (URL, 1)
    assert house.state()["last_reviewed_at"] is None
    assert house.subjects()[-1] == f"[workflow] {FIRST}: Open pull request 1"
    assert house.trailers()["Pull-Request"] == URL
    assert pushed(house, github)
    assert "nobody has approved" in house.ok("feature", "continue").out
    assert len(github.opened) == 1


def test_an_approval_lets_the_phase_pass_and_begins_the_next(talk, house, github):
    talk.approves("Good")
    assert "mona" in house.ok("feature", "continue").out
    assert timeless(house.phase(FIRST)) == row("approved", 1)
    assert timeless(house.phase(SECOND)) == row("in_progress")
    assert house.state()["last_reviewed_at"] == talk.now
    assert house.trailers()["Last-Reviewed-At"] == talk.now
    assert house.status_of(FIRST)["history"][-1]["result"] == "APPROVED"
    assert pushed(house, github)
    house.make(SECOND)
    house.reviewed(SECOND, 1)
    assert "nobody has approved" in house.ok("feature", "continue").out
    assert house.phases()[:2] == ["approved", "user_review"]


def test_every_phase_is_approved_in_turn_and_the_feature_completed(talk, house, github):
    talk.approves_every_phase()
    assert house.state()["status"] == "completed"
    assert pushed(house, github)
    assert len(github.opened) == 1
    tip = github.tip(BRANCH)
    house.git("commit", "-q", "--allow-empty", "-m", "more")
    house.git("remote", "set-head", "origin", BRANCH)  # now it is the one that pull requests go into
    refused = house.agent("feature", "continue", "--json")
    assert (refused.code, refused.error["code"], github.tip(BRANCH)) == (3, "no_base", tip)
    house.git("remote", "set-head", "origin", "main")
    house.ok("feature", "finalize")
    assert house.trailers()["Workflow-Status"] == "finalized"


def test_an_approval_of_an_older_commit_does_not_count(talk, house, github):
    older = github.tip(BRANCH)
    talk.asks("Numbers, please")
    house.ok("feature", "continue")
    house.make(FIRST, "Three doors.\n")
    house.reviewed(FIRST, 1)
    talk.approves(commit=older)
    answer = house.ok("feature", "continue")
    assert "another commit" in answer.out
    assert house.phase(FIRST)["status"] == "user_review"
    talk.approves()
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "approved"


def test_an_approval_is_not_of_code_that_came_after_it(talk, house, github):
    talk.approves()
    house.write("evil.py", "print('later')\n")
    house.git("add", "evil.py")
    house.git("commit", "-q", "-m", "later")
    answer = house.ok("feature", "continue")
    assert "another commit" in answer.out
    assert house.phase(FIRST)["status"] == "user_review"


def test_the_pull_request_of_another_repository_is_not_believed(talk, house):
    talk.approves()
    url = house.git("config", "remote.origin.url").strip()
    house.git("remote", "set-url", "origin", url.replace("octo-org", "evil"))
    answer = house.agent("feature", "continue", "--json")
    assert answer.code != 0
    assert house.phase(FIRST)["status"] == "user_review"


def test_a_request_for_changes_starts_the_rounds_of_the_phase_anew(talk, house, github):
    talk.asks("Numbers, please")
    house.ok("feature", "continue")
    assert timeless(house.phase(FIRST)) == row("in_progress")
    assert "Numbers, please" in house.status_of(FIRST)["current_feedback"]
    assert "@mona" in house.status_of(FIRST)["current_feedback"]
    assert house.state()["last_reviewed_at"] == talk.now
    assert not (house.root / HOME / FIRST / "reviews" / "review-1.md").exists()
    assert list((house.root / HOME / FIRST / "reviews").glob("archived-*/review-1.md"))
    assert house.subjects()[-1] == f"[workflow] {FIRST}: A person asks for changes"
    assert pushed(house, github)
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "in_progress"


def test_an_approval_is_not_taken_for_files_that_changed_here_since(talk, house):
    talk.approves()
    house.write(f"{HOME}/{FIRST}/requirements.md", "Quite another thing\n")
    answer = house.ok("feature", "continue")
    assert f"{FIRST} is handed in again, for another review" in answer.out
    assert house.phase(FIRST)["status"] == "in_review"
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "in_review"


def test_a_person_may_approve_at_the_terminal_what_waits_on_the_pull_request(talk, house):
    house.approve(FIRST)
    house.ok("feature", "continue")
    assert house.phases()[:2] == ["approved", "in_progress"]
    house.make(SECOND)
    house.reviewed(SECOND, 1)
    house.ok("feature", "continue")
    talk.approves()
    house.ok("feature", "continue")
    assert house.phase(SECOND)["status"] == "approved"


def test_a_pull_request_that_was_closed_stops_the_work_until_it_is_open_again(talk, house, github):
    github.opened[0].state = "CLOSED"
    talk.approves()
    error = house.refused("feature", "continue")
    assert error["code"] == "pull_request_closed"
    assert house.phase(FIRST)["status"] == "user_review"
    github.opened[0].state = "OPEN"
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == "approved"


def test_a_feature_without_pull_requests_by_its_configuration_asks_no_github(house, github):
    house.write(".holdfast/config.toml", '[feature]\npull_request = "never"\n')
    house.up_to(FIRST)
    assert "holdfast approve" in house.ok("feature", "continue").out
    assert (github.operations, github.tip(BRANCH)) == ([], "")


@pytest.mark.parametrize("role", ["reviewer", "requirements-creator"])
def test_a_read_only_role_opens_no_pull_request(house, github, role):
    house.up_to(FIRST)
    assert house.refused("feature", "continue", "--as", role)["code"] == "read_only_role"
    assert (github.opened, github.tip(BRANCH)) == ([], "")


@pytest.mark.parametrize("role", ["reviewer", "requirements-creator"])
def test_a_read_only_role_takes_no_ones_approval_over(talk, house, role):
    talk.approves()
    assert house.refused("feature", "continue", "--as", role)["code"] == "read_only_role"
    assert house.phase(FIRST)["status"] == "user_review"


@pytest.mark.parametrize("says", ["approves", "asks"])
def test_what_people_say_is_not_done_while_another_branch_is_checked_out(talk, house, github, says):
    getattr(talk, says)("Hm")
    tip = github.tip(BRANCH)
    house.git("switch", "-q", "main")
    answer = house.agent("feature", "continue", SLUG)
    assert BRANCH in answer.out + answer.err, answer
    assert house.status() == []
    assert github.tip(BRANCH) == tip
    house.git("switch", "-q", BRANCH)
    assert house.phase(FIRST)["status"] == "user_review"
    house.ok("feature", "continue")
    assert house.phase(FIRST)["status"] == ("approved" if says == "approves" else "in_progress")


def test_the_longest_title_is_cut_for_the_pull_request(house, github):
    project = house.project()
    workflow = project.start("feature", "Sign " * 100, context={"slug": SLUG})
    house.make(FIRST)
    workflow.done(FIRST)
    house.opinion(FIRST, 1)
    workflow.review(FIRST)
    house.ok("feature", "continue")
    (one,) = github.opened
    assert one.title.startswith("[Feature] Sign Sign")
    assert len(one.title) <= 256
