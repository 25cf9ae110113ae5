"""Whatever is broken, hooks stop nobody: the host gets an empty answer or a good one, and the log says why."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.surfaces.hooks.quick import UNREADABLE
from tests.acceptance.checkout import Checkout
from tests.acceptance.hosting import HANG_SECONDS, Session, happened, line, logged, state_files

EVENTS: dict[str, dict[str, Any]] = {
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "SessionStart": {"source": "compact"},
    "PostCompact": {"trigger": "auto", "compact_summary": "There was a lot of work."},
    "UserPromptSubmit": {"prompt": "Continue with the database migration"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"},
    "PostToolUse": {
        "tool_name": "Write",
        "tool_input": {"file_path": "auth/user.py", "content": ""},
        "tool_use_id": "toolu_1",
        "tool_response": {},
        "duration_ms": 7,
    },
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Done for now."},
    "SubagentStart": {"agent_id": "a1", "agent_type": "Explore"},
    "SubagentStop": {"agent_id": "a1", "agent_type": "Explore", "stop_hook_active": False},
    "SessionEnd": {"reason": "other"},
}
RESTORED = "Workflow: Database Migration"
NOT_EVENTS = {
    "nothing": b"",
    "a space": b" \n",
    "torn": b'{"hook_event_name": "PreCom',
    "no UTF-8": b'\xff\xfe{"a": "\xc3("}',
    "a list": b"[]",
    "a number": b"5",
    "nothing named": b"{}",
    "a number named": b'{"hook_event_name": 5}',
    "two events": b'{"hook_event_name": "Stop"} {"hook_event_name": "Stop"}',
    "no number": b'{"hook_event_name": "Stop", "cwd": NaN}',
    "nested": b'{"hook_event_name": ' + b"[" * 100_000,
}


@pytest.fixture
def house(tmp_path):
    return Checkout(tmp_path / "house")


@pytest.fixture
def session(house):
    """At work on a workflow that it must not leave half done."""
    house.write(".holdfast/config.toml", "[resume]\nkeep_going = true\n")
    made = Session(house, "S1")
    made.ok("start", "custom", "Database Migration", "--phases", "Backup,Verify")
    return made


def replaced(path: Path, kind: str) -> None:
    """Something else is where a file of Holdfast's should be."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "empty":
            path.write_bytes(b"")
        case "garbage":
            path.write_bytes(b"\x00{broken\xff\n")


def everything(session: Session) -> dict[str, str]:
    """What comes back for every event that a host sends. That each one ends well is seen to by the session."""
    return {name: session.send(name, **fields).text for name, fields in EVENTS.items()}


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process is in the middle of something, and does not get on."""
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def journal(house: Checkout) -> Path:
    (found,) = (house.root / ".holdfast" / "journal").glob("*/*.jsonl")
    return found


@pytest.mark.parametrize("data", NOT_EVENTS.values(), ids=NOT_EVENTS.keys())
def test_what_is_no_event_gets_no_answer_and_a_line_in_the_log(session, data):
    assert session.receive("Stop", data).text == ""
    assert "the event was not understood" in logged(session.checkout)
    assert RESTORED in session.compact()


def test_events_of_a_host_to_come_and_fields_of_other_kinds_are_nothing_to_worry_about(session):
    def sent(name: str, **fields: Any) -> str:
        return session.receive(name, json.dumps({**session.event(name, **EVENTS[name]), **fields}).encode()).text

    assert session.receive("Stop", b'{"hook_event_name": "Teatime", "session_id": "S1"}').text == ""
    for name in EVENTS:
        for odd in (None, ["x"], "\x00\n\x1b[31m", "x" * 100_000):
            sent(name, session_id=odd)
            sent(name, cwd=odd)
    for name, fields in EVENTS.items():
        for field in fields:
            sent(name, **{field: {"a": [None]}})
    assert RESTORED in session.compact()


def test_a_host_that_never_closes_its_end_is_not_waited_for(session):
    process = subprocess.Popen(
        shlex.split(line()),
        cwd=session.cwd,
        env={**session.checkout.env, **session.env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdin
        process.stdin.write(b'{"hook_event_name": "PreCompact", ')
        process.stdin.flush()
        assert process.wait(HANG_SECONDS) == 0
        assert process.stdout
        assert process.stderr
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    finally:
        process.kill()
        process.communicate()
    assert "took too long" in logged(session.checkout)


@pytest.mark.parametrize("kind", ["gone", "empty", "garbage"])
@pytest.mark.parametrize("name", ["index", "guard"])
def test_views_that_are_broken_are_made_anew_and_nothing_is_forgotten(session, name, kind):
    replaced(session.checkout.root / ".holdfast" / name, kind)
    answers = everything(session)
    assert "Database Migration" in answers["PreCompact"]
    assert RESTORED in answers["SessionStart"]
    assert RESTORED in session.compact()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
@pytest.mark.parametrize("name", ["guard", "inbox", "hook.log", "config.toml"])
def test_what_should_be_a_file_and_is_none_hides_no_workflow_for_long(session, name, kind):
    replaced(session.checkout.root / ".holdfast" / name, kind)
    everything(session)
    replaced(session.checkout.root / ".holdfast" / name, "gone")
    assert RESTORED in session.compact()


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_an_index_that_is_no_file_stops_nobody_and_the_session_hears_of_it(session, kind):
    index = session.checkout.root / ".holdfast" / "index"
    replaced(index, kind)
    answers = everything(session)
    assert answers["PreCompact"] == ""
    assert UNREADABLE in answers["SessionStart"]
    log = logged(session.checkout)
    assert " PreCompact " in log
    assert " SessionStart " in log
    replaced(index, "gone")
    assert RESTORED in session.compact()


def assert_only_the_document_is_told(answer):
    assert RESTORED in answer
    assert "this is only what untracked/workflow-state/database-migration/" in answer
    assert "Next command: holdfast doctor" in answer


def test_a_session_whose_journal_is_broken_is_not_given_the_work_of_another(house, session):
    own = journal(house)
    house.ok("start", "custom", "Other work", "--phases", "one,two")
    assert RESTORED in session.compact()
    replaced(own, "garbage")
    answers = everything(session)
    assert answers["PreCompact"] == ""
    assert_only_the_document_is_told(answers["SessionStart"])
    assert "Other work" not in "".join(answers.values())


@pytest.mark.parametrize("damage", ["empty", "garbage", "folder", "pipe"])
def test_a_journal_that_is_broken_is_told_to_the_session_and_the_log_says_which(house, session, damage):
    path = journal(house)
    before = path.read_bytes()
    replaced(path, damage)
    answers = everything(session)
    assert answers["PreCompact"] == ""
    if damage == "folder":
        assert UNREADABLE in answers["SessionStart"]
    else:
        assert_only_the_document_is_told(answers["SessionStart"])
    for event in ("PreCompact", "SessionStart"):
        assert any(f" {event} " in said and path.name in said for said in logged(house).splitlines())
    replaced(path, "gone")
    path.write_bytes(before)
    assert RESTORED in session.compact()


@pytest.mark.parametrize("damage", ["empty", "garbage", "folder"])
def test_a_broken_journal_hides_no_other_workflow(house, session, damage):
    broken = journal(house)
    other = Session(house, "S2")
    other.ok("start", "qa-loop", "Nightly QA", "--remind", "Be patient")
    replaced(broken, damage)
    house.write("CLAUDE.local.md", "# Workflow State\n\nWorkflow: Spring Cleaning\nPhase: 1/2 - Attic\n")
    os.utime(house.root / "CLAUDE.local.md", (0, 0))  # newer notes would be what the session has turned to
    for _ in range(2):
        lines = other.compact().splitlines()
        assert "Workflow: Nightly QA" in lines
        assert "- Be patient" in lines
        other.after("Write", file_path=str(house.root / state_files(house)[0]), content="")
    assert broken.name in logged(house)


def test_a_broken_configuration_is_told_to_the_log_and_the_packet_comes_all_the_same(house, session):
    for text in ("[resume\n", "[resume]\npacket_limit = 5\n", "[resume]\nlimit = 5000\n", "\x00"):
        house.write(".holdfast/config.toml", text)
        (house.root / ".holdfast" / "hook.log").unlink(missing_ok=True)
        assert RESTORED in session.compact()
        assert "SessionStart 1 mistake in the configuration: .holdfast/config.toml" in logged(house)


def test_where_holdfast_s_folder_is_a_file_there_are_no_hooks(house):
    session = Session(house, "S1")
    house.write(".holdfast", "not a folder\n")
    house.write("CLAUDE.local.md", "# Workflow State\n\nWorkflow: Spring Cleaning\nPhase: 1/2 - Attic\n")
    assert not any(everything(session).values())
    assert (house.read(".holdfast"), state_files(house)) == ("not a folder\n", [])


@pytest.mark.parametrize("name", ["untracked", "untracked/workflow-state"])
def test_where_state_files_cannot_be_written_nobody_is_stopped(house, name):
    """A file is where their folder should be."""
    session = Session(house, "S1")
    house.write(name, "in the way\n")
    house.write("CLAUDE.local.md", "# Workflow State\n\nWorkflow: Spring Cleaning\nPhase: 1/2 - Attic\n")
    everything(session)
    assert house.read(name) == "in the way\n"


def test_pipes_where_files_should_be_keep_nobody_waiting(house, session):
    folder = house.root / "untracked/workflow-state/other"
    folder.mkdir()
    os.mkfifo(folder / "state-other-20251209_160000.json")
    os.mkfifo(house.root / "CLAUDE.local.md")
    (house.root / "CLAUDE/Plan/001-x").mkdir(parents=True)
    os.mkfifo(house.root / "CLAUDE/Plan/001-x/PLAN.md")
    assert RESTORED in everything(session)["SessionStart"]
    assert RESTORED in session.compact()
    assert "took too long" not in logged(house)


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_lies_in_place_of_the_session_s_own_state_file_stops_nobody(house, session, kind):
    (path,) = state_files(house)
    before = house.read(path)
    replaced(house.root / path, kind)
    answers = everything(session)
    assert RESTORED in answers["SessionStart"] or " SessionStart " in logged(house)
    replaced(house.root / path, "gone")
    house.write(path, before)
    assert RESTORED in session.compact()


@pytest.mark.parametrize("lock", [".", "slots", "starting", "state", "journal"])
def test_a_process_that_holds_a_lock_keeps_the_host_from_nothing(house, session, lock):
    home = house.root / ".holdfast"
    paths: dict[str, Callable[[], list[Path]]] = {
        "state": lambda: sorted((home / "state").iterdir()),
        "journal": lambda: [journal(house)],
    }
    with contextlib.ExitStack() as stack:
        for path in paths.get(lock, lambda: [home / lock])():
            stack.enter_context(held(path))
        assert RESTORED in everything(session)["SessionStart"]
    if lock == "journal":
        assert " PreCompact " in logged(house)
        assert journal(house).name in logged(house)
    assert RESTORED in session.compact()


def test_notes_that_came_while_the_workflow_was_locked_are_not_lost(house, session):
    with held(journal(house)):
        session.send("SubagentStart", agent_id="a1", agent_type="Explore")
        session.send("SessionStart", source="compact")
    session.send("PostCompact", trigger="auto", compact_summary="x")
    (id,) = (one["workflow_id"] for one in house.ok("list", "--json").json["workflows"])
    assert happened(house, id, "compaction_finished") == 1
    assert "Explore" in house.ok("agent", "list", "-w", id).out


def test_outside_of_any_project_hooks_leave_nothing_behind(tmp_path, house):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    session = Session(house, "S1", cwd=str(elsewhere))
    session.env["CLAUDE_PROJECT_DIR"] = str(elsewhere)
    assert not any(everything(session).values())
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_is_gone_is_no_reason_to_stop(house, session):
    event = session.event("SessionStart", source="compact")
    told = session.receive("SessionStart", json.dumps({**event, "cwd": "/gone/long/ago"}).encode())
    assert RESTORED in told.context
