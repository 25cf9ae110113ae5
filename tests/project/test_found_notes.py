"""State files and notes that agents keep by themselves: found, merged with what is known, and never written over."""

from __future__ import annotations

import fcntl
import json
import os
import time

import pytest

from holdfast.core import queries
from holdfast.core.state import Actor
from holdfast.machine import place as places
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.systems.compaction import rules
from holdfast.systems.compaction.upkeep import take_sightings
from holdfast.systems.seam.adoption import adopt_at_once

HOOK = Actor("hook", "", "hook", "S1")
NOTES = """\
# Current Workflow State

Workflow: Case Studies
Phase: {phase}

## Required Reading
{reading}
"""


def listed(house):
    return [(entry.subject, entry.dialect) for entry in house.open("human").wired.store.active()]


PLAN = """\
# Plan 066: Search Index

**Status**: {status}

## Phase 1: Schema ✅
## Phase 2: Import
## Phase 3: Docs
"""
PLAN_FILE = "CLAUDE/Plan/066-search/PLAN.md"
RUNS, OVER = "🔄 In Progress", "✅ Complete"


def running(house):
    """The accounts that continue, as the journals have them."""
    store = house.open("human").wired.store
    return [store.load(entry.ulid) for entry in store.active() if entry.dialect == "compaction"]


def seen(house):
    """Everything that the project's notes say now is taken over; what continues afterwards."""
    assert take_sightings(house.open("human").wired, HOOK) == []
    return running(house)


def noted(house, phase="2/3 - Import", *reading):
    house.write("CLAUDE.local.md", NOTES.format(phase=phase, reading="\n".join(f"@{path}" for path in reading)))
    return seen(house)


def planned(house, status=RUNS):
    house.write(PLAN_FILE, PLAN.format(status=status))
    return seen(house)


def later(house, path, seconds=5):
    """As if the file had been written so many seconds from now."""
    then = time.time() + seconds
    os.utime(house.root / path, (then, then))


def edit(house, **phase):
    """Another position, written into the only state file by hand."""
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    document = json.loads(path.read_text())
    document["phase"].update(phase)
    path.write_text(json.dumps(document))


def standing(state):
    return {state.plan.step(path).label: state.step(path).status for path in state.plan.paths}


# State files


def test_a_state_file_that_an_agent_wrote_becomes_a_workflow(house):
    path = house.account(key_reminders=["tests first"])
    before = house.read(path)
    assert adopt_at_once(house.open("human").wired) == []
    assert listed(house) == [("Case Studies", "compaction")]
    assert json.loads(house.read(path)) == json.loads(before)
    assert adopt_at_once(house.open("human").wired) == []
    assert len(listed(house)) == 1


def test_every_state_file_is_adopted_and_those_that_cannot_be_read_are_told(house):
    house.account()
    house.account("Migration", "migration")
    bad = house.account("Broken", "broken", phase={"current": 0})
    torn = house.write("untracked/workflow-state/torn/state-torn-20251209_143052.json", "{")
    wrong = adopt_at_once(house.open("human").wired)
    assert sorted(name for name, _ in listed(house)) == ["Broken", "Case Studies", "Migration"]
    assert len(wrong) == 1
    assert torn.read_text() == "{"
    assert json.loads(house.read(bad))["workflow"] == "Broken"


def test_without_any_there_is_nothing_to_adopt(house):
    assert adopt_at_once(house.open("human").wired) == []
    assert not house.home.exists()


# Notes of the project


def test_notes_without_a_workflow_begin_none(house):
    house.write("CLAUDE.local.md", "# My notes\n\nBe kind.\n")
    assert take_sightings(house.open("human").wired, HOOK) == []
    assert not house.home.exists()


def test_notes_that_speak_of_a_workflow_begin_one_with_a_state_file(house):
    (state,) = noted(house, "2/3 - Import", "docs/a.md")
    assert (state.title, state.dialect, state.reading) == ("Case Studies", "compaction", ("@docs/a.md",))
    assert list(standing(state).values()) == ["done", "active", "pending"]
    (path,) = house.root.glob("untracked/workflow-state/case-studies/state-*.json")
    document = json.loads(path.read_text())
    assert document["phase"] == {"current": 2, "total": 3, "name": "Import", "status": "in_progress"}
    assert document["required_reading"] == ["@docs/a.md"]


def test_the_same_notes_again_change_nothing(house):
    (first,) = noted(house)
    (again,) = noted(house)
    assert (again.ulid, again.revision) == (first.ulid, first.revision)
    assert len(listed(house)) == 1


def test_a_position_that_changed_in_the_notes_moves_the_work(house):
    (first,) = noted(house)
    (state,) = noted(house, "3/3 - Review")
    assert state.ulid == first.ulid
    assert list(standing(state).values()) == ["done", "done", "active"]


def test_notes_move_nothing_that_an_agent_has_moved_since_by_hand_or_by_a_command(house):
    noted(house)
    edit(house, current=3, name="Review")
    house.write("CLAUDE.local.md", NOTES.format(phase="1/3 - Export", reading=""))
    later(house, "CLAUDE.local.md", -60)
    (state,) = seen(house)
    assert list(standing(state).values()) == ["done", "done", "active"]
    house.open("human").workflow(state.id).reopen("phase-1")
    house.write("CLAUDE.local.md", NOTES.format(phase="3/3 - Ship", reading=""))
    later(house, "CLAUDE.local.md", -60)
    (state,) = seen(house)
    assert (queries.top_number(state), rules.seen(state)["CLAUDE.local.md"]["phase"]["current"]) == (1, 3)


def test_notes_move_the_work_again_once_it_is_where_they_put_it(house):
    noted(house)
    edit(house, current=3, name="Review")
    noted(house, "3/3 - Review")
    (state,) = noted(house, "2/3 - Import")
    assert queries.top_number(state) == 2


def test_notes_that_stay_behind_move_nothing_back(house):
    """The agent's own state file continued, and nobody touched the notes."""
    (first,) = noted(house)
    workflow = house.open("human").workflow(first.id)
    workflow.done(queries.current(workflow.state) or "")
    (state,) = noted(house)
    assert list(standing(state).values())[:2] == ["done", "done"]


def test_what_is_new_in_the_notes_is_added_and_nothing_is_taken_away(house):
    (first,) = noted(house, "2/3 - Import", "docs/a.md", "docs/b.md")
    workflow = house.open("human").workflow(first.id)
    workflow.read_no_more("docs/b.md")
    workflow.remind("mine")
    (state,) = noted(house, "2/3 - Import", "docs/b.md", "docs/c.md")
    assert state.reading == ("@docs/a.md", "@docs/c.md")
    assert state.reminders == ("mine",)


def test_notes_about_a_workflow_that_is_known_are_merged_with_it(house):
    """The name is the same, whatever its case and blanks; the position is that of the notes, which are newer."""
    started = house.open("human").start("custom", "case  STUDIES", phases=("Export", "Import", "Review"))
    (state,) = noted(house, "2/3 - Import", "docs/a.md")
    assert state.ulid == started.ulid
    assert (state.reading, queries.top_number(state)) == (("@docs/a.md",), 2)
    assert list(rules.seen(state)) == ["CLAUDE.local.md"]


def ended(house, state, how):
    if how == "cancelled":
        house.open("human").workflow(state.id).cancel("enough")
    else:
        edit(house, current=3, name="Review", status="completed")
        house.open("human").workflow(state.id)
    assert running(house) == []


@pytest.mark.parametrize("how", ["cancelled", "completed"])
def test_a_workflow_that_is_over_is_not_begun_again_by_old_notes(house, how):
    (first,) = noted(house)
    ended(house, first, how)
    assert seen(house) == []
    later(house, "CLAUDE.local.md")
    assert seen(house) == []


@pytest.mark.parametrize("how", ["cancelled", "completed"])
def test_notes_that_were_changed_after_the_end_begin_another_workflow(house, how):
    (first,) = noted(house)
    ended(house, first, how)
    house.write("CLAUDE.local.md", house.read("CLAUDE.local.md").replace("2/3 - Import", "1/4 - Once more"))
    later(house, "CLAUDE.local.md")
    (state,) = seen(house)
    assert (state.ulid != first.ulid, queries.top_number(state), len(state.plan.paths)) == (True, 1, 4)


def test_notes_from_before_the_end_begin_nothing_although_they_say_something_else(house):
    """They were put aside and are back: somebody checked out another branch."""
    (first,) = noted(house)
    ended(house, first, "completed")
    house.write("CLAUDE.local.md", NOTES.format(phase="1/3 - Export", reading=""))
    later(house, "CLAUDE.local.md", -60)
    assert seen(house) == []


def test_a_gate_holds_whatever_the_notes_say(house):
    house.write(
        ".holdfast/workflows/gated.toml",
        'name = "gated"\ndialect = "compaction"\ntitle = "{subject}"\n'
        '[[step]]\nid = "plan"\napproval = { by = "human" }\n[[step]]\nid = "build"\n[[step]]\nid = "ship"\n',
    )
    started = house.open().start("gated", "Case Studies")
    noted(house, "1/3 - Plan")
    (state,) = noted(house, "3/3 - Ship", "docs/a.md")
    assert state.ulid == started.ulid
    assert state.step("plan").status == "active"
    assert state.reading == ("@docs/a.md",)
    (again,) = noted(house, "3/3 - Ship", "docs/a.md")
    assert again.revision == state.revision


def test_notes_with_more_than_there_is_room_for_are_looked_at_and_not_taken(house):
    """Otherwise every compaction would fail over them."""
    (first,) = noted(house)
    workflow = house.open("human").workflow(first.id)
    workflow.read_first(*(str(house.write(f"docs/{number}.md", "x")) for number in range(99)))
    (state,) = noted(house, "3/3 - Review", *(f"new/{number}.md" for number in range(5)))
    assert len(state.reading) == 99
    assert rules.seen(state)["CLAUDE.local.md"]["phase"]["current"] == 3


def test_a_plan_that_is_under_way_is_a_workflow_with_its_phases(house):
    (state,) = planned(house)
    assert list(standing(state)) == ["Schema", "Import", "Docs"]
    assert queries.top_number(state) == 2


def test_a_plan_that_is_no_longer_in_progress_ends_its_workflow(house):
    (state,) = planned(house)
    assert planned(house, OVER) == []
    over = house.open("human").workflow(state.id)
    assert (over.status()["status"], list(standing(over.state).values())) == ("completed", ["done", "done", "skipped"])
    assert not list(house.root.glob("untracked/workflow-state/*"))
    assert seen(house) == []


def test_a_plan_that_is_taken_up_again_after_its_end_takes_its_workflow_up(house):
    (first,) = planned(house)
    planned(house, OVER)
    house.write(PLAN_FILE, PLAN.format(status=RUNS).replace("Import", "Import ✅"))
    later(house, PLAN_FILE)
    (state,) = seen(house)
    assert (state.ulid == first.ulid, queries.top_number(state)) == (True, 3)


def test_a_plan_that_is_away_says_nothing_about_its_end(house):
    """As on another branch."""
    (state,) = planned(house)
    (house.root / PLAN_FILE).unlink()
    assert seen(house) == [state]


def test_a_gate_in_the_way_of_a_plans_end_is_told_and_stops_nothing_else(house):
    house.write(
        ".holdfast/workflows/gated.toml",
        'name = "gated"\ndialect = "compaction"\ntitle = "{subject}"\n'
        '[[step]]\nid = "plan"\napproval = { by = "human" }\n[[step]]\nid = "build"\n[[step]]\nid = "ship"\n',
    )
    gated = house.open().start("gated", "Plan 066: Search Index")
    planned(house)
    other = "CLAUDE/Plan/067-other/PLAN.md"
    house.write(other, PLAN.format(status=RUNS).replace("066: Search Index", "067: Other"))
    assert len(seen(house)) == 2
    house.write(PLAN_FILE, PLAN.format(status=OVER))
    house.write(other, PLAN.format(status=OVER))
    assert len(take_sightings(house.open("human").wired, HOOK)) == 1
    assert [state.id for state in running(house)] == [gated.id]


def test_the_end_of_a_plan_ends_no_workflow_that_only_has_such_a_name(house):
    mine = house.open("human").start("custom", "Plan B", phases=("One", "Two"))
    planned(house)
    assert [state.id for state in planned(house, OVER)] == [mine.id]


def test_one_note_that_cannot_be_taken_over_is_told_and_stops_no_other(house):
    """Another process holds the one workflow; the other is begun all the same, and nothing of the first is lost."""
    (held,) = noted(house)
    house.write("CLAUDE.local.md", NOTES.format(phase="3/3 - Review", reading=""))
    house.write(PLAN_FILE, PLAN.format(status=RUNS))
    hasty = house.open("human").wired.settings.replace(lock_wait=0.01)
    project = Project(bootstrap.wire(places.find(str(house.root)), hasty))
    with open(project.wired.store.file_of(held.ulid), "rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        (wrong,) = take_sightings(project.wired, HOOK)
    assert held.ulid in wrong
    assert {state.title: queries.top_number(state) for state in running(house)} == {
        "Case Studies": 2,
        "Plan 066: Search Index": 2,
    }
    assert [queries.top_number(state) for state in seen(house) if state.ulid == held.ulid] == [3]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"# Workflow State\nWorkflow:\nPhase:\n", b"x" * (2 << 20)])
def test_notes_that_cannot_be_read_are_passed_over(house, content):
    (house.root / "CLAUDE.local.md").write_bytes(content)
    assert take_sightings(house.open("human").wired, HOOK) == []


# What a plan's status says, and what it does not


@pytest.mark.parametrize(
    "status",
    ["Blocked", "⏸️ On Hold", "Needs Review", "Paused until Monday", "Ready", "Not Started", "Complete, pending review"],
)
def test_a_plan_that_stops_blocks_its_workflow_with_its_own_words_and_ends_nothing(house, status):
    """Although one of its phases is ticked, and the word complete is in it."""
    (first,) = planned(house)
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    (state,) = planned(house, status)
    assert (state.ulid, queries.status(state), path.exists()) == (first.ulid, "blocked", True)
    assert status.removeprefix("⏸️ ") in state.step(queries.current(state)).reason
    (state,) = planned(house)
    assert queries.status(state) == "in_progress"


@pytest.mark.parametrize("status", ["🔄 Active", "In Progress", "wip", "**in_progress**", "En cours", "90% complete"])
def test_a_plan_that_goes_on_in_other_words_goes_on(house, status):
    (first,) = planned(house)
    (state,) = planned(house, status)
    assert (state.ulid, queries.status(state)) == (first.ulid, "in_progress")


@pytest.mark.parametrize("status", ["Complete", "✅ DONE (2026-03-01)", "Completed", "Abgeschlossen", "完了", "✅"])
def test_a_plan_that_says_it_is_complete_ends_its_workflow_and_its_document_is_kept(house, status):
    (first,) = planned(house)
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    before = path.read_bytes()
    assert planned(house, status) == []
    assert not path.exists()
    over = house.open("human").workflow(first.id)
    (alert,) = [alert for alert in over.state.alerts if alert.code == "ended_by_plan"]
    assert (house.root / alert.kept).read_bytes() == before
    path.parent.mkdir(parents=True)
    path.write_bytes(before)
    adopt_at_once(house.open("human").wired)
    (again,) = running(house)
    assert (again.ulid, queries.top_number(again)) == (first.ulid, 2)


def test_a_plan_that_is_cancelled_gives_its_workflow_up(house):
    (first,) = planned(house)
    assert planned(house, "Cancelled - superseded by Plan 070") == []
    assert house.open("human").workflow(first.id).status()["status"] == "cancelled"


def test_a_plan_that_was_complete_when_it_was_first_seen_ends_nothing(house):
    """An agent works on what is left over."""
    mine = house.open("human").start("custom", "Plan 066: Search Index", phases=("Left over",))
    assert [state.id for state in planned(house, OVER)] == [mine.id]
    assert [state.id for state in planned(house, OVER + " again")] == [mine.id]


def test_a_plan_that_was_moved_ends_nothing(house):
    (state,) = planned(house)
    to = house.root / "CLAUDE/Plan/Completed/066-search"
    to.mkdir(parents=True)
    (house.root / PLAN_FILE).rename(to / "PLAN.md")
    assert seen(house) == [state]


@pytest.mark.parametrize(
    "more",
    [
        {"context": {"plan_number": 66}},
        {"context": {"plan_number": "066"}},
        {"required_reading": [f"@{PLAN_FILE}"]},
    ],
)
def test_a_plan_whose_workflow_has_another_name_gets_no_twin(house, more):
    house.account("Search work", "search-work", **more)
    adopt_at_once(house.open("human").wired)
    assert [state.title for state in planned(house)] == ["Search work"]


def test_a_plan_that_is_only_reading_moves_and_ends_no_workflow(house):
    house.account("Release 2.0", "release", required_reading=[f"@{PLAN_FILE}"])
    adopt_at_once(house.open("human").wired)
    (before,) = planned(house)
    for status in ("Blocked", OVER, "Cancelled"):
        later(house, PLAN_FILE)
        (state,) = planned(house, status)
        assert (state.title, standing(state)) == ("Release 2.0", standing(before))
        assert queries.status(state) == "in_progress"


def test_a_plan_of_the_same_number_in_another_folder_is_another_one(house):
    house.account(
        "Search work", "search-work", context={"plan_number": 66}, required_reading=["@CLAUDE/Plan/066-b/PLAN.md"]
    )
    adopt_at_once(house.open("human").wired)
    assert len(planned(house)) == 2


# What git changed is no word of anybody


def committed(house, message="more"):
    house.git("add", "-fA", "CLAUDE")
    house.git("commit", "-qm", message)


def on_two_branches(house):
    """A plan that runs on main and is complete on the branch `done`; main is checked out."""
    house.write(PLAN_FILE, PLAN.format(status=RUNS))
    committed(house)
    (state,) = seen(house)
    house.git("checkout", "-qb", "done")
    house.write(PLAN_FILE, PLAN.format(status=OVER))
    committed(house)
    house.git("checkout", "-q", "main")
    return state


@pytest.mark.parametrize("words", [("checkout", "-q"), ("merge", "-q"), ("reset", "-q", "--hard")])
def test_a_plan_that_git_completed_ends_nothing_and_that_is_told(house, words):
    first = on_two_branches(house)
    house.git(*words, "done")
    (state,) = seen(house)
    assert (state.ulid, queries.status(state)) == (first.ulid, "in_progress")
    assert [alert.code for alert in state.alerts] == ["plan_from_git"]
    assert seen(house) == [state]


def test_there_is_no_twin_after_the_way_back(house):
    first = on_two_branches(house)
    for branch in ("done", "main"):
        house.git("checkout", "-q", branch)
        (state,) = seen(house)
        assert state.ulid == first.ulid


def test_a_plan_that_somebody_completed_and_committed_ends_its_workflow(house):
    house.write(PLAN_FILE, PLAN.format(status=RUNS))
    committed(house)
    assert len(seen(house)) == 1
    house.write(PLAN_FILE, PLAN.format(status=OVER))
    committed(house)
    assert seen(house) == []


def test_a_plan_that_is_taken_from_another_branch_ends_nothing(house):
    first = on_two_branches(house)
    house.git("checkout", "-q", "done", "--", PLAN_FILE)
    (state,) = seen(house)
    assert (state.ulid, queries.status(state)) == (first.ulid, "in_progress")
    assert "taken from done" in state.alerts[-1].message


@pytest.mark.parametrize("words", [("stash", "-q"), ("checkout", "-q", "--", "CLAUDE")])
def test_a_plan_that_git_puts_back_as_it_was_committed_ends_nothing(house, words):
    house.write(PLAN_FILE, PLAN.format(status=OVER))
    committed(house)
    house.write(PLAN_FILE, PLAN.format(status=RUNS))
    assert len(seen(house)) == 1
    house.git(*words)
    (state,) = seen(house)
    assert queries.status(state) == "in_progress"
    assert [alert.code for alert in state.alerts] == ["plan_from_git"]


def test_a_state_file_that_git_takes_away_ends_nothing_and_that_is_told(house):
    house.git("commit", "-q", "--allow-empty", "-m", "before")
    house.account("Migration", "migration")
    path = house.account()
    adopt_at_once(house.open("human").wired)
    house.git("add", "-f", path)
    house.git("commit", "-qm", "with it")
    house.git("checkout", "-q", "HEAD~1")
    (state,) = [one for one in running(house) if one.title == "Case Studies"]
    assert not (house.root / path).exists()
    state = house.open("human").workflow(state.id).state
    assert queries.is_active(state)
    assert "checkout" in state.alerts[-1].message


def test_a_state_file_that_is_deleted_and_committed_has_ended_its_workflow(house):
    house.account("Migration", "migration")
    path = house.account()
    adopt_at_once(house.open("human").wired)
    (state,) = [one for one in running(house) if one.title == "Case Studies"]
    house.git("add", "-f", path)
    house.git("commit", "-qm", "with it")
    house.git("rm", "-q", path)
    house.git("commit", "-qm", "done")
    assert not queries.is_active(house.open("human").workflow(state.id).state)


# Notes and state file that contradict each other


def aged(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_notes_that_are_newer_than_a_state_file_count_and_that_is_told(house):
    aged(house.root / house.account(), 3600)
    adopt_at_once(house.open("human").wired)
    (state,) = noted(house, "5/5 - Switch")
    assert queries.top_number(state) == 5
    assert [alert.code for alert in state.alerts] == ["notes_differ"]
    assert "CLAUDE.local.md" in state.alerts[-1].message


def test_notes_that_are_older_than_a_state_file_do_not_count_and_that_is_told(house):
    house.account()
    adopt_at_once(house.open("human").wired)
    house.write("CLAUDE.local.md", NOTES.format(phase="5/5 - Switch", reading=""))
    aged(house.root / "CLAUDE.local.md", 3600)
    (state,) = seen(house)
    assert queries.top_number(state) == 2
    assert state.alerts[-1].message.endswith("which was the state file")
