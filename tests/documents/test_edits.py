"""Edits of a document by hand: legal ones become events; one in which nothing is legal is refused whole."""

from __future__ import annotations

import gc
import json

import pytest

from holdfast.errors import Conflict, Refused
from holdfast.machine import settings
from holdfast.project.project import open_project

# Legal


def test_moving_the_pointer_finishes_what_is_before_it_and_begins_it(plain):
    plain.jq('.state_machine.current_phase = "two"')
    assert plain.statuses() == {"one": "done", "two": "active", "three": "pending"}
    assert plain.phases() == {"one": "completed", "two": "in_progress", "three": "pending"}
    assert (plain.alerts(), plain.quarantined()) == ([], {})
    assert plain.is_clean()


def test_an_edit_is_one_record_by_the_file(plain):
    plain.jq('.state_machine.current_phase = "two" | .context.k = 1')
    (record,) = plain.look().history(1)
    assert (record.revision, record.command, record.actor.kind) == (2, "edit", "file")
    assert [type(event).__name__ for event in record.events] == ["Edited", "Recorded", "Moved", "Moved", "Moved"]


def test_what_the_workflow_is_about_stays_in_its_document_after_an_edit(plain):
    before = plain.document["context"]
    plain.jq(".context.k = 1")
    assert plain.look().state.context == {"k": 1}
    assert plain.document["context"] == {**before, "k": 1}
    assert "subject" in before


def test_the_status_of_a_phase(desk):
    desk.jq('(.state_machine.phases[] | select(.name == "write")).status = "in_progress"')
    assert desk.statuses()["write"] == "active"
    desk.jq('(.state_machine.phases[] | select(.name == "write")).status = "completed"')
    assert desk.statuses()["write"] == "done"
    assert desk.document["state_machine"]["current_phase"] == "verify"
    assert desk.is_clean()


def test_a_phase_that_is_opened_again(plain):
    plain.look().begin("one").done("one").begin("two")
    plain.jq('.state_machine.phases[0].status = "in_progress"')
    assert plain.statuses() == {"one": "active", "two": "pending", "three": "pending"}


def test_a_checkpoint_is_a_report(desk):
    desk.look().begin("write").done("write").begin("verify")
    desk.jq('.checkpoints.tests = {"status": "completed", "last_run": "2026-01-01T00:00:00Z", "passed": true}')
    evidence = desk.look().state.step("verify").evidence["tests"]
    assert (evidence.passed, evidence.run_by, evidence.by) == (True, "reported", "file")
    desk.look().done("verify")
    assert desk.statuses()["verify"] == "done"


def test_a_checkpoint_and_the_phase_that_needs_it_in_one_edit(desk):
    desk.look().begin("write").done("write").begin("verify")
    desk.jq(
        '.checkpoints.tests = {"status": "completed", "passed": true} | .state_machine.phases[1].status = "completed"'
    )
    assert desk.statuses()["verify"] == "done"
    assert desk.alerts() == []


def test_a_failed_checkpoint_opens_nothing(desk):
    desk.look().begin("write").done("write").begin("verify")
    desk.jq('.checkpoints.tests = {"status": "completed", "passed": false}')
    with pytest.raises(Refused) as caught:
        desk.look().done("verify")
    assert caught.value.code == "gate_unmet"


def test_the_context(desk):
    desk.jq('.context.variant = "B" | .context.files = ["a", {"b": null}]')
    assert desk.look().state.context == {"variant": "B", "files": ["a", {"b": None}]}
    assert desk.document["context"]["variant"] == "B"
    assert desk.is_clean()


def test_an_appended_history_entry_is_kept_in_its_own_words(desk):
    entry = {"at": "2026-01-01T00:00:00Z", "event": "decision", "note": "chose B", "extra": [1]}
    desk.jq(".history += [$entry]", "--argjson", "entry", json.dumps(entry))
    desk.look()
    assert entry in desk.document["history"]
    desk.look().note("later")
    assert desk.document["history"].count(entry) == 1
    assert desk.is_clean()


def test_fields_the_dialect_does_not_know_are_kept_where_they_are(desk):
    desk.jq('.remark = {"deep": [1, 2.50, "ü"]} | .workflow.owner = "ada" | .state_machine.phases[0].note = "mine"')
    desk.look().begin("write").done("write")
    document = desk.document
    assert document["remark"] == {"deep": [1, 2.5, "ü"]}
    assert document["workflow"]["owner"] == "ada"
    assert (
        document["state_machine"]["phases"][0] | {"note": "mine", "status": "completed"}
        == document["state_machine"]["phases"][0]
    )
    assert list(document)[-1] == "remark"
    assert desk.is_clean()


def test_an_added_phase(plain):
    plain.look().begin("one")
    plain.jq('.state_machine.phases += [{"name": "four", "status": "pending"}]')
    assert list(plain.statuses()) == ["one", "two", "three", "four"]
    plain.look().done("one")
    assert plain.phases()["four"] == "pending"


def test_a_phase_that_is_missing_is_put_back(plain):
    plain.jq("del(.state_machine.phases[1])")
    assert list(plain.statuses()) == list(plain.phases()) == ["one", "two", "three"]
    assert plain.alerts() == ["edit_refused"]
    assert "holdfast amend two --retire takes it out" in plain.look().state.alerts[0].message


def test_phases_that_a_document_written_from_memory_leaves_out_are_put_back(plain):
    plain.jq('.state_machine = {current_phase: "one", phases: [{name: "one", status: "in_progress"}]}')
    assert plain.statuses() == {"one": "active", "two": "pending", "three": "pending"}
    (alert,) = plain.look().state.alerts
    assert "reverted: state_machine.phases[two]" in alert.message
    assert "taken: state_machine.phases[one].status" in alert.message
    plain.look().done("one")
    assert not plain.look().state.finished_at


def test_the_whole_workflow_abandoned(desk):
    desk.jq('.workflow.status = "abandoned"')
    assert desk.look().state.cancelled
    assert not desk.path.exists()
    assert json.loads(desk.completed.read_bytes())["workflow"]["status"] == "abandoned"


def test_the_whole_workflow_completed(plain):
    plain.look().begin("one").done("one")
    plain.jq('.workflow.status = "completed"')
    assert plain.look().state.finished_at
    assert json.loads(plain.completed.read_bytes())["workflow"]["status"] == "completed"


def test_the_whole_workflow_blocked_and_going_on(plain):
    plain.look().begin("one")
    plain.jq('.workflow.status = "blocked"')
    assert plain.statuses()["one"] == "blocked"
    plain.jq('.workflow.status = "in_progress"')
    assert plain.statuses()["one"] == "active"


def test_what_follows_from_the_rest_is_put_right_without_a_word(plain):
    plain.look().begin("one")
    plain.jq(
        '.workflow.updated_at = "2000-01-01T00:00:00Z" | .state_machine.phases[0].started_at = "2000-01-01T00:00:00Z"'
    )
    assert plain.look().state.alerts == ()
    assert not plain.document["workflow"]["updated_at"].startswith("2000")


def test_an_edit_made_while_the_process_that_wrote_the_document_still_lives(desk):
    work = desk.look().begin("write")
    desk.jq(".context.k = 1")
    work.done("write")
    assert work.state.context == {"k": 1}
    assert work.state.step("write").status == "done"
    assert desk.document["context"]["k"] == 1


def test_several_edits_one_after_the_other(plain):
    for number in range(5):
        plain.jq(f'.context.k{number} = {number} | .history += [{{event: "mine", number: {number}}}]')
        plain.look()
    assert plain.look().state.context == {f"k{number}": number for number in range(5)}
    assert [entry["number"] for entry in plain.document["history"] if entry["event"] == "mine"] == list(range(5))


# Refused


GATED = '{required: true, by: "human", approved: true, approved_by: "ada", approved_at: "2026-01-01T00:00:00Z"}'
ILLEGAL = {
    "skip a check": ('.state_machine.phases[1].status = "completed"', "step_blocked"),
    "point past a gate": ('.state_machine.current_phase = "publish"', "gate_unmet"),
    "complete everything": ('.workflow.status = "completed"', "gate_unmet"),
    "forge an approval": (f".state_machine.phases[2].approval = {GATED}", "forged"),
    "remove a gate": ("del(.state_machine.phases[2].approval)", "deleted"),
    "loosen a gate": ('.state_machine.phases[2].approval.by = "relayed"', "forged"),
    "leave out a gated phase": ("del(.state_machine.phases[2])", "deleted"),
    "change the id": ('.workflow.id = "release-00000000"', "forged"),
    "remove the id": ("del(.workflow.id)", "deleted"),
    "change the branch": ('.workflow.branch = "other"', "forged"),
    "change the skill": ('._schema.skill = "dev"', "forged"),
    "point nowhere": ('.state_machine.current_phase = "nowhere"', "no_step"),
    "an unknown word": ('.state_machine.phases[0].status = "splendid"', "unknown_word"),
    "phases that are no list": (".state_machine.phases = {}", "wrong_shape"),
    "phases without names": ("del(.state_machine.phases[0].name)", "wrong_shape"),
    "a phase twice": (".state_machine.phases += [.state_machine.phases[0]]", "wrong_shape"),
    "a status that is no word": (".state_machine.phases[0].status = 7", "unknown_word"),
}


@pytest.mark.parametrize(("program", "code"), ILLEGAL.values(), ids=list(ILLEGAL))
def test_an_illegal_edit_is_refused_whole_kept_aside_and_put_right(desk, program, code):
    before = desk.look().state
    machine = desk.document["state_machine"]
    desk.jq(program)
    edited = desk.path.read_bytes()
    state = desk.look().state
    ((kept, reason),) = desk.quarantined().items()
    assert kept == edited
    assert all(line.startswith(("reverted: ", "corrected: ")) for line in reason.splitlines())
    assert f" ({code}): " in reason
    (alert,) = state.alerts
    forged = "approval" in program and code == "forged"
    assert alert.code == ("edit_forged" if forged else "edit_refused")
    assert alert.path == str(desk.path.relative_to(desk.folder))
    assert (desk.folder / alert.kept).read_bytes() == edited
    why = reason.partition(f" ({code}): ")[2].splitlines()[0]
    assert why in alert.message
    assert (state.progress, state.context, state.plan) == (before.progress, before.context, before.plan)
    assert desk.document["state_machine"] == machine
    assert [record.command for record in desk.look().history()] == ["start", "alarm"]
    assert desk.is_clean()


def test_the_next_status_says_what_happened(desk):
    desk.jq('.state_machine.current_phase = "publish"')
    (alert,) = desk.look().status()["alerts"]
    assert alert["code"] == "edit_refused"
    assert "was refused" in alert["message"]


def test_a_forged_approval_opens_nothing(desk):
    desk.look().begin("write").done("write").begin("verify").check("tests", passed=True)
    desk.look().done("verify").begin("sign-off").done("sign-off")
    desk.jq('.state_machine.phases[2].status = "completed"')
    assert desk.statuses()["sign-off"] == "waiting"
    with pytest.raises(Refused):
        desk.look().begin("publish")
    desk.person.approve("sign-off")
    desk.jq('.state_machine.phases[3].status = "in_progress"')
    assert desk.statuses()["publish"] == "active"


ODD = {
    "half a character": b'"\\ud800"',
    "nested very deep": b"[" * 120 + b"]" * 120,
    "nested deeper than the stack": b"[" * 700 + b"]" * 700,
    "nested deeper than can be read": b"[" * 90_000 + b"]" * 90_000,
    "not a number": b"NaN",
    "infinity": b"-Infinity",
    "a huge number": b"1" + b"0" * 5000,
}


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_json_that_cannot_be_kept_is_set_aside_and_not_a_crash(desk, odd):
    gc.collect()  # what earlier tests left is not to be closed where the stack is at its end
    good = desk.path.read_bytes().rstrip()
    desk.path.write_bytes(good[:-2] + b',\n  "odd": ' + odd + b"\n}\n")
    bad = desk.path.read_bytes()
    desk.age()
    assert desk.look().note("still here").state.notes[-1]["text"] == "still here"
    assert list(desk.quarantined()) == [bad]
    assert len(desk.alerts()) == 1
    assert "odd" not in desk.document
    assert desk.is_clean()


def test_an_edit_that_would_make_too_long_a_line_is_refused_and_the_workflow_goes_on(desk):
    document = {**desk.document, "blob": "x" * (9 << 20), "again": "y" * (7 << 20)}
    desk.path.write_text(json.dumps(document))
    huge = desk.path.read_bytes()
    desk.age()
    desk.look().note("still here")
    assert set(desk.alerts()) <= {"edit_refused", "document_damaged"}
    assert "blob" not in desk.document
    assert huge in desk.quarantined()


def test_an_edit_that_meets_a_locked_journal_is_neither_taken_nor_refused(desk):
    """That somebody else is writing is nobody's fault: the edit waits for the next look."""
    desk.jq(".context.k = 1")
    edited = desk.path.read_bytes()
    impatient = open_project(
        str(desk.folder), settings=settings.read({"HOLDFAST_LOCK_WAIT": "1"}, terminal=False, surface="test")
    )
    held = desk.open().wired.store

    def meanwhile(state):
        with pytest.raises(Conflict) as caught:
            impatient.workflow(desk.id)
        assert caught.value.code == "lock_timeout"

    held.commit(held.entries()[0].ulid, meanwhile)
    assert desk.path.read_bytes() == edited
    assert desk.quarantined() == {}
    impatient.workflow(desk.id).note("n")
    assert desk.look().state.context == {"k": 1}
    assert desk.document["context"]["k"] == 1


# Slow editors and several at once


def test_a_slow_jq_does_not_undo_what_happened_meanwhile(plain):
    """It began from an older rendering: only what it changed is taken."""
    older = plain.folder / "older.json"
    older.write_bytes(plain.path.read_bytes())
    plain.look().begin("one").done("one").begin("two").note("meanwhile").record({"chosen": "B"})
    plain.jq('.context.k = 1 | .remark = "slow"', of=older)
    state = plain.look().state
    assert plain.statuses() == {"one": "done", "two": "active", "three": "pending"}
    assert state.context == {"chosen": "B", "k": 1}
    assert (plain.document["remark"], plain.document["context"]["chosen"]) == ("slow", "B")
    assert [entry.get("note") for entry in plain.document["history"] if entry["event"] == "note"] == ["meanwhile"]
    assert plain.alerts() == []
    assert plain.is_clean()


def test_a_slow_jq_that_wants_what_is_no_longer_legal_is_refused(desk):
    older = desk.folder / "older.json"
    desk.look().begin("write")
    older.write_bytes(desk.path.read_bytes())
    desk.look().cancel("enough")
    desk.look().resume()
    desk.look().done("write")
    desk.jq('.state_machine.phases[3].status = "in_progress"', of=older)
    assert desk.statuses()["write"] == "done"
    assert desk.alerts() == ["edit_refused"]


def test_two_slow_editors_both_get_their_change_in(plain):
    older = plain.folder / "older.json"
    older.write_bytes(plain.path.read_bytes())
    plain.jq(".context.first = 1", of=older)
    plain.look()
    plain.jq(".context.second = 2", of=older)
    assert plain.look().state.context == {"first": 1, "second": 2}
    assert {"first": 1, "second": 2}.items() <= plain.document["context"].items()


def test_an_edit_that_two_processes_see_at_once_is_taken_once(plain):
    """Both judge it before either has put the document right."""
    plain.jq('.history += [{event: "mine"}] | .context.k = 1')
    first, second = plain.open(), plain.open()
    state = first.wired.store.load(first.wired.store.entries()[0].ulid)
    seen = second.wired.documents.look(state)
    first.workflow(plain.id)
    second.wired.reconciler._act(*seen)
    assert [entry for entry in plain.document["history"] if entry["event"] == "mine"] == [{"event": "mine"}]
    assert plain.commands() == ["start", "edit"]
    assert plain.is_clean()


def test_the_same_change_made_again_after_it_was_undone_is_a_change_again(plain):
    plain.jq(".context.k = 1")
    plain.look()
    plain.jq(".context.k = 2")
    plain.look()
    plain.jq(".context.k = 1")
    assert plain.look().state.context == {"k": 1}


def test_a_rendering_newer_than_what_a_process_had_loaded_is_no_edit(plain):
    """Between loading the journal and looking at the document, another process continued."""
    slow, quick = plain.open(), plain.open()
    state = slow.wired.store.load(slow.wired.store.entries()[0].ulid)
    work = quick.workflow(plain.id)
    for number in range(40):
        work.note(f"note {number}")
    after = slow.wired.reconciler.reconcile(state)
    assert after.revision == 41
    assert set(plain.commands()) == {"start", "note"}


FORGED = '.history += [{event: "mine"}] | .context.k = 1 | .state_machine.phases[2].approval.approved = true'


def test_an_edit_taken_in_part_that_two_processes_see_at_once_is_taken_once(desk):
    desk.jq(FORGED)
    first, second = desk.open(), desk.open()
    state = first.wired.store.load(first.wired.store.entries()[0].ulid)
    seen = second.wired.documents.look(state)
    first.workflow(desk.id)
    second.wired.reconciler._act(*seen)
    assert [entry for entry in desk.document["history"] if entry["event"] == "mine"] == [{"event": "mine"}]
    assert desk.commands() == ["start", "edit"]
    assert desk.alerts() == ["edit_forged"]
    assert desk.is_clean()


def test_a_slow_jq_that_forges_beside_its_note_undoes_nothing_that_happened_meanwhile(desk):
    older = desk.folder / "older.json"
    older.write_bytes(desk.path.read_bytes())
    desk.look().begin("write").note("meanwhile").record({"chosen": "B"})
    desk.jq(FORGED, of=older)
    state = desk.look().state
    assert (state.context, desk.statuses()["write"]) == ({"chosen": "B", "k": 1}, "active")
    assert state.step("sign-off").grant is None
    assert desk.document["state_machine"]["phases"][2]["approval"]["approved"] is False
    assert desk.alerts() == ["edit_forged"]
    assert desk.is_clean()


def test_a_claim_that_was_put_back_is_not_shown_later_either(desk):
    """The document that is kept as the last one has the old value: what the state does not say is written from it."""
    desk.jq(FORGED)
    desk.look().note("later")
    assert desk.look().state.base["state_machine"]["phases"][2]["approval"]["approved"] is False
    assert desk.document["state_machine"]["phases"][2]["approval"]["approved"] is False
