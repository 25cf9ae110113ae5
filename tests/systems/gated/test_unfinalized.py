"""A feature whose phases are all approved is unfinished until it is finalized: every surface says so, and for whom."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from holdfast.surfaces.hooks import run
from tests.acceptance.feature import BRANCH, HOME, PHASES, SLUG, House
from tests.acceptance.kills import Kills

TOLD = (("status",), ("next",), ("resume-packet",), ("next", "-w", SLUG), ("status", "-w", SLUG))


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path / "here").publish().completed()


def test_what_is_left_is_told_without_and_with_a_name(house):
    for words in TOLD:
        said = house.ok(*words).out
        assert "holdfast feature finalize" in said, words
        assert "not published yet" in said, words


def test_the_answers_as_data_have_it(house):
    assert house.refused("resume")["remedy"].startswith("holdfast feature finalize")
    status, step = house.ok("status", "--json").json, house.ok("next", "--json").json
    for answer in (status, step):
        assert [one["kind"] for one in answer["blockers"]] == ["finalize"]
        assert answer["turn"] == "agent"
    assert step["required_action"].startswith("holdfast feature finalize")
    assert step["can_proceed"] is True
    assert [one["workflow_id"] for one in house.ok("list", "--json").json["workflows"]] == [SLUG]
    assert SLUG in house.ok("list").out


def test_nothing_is_left_once_it_is_finalized(house):
    house.ok("feature", "finalize")
    assert house.refused("status", code=4)["code"] == "no_workflow"
    assert house.ok("list", "--json").json["workflows"] == []


def test_where_approvals_are_only_claimed_a_person_is_waited_for(house, tmp_path):
    house.git("push", "-q", "-u", "origin", BRANCH)
    there = house.clone(tmp_path / "there")
    there.git("switch", "-q", BRANCH)
    status, step = there.ok("status", "--json").json, there.ok("next", "--json").json
    for answer in (status, step):
        assert [one["name"] for one in answer["blockers"]] == list(PHASES)
        assert answer["turn"] == "person"
        assert [one["command"] for one in answer["for_person"]] == ["holdfast approve --claimed"]
    assert step["required_action"]
    waited = there.agent("wait", "--for", "person", "--timeout", "1", "--json")
    assert waited.code == 124
    assert [one["step"] for one in waited.json["waiting"]] == list(PHASES)
    for words in TOLD:
        assert "approve --claimed" in there.ok(*words).out, words


def told(house: House, *words: str, **event: str) -> str:
    """What a host is told."""
    said = json.dumps({"session_id": "s1", "cwd": str(house.root), **event})
    words = (sys.executable, run.__file__, *words)
    return subprocess.run(words, input=said, cwd=house.root, check=True, capture_output=True, text=True).stdout


def test_a_session_and_its_status_line_are_told_where_nothing_else_is_left(house):
    for source in ("startup", "resume"):
        said = told(house, hook_event_name="SessionStart", source=source)
        assert "holdfast feature finalize" in said, source
        assert "not published yet" in said, source
    line = told(house, "statusline")
    assert SLUG in line
    assert "not published yet" in line
    house.ok("feature", "finalize")
    assert told(house, hook_event_name="SessionStart", source="startup") == ""
    assert told(house, "statusline").strip() == ""


def test_a_finalize_that_was_interrupted_is_told_everywhere_until_another_one_finishes_it(house):
    """Killed between its mark and the end of its last commit, by whatever ends processes."""
    kills = Kills(house)
    changes = kills.changes("feature", "finalize")
    commits = [number for number, change in enumerate(changes, 1) if change.startswith("git commit")]
    first_deleted = next(n for n, change in enumerate(changes, 1) if change.startswith(f"os.remove /{HOME}/0"))
    assert len(commits) >= 3, changes
    for number in (commits[0] + 1, commits[1], commits[1] + 1, first_deleted + 1, commits[-1]):
        died = kills.before(number, "feature", "finalize")
        for words in (*TOLD, ("list",), ("list", "--all")):
            said = died.ok(*words).out
            assert "holdfast feature finalize" in said, (changes[number - 1], words)
            assert "interrupted" in said, (changes[number - 1], words)
        for answer in (died.ok("status", "--json").json, died.ok("next", "--json").json):
            assert [one["kind"] for one in answer["blockers"]] == ["finalize"]
            assert answer["turn"] == "agent"
        for words in (
            (
                "feature",
                "continue",
            ),
            ("feature", "continue", SLUG),
            ("resume",),
        ):
            assert died.refused(*words)["remedy"].startswith("holdfast feature finalize"), words
        found = {one["code"]: one for one in died.agent("doctor", "--json").json["findings"]}
        assert found["finalize_interrupted"]["remedy"].startswith("holdfast feature finalize")
        said = told(died, hook_event_name="SessionStart", source="startup")
        assert "holdfast feature finalize" in said
        assert "interrupted" in said
        died.ok("feature", "finalize")
        assert died.status() == []
        assert not (died.root / HOME).exists()
        assert died.refused("status", code=4)["code"] == "no_workflow"
        assert "interrupted" not in died.ok("list", "--all").out
        codes = {one["code"] for one in died.agent("doctor", "--json").json["findings"]}
        assert "finalize_interrupted" not in codes
