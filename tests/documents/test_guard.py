"""The guard view on disk: written when what it says changes, made again when it is damaged, gone with the work."""

from __future__ import annotations

import json
import os
import stat

import pytest

from holdfast.upkeep.doctor import examine, repair
from tests.documents.desk import Desk

GATED = {"name": "gated", "step": [{"id": "one", "deny": ["WebFetch"]}, {"id": "two", "approval": {"by": "human"}}]}
QUIET = {"name": "quiet", "step": [{"id": "one"}, {"id": "two"}]}


@pytest.fixture
def gated(tmp_path, monkeypatch):
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return Desk(tmp_path / "project", GATED)


def view(desk):
    return desk.folder / ".holdfast/guard"


def rows(desk):
    """What the view says, by workflow."""
    said = json.loads(view(desk).read_bytes())
    assert said["version"] == 1
    return {one["id"]: one for one in said["workflows"]}


def seen(desk):
    """Which file is there: a new one has another number."""
    found = os.stat(view(desk))
    return found.st_ino, found.st_mtime_ns


def test_the_view_is_there_with_the_workflow_and_for_its_owner_only(gated):
    assert rows(gated)[gated.id]["human"] == [{"step": "two", "names": ["two", "2"]}]
    assert rows(gated)[gated.id]["deny"] == [{"tool": "WebFetch", "step": "one"}]
    assert stat.S_IMODE(os.stat(view(gated)).st_mode) == 0o600


def test_it_is_written_only_when_it_says_something_else(gated):
    before = seen(gated)
    gated.look().note("remark").record({"k": 1})
    gated.look().begin("one")
    assert seen(gated) == before
    gated.look().done("one")
    assert seen(gated) != before
    assert "deny" not in rows(gated)[gated.id]


def test_a_workflow_that_has_nothing_to_say_makes_no_view(tmp_path):
    desk = Desk(tmp_path / "project", QUIET)
    desk.look().begin("one").done("one")
    assert not view(desk).exists()


def test_a_workflow_is_taken_out_when_it_is_done(gated):
    other = gated.open().start(GATED, "2.0")
    gated.look().begin("one").done("one").begin("two").done("two")
    gated.person.approve("two")
    assert list(rows(gated)) == [other.id]


def test_a_workflow_is_taken_out_when_it_is_given_up_and_is_back_when_resumed(gated):
    gated.look().cancel("enough")
    assert rows(gated) == {}
    gated.person.resume()
    assert list(rows(gated)) == [gated.id]


def test_each_workflow_has_its_own_part(gated):
    other = gated.open().start(GATED, "2.0")
    other.lock("src/*", agent="coder")
    assert "locks" not in rows(gated)[gated.id]
    assert rows(gated)[other.id]["locks"][0]["path"] == "src/*"
    gated.look().lock("docs")
    assert [one["locks"][0]["path"] for one in rows(gated).values() if "locks" in one] == ["src/*", "docs"]


def test_made_anew_from_the_journals_it_says_the_same(gated):
    other = gated.open().start(GATED, "2.0")
    other.lock("src")
    before = rows(gated)
    view(gated).unlink()
    gated.open().wired.documents.guard.rebuild()
    assert rows(gated) == before


DAMAGE = {
    "torn": b'{"version":1,"workflows":[{"id"',
    "empty": b"",
    "no object": b"[]",
    "another version": b'{"version":2,"workflows":[]}',
    "no list": b'{"version":1,"workflows":{}}',
    "no workflow": b'{"version":1,"workflows":[5]}',
    "no id": b'{"version":1,"workflows":[{"id":"x"}]}',
    "an id that leads elsewhere": b'{"version":1,"workflows":[{"ulid":"../../x"}]}',
    "sessions that are none": b'{"version":1,"workflows":[{"ulid":"00000000000000000000000000","sessions":5}]}',
    "not UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_view_says_nothing_and_is_made_anew_with_all_workflows(gated, damage):
    other = gated.open().start(GATED, "2.0")
    before = rows(gated)
    view(gated).write_bytes(damage)
    assert gated.open().wired.documents.guard.entries() == []
    other.refresh()
    gated.look().note("continues")
    assert rows(gated) == before


def test_after_a_view_was_deleted_a_command_writes_only_its_own_entry(gated):
    """To open every workflow there is would be too much for a command in passing."""
    other = gated.open().start(GATED, "2.0")
    before = rows(gated)
    view(gated).unlink()
    gated.look().note("continues")
    assert rows(gated) == {gated.id: before[gated.id]}
    gated.open().workflow(other.id).note("continues too")
    assert rows(gated) == before


def test_the_doctor_makes_a_view_whole_that_was_deleted(gated):
    gated.open().start(GATED, "2.0")
    before = rows(gated)
    view(gated).unlink()
    gated.look().note("continues")
    assert "behind the journals" in str(examine(gated.open()))
    repair(gated.open())
    assert {id: rows(gated)[id] for id in before} == before


def test_a_link_is_not_followed(gated, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    view(gated).rename(elsewhere)
    view(gated).symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    assert gated.open().wired.documents.guard.entries() == []
    gated.look().begin("one").done("one")
    assert elsewhere.read_bytes() == before
    assert not view(gated).is_symlink()
    assert list(rows(gated)) == [gated.id]


def test_a_workflow_whose_journal_is_broken_is_in_no_other_ones_way(gated):
    other = gated.open().start(GATED, "2.0")
    journal = gated.open().wired.store.file_of(other.ulid)
    with open(journal, "r+b") as file:
        file.write(b"broken")
    view(gated).unlink()
    gated.look().note("continues")
    assert list(rows(gated)) == [gated.id]
