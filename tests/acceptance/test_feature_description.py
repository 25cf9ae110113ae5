"""What the pull request of a feature says of itself: kept up to date, and never over the words of people."""

from __future__ import annotations

from tests.acceptance.feature import BRANCH, FIRST, HOME, SECOND, SLUG, TITLE
from tests.forges.loopback import Fault

FILE = f"{HOME}/{FIRST}/requirements.md"


def boxes(body: str) -> list[str]:
    return [line[3] for line in body.splitlines() if line.startswith("- [")]


def standing(body: str, phase: str) -> str:
    (line,) = (line for line in body.splitlines() if line.startswith(("- [ ] ", "- [x] ")) and phase in line)
    return line.rpartition("(")[2].rstrip(")")


def test_the_checklist_follows_the_phases(talk, house, github):
    (one,) = github.opened
    assert boxes(one.body) == [" "] * 5
    assert standing(one.body, FIRST) == "waits for a person"
    assert f"- `{FILE}`" in one.body
    talk.asks("Numbers, please")
    house.ok("feature", "continue")
    assert standing(one.body, FIRST) == "in progress"
    assert f"- `{FILE}`" not in one.body
    house.make(FIRST, "Three doors.\n")
    house.reviewed(FIRST, 1)
    house.ok("feature", "continue")
    assert standing(one.body, FIRST) == "waits for a person"
    talk.approves()
    house.ok("feature", "continue")
    assert (boxes(one.body), standing(one.body, SECOND)) == (["x", " ", " ", " ", " "], "in progress")


def test_a_decision_at_the_terminal_is_on_the_pull_request_at_once(talk, house, github):
    house.approve(FIRST)
    assert boxes(github.opened[0].body) == ["x", " ", " ", " ", " "]


def test_at_the_end_it_says_so(talk, house, github):
    talk.approves_every_phase()
    (one,) = github.opened
    assert boxes(one.body) == ["x"] * 5
    assert "For reviewers" in one.body
    house.ok("feature", "finalize")
    assert "The feature is finalized" in one.body
    assert "For reviewers" not in one.body


def test_what_people_write_around_it_stays(talk, house, github):
    (one,) = github.opened
    one.body = f"Please look at {{this}} \\1 first.\r\n\r\n{one.body}\r\nThank you".replace("\n", "\r\n")
    house.approve(FIRST)
    assert one.body.startswith("Please look at {this} \\1 first.")
    assert one.body.endswith("Thank you")
    assert boxes(one.body) == ["x", " ", " ", " ", " "]


def test_where_people_removed_it_nothing_is_written(talk, house, github):
    (one,) = github.opened
    one.body = "My own words"
    house.approve(FIRST)
    house.ok("feature", "continue")
    assert one.body == "My own words"


def test_a_pull_request_that_a_person_opened_keeps_its_words_and_gets_the_checklist(house, github):
    house.up_to(FIRST)
    house.git("push", "-q", "-u", "origin", BRANCH)
    made = github.open(BRANCH, "By hand", body="My own words")
    house.ok("feature", "continue")
    assert [one.title for one in github.opened] == ["By hand"]
    assert made.body.startswith("My own words\n\n")
    assert standing(made.body, FIRST) == "waits for a person"


def test_nothing_is_asked_twice_where_it_is_up_to_date(talk, house, github):
    house.ok("feature", "continue")
    assert "pulls/update" not in github.operations


def test_a_description_that_cannot_be_written_stops_nothing_and_is_told(talk, house, github):
    github.faults += [Fault(status=403, document={"message": "Resource not accessible by integration"})]
    answer = house.approve(FIRST)
    assert house.phase(FIRST)["status"] == "approved"
    assert "the description of the pull request is not up to date" in answer
    house.ok("feature", "continue")
    assert boxes(github.opened[0].body) == ["x", " ", " ", " ", " "]


def test_the_end_on_a_protected_base_is_a_pull_request(talk, house, github):
    talk.approves_every_phase()
    house.git("push", "-q", "origin", f"{BRANCH}:main")
    github.opened[0].state = "MERGED"
    hook = github.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nwhile read a b ref; do [ $ref != refs/heads/main ] || exit 1; done\n")
    hook.chmod(0o755)
    before = github.tip("main")
    house.git("switch", "-q", "main")
    house.git("pull", "-q", "--ff-only", "origin", "main")
    said = house.ok("feature", "finalize", SLUG).out
    first, second = github.opened
    assert (second.title, second.base, second.head) == (f"[Feature] Finalize {TITLE}", "main", f"finalize/{SLUG}")
    assert second.url in said
    assert github.tip("main") == before
    assert github.tip(f"finalize/{SLUG}") == house.git("rev-parse", "main").strip()
    assert "is deleted" in second.body
    assert boxes(first.body) == ["x"] * 5
