"""What is found where a document should be: clean, stale, damaged, missing or never there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from holdfast.errors import HoldfastError

# Clean


def test_the_newest_rendering_is_clean_and_nothing_happens(desk):
    before = desk.look().state
    assert desk.is_clean()
    assert desk.look().state == before
    assert desk.quarantined() == {}


def test_every_change_is_in_the_document_at_once(desk):
    desk.look().begin("write")
    assert desk.phases()["write"] == "in_progress"
    desk.look().done("write")
    assert desk.phases()["write"] == "completed"
    assert desk.document["state_machine"]["current_phase"] == "verify"
    assert desk.is_clean()


# Stale


def test_an_older_rendering_that_was_put_back_is_rendered_again_silently(desk):
    older = desk.path.read_bytes()
    desk.look().begin("write").note("one").note("two")
    newest = desk.path.read_bytes()
    desk.path.write_bytes(older)
    state = desk.look().state
    assert desk.path.read_bytes() == newest
    assert (state.revision, state.alerts, state.step("write").status) == (4, (), "active")
    assert desk.quarantined() == {}


def test_an_older_rendering_is_no_edit_even_for_the_process_that_wrote_the_newest(desk):
    work = desk.look()
    older = desk.path.read_bytes()
    work.begin("write")
    desk.path.write_bytes(older)
    work.note("n")
    assert work.state.step("write").status == "active"
    assert desk.commands() == ["start", "begin", "note"]
    assert desk.is_clean()


def test_git_bringing_back_an_older_rendering_changes_nothing(desk):
    desk.commit_document()
    desk.look().begin("write").note("n")
    newest = desk.path.read_bytes()
    desk.git("checkout", "--", ".")
    assert desk.path.read_bytes() != newest
    assert desk.look().state.revision == 3
    assert desk.path.read_bytes() == newest
    assert desk.alerts() == []


def test_the_same_json_in_another_form_is_rendered_again_silently(desk):
    newest = desk.path.read_bytes()
    desk.jq(".", "--indent", "7", "--sort-keys")
    assert desk.path.read_bytes() != newest
    assert desk.look().state.revision == 1
    assert desk.path.read_bytes() == newest


def test_a_rendering_of_long_ago_is_treated_as_an_edit_and_undoes_nothing_that_was_done(desk):
    """Only the last 32 renderings are remembered by their hash."""
    older = desk.path.read_bytes()
    work = desk.look().begin("write").done("write")
    for number in range(40):
        work.note(f"note {number}")
    desk.path.write_bytes(older)
    state = desk.look().state
    assert state.step("write").status == "done"
    assert desk.quarantined().keys() <= {older}
    assert desk.is_clean()


# Damaged


TORN = {
    "empty": b"",
    "half": b'{\n  "workflow": {"id',
    "zeros": b"\0" * 900,
    "a list": b"[]",
    "a number": b"3",
    "not UTF-8": b'{"a": "\xff"}',
}


@pytest.mark.parametrize("torn", TORN.values(), ids=list(TORN))
def test_a_damaged_document_is_kept_aside_and_rendered_again_and_nobody_is_accused(desk, torn):
    newest = desk.document
    desk.path.write_bytes(torn)
    desk.age()
    state = desk.look().state
    assert desk.quarantined() == {torn: "the file was empty, torn or no JSON"}
    assert [(alert.code, alert.path) for alert in state.alerts] == [
        ("document_damaged", str(desk.path.relative_to(desk.folder)))
    ]
    assert (desk.folder / state.alerts[0].kept).read_bytes() == torn
    assert "refused" not in state.alerts[0].message
    assert desk.document["state_machine"] == newest["state_machine"]
    assert desk.is_clean()


@pytest.mark.parametrize("torn", [b"", b'{\n  "workflow": {"id'], ids=["empty", "half"])
def test_a_document_that_does_not_parse_yet_is_left_to_whoever_is_writing_it(desk, torn):
    desk.path.write_bytes(torn)
    soon = time.time() + 30
    os.utime(desk.path, (soon, soon - 30))
    assert desk.look().state.revision == 1
    assert desk.path.read_bytes() == torn
    assert desk.quarantined() == {}


def test_a_writer_that_finishes_is_understood(desk):
    whole = json.dumps({**desk.document, "remark": "mine"}).encode()
    desk.path.write_bytes(whole[:100])
    assert desk.look().state.revision == 1
    desk.path.write_bytes(whole)
    assert desk.look().state.revision == 2
    assert desk.document["remark"] == "mine"


def test_a_command_given_while_the_document_is_being_written_leaves_it_alone(desk):
    half = b'{\n  "workflow": {"id'
    desk.path.write_bytes(half)
    desk.look().begin("write")
    assert desk.path.read_bytes() == half
    desk.age()
    assert desk.look().state.step("write").status == "active"
    assert desk.phases()["write"] == "in_progress"


def test_a_torn_document_dated_in_the_future_is_damaged_all_the_same(desk):
    desk.path.write_bytes(b"")
    desk.age(-3600)
    desk.look()
    assert desk.alerts() == ["document_damaged"]


def test_a_link_in_the_place_of_the_document_is_not_followed(desk, tmp_path):
    secret = tmp_path / "secret.json"
    desk.path.rename(secret)
    before = secret.read_bytes()
    desk.path.symlink_to(secret)
    with pytest.raises(HoldfastError) as caught:
        desk.look().begin("write")
    assert str(desk.path) in caught.value.message
    assert caught.value.remedy
    assert secret.read_bytes() == before


def test_a_folder_in_the_place_of_the_document_is_said_and_not_a_crash(desk):
    desk.path.unlink()
    desk.path.mkdir()
    with pytest.raises(HoldfastError) as caught:
        desk.look()
    assert str(desk.path) in caught.value.message


# Missing


def test_a_document_that_was_deleted_is_a_workflow_that_was_abandoned(desk):
    desk.look().begin("write")
    desk.path.unlink()
    state = desk.look().state
    assert state.cancelled is not None
    assert "was deleted" in state.cancelled.reason
    assert json.loads(desk.completed.read_bytes())["workflow"]["status"] == "abandoned"
    assert not desk.path.exists()
    assert [entry.active for entry in desk.open().wired.store.entries()] == [False]


def test_an_abandoned_workflow_comes_back_with_resume(desk):
    desk.path.unlink()
    desk.look().resume()
    assert desk.document["workflow"]["status"] == "in_progress"
    assert not desk.completed.exists()
    assert desk.is_clean()


def test_a_document_moved_to_the_completed_ones_completes_the_workflow(plain):
    plain.look().begin("one").done("one")
    plain.completed.parent.mkdir(exist_ok=True)
    plain.path.rename(plain.completed)
    state = plain.look().state
    assert state.finished_at
    assert set(plain.statuses().values()) == {"done"}
    assert json.loads(plain.completed.read_bytes())["workflow"]["status"] == "completed"
    assert not plain.path.exists()
    assert state.alerts == ()


def test_a_document_moved_to_the_completed_ones_before_its_gates_were_passed_is_put_back(desk):
    desk.look().begin("write").done("write")
    moved = desk.path.read_bytes()
    desk.completed.parent.mkdir(exist_ok=True)
    desk.path.rename(desk.completed)
    state = desk.look().state
    assert not state.finished_at
    assert desk.statuses() == {"write": "done", "verify": "pending", "sign-off": "pending", "publish": "pending"}
    assert desk.alerts() == ["edit_refused"]
    (reason,) = desk.quarantined().values()
    assert " (gate_unmet): " in reason
    assert list(desk.quarantined()) == [moved]
    assert desk.path.exists()
    assert not desk.completed.exists()
    assert desk.is_clean()


def test_a_document_edited_and_moved_to_the_completed_ones_is_taken_with_its_edit(plain):
    plain.jq('.state_machine.phases[].status = "completed" | .workflow.status = "completed" | .remark = "mine"')
    plain.completed.parent.mkdir(exist_ok=True)
    plain.path.rename(plain.completed)
    assert plain.look().state.finished_at
    assert json.loads(plain.completed.read_bytes())["remark"] == "mine"
    assert plain.quarantined() == {}


def test_deleting_the_second_of_two_workflows_with_one_id_does_not_finish_it_with_the_firsts_document(plain):
    """An id may recur: what an earlier one left among the completed ones is not this one, moved."""
    plain.look().begin("one").done("one").begin("two").done("two").begin("three").done("three")
    first = plain.completed.read_bytes()
    again = plain.open().start({"name": "plain", "step": [{"id": "one"}, {"id": "two"}, {"id": "three"}]}, "1.0")
    assert again.id == plain.id
    assert plain.completed.read_bytes() == first
    plain.path.unlink()
    state = plain.open().workflow(again.ulid).state
    assert (state.cancelled is not None, state.finished_at) == (True, "")


def test_the_completed_document_of_a_later_workflow_takes_the_place_of_an_earlier_ones(plain):
    plain.look().cancel("first")
    again = plain.open().start({"name": "plain", "step": [{"id": "one"}]}, "1.0")
    plain.open().workflow(again.ulid).begin("one").done("one")
    document = json.loads(plain.completed.read_bytes())
    assert (document["workflow"]["status"], len(document["state_machine"]["phases"])) == ("completed", 1)
    assert plain.quarantined() == {}


def test_the_document_of_a_finished_workflow_stays_deleted_until_something_happens(plain):
    plain.look().cancel("enough")
    plain.completed.unlink()
    state = plain.look().state
    assert state.cancelled is not None
    assert not plain.path.exists()


# Never there


CHILD = """
import os, signal, sys
from holdfast.documents.files import Documents
from holdfast.project.project import open_project
from holdfast.stores.files import FilesStore

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

project = open_project(sys.argv[1])
"""


def dying(desk, script):
    run = subprocess.run([sys.executable, "-c", CHILD + script, str(desk.folder)], capture_output=True, text=True)
    assert run.returncode == -signal.SIGKILL, run.stderr


START = 'project.start({"name": "other", "step": [{"id": "a"}]}, "2.0")'


@pytest.mark.parametrize(
    "moment",
    ["Documents.refresh = die", "Documents._put = die", "Documents._slot = die", "FilesStore.settle = die"],
    ids=["before the views", "before the document", "before its slot", "before the index"],
)
def test_a_workflow_whose_process_died_before_it_was_shown_is_shown_by_the_next(desk, moment):
    dying(desk, f"{moment}\n{START}")
    found = desk.open().list(type="other")
    assert [workflow.state.revision for workflow in found] == [1]
    (path,) = desk.path.parent.glob("other-*.json")
    assert json.loads(path.read_bytes()) == found[0].document()
    assert {entry.type for entry in desk.open().wired.store.entries()} == {"release", "other"}
    listed = json.loads((desk.path.parents[1] / "index.json").read_bytes())["active_workflows"]
    assert {item["skill"] for item in listed} == {"release", "other"}


@pytest.mark.parametrize("moment", ["Documents.refresh = die", "Documents._retire = die", "FilesStore.settle = die"])
def test_an_end_whose_process_died_before_it_was_shown_is_shown_by_the_next(desk, moment):
    dying(desk, f'work = project.workflow("{desk.id}")\n{moment}\nwork.cancel("enough")')
    assert desk.look().state.cancelled
    assert json.loads(desk.completed.read_bytes())["workflow"]["status"] == "abandoned"
    assert not desk.path.exists()
    assert desk.open().list(status="cancelled")
    listed = json.loads((desk.path.parents[1] / "index.json").read_bytes())["active_workflows"]
    assert listed == []


def test_a_change_whose_process_died_before_it_was_shown_is_shown_by_the_next(desk):
    dying(desk, f'work = project.workflow("{desk.id}")\nDocuments.refresh = die\nwork.begin("write")')
    assert desk.phases()["write"] == "pending"
    assert desk.look().state.revision == 2
    assert desk.phases()["write"] == "in_progress"
    assert desk.alerts() == []


def test_an_edit_whose_process_died_between_taking_it_and_showing_it_is_taken_once(desk):
    desk.jq('.history += [{"event": "mine"}] | .context.k = 1')
    dying(desk, f'Documents.refresh = die\nproject.workflow("{desk.id}")')
    state = desk.look().state
    assert (state.revision, state.context["k"]) == (2, 1)
    assert [entry for entry in desk.document["history"] if entry["event"] == "mine"] == [{"event": "mine"}]
    assert desk.alerts() == []
    assert desk.is_clean()


def test_a_broken_journal_that_a_dead_process_left_does_not_stop_the_other_workflows(desk):
    dying(desk, f"FilesStore.settle = die\n{START}")
    (left,) = (desk.folder / ".holdfast/unsettled").iterdir()
    journal = next((desk.folder / ".holdfast/journal").rglob(f"{left.name}.jsonl"))
    line = journal.read_bytes()
    journal.write_bytes(line[:-30] + b"x" * 30)
    assert desk.look().note("n").state.revision == 2


# The index beside the documents


def test_the_list_beside_the_documents_names_the_active_ones(desk):
    def listed():
        return [
            item["id"] for item in json.loads((desk.path.parents[1] / "index.json").read_bytes())["active_workflows"]
        ]

    assert listed() == [desk.id]
    other = desk.open().start({"name": "other", "step": [{"id": "a"}]}, "2.0")
    assert sorted(listed()) == sorted([desk.id, other.id])
    desk.look().cancel()
    assert listed() == [other.id]
    other.begin("a").done("a")
    assert listed() == []


def test_what_holdfast_keeps_and_shows_is_for_its_owner(desk):
    old = os.umask(0o022)
    try:
        desk.look().begin("write")
        desk.path.write_bytes(b"")
        desk.age()
        desk.look()
    finally:
        os.umask(old)
    home = desk.folder / ".holdfast"
    folders = {
        str(path.relative_to(home)): oct(path.stat().st_mode & 0o777) for path in home.rglob("*") if path.is_dir()
    }
    assert set(folders.values()) == {"0o700"}, folders
    for folder in ("journal", "quarantine", "state"):
        for path in (home / folder).rglob("*.*"):
            assert path.stat().st_mode & 0o777 == 0o600, path
    assert home.stat().st_mode & 0o777 == 0o700
    assert desk.path.stat().st_mode & 0o777 == 0o600
