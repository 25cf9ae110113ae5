"""Which workflow a session is at, and which one it continues with when it is at none."""

from __future__ import annotations

import os
import shutil
import time

import pytest

from holdfast.core import commands as cmd
from holdfast.core.standing import position
from holdfast.errors import Broken
from holdfast.project import seats
from holdfast.project.seats import bound, chosen, hook_of


def sit(house, workflow, session):
    engine = house.open("human").wired.engine
    engine.execute(workflow.ulid, cmd.Sit(), hook_of(session))


def names(found):
    """The id of the chosen workflow, and those that the lines about the others begin with."""
    first, others = found
    return (first.id if first else None, [line.partition(":")[0].partition(' "')[0] for line in others])


def break_journal(house, workflow):
    with open(house.open().wired.store.file_of(workflow.ulid), "r+b") as file:
        file.write(b"broken")


def age(house, workflow, seconds=60):
    """Nobody has worked on it for that long."""
    then = time.time() - seconds
    os.utime(house.open().wired.store.file_of(workflow.ulid), (then, then))


# Bound


def test_a_session_that_sat_down_nowhere_is_at_nothing(house):
    house.plain()
    assert bound(house.open(), "S1") is None
    assert bound(house.open(), "") is None


def test_a_session_that_worked_on_something_is_there(house):
    workflow = house.plain(session="S1")
    found = bound(house.open(), "S1")
    assert found is not None
    assert found.id == workflow.id
    assert bound(house.open(), "S2") is None


def test_of_several_it_is_at_the_one_where_it_sat_down_or_worked_last(house):
    one, two = house.plain("1"), house.plain("2")
    for workflow in (two, one, two):
        sit(house, workflow, "S1")
        found = bound(house.open(), "S1")
        assert found is not None
        assert found.id == workflow.id
    house.open(session="S1").workflow(one.id).note("here I am")
    found = bound(house.open(), "S1")
    assert found is not None
    assert found.id == one.id


def test_another_sessions_work_moves_nobody(house):
    one, two = house.plain("1"), house.plain("2")
    sit(house, one, "S1")
    sit(house, two, "S2")
    house.open(session="S2").workflow(one.id).note("passing by")
    found = bound(house.open(), "S1")
    assert found is not None
    assert found.id == one.id


def test_nobody_is_at_a_workflow_that_is_over(house):
    workflow = house.plain(session="S1")
    workflow.cancel("enough")
    assert bound(house.open(), "S1") is None


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"version":1,"workflows":[{}]}', b'{"version":1,"workflows":[{"ulid":5}]}']
)
def test_a_damaged_view_binds_nobody_until_it_is_made_anew(house, damage):
    workflow = house.plain(session="S1")
    (house.home / "guard").write_bytes(damage)
    assert bound(house.open(), "S1") is None
    house.open("human").workflow(workflow.id).note("continues")
    found = bound(house.open(), "S1")
    assert found is not None
    assert found.id == workflow.id


def test_a_workflow_whose_journal_is_broken_stops_its_own_session_and_no_other(house):
    broken, workflow = house.plain("1", session="S1"), house.plain("2")
    sit(house, workflow, "S1")
    sit(house, broken, "S1")
    break_journal(house, broken)
    found = bound(house.open(), "S1")
    assert found is not None
    assert found.id == workflow.id
    with pytest.raises(Broken, match="damaged"):
        chosen(house.open(), "S1")
    assert names(chosen(house.open(), "S2")) == (workflow.id, [])


def test_where_one_of_several_cannot_be_read_no_other_is_suggested_in_its_place(house):
    broken, _ = house.plain("1"), house.plain("2")
    break_journal(house, broken)
    with pytest.raises(Broken, match="damaged"):
        house.open().workflow()


# Chosen


def test_without_any_workflow_none_is_chosen(house):
    assert names(chosen(house.open(), "S1")) == (None, [])


def test_a_session_goes_on_with_its_own_before_the_one_last_worked_on(house):
    one, two, three = house.plain("1"), house.plain("2"), house.plain("3")
    assert names(chosen(house.open(), "S1")) == (three.id, [two.id, one.id])
    for seconds, workflow in ((180, one), (120, two), (60, three)):  # changes may share a tick of the clock of files
        age(house, workflow, seconds)
    sit(house, one, "S1")
    assert names(chosen(house.open(), "")) == (one.id, [three.id, two.id])
    age(house, one, 30)
    two.note("newest")
    assert names(chosen(house.open(), "S1")) == (one.id, [two.id, three.id])
    assert names(chosen(house.open(), "")) == (two.id, [one.id, three.id])


def test_each_of_the_others_is_a_line_with_where_it_stands(house):
    one, two = house.plain("1"), house.plain("2")
    one.done("one").begin("two").block("two", "no key")
    first, others = chosen(house.open(), "S1")
    assert first is not None
    assert (first.id, others) == (one.id, [f'{two.id} "2": step 1/3 "one", in_progress'])


def test_five_others_are_told_of_and_the_rest_is_counted(house):
    ids = [house.plain(str(number)).id for number in range(9)][::-1]
    first, others = chosen(house.open(), "S1")
    assert first is not None
    assert (first.id, [line.partition(":")[0].partition(' "')[0] for line in others[:-1]]) == (ids[0], ids[1:6])
    assert others[-1] == "and 3 more: holdfast list"


def test_only_those_are_opened_that_are_told_of(house):
    """A broken journal is noticed by whoever opens it."""
    old = [house.plain(f"old {number}") for number in range(3)]
    for workflow in old:
        break_journal(house, workflow)
        age(house, workflow)
    new = [house.plain(f"new {number}") for number in range(6)]
    project = house.open()
    first, others = chosen(project, "S1")
    assert first is not None
    assert (first.id, len(others), project.troubles) == (new[-1].id, 6, [])
    new[0].cancel("enough")
    project = house.open()
    assert len(chosen(project, "S1")[1]) == 5
    assert len(project.troubles) == 1


def test_whose_document_was_written_last_is_chosen_although_its_journal_is_old(house):
    migration = house.open("human").start("custom", "Database Migration", phases=("Backup", "Migrate"))
    newer = house.plain()
    assert names(chosen(house.open(), "S1"))[0] == newer.id
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    path.write_text(path.read_text().replace("Backup", "Dump"))
    then = time.time() + 5
    os.utime(path, (then, then))
    first, others = chosen(house.open(), "S1")
    assert first is not None
    assert (first.id, first.state.plan.step("backup").name) == (migration.id, "Dump")
    assert names((first, others))[1] == [newer.id]


def test_where_the_newest_cannot_be_read_the_next_one_is_chosen_and_somebody_is_told(house):
    workflow, broken = house.plain("1"), house.plain("2")
    break_journal(house, broken)
    project = house.open()
    assert names(chosen(project, "S1")) == (workflow.id, [])
    assert len(project.troubles) == 1


def test_what_is_over_is_not_chosen(house):
    house.plain("1").cancel("enough")
    assert names(chosen(house.open(), "S1")) == (None, [])


def test_a_document_that_was_deleted_means_that_the_work_is_done(house):
    house.open("human").start("custom", "Database Migration", phases=("Backup", "Migrate"))
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    shutil.rmtree(path.parent)
    assert names(chosen(house.open(), "S1")) == (None, [])


def test_the_work_of_another_worktree_is_chosen_only_by_the_session_that_is_at_it(house, tmp_path):
    here = house.plain("1")
    house.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    there = house.open("human", at=tmp_path / "side").start({"name": "plain", "step": [{"id": "one"}]}, "2")
    assert names(chosen(house.open(), "S1")) == (here.id, [])
    assert names(chosen(house.open(at=tmp_path / "side"), "S1")) == (there.id, [])
    sit(house, there, "S1")
    assert names(chosen(house.open(), "S1")) == (there.id, [here.id])


def test_where_nothing_runs_in_a_worktree_the_only_workflow_elsewhere_is_chosen_as_by_a_command(house, tmp_path):
    only = house.plain("1")
    house.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    assert house.open(at=tmp_path / "side").workflow().id == only.id
    assert names(chosen(house.open(at=tmp_path / "side"), "S1")) == (only.id, [])
    house.plain("2")
    assert names(chosen(house.open(at=tmp_path / "side"), "S1")) == (None, [])


# Words


def test_where_a_workflow_stands_in_a_few_words(house):
    workflow = house.plain()
    assert position(workflow.briefing()) == f'{workflow.id} "1": step 1/3 "one", in_progress'
    workflow.done("one").begin("two").block("two", "no key")
    assert position(workflow.briefing()) == f'{workflow.id} "1": step 2/3 "two", blocked'


def test_a_hook_acts_for_a_session_whose_id_is_cut(house):
    actor = hook_of("x" * 500)
    assert (actor.kind, len(actor.session)) == ("hook", seats.LONGEST)
