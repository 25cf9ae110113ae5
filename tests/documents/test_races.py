"""Edits that come in while Holdfast replaces a document: none is lost, and none is taken for our own."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.documents import files, lists
from holdfast.documents.lens.text import Writer
from holdfast.errors import Conflict
from holdfast.files.replace import replace as exchange
from holdfast.project import wiring as bootstrap


def write_document(path, document):
    path.write_text(json.dumps(document, indent=2))


@pytest.fixture
def just_before(desk, monkeypatch):
    """Something that happens once, between the look at the document and its exchange."""

    def arrange(happening):
        pending = [happening]

        def replace(path, data, slot, **how):
            if path == str(desk.path) and pending:
                pending.pop()()
            return exchange(path, data, slot, **how)

        monkeypatch.setattr(files, "replace", replace)
        return pending

    return arrange


@pytest.fixture
def just_after(desk, monkeypatch):
    """Something that happens once, between the exchange and the look at what is there now."""

    def arrange(happening):
        pending = [happening]

        def replace(path, data, slot, **how):
            displaced = exchange(path, data, slot, **how)
            if path == str(desk.path) and pending:
                pending.pop()()
            return displaced

        monkeypatch.setattr(files, "replace", replace)
        return pending

    return arrange


def edited(desk, **context):
    document = desk.document
    document["context"].update(context)
    return lambda: write_document(desk.path, document)


def test_an_edit_between_the_look_and_the_exchange_is_decided_like_any_other(desk, just_before):
    pending = just_before(edited(desk, k=1))
    state = desk.look().begin("write").state
    assert pending == []
    assert (state.context, state.step("write").status) == ({"k": 1}, "active")
    assert (desk.document["context"]["k"], desk.phases()["write"]) == (1, "in_progress")
    assert desk.commands() == ["start", "begin", "edit"]
    assert desk.is_clean()


def test_a_forgery_between_the_look_and_the_exchange_is_refused_like_any_other(desk, just_before):
    document = desk.document
    document["state_machine"]["phases"][2]["approval"]["approved"] = True
    just_before(lambda: write_document(desk.path, document))
    desk.look().begin("write")
    assert desk.alerts() == ["edit_forged"]
    assert [json.loads(kept) for kept in desk.quarantined()] == [document]
    assert desk.phases()["write"] == "in_progress"
    assert desk.is_clean()


def test_a_torn_write_between_the_look_and_the_exchange_is_kept_aside(desk, just_before):
    just_before(lambda: desk.path.write_bytes(b'{"half'))
    desk.look().begin("write")
    assert list(desk.quarantined()) == [b'{"half']
    assert desk.phases()["write"] == "in_progress"
    assert desk.is_clean()


def test_an_older_rendering_between_the_look_and_the_exchange_is_nothing(desk, just_before):
    older = desk.path.read_bytes()
    desk.look().note("n")
    just_before(lambda: desk.path.write_bytes(older))
    desk.look().begin("write")
    assert desk.commands() == ["start", "note", "begin"]
    assert desk.is_clean()


def test_a_deletion_between_the_look_and_the_exchange_is_not_an_error(desk, just_before):
    just_before(desk.path.unlink)
    desk.look().begin("write")
    assert desk.phases()["write"] == "in_progress"


def test_an_edit_right_after_the_exchange_is_not_taken_for_our_own(desk, just_after):
    document = desk.document
    document["context"]["k"] = 1
    just_after(lambda: write_document(desk.path, document))
    work = desk.look()
    work.begin("write")
    work.note("continues with what it remembers")
    assert desk.look().state.context == {"k": 1}
    assert work.refresh().state.step("write").status == "active"
    assert desk.document["context"]["k"] == 1
    assert desk.is_clean()


def test_an_edit_of_the_same_size_in_the_same_instant_is_not_lost(desk):
    """The stamp of a file cannot tell it from ours; what the next exchange displaces can."""
    work = desk.look()
    work.record({"k": 1})
    stamp = desk.path.stat()
    data = desk.path.read_bytes()
    with open(desk.path, "r+b") as file:
        file.write(data.replace(b'"k": 1', b'"k": 2'))
    os.utime(desk.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    work.note("n")
    assert work.state.context == {"k": 2}
    assert desk.document["context"]["k"] == 2
    assert desk.is_clean()


def test_several_edits_that_race_one_after_the_other_all_get_in(desk, monkeypatch):
    rounds: list[int] = []

    def replace(path, data, slot, **how):
        if path == str(desk.path) and len(rounds) < 4:
            rounds.append(len(rounds))
            document = desk.document
            document["context"][f"k{len(rounds)}"] = True
            write_document(desk.path, document)
        return exchange(path, data, slot, **how)

    monkeypatch.setattr(files, "replace", replace)
    state = desk.look().begin("write").state
    assert rounds == [0, 1, 2, 3]
    assert state.context == {"k1": True, "k2": True, "k3": True, "k4": True}
    assert desk.is_clean()


def test_a_process_that_is_late_does_not_put_an_older_document_over_a_newer_one(desk):
    late, quick = desk.open(), desk.open()
    name = late.wired.store.entries()[0].ulid
    older = late.wired.store.load(name)
    work = quick.workflow(desk.id)
    for number in range(40):
        work.note(f"note {number}")
    newest = desk.path.read_bytes()
    assert late.wired.documents.refresh(older) == []
    assert desk.path.read_bytes() == newest


def test_an_edit_that_nobody_judged_is_not_replaced(desk):
    one = desk.open()
    state = one.wired.store.load(one.wired.store.entries()[0].ulid)
    desk.jq(".context.k = 1")
    edited = desk.path.read_bytes()
    assert one.wired.documents.refresh(state) == []
    assert desk.path.read_bytes() == edited


@pytest.fixture
def impatient(desk):
    """A process that does not wait for locks."""
    project = desk.open()
    return bootstrap.wire(project.wired.place, project.wired.settings.replace(lock_wait=0.0))


def test_while_a_document_is_exchanged_nobody_else_puts_one_there(desk, impatient, just_before):
    """Both would write into the same slot."""
    state = impatient.store.load(impatient.store.entries()[0].ulid)
    seen = []

    def meanwhile():
        with pytest.raises(Conflict) as caught:
            impatient.documents.refresh(state)
        seen.append(caught.value.code)

    just_before(meanwhile)
    desk.look().begin("write")
    assert seen == ["lock_timeout"]
    assert desk.is_clean()


def test_while_the_list_of_workflows_is_written_nobody_else_writes_it(desk, impatient, monkeypatch):
    state = impatient.store.load(impatient.store.entries()[0].ulid)
    seen: list[str] = []

    class Interrupted(Writer):
        def write(self, document):
            if not seen:
                seen.append("nothing stopped it")
                with pytest.raises(Conflict) as caught:
                    impatient.documents.enlist(state)
                seen[:] = [caught.value.code]
            return super().write(document)

    monkeypatch.setattr(lists, "Writer", Interrupted)
    desk.open().start({"name": "other", "step": [{"id": "a"}]}, "2.0")
    assert seen == ["lock_timeout"]


def test_somebody_who_edits_a_copy_again_and_again_is_understood_each_time(plain):
    """The copy is ever further behind: what it has beside the last edit of it is what is new."""
    copy = plain.document
    for number in range(40):
        plain.look().note(f"note {number}")
        copy["context"][f"k{number}"] = number
        write_document(plain.path, copy)
        assert plain.look().state.context == {f"k{n}": n for n in range(number + 1)}
    assert (plain.alerts(), plain.quarantined()) == ([], {})
