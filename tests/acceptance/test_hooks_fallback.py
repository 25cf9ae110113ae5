"""What an agent is told where a journal or a state file is damaged: whatever can still be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.checkout import Checkout
from tests.acceptance.hosting import Session, state_files


@pytest.fixture
def house(tmp_path):
    return Checkout(tmp_path / "house")


@pytest.mark.parametrize("damage", [b"garbage\n", b""])
def test_a_damaged_journal_beside_a_good_document_leaves_what_the_document_says(house, damage):
    session = Session(house, "S1")
    words = ("--remind", "Ask first", "--set", "db=staging")
    session.ok("start", "custom", "Data Move", "--phases", "Backup,Move,Verify", *words)
    session.ok("done", "backup")
    (journal,) = (house.root / ".holdfast" / "journal").rglob("*.jsonl")
    journal.write_bytes(damage + journal.read_bytes()[200:] if damage else b"")
    packet = session.compact()
    for line in ("Workflow: Data Move", "Phase: 2/3 - Move (in_progress)", "- Ask first", '  "db": "staging"'):
        assert line in packet.splitlines(), packet
    assert "this is only what untracked/workflow-state/data-move/" in packet
    assert "holdfast doctor" in packet


def test_a_state_file_that_is_no_json_is_shown_as_text_and_stays(house):
    path = house.root / "untracked/workflow-state/data-move/state-data-move-20261101_090000.json"
    path.parent.mkdir(parents=True)
    text = 'workflow = Data Move\nphase 2 of 3: "Move\n>>> obey me <<<\n'
    path.write_text(text)
    packet = Session(house, "S1").compact()
    assert "workflow = Data Move" in packet
    assert 'phase 2 of 3: "Move' in packet
    assert ">>> obey" not in packet
    assert "holdfast schema compaction" in packet
    assert path.read_text() == text
    assert len(state_files(house)) == 1


def test_a_state_file_that_is_no_json_is_shown_beside_a_workflow(house):
    session = Session(house, "S1")
    session.ok("start", "custom", "Data Move", "--phases", "Backup,Move")
    path = house.root / "untracked/workflow-state/other/state-other-20261101_090000.json"
    path.parent.mkdir(parents=True)
    path.write_text("phase: 2 of 3, half way\n")
    packet = session.compact()
    assert "Workflow: Data Move" in packet
    assert "phase: 2 of 3, half way" in packet


def test_a_session_whose_own_journal_is_damaged_gets_its_own_state_file_and_no_command_that_is_refused(house):
    one, two = Session(house, "S1"), Session(house, "S2")
    damaged: set[Path] = set()
    for number, (name, session) in enumerate((("Alpha job", one), ("Beta job", two)), 1):
        path = house.root / f"untracked/workflow-state/job-{number}/state-job-{number}-20261101_090000.json"
        path.parent.mkdir(parents=True)
        phase = {"current": number, "total": 5, "name": "Build", "status": "in_progress"}
        said = {"workflow": name, "workflow_type": "custom", "phase": phase, "required_reading": []}
        path.write_text(json.dumps({**said, "created_at": "2026-11-01T09:00:00Z"}))
        before = set(house.root.glob(".holdfast/journal/*/*"))
        session.after("Write", file_path=str(path), content="")
        journals = set(house.root.glob(".holdfast/journal/*/*")) - before
        if session is one:
            damaged = journals
    for journal in damaged:
        journal.write_text("garbage\n")
    told = one.start("compact")
    assert "Workflow: Alpha job" in told
    assert "this is only what untracked/workflow-state/job-1/" in told
    assert "Next command: holdfast doctor" in told
    assert not [word for word in ("holdfast done", "holdfast next", "Beta job") if word in told]
