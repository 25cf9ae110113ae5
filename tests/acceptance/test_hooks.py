"""What an agent knows after its context was compacted: hooks of its host save the work's state and give it back."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import pytest

from tests.acceptance.checkout import Checkout
from tests.acceptance.hosting import CodexSession, Session, happened, jq, logged, said, state_files

COMPACTIONS = 50
FOLDER = "untracked/workflow-state"
READING = ("docs/guide.md", "docs/rollback plan.md")
REMINDERS = ("Back the database up before each phase", "Never touch “prod” – ask first")
CONTEXT = {"source_db": "postgres", "records_migrated": 15000}
LOCAL = """\
# Current Workflow State

Workflow: Page Orchestration - Case Studies
Phase: 4/10 - SEO Generation

@CLAUDE/PageOrchestration.md

## Key Reminders
- Ask for images early
"""
PLAN = """\
# Plan 7: User Login

**Status**: 🔄 In Progress

Read CLAUDE/PlanWorkflow.md first.

### Phase 1: Design ✅
### Phase 2: Build 🔄
### Phase 3: Test
"""


@pytest.fixture
def house(tmp_path):
    made = Checkout(tmp_path / "house")
    for name in READING:
        made.write(name, "Read me.\n")
    return made


def start(session: Session, title: str = "Database Migration") -> str:
    """Begins a workflow with everything a state file can hold; its id."""
    words = ["start", "custom", title, "--phases", "Backup,Transform,Verify"]
    words += [word for path in READING for word in ("--read", path)]
    words += [word for text in REMINDERS for word in ("--remind", text)]
    words += [word for key, value in CONTEXT.items() for word in ("--set", f"{key}={json.dumps(value)}")]
    return str(session.ok(*words, "--json").json["workflow_id"])


def account(title: str, created: str, **more: Any) -> dict[str, Any]:
    """A state file as agents write it by themselves."""
    return {
        "workflow": title,
        "workflow_type": "custom",
        "phase": {"current": 3, "total": 5, "name": "Data Transformation", "status": "in_progress"},
        "required_reading": ["@docs/guide.md"],
        "context": {"target_db": "mysql"},
        "key_reminders": ["Validate afterwards"],
        "created_at": created,
        **more,
    }


def without_ids(packet: str) -> list[str]:
    return [line for line in packet.splitlines() if not line.startswith("Packet: ")]


def test_fifty_compactions_in_a_row_lose_nothing(house):
    session = Session(house, "S1")
    id = start(session)
    session.ok("done", "backup")
    (path,) = state_files(house)
    before = (house.root / path).read_bytes()
    packets = [session.compact("manual" if number % 2 else "auto") for number in range(COMPACTIONS)]

    assert state_files(house) == [path]
    assert said((house.root / path).read_bytes()) == said(before)
    document = json.loads(before)
    assert document["required_reading"] == [f"@{name}" for name in READING]
    assert (document["key_reminders"], document["context"]) == (list(REMINDERS), CONTEXT)
    assert document["phase"] == {"current": 2, "total": 3, "name": "Transform", "status": "in_progress"}

    assert happened(house, id, "compacted") == happened(house, id, "compaction_finished") == COMPACTIONS
    assert {tuple(without_ids(packet)) for packet in packets} == {tuple(without_ids(packets[0]))}
    assert len(set(packets)) == COMPACTIONS
    lines = packets[-1].splitlines()
    for line in (
        "Workflow: Database Migration",
        "Phase: 2/3 - Transform (in_progress)",
        *(f"@{name}" for name in READING),
        *(f"- {text}" for text in REMINDERS),
        '  "source_db": "postgres",',
        '  "records_migrated": 15000',
        f"Next command: holdfast done transform -w {id}",
    ):
        assert line in lines, packets[-1]
    assert logged(house) == ""


def test_what_an_agent_edits_between_hooks_stays_edited(house):
    session = Session(house, "S1")
    id = start(session)
    (path,) = state_files(house)
    for number, program in enumerate(
        (
            '.phase = {current: 2, total: 3, name: "Transform", status: "in_progress"} | .owner = {name: "ada"}',
            '.context.records_migrated = 20000 | .context.tables = ["users", {"orders": null}]',
            '.key_reminders += ["Tables first"] | .required_reading += ["@notes.txt"]',
            '.phase.current = 3 | .phase.name = "Verify" | .phase.status = "blocked"',
        ),
        1,
    ):
        written = jq(house, path, program)
        packet = session.compact()
        assert said(house.read(path)) == said(written)
        phase = written["phase"]
        line = f"Phase: {phase['current']}/{phase['total']} - {phase['name']} ({phase['status']})"
        assert line in packet.splitlines()
        assert happened(house, id, "compacted") == number
    packet = session.start("resume")
    assert "- Tables first" in packet.splitlines()
    assert "@notes.txt" in packet.splitlines()
    assert '"tables": ["users", {"orders": null}]' in packet
    assert house.ok("status", "-w", id, "--json").json["status"] == "blocked"


def test_an_edit_and_the_engine_s_own_step_both_count(house):
    session = Session(house, "S1")
    start(session)
    (path,) = state_files(house)
    jq(house, path, '.key_reminders += ["Mine"] | .team = "blue"')
    session.ok("done", "backup")
    session.compact()
    after = json.loads(house.read(path))
    assert (after["phase"]["current"], after["key_reminders"][-1], after["team"]) == (2, "Mine", "blue")


@pytest.mark.parametrize("event", ["SessionStart", "PreCompact"])
@pytest.mark.parametrize("folder", ["database-migration", "other"])
@pytest.mark.parametrize("damage", [b"", b'{"workflow": "Database Mi', b"[]"], ids=["empty", "torn", "a list"])
def test_a_corrupt_state_file_does_not_hide_the_older_one_that_is_whole(house, event, folder, damage):
    session = Session(house, "S1")
    whole = f"{FOLDER}/database-migration/state-database-migration-20251209_160000.json"
    corrupt = f"{FOLDER}/{folder}/state-{folder}-20251210_160000.json"
    house.write(whole, json.dumps(account("Database Migration", "2025-12-09T16:00:00Z")))
    house.write(corrupt, "")
    (house.root / corrupt).write_bytes(damage)
    now = time.time()
    os.utime(house.root / whole, (now - 120, now - 120))
    os.utime(house.root / corrupt, (now - 60, now - 60))

    fields = {"source": "compact"} if event == "SessionStart" else {"trigger": "auto", "custom_instructions": None}
    told = session.send(event, **fields)
    text = told.context if event == "SessionStart" else told.text
    for line in ("Workflow: Database Migration", "Phase: 3/5 - Data Transformation (in_progress)", "@docs/guide.md"):
        assert line in text.splitlines(), text
    assert (house.root / corrupt).read_bytes() == damage
    assert f"{event} {corrupt} is not a JSON object" in logged(house)


def test_three_sessions_each_get_their_own_workflow_back(house):
    """Bound by starting it, by a person who names it in a prompt, and by writing its state file."""
    first, second, third = (Session(house, name) for name in ("S1", "S2", "S3"))
    started = start(first)
    named = str(house.ok("start", "qa-loop", "Nightly QA", "--json").json["workflow_id"])
    second.prompt("Please continue with the nightly qa.")
    path = f"{FOLDER}/release-notes/state-release-notes-20251209_160000.json"
    written = "release-notes-20251209_160000"
    house.write(path, json.dumps(account("Release Notes", "2025-12-09T16:00:00Z")))
    third.after("Write", file_path=str(house.root / path), content=house.read(path))

    titles = {started: "Database Migration", named: "Nightly QA", written: "Release Notes"}
    positions = {started: "step 1/3 ", named: "step 1/3 ", written: "step 3/5 "}
    for _ in range(2):
        for session, own in ((third, written), (first, started), (second, named)):
            lines = session.compact().splitlines()
            assert f"Workflow: {titles[own]}" in lines
            listed = [line for line in lines if line.startswith("- ") and line.endswith(", in_progress")]
            others = sorted(f'- {id} "{titles[id]}": {positions[id]}' for id in titles if id != own)
            assert len(listed) == len(others), lines
            assert all(map(str.startswith, sorted(listed), others)), lines
    assert [happened(house, id, "compacted") for id in titles] == [2, 2, 2]


def test_another_prompt_binds_a_session_to_another_workflow_by_its_id(house):
    """A title may be in any text, so it moves nobody away from the work they are at."""
    session = Session(house, "S1")
    migration = start(session)
    id = str(house.ok("start", "qa-loop", "Nightly QA", "--json").json["workflow_id"])
    session.prompt("Is the nightly qa of any use for this?")
    assert "Workflow: Database Migration" in session.compact().splitlines()
    session.prompt(f"Now look after {id}")
    assert "Workflow: Nightly QA" in session.compact().splitlines()
    session.prompt("And what about the database migration?")
    assert "Workflow: Nightly QA" in session.compact().splitlines()
    session.prompt(f"I mean {migration}.")
    assert "Workflow: Database Migration" in session.compact().splitlines()
    session.prompt("Continue.")
    assert "Workflow: Database Migration" in session.compact().splitlines()


def test_an_agent_that_takes_back_what_it_wrote_a_moment_ago_is_heard(house):
    session = Session(house, "S1")
    id = start(session)
    (path,) = state_files(house)
    for _ in range(3):
        jq(house, path, '.phase.status = "blocked"')
        assert session.ok("status", "-w", id, "--json").json["status"] == "blocked"
        jq(house, path, '.phase.status = "in_progress"')
        assert "Phase: 1/3 - Backup (in_progress)" in session.compact().splitlines()


def test_a_compaction_of_which_nobody_was_told_before_is_counted_when_the_session_comes_back(house):
    """The hook before it was killed, or the host had none. A session is counted once until it has caught up."""
    house.write(".holdfast/config.toml", "[resume]\nrequire_ack = true\n")
    session = Session(house, "S1")
    id = start(session)
    packets = [session.start("compact") for _ in range(3)]
    assert happened(house, id, "compacted") == 1
    assert len(set(packets)) == 1
    assert session.refused("done", "backup")["code"] == "not_caught_up"
    (packet,) = {line.split()[1].rstrip(",") for line in packets[0].splitlines() if line.startswith("Packet: ")}
    session.ok("ack", packet)
    session.ok("done", "backup")
    session.start("resume")
    assert happened(house, id, "compacted") == 1
    session.start("compact")
    assert happened(house, id, "compacted") == 2


def test_a_packet_stays_below_what_hosts_show_whatever_is_configured(house):
    house.write(".holdfast/config.toml", "[resume]\npacket_limit = 50000\n")
    session = Session(house, "S1")
    id = start(session)
    session.ok("remind", *(f"{number} {'x' * 1000}" for number in range(40)))
    assert 9000 < len(session.compact()) <= 9500
    assert len(session.ok("resume-packet", "-w", id).out) > 9500


def test_notes_and_plans_that_nobody_registered_are_saved_and_restored(house):
    session = Session(house, "S1")
    house.write("CLAUDE.local.md", LOCAL)
    house.write("CLAUDE/Plan/007-user-login/PLAN.md", PLAN)
    for name in ("CLAUDE/PageOrchestration.md", "CLAUDE/PlanWorkflow.md"):
        house.write(name, "Read me.\n")
    assert (session.start("startup"), state_files(house)) == ("", [])

    packet = session.compact()
    page, plan = (json.loads(house.read(path)) for path in state_files(house))
    assert page["workflow"] == "Page Orchestration - Case Studies"
    assert page["phase"] == {"current": 4, "total": 10, "name": "SEO Generation", "status": "in_progress"}
    assert page["required_reading"] == ["@CLAUDE/PageOrchestration.md"]
    assert page["key_reminders"] == ["Ask for images early"]
    assert (plan["workflow"], plan["workflow_type"]) == ("Plan 007: User Login", "implementation")
    assert plan["phase"] == {"current": 2, "total": 3, "name": "Build", "status": "in_progress"}
    assert plan["required_reading"] == ["@CLAUDE/Plan/007-user-login/PLAN.md", "@CLAUDE/PlanWorkflow.md"]
    assert plan["context"] == {"plan_number": 7, "plan_name": "User Login"}

    lines = packet.splitlines()
    assert "Workflow: Plan 007: User Login" in lines
    assert "Phase: 2/3 - Build (in_progress)" in lines
    assert "@CLAUDE/PlanWorkflow.md" in lines
    assert (
        sum(
            "page-orchestration" in line and ": step 4/10 " in line and line.endswith(", in_progress") for line in lines
        )
        == 1
    )


def test_a_plan_that_is_done_is_not_restored_any_more(house):
    session = Session(house, "S1")
    house.write("CLAUDE/Plan/007-user-login/PLAN.md", PLAN)
    assert "Workflow: Plan 007: User Login" in session.compact().splitlines()
    house.write("CLAUDE/Plan/007-user-login/PLAN.md", PLAN.replace("🔄 In Progress", "✅ Complete"))
    told = session.compact()
    assert "so the workflow ended" in told
    assert "RESTORED" not in told
    assert (session.compact(), state_files(house)) == ("", [])


def test_notes_that_change_are_followed_and_never_write_over_what_the_agent_wrote(house):
    session = Session(house, "S1")
    house.write("CLAUDE.local.md", LOCAL)
    session.compact()
    (path,) = state_files(house)
    created = json.loads(house.read(path))["created_at"]

    house.write("CLAUDE.local.md", LOCAL.replace("4/10 - SEO Generation", "5/10 - Review") + "- Check all links\n")
    session.compact()
    followed = json.loads(house.read(path))
    assert followed["phase"] == {"current": 5, "total": 10, "name": "Review", "status": "in_progress"}
    assert followed["key_reminders"] == ["Ask for images early", "Check all links"]

    edited = jq(
        house,
        path,
        '.phase.current = 7 | .phase.name = "Publishing" | .key_reminders = ["Mine alone"] | .context.page = "a"',
    )
    for _ in range(3):
        assert "Phase: 7/10 - Publishing (in_progress)" in session.compact().splitlines()
        assert said(house.read(path)) == said(edited)

    house.write("CLAUDE.local.md", house.read("CLAUDE.local.md") + "- Tell the customer\n")
    session.compact()
    after = json.loads(house.read(path))
    assert said(after) == {**said(edited), "key_reminders": ["Mine alone", "Tell the customer"]}
    assert (state_files(house), after["created_at"]) == ([path], created)


def test_a_session_that_begins_is_only_told_that_there_is_work(house):
    owner, stranger = Session(house, "S1"), Session(house, "S2")
    id = start(owner)
    for source in ("startup", "clear"):
        told = stranger.start(source)
        assert told == (
            f'Holdfast holds unfinished work here: {id} "Database Migration": step 1/3 "Backup" (backup), in_progress.'
            f" To take it up: holdfast resume-packet -w {id}"
        )
        assert owner.start(source).splitlines()[0] == "===== WORKFLOW RESUMED ====="
    assert owner.start("resume").splitlines()[0] == "===== WORKFLOW RESUMED ====="
    assert "Workflow: Database Migration" in stranger.start("resume").splitlines()
    assert stranger.start("compact").splitlines()[0] == "===== WORKFLOW RESTORED AFTER COMPACTION ====="
    owner.ok("block", "backup", "--reason", "No key.")
    assert ' "Backup" (backup), blocked, No key. To take it up: ' in Session(house, "S3").start("startup")


def test_where_nothing_goes_on_nobody_is_told_anything(house):
    session = Session(house, "S1")
    for source in ("startup", "resume", "clear", "compact", "fork"):
        assert session.start(source) == ""
    assert session.send("PreCompact", trigger="manual", custom_instructions="keep the names").text == ""
    assert not (house.root / ".holdfast").exists()
    id = start(session)
    for step in ("backup", "transform", "verify"):
        session.ok("done", step)
    assert (session.compact(), state_files(house), happened(house, id, "compacted")) == ("", [], 0)


def test_from_a_folder_deep_in_the_project_hooks_find_it(house):
    (house.root / "deep" / "down").mkdir(parents=True)
    session = Session(house, "S1", cwd=str(house.root / "deep" / "down"))
    id = start(session)
    assert "Workflow: Database Migration" in session.compact().splitlines()
    assert happened(house, id, "compacted") == 1
    assert not (house.root / "deep" / "down" / ".holdfast").exists()


def test_codex_is_told_at_the_start_and_not_before_a_compaction(house):
    """It compacts in another order, and would pass nothing on to its summariser."""
    session = CodexSession(house, "0199f3a1-0000-7000-8000-000000000001")
    id = start(session)
    (path,) = state_files(house)
    before = house.read(path)
    first, second = session.compact(), session.compact("manual")
    assert first.splitlines()[0] == "===== WORKFLOW RESTORED AFTER COMPACTION ====="
    assert without_ids(first) == without_ids(second)
    assert first != second
    assert said(house.read(path)) == said(before)
    assert happened(house, id, "compacted") == happened(house, id, "compaction_finished") == 2


def test_the_summariser_of_claude_code_is_told_what_to_keep(house):
    session = Session(house, "S1")
    id = start(session)
    lines = session.send("PreCompact", trigger="auto", custom_instructions=None).text.splitlines()
    assert lines[0] == "Keep in the summary, word for word:"
    for line in (
        "Phase: 1/3 - Backup (in_progress)",
        f"Next command: holdfast done backup -w {id}",
        "@docs/guide.md",
        f"- {REMINDERS[0]}",
        f"If no resume packet came with it, run: holdfast resume-packet -w {id}",
    ):
        assert line in lines
