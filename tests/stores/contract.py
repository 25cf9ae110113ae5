"""What every store promises. A store's own tests subclass `StoreContract` and say how to open one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.core.apply import Record, fold, replay
from holdfast.core.commands import (
    AddStep,
    Approve,
    Begin,
    Cancel,
    Command,
    Done,
    Fail,
    Note,
    Reopen,
    Request,
    Resume,
    Spend,
    Start,
    StartAgent,
    TakeSnapshot,
)
from holdfast.core.decide import decide
from holdfast.core.definition import Conduct, Definition
from holdfast.core.definition import Step as DefinedStep
from holdfast.core.events import Noted
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, State
from holdfast.engine.ports import AHEAD, BEHIND, FORKED, SAME, UNKNOWN, Standing, Store
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, Refused
from holdfast.stores.lines import SEAL, seal
from tests.core.play import AGENT, PERSON, definition, step

NOW = "2026-01-01T09:00:00.000Z"
RELEASE = definition(step("build"), step("sign-off", approval={"by": "human"}))


def ulid(number: int) -> str:
    return f"01J{number:023}"


def started(
    number: int = 1, *, id: str = "", shape: Definition = RELEASE, key: str = "", at: str = NOW, **how
) -> tuple[Record, State]:
    """The first record of a workflow, and the state it leads to."""
    command = Start.of(shape, ulid(number), id or f"release-{number}", branch="main", **how)
    events = decide(None, Request(command, AGENT, key=key, payload="words" if key else ""), Facts(now=at))
    record = Record(1, at, AGENT, "start", events, key, "words" if key else "")
    return record, fold(None, record)


def create(store: Store, number: int = 1, **how) -> str:
    record, state = started(number, **how)
    store.create(record, state)
    store.settle(state)
    return state.ulid


def change(command: Command, by: Actor = AGENT, key: str = "", at: str = NOW) -> Callable:
    """What the engine hands to `commit`: the command, decided on whatever the newest state is."""

    def decided(state: State) -> tuple[Record, State] | None:
        payload = f"words of {command!r}" if key else ""
        events = decide(state, Request(command, by, key=key, payload=payload), Facts(now=at, boot="b", mono=1.0))
        if not events:
            return None
        record = Record(state.revision + 1, at, by, type(command).__name__, events, key, payload)
        return record, fold(state, record)

    return decided


def do(store: Store, name: str, *commands: Command, by: Actor = AGENT) -> State:
    state = store.load(name)
    for command in commands:
        state = store.commit(name, change(command, by))
        store.settle(state)
    return state


def finish(store: Store, name: str) -> State:
    return do(store, name, Begin("build"), Done("build"), Begin("sign-off"), Approve("sign-off"), by=PERSON)


def spoiled(data: bytes, old: bytes, new: bytes, *, resealed: bool = False) -> bytes:
    """A journal with other words in it; `resealed`, with the right sum of its last line."""
    data = data.replace(old, new)
    start = data.rfind(b"\n", 0, -1) + 1
    return data[:-SEAL] + seal(data[start:-SEAL]) if resealed else data


def forget_last(journal: Path) -> None:
    """Removes the record of the last line beside a journal of files, as if another version had written that line."""
    home = journal.parents[2]
    (home / "state" / journal.parent.name / f"{journal.stem}.last").unlink()


def revisions(store: Store, name: str) -> list[int]:
    return [record.revision for record in store.history(name)]


def notes(store: Store, name: str) -> list[str]:
    events = (event for record in store.history(name) for event in record.events)
    return [event.text for event in events if isinstance(event, Noted)]


class StoreContract:
    """`store` is an empty store; `another()` opens the same one again, as a second process would; `other` is apart.

    `spoil(ulid, old, new)` changes bytes of a journal behind the store's back; `resealed`, its last line stays whole.
    """

    @pytest.fixture
    def another(self) -> Callable[[], Store]:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Store:
        raise NotImplementedError

    @pytest.fixture
    def spoil(self, another) -> Callable[..., None]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, another) -> Store:
        return another()

    # What is kept

    def test_what_was_created_can_be_loaded(self, store, another):
        record, state = started()
        store.create(record, state)
        assert store.load(state.ulid) == state
        assert another().load(state.ulid) == state
        assert list(another().history(state.ulid)) == [record]

    def test_an_empty_store_has_nothing(self, store):
        assert (store.entries(), store.find("release")) == ([], [])
        assert (store.announced(), store.unsettled()) == ([], [])

    def test_a_workflow_is_created_once(self, store, another):
        create(store)
        for one in (store, another()):
            with pytest.raises(Conflict):
                one.create(*started())
        assert revisions(store, ulid(1)) == [1]

    @pytest.mark.parametrize("name", [ulid(2), "no ulid", "../../../etc/passwd"])
    def test_a_workflow_that_is_not_there_is_not_found(self, store, name):
        create(store)
        for call in (
            store.load,
            lambda name: list(store.history(name)),
            lambda name: store.commit(name, change(Note("n"))),
        ):
            with pytest.raises(NotFound) as caught:
                call(name)
            assert caught.value.exit_code == 4

    def test_a_commit_keeps_its_record_and_gives_the_state_after_it(self, store, another):
        name = create(store)
        state = store.commit(name, change(Begin("build")))
        assert (state.revision, state.step("build").status) == (2, "active")
        assert store.load(name) == state == another().load(name)

    def test_revisions_have_no_gaps(self, store):
        name = create(store)
        for number in range(20):
            assert store.commit(name, change(Note(f"note {number}"))).revision == number + 2
        assert revisions(store, name) == list(range(1, 22))

    def test_history_is_oldest_first_and_can_begin_after_a_revision(self, store):
        name = create(store)
        do(store, name, *(Note(f"note {number}") for number in range(5)))
        assert notes(store, name) == [f"note {number}" for number in range(5)]
        assert [record.revision for record in store.history(name, 4)] == [5, 6]
        assert list(store.history(name, 6)) == []

    def test_the_state_is_the_replay_of_the_history(self, store, another):
        name = create(store, shape=definition(step("build", retry={"max": 3}, checks=["lint"]), step("sign-off")))
        do(store, name, Begin("build"), StartAgent("coder", "build"), Spend(1000), Note("why", "build"))
        do(store, name, Fail("build", "broke"), TakeSnapshot("here"), AddStep("", DefinedStep(id="more")))
        do(store, name, Cancel("stop"), Resume())
        for one in (store, another()):
            assert replay(one.history(name)) == one.load(name)

    def test_workflows_do_not_touch_each_other(self, store):
        first, second = create(store, 1), create(store, 2)
        do(store, first, Note("mine"))
        assert (notes(store, first), notes(store, second)) == (["mine"], [])

    # What a commit sees

    def test_a_change_sees_the_newest_state_whoever_wrote_it(self, store, another):
        name, other = create(store), another()
        store.load(name)
        do(other, name, Begin("build"))
        seen = []

        def look(state):
            seen.append((state.revision, state.step("build").status))
            return change(Done("build"))(state)

        store.commit(name, look)
        assert seen == [(2, "active")]
        assert other.load(name).step("build").status == "done"

    def test_a_change_runs_once(self, store):
        name, calls = create(store), []

        def counted(state):
            calls.append(state.revision)
            return change(Note("n"))(state)

        store.commit(name, counted)
        assert calls == [1]

    def test_a_refusal_inside_a_change_changes_nothing(self, store, another):
        name = create(store)
        with pytest.raises(HoldfastError) as caught:
            store.commit(name, change(Begin("sign-off")))
        assert caught.value.code == "step_blocked"
        assert revisions(another(), name) == [1]
        assert store.commit(name, change(Begin("build"))).revision == 2

    def test_an_error_inside_a_change_lets_the_next_writer_in(self, store, another):
        name = create(store)
        with pytest.raises(ZeroDivisionError):
            store.commit(name, lambda state: 1 / 0)
        assert another().commit(name, change(Note("n"))).revision == 2

    def test_a_change_that_gives_nothing_writes_nothing(self, store, another):
        name = create(store)
        do(another(), name, Note("n"))
        assert store.commit(name, lambda state: None).revision == 2
        assert revisions(store, name) == [1, 2]

    def test_two_stores_on_one_root_see_each_other(self, store, another):
        name, other = create(store), another()
        for number in range(6):
            do((store, other)[number % 2], name, Note(f"note {number}"))
        assert store.load(name) == other.load(name)
        assert notes(store, name) == [f"note {number}" for number in range(6)]

    def test_a_key_is_kept_with_its_record_and_in_the_state(self, store, another):
        name = create(store, key="start-1")
        store.commit(name, change(Note("n"), key="note-1"))
        assert store.commit(name, change(Note("n"), key="note-1")).revision == 2
        with pytest.raises(Conflict) as caught:
            another().commit(name, change(Note("other"), key="note-1"))
        assert caught.value.code == "key_conflict"
        assert [record.key for record in another().history(name)] == ["start-1", "note-1"]
        assert another().load(name).keys == {"start-1": ("words", 1), "note-1": (f"words of {Note('n')!r}", 2)}

    # What there is

    def test_entries_say_what_can_be_known_without_opening(self, store, another):
        create(store, key="start-1")
        for one in (store, another()):
            (entry,) = one.entries()
            assert (entry.ulid, entry.id, entry.type, entry.dialect) == (ulid(1), "release-1", "release", "skill")
            assert (entry.active, entry.status, entry.branch) == (True, "in_progress", "main")
            assert (entry.key, entry.payload, entry.created_at) == ("start-1", "words", NOW)

    def test_only_the_key_of_the_start_is_the_entrys(self, store):
        name = create(store)
        store.settle(store.commit(name, change(Note("n"), key="note-1")))
        assert store.entries()[0].key == ""

    def test_entries_reflect_finish_cancel_and_resume(self, store, another):
        name, other = create(store), another()

        def told():
            entries = [(entry.active, entry.status) for one in (store, other, another()) for entry in one.entries()]
            assert len(entries) == 3
            return set(entries)

        assert told() == {(True, "in_progress")}
        do(store, name, Cancel("enough"))
        assert told() == {(False, "cancelled")}
        do(other, name, Resume())
        assert told() == {(True, "in_progress")}
        finish(store, name)
        assert told() == {(False, "completed")}
        do(other, name, Reopen("build"), by=PERSON)
        assert told() == {(True, "in_progress")}

    def test_the_active_ones_come_first_each_group_oldest_first(self, store):
        for number in (3, 1, 2, 4):
            create(store, number)
        do(store, ulid(1), Cancel())
        assert [entry.ulid for entry in store.entries()] == [ulid(2), ulid(3), ulid(4), ulid(1)]

    def test_a_workflow_is_found_by_the_beginning_of_its_id_or_ulid(self, store):
        for number in (1, 2, 12):
            create(store, number)
        do(store, ulid(1), Cancel())
        assert [entry.id for entry in store.find("release-1")] == ["release-12", "release-1"]
        assert [entry.id for entry in store.find("release-2")] == ["release-2"]
        assert [entry.id for entry in store.find(ulid(12))] == ["release-12"]
        assert len(store.find("01J")) == 3
        assert store.find("other") == []

    def test_an_id_is_active_once(self, store, another):
        create(store, 1, id="release-x")
        for one in (store, another()):
            with pytest.raises(Conflict) as caught:
                one.create(*started(2, id="release-x"))
            assert caught.value.facts["ulid"] == ulid(1)
        assert [entry.ulid for entry in another().entries()] == [ulid(1)]
        assert another().unsettled() == []

    def test_a_key_starts_one_workflow(self, store, another):
        create(store, 1, key="start-1")
        do(store, ulid(1), Cancel())
        with pytest.raises(Conflict):
            another().create(*started(2, key="start-1"))
        create(another(), 3, key="start-3")

    def test_an_id_may_recur(self, store):
        create(store, 1, id="release-x")
        do(store, ulid(1), Cancel())
        create(store, 2, id="release-x")
        assert [(entry.ulid, entry.active) for entry in store.find("release-x")] == [(ulid(2), True), (ulid(1), False)]

    def test_after_settling_nothing_is_unsettled(self, store, another):
        name = create(store)
        finish(store, name)
        assert another().unsettled() == []

    def test_a_workflow_is_known_by_the_key_that_started_it(self, store, another):
        create(store, 1)
        create(store, 2, key="start-2")
        do(store, ulid(2), Note("n"), Cancel())
        for one in (store, another()):
            found = one.started_with("start-2")
            assert found is not None
            assert (found.ulid, found.payload) == (ulid(2), "words")
            assert one.started_with("start-1") is one.started_with("") is None

    def test_every_journal_is_named_and_those_that_are_over_are_counted(self, store, another):
        for number in (2, 1, 3):
            create(store, number)
        do(store, ulid(1), Cancel())
        for one in (store, another()):
            assert (sorted(one.every()), one.finished_count()) == ([ulid(1), ulid(2), ulid(3)], 1)
            assert [one.has(name) for name in (ulid(1), ulid(3), ulid(4), "no ulid")] == [True, True, False, False]
            assert [entry.ulid for entry in one.active()] == [ulid(2), ulid(3)]

    def test_finished_ones_that_are_to_be_published_are_told_until_they_are(self, store, another):
        create(store, 1, conduct=Conduct(finalized=True))
        create(store, 2)
        assert store.unpublished() == []
        finish(store, ulid(1))
        finish(store, ulid(2))
        for one in (store, another()):
            assert [entry.ulid for entry in one.unpublished()] == [ulid(1)]

    def test_history_can_end_at_a_revision(self, store):
        name = create(store)
        do(store, name, *(Note(f"note {number}") for number in range(5)))
        assert [record.revision for record in store.history(name, 2, 4)] == [3, 4]
        assert replay(store.history(name, until=3)).revision == 3

    # What changed

    def test_every_line_gives_another_stamp_and_a_look_gives_the_same_one(self, store, another):
        name = create(store)
        before = store.stamp(name)
        store.load(name)
        assert before == another().stamp(name) != ""
        do(another(), name, Note("n"))
        assert store.stamp(name) == another().stamp(name) != before
        assert (store.stamp(ulid(2)), store.touched(ulid(2))) == ("", 0.0)

    def test_when_a_line_was_written_last(self, store):
        began = time.time() - 1
        name = create(store)
        first = store.touched(name)
        do(store, name, Note("n"))
        assert began < first <= store.touched(name) < time.time() + 1

    def test_changes_since_a_cursor(self, store, another):
        create(store, 1), create(store, 2)
        first = store.changes()
        assert (dict(first.moved), first.listed) == ({}, False)
        assert store.changes(first.cursor) == first
        do(another(), ulid(2), Note("n"))
        second = store.changes(first.cursor)
        assert (dict(second.moved), second.listed) == ({ulid(2): "release-2"}, False)
        do(another(), ulid(1), Cancel())
        create(another(), 3)
        third = store.changes(second.cursor)
        assert (dict(third.moved), third.listed) == ({ulid(1): "release-1", ulid(3): "release-3"}, True)
        assert not store.changes(third.cursor).moved

    def test_changes_of_workflows_that_are_named_whether_they_are_active_or_not(self, store, another):
        create(store, 1), create(store, 2)
        do(another(), ulid(1), Cancel())
        first = store.changes(only=[ulid(1)])
        assert (dict(first.moved), first.listed) == ({}, False)
        do(another(), ulid(2), Note("n"))
        assert not store.changes(first.cursor, [ulid(1)]).moved
        do(another(), ulid(1), Note("n"))
        second = store.changes(first.cursor, [ulid(1)])
        assert (set(second.moved), second.listed) == ({ulid(1)}, False)
        another().delete([ulid(1)])
        third = store.changes(second.cursor, [ulid(1)])
        assert (set(third.moved), third.listed) == ({ulid(1)}, True)

    def test_a_file_that_hooks_watch_is_there_if_it_is_named(self, store):
        path = store.file_of(create(store))
        assert not path or os.path.isfile(path)

    # Copies

    def test_a_copy_begins_with_every_older_copy(self, store):
        name = create(store)
        short = store.export(name)
        do(store, name, Note("n"))
        data = store.export(name)
        assert store.begins_with(name, short)
        assert store.begins_with(name, data)
        assert not store.begins_with(name, data + b"x")
        assert not store.begins_with(ulid(2), short)

    def test_a_copy_tells_its_state_and_its_last_record(self, store):
        name = create(store)
        state = do(store, name, Note("n"))
        copy = store.examine_copy(store.export(name), "the copy")
        assert (copy.ulid, copy.state, copy.last) == (name, state, list(store.history(name))[-1])
        with pytest.raises(Broken) as caught:
            store.examine_copy(copy.data[:-5], "the copy")
        assert caught.value.code == "copy_damaged"

    def test_copies_of_other_stores_are_compared_taken_over_and_preferred(self, store, other):
        name = create(other)
        first = other.export(name)
        assert store.compare(first, "c").kind == UNKNOWN
        store.settle(store.fast_forward(first, "c"))
        assert store.compare(first, "c").kind == SAME
        do(other, name, Note("there"))
        theirs = other.export(name)
        assert store.compare(theirs, "c") == Standing(name, AHEAD, 1, 1, 2)
        store.settle(store.fast_forward(theirs, "c"))
        assert (store.load(name), store.export(name)) == (other.load(name), theirs)
        do(store, name, Note("here"))
        assert store.compare(theirs, "c").kind == BEHIND
        assert store.fast_forward(theirs, "c").revision == 3
        do(other, name, Note("there again"))
        theirs = other.export(name)
        assert store.compare(theirs, "c") == Standing(name, FORKED, 2, 3, 3)
        with pytest.raises(Conflict) as caught:
            store.fast_forward(theirs, "c")
        assert caught.value.code == "journal_forked"
        store.settle(store.supersede(theirs, "ours", "c"))
        assert notes(store, name) == ["there", "there again"]

    # Exclusion

    def test_a_name_is_held_by_one_at_a_time(self, store, another):
        with store.exclusively("starting"):
            with another().exclusively("finalizing", 0.05):
                pass
            with pytest.raises(Conflict) as caught, another().exclusively("starting", 0.05):
                pass
            assert caught.value.code == "lock_timeout"
        with another().exclusively("starting", 0.05):
            pass

    def test_a_name_is_free_again_after_an_error(self, store):
        with pytest.raises(ZeroDivisionError), store.exclusively("starting"):
            raise ZeroDivisionError
        with store.exclusively("starting", 0.05):
            pass

    # End of life, repair

    def test_what_is_finished_is_archived_and_what_is_active_is_not(self, store, another):
        create(store, 1), create(store, 2)
        with pytest.raises(Refused) as caught:
            store.archive(ulid(1))
        assert caught.value.code == "still_active"
        do(store, ulid(1), Cancel())
        assert store.archive(ulid(1))
        for one in (store, another()):
            assert (list(one.every()), one.finished_count()) == ([ulid(2)], 0)
            with pytest.raises(NotFound):
                one.load(ulid(1))

    def test_what_is_deleted_was_never_there(self, store, another):
        create(store, 1), create(store, 2)
        store.delete([ulid(1), ulid(3)])
        for one in (store, another()):
            assert [entry.ulid for entry in one.entries()] == list(one.every()) == [ulid(2)]
        create(store, 1)

    def test_a_whole_journal_is_examined_and_found_good(self, store):
        name = create(store)
        state = do(store, name, Note("n"))
        found = store.examine(name)
        assert (found.ulid, found.state, found.lines, found.end) == (name, state, 2, found.size)
        assert (found.damage, found.can_be_cut, found.snapshot) == (None, False, "")
        assert store.repair(name, found) == ""
        assert store.faults([found]) == []
        store.rebuild()
        assert store.load(name) == state
        with pytest.raises(NotFound):
            store.examine(ulid(2))

    def test_a_damaged_journal_is_cut_where_it_is_good_and_kept_whole(self, store, another, spoil):
        name = create(store)
        state = do(store, name, Note("first"))
        do(store, name, Note("second"), Note("third"))
        spoil(name, b"second", b"sec0nd")
        found = store.examine(name)
        assert (found.lines, found.state, found.can_be_cut) == (2, state, True)
        assert store.repair(name, found)
        assert another().load(name) == state
        with pytest.raises(HoldfastError) as caught:
            store.repair(name, found)
        assert caught.value.code == "journal_changed"

    def test_an_event_that_nobody_here_knows_is_no_damage(self, store, spoil):
        """Its line is whole: a newer version wrote it, and reads it."""
        name = create(store)
        do(store, name, Note("n"))
        spoil(name, b'"event":"noted"', b'"event":"danced"', resealed=True)
        found = store.examine(name)
        assert found.damage is not None
        assert (found.damage.code, found.can_be_cut, found.lines) == ("newer_version", False, 1)
        assert "upgrade" in found.damage.remedy
        assert store.repair(name, found) == ""
        assert store.examine(name).size == found.size

    # Threads

    def test_eight_threads_lose_nothing(self, store, another):
        self.eight_threads(create(store), lambda: store, another)

    def eight_threads(self, name, opened, another):
        def work(number):
            own = opened()
            for turn in range(50):
                own.settle(own.commit(name, change(Note(f"{number}.{turn}"))))

        together(*(lambda number=number: work(number) for number in range(8)))
        assert revisions(another(), name) == list(range(1, 402))
        written = notes(another(), name)
        for number in range(8):
            own = [note for note in written if note.startswith(f"{number}.")]
            assert own == [f"{number}.{turn}" for turn in range(50)]

    def test_whoever_settles_last_the_entry_says_what_the_journal_says(self, store, another):
        name = create(store)
        ended = store.commit(name, change(Cancel()))
        resumed = store.commit(name, change(Resume()))
        store.settle(resumed)
        store.settle(ended)
        assert [entry.active for entry in another().entries()] == [True]
        ended = store.commit(name, change(Cancel()))
        resumed = store.commit(name, change(Resume()))
        store.settle(ended)
        store.settle(resumed)
        assert [entry.active for entry in another().entries()] == [True]
        assert another().unsettled() == []


class SharedRootContract(StoreContract):
    """What holds besides when several processes have the same root open."""

    def test_of_several_that_start_the_same_at_once_one_does(self, store, another):
        lost = []

        def start(number):
            try:
                create(another(), number, id="release-x")
            except Conflict:
                lost.append(number)

        together(*(lambda number=number: start(number) for number in range(1, 7)))
        assert len(lost) == 5
        (entry,) = another().entries()
        assert another().load(entry.ulid).id == "release-x"

    def test_eight_threads_with_a_store_each_lose_nothing(self, store, another):
        self.eight_threads(create(store), another, another)

    def test_a_writer_never_waits_for_another_one_to_settle(self, store, another):
        name, other = create(store), another()
        ended = store.commit(name, change(Cancel()))
        resumed = other.commit(name, change(Resume()))
        store.settle(ended)
        assert [entry.active for entry in another().entries()] == [True]
        other.settle(resumed)
        assert [entry.active for entry in another().entries()] == [True]
        assert another().unsettled() == []

    def test_entries_are_right_after_stores_that_ended_and_resumed_a_workflow_all_at_once(self, store, another):
        name = create(store)

        def work(command):
            own = another()
            for _ in range(25):
                own.settle(own.commit(name, change(command)))

        together(lambda: work(Cancel()), lambda: work(Resume()), lambda: work(Note("n")))
        (entry,) = another().entries()
        assert entry.active == (another().load(name).cancelled is None)
        assert another().unsettled() == []


def together(*works: Callable[[], None]) -> None:
    """Runs each in a thread of its own; the first failure is raised."""
    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(work) for work in works]:
            done.result()
