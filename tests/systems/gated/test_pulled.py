"""A feature that two clones work on in turn: its journal travels with git, and two that differ ask a person."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.feature import BRANCH, FIRST, HOME, PHASES, SECOND, SLUG, House, timeless

JOURNAL = f"{HOME}/journal.jsonl"


@pytest.fixture
def here(tmp_path):
    """A first clone, in which the feature was handed in; all of it is pushed."""
    house = House(tmp_path / "here").publish()
    house.up_to(FIRST, "in_progress")
    house.make(FIRST)
    house.ok("done", FIRST)
    push(house)
    return house


@pytest.fixture
def there(here, tmp_path):
    other = here.clone(tmp_path / "there")
    other.git("switch", "-q", BRANCH)
    return other


def push(house: House) -> None:
    house.git("push", "-q", "-u", "origin", BRANCH)


def pull(house: House) -> None:
    house.git("pull", "-q", "--ff-only", "origin", BRANCH)


def ulid(house: House) -> str:
    (entry,) = house.project().wired.store.entries()
    return entry.ulid


def records(house: House) -> list[dict]:
    """The lines of the journal that this clone keeps, whose chain is looked at as well."""
    (path,) = (house.root / ".holdfast" / "journal").rglob("*.jsonl")
    findings = house.ok("doctor", "--json").json["findings"]
    assert [one for one in findings if one["level"] not in ("ok", "info")] == []
    return [json.loads(line) for line in path.read_text().splitlines()]


def alerts(house: House) -> list:
    return house.ok("status", "--json").json.get("alerts") or []


def test_a_clone_shows_a_feature_at_first_sight_and_goes_on_with_it(here, there):
    seen = there.ok("status", "--json").json
    assert (seen["workflow_id"], seen["status"]) == (SLUG, "in_progress")
    assert timeless(there.state()) == timeless(here.state())
    assert there.status() == []
    assert ulid(there) == ulid(here)
    there.opinion(FIRST, 1)
    there.ok("review", FIRST)
    there.approve(FIRST)
    there.ok("feature", "continue")
    push(there)
    pull(here)
    assert SECOND in here.ok("next").out
    assert here.phases()[:2] == ["approved", "in_progress"]
    here.make(SECOND)
    assert "only claimed" in here.refused("done", SECOND)["message"]
    assert here.person("approve", "--claimed", "--yes").code == 0
    here.reviewed(SECOND, 1)
    push(here)
    pull(there)
    assert there.ok("status", "--json").json["workflow_id"] == SLUG
    assert records(here) == records(there)
    assert alerts(here) == alerts(there) == []
    assert ulid(here) == ulid(there)
    assert here.status() == there.status() == []


def test_clones_take_turns_through_a_whole_feature(here, there):
    there.opinion(FIRST, 1)
    there.ok("review", FIRST)
    there.approve(FIRST)
    push(there)
    for turn, phase in enumerate(PHASES[1:]):
        house = (here, there)[turn % 2]
        pull(house)
        assert house.person("approve", "--claimed", "--yes").code == 0
        house.ok("feature", "continue")
        house.make(phase)
        house.reviewed(phase, 1)
        house.approve(phase)
        push(house)
    for house, status in ((here, "claimed"), (there, "completed")):
        pull(house)
        assert house.ok("status", "-w", SLUG, "--json").json["status"] == status
    assert records(here) == records(there)
    pull(here)
    assert here.refused("feature", "finalize", SLUG)["code"] == "gate_unmet"
    assert here.person("feature", "finalize", SLUG, "--yes").code == 0
    push(here)
    pull(there)
    answer = there.agent("status", "-w", SLUG, "--json")
    assert answer.code == 0, answer
    assert there.status() == []


def test_a_clone_that_is_behind_its_own_copy_takes_it_before_it_writes(here, there):
    there.opinion(FIRST, 1, "no numbers")
    there.ok("review", FIRST)
    push(there)
    pull(here)
    assert here.agent("review", FIRST).code == 3
    here.ok("done", FIRST, "--unchanged", "the numbers follow")
    assert here.phase(FIRST)["iterations"] == 2
    assert alerts(here) == []
    here.git("push", "-q", "origin", BRANCH)
    pull(there)
    there.ok("status")
    assert records(here) == records(there)


def forked(here: House, there: House) -> None:
    """Both clones continued by themselves; git's conflict is settled for what came from outside."""
    there.opinion(FIRST, 1, "no numbers")
    there.ok("review", FIRST)
    push(there)
    here.opinion(FIRST, 1)
    here.ok("review", FIRST)
    here.git("fetch", "-q", "origin")
    here.git("merge", "-q", "-X", "theirs", "-m", "Merge", f"origin/{BRANCH}")
    here.git("checkout", "-q", f"origin/{BRANCH}", "--", HOME)
    here.git("commit", "-q", "--allow-empty", "-m", "Theirs")


def test_two_journals_that_went_different_ways_are_said_and_neither_is_lost(here, there):
    there.ok("status")
    forked(here, there)
    before = (here.root / JOURNAL).read_bytes()
    own = records_of(here)
    answer = here.agent("status", "-w", SLUG)
    assert "recover" in answer.out + answer.err
    assert "--take" in answer.out + answer.err
    assert (here.root / JOURNAL).read_bytes() == before
    assert records_of(here)[: len(own)] == own


def test_nobody_writes_over_the_copy_of_a_fork(here, there):
    there.ok("status")
    forked(here, there)
    before = (here.root / JOURNAL).read_bytes()
    at = here.git("rev-parse", "HEAD")
    answer = here.agent("feature", "continue")
    assert (here.root / JOURNAL).read_bytes() == before
    assert here.git("rev-parse", "HEAD") == at
    assert "recover" in answer.out + answer.err, answer


def records_of(house: House) -> list[str]:
    (path,) = (house.root / ".holdfast" / "journal").rglob("*.jsonl")
    return path.read_text().splitlines()


def test_a_damaged_copy_is_said_and_nothing_is_written_until_it_is_whole(here):
    whole = (here.root / JOURNAL).read_text()
    damaged = whole.replace("submitted", "completed") + "{\n"
    (here.root / JOURNAL).write_text(damaged)
    answer = here.ok("status", "-w", SLUG)
    assert "journal.jsonl is damaged" in answer.out
    assert here.phase(FIRST)["status"] == "in_review"
    here.opinion(FIRST, 1)
    assert here.refused("review", FIRST, code=6)["remedy"]
    assert ((here.root / JOURNAL).read_text(), here.phase(FIRST)["status"]) == (damaged, "in_review")
    here.git("restore", JOURNAL)
    here.ok("review", FIRST)
    assert here.phase(FIRST)["status"] == "user_review"
    assert (here.root / JOURNAL).read_text().startswith(whole)


def test_a_forged_copy_in_a_fresh_clone_approves_nothing(here, there):
    """Who can write to the branch can write a journal: one whose sums do not hold is none."""
    lines = (there.root / JOURNAL).read_text().splitlines()
    record = json.loads(lines[-1])
    record["by"] = {"kind": "human", "name": "mona"}
    lines[-1] = json.dumps(record)
    (there.root / JOURNAL).write_text("\n".join(lines) + "\n")
    answer = there.agent("status", "-w", SLUG)
    assert there.phase(FIRST)["status"] == "in_review"
    assert "mona" not in answer.out


def test_a_copy_that_is_a_link_is_not_followed(here, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text((here.root / JOURNAL).read_text())
    kept = outside.read_text()
    (here.root / JOURNAL).unlink()
    (here.root / JOURNAL).symlink_to(outside)
    here.opinion(FIRST, 1)
    here.agent("review", FIRST)
    assert outside.read_text() == kept
