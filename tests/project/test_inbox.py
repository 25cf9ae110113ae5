"""The inbox: what hooks noted is taken over once somebody looks, whatever state the notes are in."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast.machine import place as places
from holdfast.plain import ulid
from holdfast.project import seats
from holdfast.project import wiring as bootstrap
from holdfast.project.inbox import fold
from holdfast.project.project import Project

RUN = Path(holdfast.__file__).parent / "surfaces" / "hooks" / "run.py"


def bound(house, session):
    found = seats.bound(house.open("human"), session)
    return found.id if found else None


# What is taken over


def test_files_that_a_session_changed_are_recorded_at_its_workflow(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["src/a.py", "src/b.py"])
    house.note("PostToolUse", paths=["src/a.py"])
    house.fold()
    assert house.files(workflow) == ["src/a.py", "src/b.py"]
    assert house.left() == []


def test_a_look_at_the_workflow_is_enough_to_fold_the_notes(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["src/a.py"])
    house.ok("status")
    assert (house.files(workflow), house.left()) == (["src/a.py"], [])


def test_what_is_holdfasts_own_is_not_the_agents_work(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=[".claude/workflow-state/active/x.json", "untracked/workflow-state/x/y.json", "a"])
    house.fold()
    assert house.files(workflow) == ["a"]


def test_notes_of_a_session_that_sits_nowhere_are_left_out(house):
    workflow = house.plain(session="S1")
    before = house.state(workflow)
    house.note("PostToolUse", "S2", paths=["src/a.py"])
    house.note("SessionEnd", "S2", reason="exit")
    house.note("SubagentStart", "S2", agent="a1", type="Explore")
    house.fold()
    assert (house.state(workflow), house.left()) == (before, [])


def test_what_one_workflow_and_session_did_is_not_put_down_to_another(house):
    one, two = house.plain("1", session="S1"), house.plain("2", session="S2")
    house.note("PostToolUse", "S1", paths=["one.py"])
    house.note("PostToolUse", "S2", paths=["two.py"])
    house.note("PostToolUse", "S1", paths=["more.py"])
    house.note("SubagentStart", "S2", agent="a2", type="Explore")
    house.fold()
    assert (house.files(one), house.files(two)) == (["one.py", "more.py"], ["two.py"])
    assert (list(house.state(one).leases), list(house.state(two).leases)) == ([], ["a2"])


def test_all_notes_of_a_session_are_one_record_and_their_files_one_event(house):
    """Each event carries the whole list of files, so one for each note would fill the journal."""
    workflow = house.plain(session="S1")
    before = house.state(workflow).revision
    for number in range(20):
        house.note("PostToolUse", paths=[f"f{number}", "again"])
        house.note("PostCompact", trigger="auto")
    house.fold()
    assert house.state(workflow).revision == before + 1
    record = list(house.open("human").workflow(workflow.id).history())[-1]
    assert [type(event).__name__ for event in record.events].count("Recorded") == 1
    assert house.files(workflow) == ["f0", "again", *(f"f{number}" for number in range(1, 20))]


def test_a_session_that_comes_to_a_workflow_sits_down_before_its_files_are_recorded(house):
    workflow = house.plain()
    house.note("PostToolUse", paths=["before.py"])
    house.note("UserPromptSubmit", workflow=workflow.ulid, by="name")
    house.note("PostToolUse", paths=["after.py"])
    house.fold()
    assert (bound(house, "S1"), house.files(workflow)) == (workflow.id, ["after.py"])


def test_of_thousands_of_files_the_newest_are_kept(house):
    workflow = house.plain(session="S1")
    for number in range(0, 3000, 100):
        house.note("PostToolUse", paths=[f"f{number + one}" for one in range(100)])
    house.fold()
    assert house.files(workflow) == [f"f{number}" for number in range(2900, 3000)]


def test_a_finished_compaction_is_in_the_history(house):
    workflow = house.plain(session="S1")
    house.note("PostCompact", trigger="auto")
    house.note("PostCompact", trigger="no word")
    house.fold()
    entries = [one["entry"] for one in house.state(workflow).history if "entry" in one]
    assert [(one["event"], one.get("trigger")) for one in entries] == [("compaction_finished", "auto"),
                                                                        ("compaction_finished", None)]  # fmt: skip


def test_what_a_real_hook_leaves_is_understood(house):
    """Through the process that a host starts, with the host's own words."""
    workflow = house.plain(session="S1")
    written = {"tool_name": "Write", "tool_input": {"file_path": str(house.root / "src/a.py")}}
    hooked(house, "PostToolUse", **written)
    hooked(house, "SubagentStart", agent_id="a1", agent_type="Explore")
    hooked(house, "PostCompact", trigger="auto")
    assert house.left() == ["inbox"]
    house.fold()
    state = house.state(workflow)
    assert (house.files(workflow), list(state.leases)) == (["src/a.py"], ["a1"])
    assert state.history[-1]["entry"]["event"] == "compaction_finished"


def hooked(house, name, **more):
    event = {"hook_event_name": name, "session_id": "S1", "cwd": str(house.root), **more}
    command = [sys.executable, "-I", "-S", str(RUN)]
    done = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, cwd=house.root)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


# Binding


def test_a_prompt_that_names_a_workflow_binds_the_session(house):
    workflow = house.plain()
    house.note("UserPromptSubmit", workflow=workflow.ulid)
    house.note("PostToolUse", paths=["src/a.py"])
    house.fold()
    assert (bound(house, "S1"), house.files(workflow)) == (workflow.id, ["src/a.py"])


def test_a_session_is_where_it_sat_down_last_also_when_it_comes_back(house):
    one, two = house.plain("1"), house.plain("2")
    for expected in (one, two, one):
        house.note("UserPromptSubmit", workflow=expected.ulid)
        house.fold()
        assert bound(house, "S1") == expected.id


def test_a_name_in_a_prompt_binds_a_session_that_is_nowhere_and_moves_none(house):
    """A title may be in any text that somebody pastes; an id is meant."""
    one, two = house.plain("1"), house.plain("2")
    for workflow, by, expected in ((one, "name", one), (two, "name", one), (two, "id", two), (one, "name", two)):
        house.note("UserPromptSubmit", workflow=workflow.ulid, by=by)
        house.note("PostToolUse", paths=[f"{by}.py"])
        house.fold()
        assert bound(house, "S1") == expected.id


def test_within_one_inbox_too_a_name_moves_nobody_who_has_sat_down(house):
    one, two = house.plain("1"), house.plain("2")
    house.note("UserPromptSubmit", workflow=one.ulid, by="name")
    house.note("UserPromptSubmit", workflow=two.ulid, by="name")
    house.note("PostToolUse", paths=["a.py"])
    house.fold()
    assert (bound(house, "S1"), house.files(one), house.files(two)) == (one.id, ["a.py"], [])


def test_a_name_binds_a_session_whose_work_is_over(house):
    one, two = house.plain("1", session="S1"), house.plain("2")
    one.cancel("enough")
    house.note("UserPromptSubmit", workflow=two.ulid, by="name")
    house.fold()
    assert bound(house, "S1") == two.id


def test_a_session_that_went_round_within_one_inbox_is_where_it_ended(house):
    one, two = house.plain("1"), house.plain("2")
    for workflow in (one, two, one):
        house.note("UserPromptSubmit", workflow=workflow.ulid)
        house.note("PostToolUse", paths=[f"{workflow.state.subject}.py"])
    house.fold()
    assert bound(house, "S1") == one.id
    assert (house.files(one), house.files(two)) == (["1.py"], ["2.py"])


def test_a_workflow_that_is_not_there_binds_nobody(house):
    house.plain()
    house.note("UserPromptSubmit", workflow=ulid.new())
    house.note("UserPromptSubmit", workflow="../../x")
    house.note("UserPromptSubmit", workflow=7)
    house.fold()
    assert (bound(house, "S1"), house.left()) == (None, [])


def test_whoever_writes_a_document_by_hand_is_at_that_workflow(house):
    house.plain()
    path = house.account()
    house.note("PostToolUse", paths=["src/a.py", path])
    house.fold()
    state = seats.bound(house.open("human"), "S1")
    assert state is not None
    assert (state.title, state.origin) == ("Case Studies", "adopted")
    assert state.step("phase-2").data == {"files_modified": ["src/a.py"]}


def test_whoever_edits_the_document_of_a_workflow_is_at_it(house):
    other = house.plain(session="S1")
    mine = house.open("human").start("custom", "Database Migration", phases=("Backup", "Migrate"))
    (path,) = house.root.glob("untracked/workflow-state/*/state-*.json")
    assert bound(house, "S1") == other.id
    house.note("PostToolUse", paths=[str(path.relative_to(house.root))])
    house.fold()
    assert bound(house, "S1") == mine.id


# Agents and the end of sessions


def test_agents_that_were_seen_are_listed_and_vanish_when_they_end(house):
    house.plain(session="S1")
    house.note("SubagentStart", agent="a1", type="Explore")
    house.note("SubagentStart", agent="a2", type="no role")
    rows = house.ok("agent", "list", "--json").json["agents"]
    assert [(row["role"], row["stale"]) for row in rows] == [("Explore", False), ("agent", False)]
    house.note("SubagentStop", agent="a1", type="Explore")
    assert [row["role"] for row in house.ok("agent", "list", "--json").json["agents"]] == ["agent"]
    house.note("SubagentStop", agent="a2")
    assert house.ok("agent", "list").out == "nobody is at work\n"


def test_an_agent_that_was_only_seen_keeps_nobody_from_working(house):
    house.plain(session="S1")
    house.note("SubagentStart", agent="a1", type="Explore")
    house.ok("done", "one", env={"CLAUDE_CODE_SESSION_ID": "S2"})


def test_the_end_of_a_session_frees_its_leases_and_locks(house):
    workflow = house.plain(session="S1")
    workflow.start_agent("coder", "one")
    workflow.lock("src/*")
    house.open(session="S2").workflow(workflow.id).lock("docs")
    house.note("SubagentStart", agent="a1", type="Explore")
    house.note("SessionEnd", reason="logout")
    house.fold()
    state = house.state(workflow)
    assert (list(state.leases), list(state.locks)) == ([], ["docs"])
    assert state.history[-1]["entry"] == {**state.history[-1]["entry"], "event": "session_ended", "reason": "logout"}


def test_one_note_that_is_refused_takes_no_other_with_it(house):
    """An agent of the same id is at work for another session, which no host should ever say."""
    workflow = house.plain(session="S1")
    house.open(session="S2").workflow(workflow.id).note("here too")
    house.note("SubagentStart", "S2", agent="a1", type="Explore")
    house.fold()
    workflow.lock("src")
    house.note("SubagentStart", agent="a1", type="Explore")
    house.note("PostToolUse", paths=["src/a.py"])
    house.note("SessionEnd", reason="exit")
    house.fold()
    state = house.state(workflow)
    assert (list(state.leases), state.leases["a1"].session, dict(state.locks)) == (["a1"], "S2", {})
    assert house.files(workflow) == ["src/a.py"]


# Notes in any state


GARBAGE = {
    "no JSON": b"{",
    "nothing": b"",
    "not UTF-8": b'{"session":"S1","event":"\xff"}',
    "deep": b"[" * 100_000,
    "no object": b'["S1"]',
    "no session": b'{"event":"SessionEnd"}',
    "a session that is no text": b'{"event":"SessionEnd","session":7}',
    "an empty session": b'{"event":"SessionEnd","session":""}',
    "a session nobody can write down": b'{"event":"UserPromptSubmit","session":"\\ud800","workflow":"@ULID@"}',
    "a session with control characters": b'{"event":"UserPromptSubmit","session":"a\\u001b[2J","workflow":"@ULID@"}',
    "an event that is none": b'{"event":["SessionEnd"],"session":"S1"}',
    "an unknown event": b'{"event":"Whatever","session":"S1","paths":["x"]}',
    "paths that are none": b'{"event":"PostToolUse","session":"S1","paths":"src"}',
    "odd paths": b'{"event":"PostToolUse","session":"S1","paths":[1,null,"","a\\nb","\\ud800","@LONG@"]}',
    "an agent that is none": b'{"event":"SubagentStart","session":"S1","agent":"../x","type":"Explore"}',
    "an agent without a name": b'{"event":"SubagentStop","session":"S1"}',
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
def test_what_cannot_be_understood_is_left_out_and_the_rest_counts(house, garbage):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["before.py"])
    house.line(garbage.replace(b"@ULID@", workflow.ulid.encode()).replace(b"@LONG@", b"x" * 1001))
    house.note("PostToolUse", paths=["after.py"])
    house.fold()
    state = house.state(workflow)
    assert (house.files(workflow), house.left()) == (["before.py", "after.py"], [])
    assert (list(state.seats), dict(state.leases)) == (["S1"], {})


def test_folding_the_same_notes_twice_leaves_everything_where_it_is(house, tmp_path):
    """A process may die after the journal has them and before they are gone."""
    workflow, other = house.plain(session="S1"), house.plain("2")
    workflow.lock("src")
    house.note("PostToolUse", paths=["a.py"])
    house.note("SubagentStart", agent="a1", type="Explore")
    house.note("SubagentStop", agent="a1")
    house.note("SubagentStart", agent="a2", type="Explore")
    house.note("UserPromptSubmit", "S3", workflow=other.ulid)
    house.note("PostToolUse", "S3", paths=["b.py"])
    house.note("SubagentStart", "S3", agent="a3", type="Explore")
    house.note("SessionEnd", "S3", reason="exit")
    shutil.copy(house.inbox, tmp_path / "copy")

    def folded():
        fold(house.open("human"))
        states = (house.state(workflow), house.state(other))
        return [(one.progress, list(one.leases), one.locks, list(one.seats)) for one in states]

    before = folded()
    assert [one[1] for one in before] == [["a2"], []]
    shutil.move(tmp_path / "copy", house.home / f"inbox-{ulid.new()}")
    assert (folded(), house.left()) == (before, [])


def test_what_a_process_that_died_had_taken_is_folded_with_the_next_notes(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["old.py"])
    house.inbox.rename(house.home / f"inbox-{'0' * 26}")
    house.note("PostToolUse", paths=["new.py"])
    house.fold()
    assert (house.files(workflow), house.left()) == (["old.py", "new.py"], [])


def test_a_file_that_only_looks_like_notes_is_left_alone(house):
    house.plain(session="S1")
    for name in ("inbox-x", "inbox-../x".replace("/", "_"), f"inbox-{ulid.new()}.bak"):
        (house.home / name).write_text("mine")
    house.note("PostToolUse", paths=["a.py"])
    house.fold()
    assert len(house.left()) == 3


def test_notes_that_somebody_still_writes_wait_for_the_next_time(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["a.py"])
    with house.inbox.open("rb") as hook:
        fcntl.flock(hook, fcntl.LOCK_EX)
        house.fold()
        assert (house.files(workflow), len(house.left())) == ([], 1)
    house.note("PostToolUse", paths=["b.py"])
    house.fold()
    assert (house.files(workflow), house.left()) == (["a.py", "b.py"], [])


def test_notes_are_kept_while_another_process_holds_the_workflow(house):
    workflow = house.plain(session="S1")
    house.note("PostToolUse", paths=["a.py"])
    hasty = house.open("human").wired.settings.replace(lock_wait=0.01)
    project = Project(bootstrap.wire(places.find(str(house.root)), hasty))
    with open(project.wired.store.file_of(workflow.ulid), "rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        fold(project)
        assert len(house.left()) == 1
    fold(project)
    assert (house.files(workflow), house.left()) == (["a.py"], [])


def test_a_link_in_the_place_of_the_inbox_is_not_followed(house, tmp_path):
    workflow = house.plain(session="S1")
    elsewhere = tmp_path / "elsewhere"
    house.note("PostToolUse", paths=["a.py"])
    house.inbox.rename(elsewhere)
    house.inbox.symlink_to(elsewhere)
    house.fold()
    assert (house.files(workflow), elsewhere.exists()) == ([], True)


def test_a_folder_or_a_pipe_in_the_place_of_the_inbox_stops_nobody(house):
    workflow = house.plain(session="S1")
    house.inbox.mkdir()
    house.ok("status")
    os.mkfifo(house.inbox)
    house.ok("status")
    house.note("PostToolUse", paths=["a.py"])
    house.ok("status")
    assert house.files(workflow) == ["a.py"]


def test_notes_about_a_workflow_that_is_over_are_forgotten(house):
    workflow = house.plain(session="S1")
    workflow.lock("src")
    workflow.cancel("enough")
    before = house.state(workflow)
    house.note("PostToolUse", paths=["a.py"])
    house.note("UserPromptSubmit", workflow=workflow.ulid)
    house.note("PostToolUse", paths=["b.py"])
    house.fold()
    after = house.state(workflow)
    assert (after.progress, house.left(), bound(house, "S1")) == (before.progress, [], None)
