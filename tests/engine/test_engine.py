"""The engine: one command in, one record kept, its documents shown; or a refusal that changed nothing."""

from __future__ import annotations

import fcntl

import pytest

from holdfast.core import commands as cmd
from holdfast.core.apply import replay
from holdfast.core.facts import Facts
from holdfast.core.state import KEPT_RENDERINGS, Shown
from holdfast.engine.engine import Engine
from holdfast.engine.ports import View
from holdfast.errors import Conflict, HoldfastError, Refused
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.stores.files import FilesStore
from tests.core.play import AGENT, FILE, PERSON, definition, passed, step
from tests.stores.contract import together, ulid
from tests.stores.memory import MemoryStore

RELEASE = definition(step("build", checks=["lint"]), step("publish"))
PATH = "release.json"


class World:
    """A clock that continues a second with every look."""

    def __init__(self):
        self.seconds = 0
        self.asked = []

    def now(self):
        self.seconds += 1
        return f"2026-01-01T{self.seconds // 3600:02}:{self.seconds // 60 % 60:02}:{self.seconds % 60:02}.000Z"

    def facts(self, state, needs):
        self.asked.append(state.revision)
        return self.renewed(Facts(now="", known=needs, hashes=dict.fromkeys(needs.hashes, ("hash", 4))))

    def renewed(self, facts):
        return facts.replace(now=self.now(), boot="b", mono=float(self.seconds))


class Views:
    """Documents in memory: the number of steps that are done, and whatever somebody slips in."""

    def __init__(self, store):
        self.store = store
        self.documents = {}
        self.refreshed = []
        self.listed = []
        self.slipped_in = []

    def require_inside(self, state):
        pass

    def shown(self, state):
        last = self.store.shown(state.ulid)
        return Shown(last.revision, {last.path: last.hash}) if last else None

    def refresh(self, state, *, hand_over=False):
        newest = self.store.load(state.ulid)
        assert newest.revision >= state.revision, "shown before it was durable"
        self.refreshed.append(newest.revision)
        done = sum(newest.step(path).status == "done" for path in newest.plan.paths)
        self.documents[PATH] = compact({"revision": newest.revision, "done": done}).encode()
        with self.store.showing(state.ulid) as showing:
            showing.keep(View(newest.revision, PATH, digest(self.documents[PATH]), ()))
        return [self.slipped_in.pop()] if self.slipped_in else []

    def enlist(self, state):
        self.listed.append([entry.active for entry in self.store.entries() if entry.ulid == state.ulid])


@pytest.fixture(params=["memory", "files"])
def store(request, tmp_path):
    if request.param == "memory":
        return MemoryStore()
    (tmp_path / ".holdfast").mkdir()
    return FilesStore(str(tmp_path / ".holdfast"))


@pytest.fixture
def views(store):
    return Views(store)


@pytest.fixture
def engine(store, views):
    return Engine(store, World(), views)


def start(number=1, **how):
    return cmd.Start.of(RELEASE, ulid(number), how.pop("id", f"release-{number}"), **how)


NAME = ulid(1)


@pytest.fixture
def running(engine):
    engine.start(start(), AGENT)
    return engine


# Start


def test_a_start_is_kept_shown_and_listed(engine, store, views):
    outcome = engine.start(start(subject="1.0"), AGENT)
    assert outcome.changed
    assert outcome.state == store.load(NAME)
    (record,) = store.history(NAME)
    assert (record.revision, record.command, record.actor) == (1, "start", AGENT)
    assert views.documents[PATH] == b'{"revision":1,"done":0}'
    assert views.listed == [[True]]


def test_the_same_key_again_gives_the_first_workflow_back(engine, store, views):
    first = engine.start(start(subject="1.0"), AGENT, key="k1")
    again = engine.start(start(2, subject="1.0", branch="other"), PERSON, key="k1")
    assert (again.state, again.changed) == (first.state, False)
    assert len(store.entries()) == 1
    assert views.refreshed == [1]


def test_the_same_key_again_gives_the_workflow_as_it_is_now(engine):
    engine.start(start(), AGENT, key="k1")
    engine.execute(NAME, cmd.Begin("build"), AGENT)
    assert engine.start(start(), AGENT, key="k1").state.step("build").status == "active"


def test_the_same_key_with_other_words_is_a_conflict(engine, store):
    engine.start(start(subject="1.0"), AGENT, key="k1")
    with pytest.raises(Conflict) as caught:
        engine.start(start(2, subject="2.0"), AGENT, key="k1")
    assert (caught.value.code, caught.value.exit_code, caught.value.facts["workflow"]) == (
        "key_conflict",
        5,
        "release-1",
    )
    assert len(store.entries()) == 1


def test_of_many_that_start_with_one_key_at_once_all_get_the_same_workflow(store):
    outcomes = []

    def begin(number):
        engine = Engine(store, World(), Views(store))
        outcomes.append(engine.start(start(number, id=f"release-{number}"), AGENT, key="k1"))

    together(*(lambda number=number: begin(number) for number in range(1, 9)))
    assert len({outcome.state.ulid for outcome in outcomes}) == 1
    assert [outcome.changed for outcome in outcomes].count(True) == 1
    assert len(store.entries()) == 1


def test_a_second_active_workflow_of_the_same_id_is_a_conflict(running, store):
    with pytest.raises(Conflict) as caught:
        running.start(start(2, id="release-1"), AGENT)
    assert caught.value.facts["ulid"] == NAME
    assert len(store.entries()) == 1


def test_a_key_that_is_no_name_is_refused_before_anything_is_kept(engine, store):
    with pytest.raises(HoldfastError) as caught:
        engine.start(start(), AGENT, key="no name!")
    assert caught.value.code == "bad_name"
    assert store.entries() == []


# Execute


def test_a_command_is_kept_with_who_when_and_what(running, store):
    outcome = running.execute(NAME, cmd.Begin("build"), PERSON)
    record = list(store.history(NAME))[-1]
    assert (record.revision, record.command, record.actor) == (2, "begin", PERSON)
    assert record.at == outcome.state.updated_at
    assert outcome.events == record.events


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (cmd.Note("n"), "note"),
        (cmd.RecordCheck("build", "lint", passed()), "record check"),
        (cmd.TakeSnapshot(), "take snapshot"),
    ],
)
def test_a_record_says_in_words_which_command_it_was(running, store, command, name):
    running.execute(NAME, cmd.Begin("build"), AGENT)
    running.execute(NAME, command, AGENT)
    assert list(store.history(NAME))[-1].command == name


class Outsider(World):
    """Somebody else writes a line while facts are gathered, as often as he is told to."""

    def __init__(self, store, commands):
        super().__init__()
        self.store, self.commands, self.free = store, commands, []

    def facts(self, state, needs):
        if self.commands:
            Engine(self.store, World(), Views(self.store)).execute(NAME, self.commands.pop(0), AGENT)
        self.free.append(is_free(self.store))
        return super().facts(state, needs)


def is_free(store):
    """Whether nobody holds the lock of the journal; in memory, the lock of the store."""
    if isinstance(store, MemoryStore):
        return not store._lock.locked()
    with open(store.file_of(NAME), "rb") as journal:
        try:
            fcntl.flock(journal, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def attach(number):
    return cmd.Attach("build", {f"file-{number}": f"{number}.txt"})


def test_facts_are_gathered_while_the_journal_is_free(running, store):
    world = Outsider(store, [])
    engine = Engine(store, world, Views(store))
    engine.execute(NAME, cmd.Begin("build"), AGENT)
    engine.execute(NAME, attach(1), AGENT)
    assert world.free == [True, True]


def test_facts_that_are_still_enough_are_kept_when_others_go_on(running, store):
    running.execute(NAME, cmd.Begin("build"), AGENT)
    world = Outsider(store, [cmd.Note("meanwhile")])
    state = Engine(store, world, Views(store)).execute(NAME, cmd.Note("n"), AGENT).state
    assert (world.asked, state.revision) == ([2], 4)


def test_facts_are_gathered_again_when_others_make_more_necessary(running, store):
    running.execute(NAME, cmd.Begin("build"), AGENT)
    world = Outsider(store, [attach(1)])
    Engine(store, world, Views(store)).execute(NAME, cmd.Note("n"), AGENT)
    assert (world.asked, world.free) == ([2, 3], [True, True])


def test_after_three_tries_facts_are_gathered_with_the_journal_locked(running, store):
    running.execute(NAME, cmd.Begin("build"), AGENT)
    world = Outsider(store, [attach(number) for number in range(1, 4)])
    Engine(store, world, Views(store)).execute(NAME, cmd.Note("n"), AGENT)
    assert (world.asked, world.free) == ([2, 3, 4, 5], [True, True, True, False])
    assert [record.command for record in store.history(NAME)][-1] == "note"


def test_facts_are_gathered_about_the_newest_state(running, store):
    Engine(store, World(), Views(store)).execute(NAME, cmd.Note("by another process"), AGENT)
    running.execute(NAME, cmd.Note("n"), AGENT)
    assert running.world.asked[-1] == 2


def test_a_refusal_changes_nothing_and_shows_nothing(running, store, views):
    before = store.load(NAME)
    with pytest.raises(Refused):
        running.execute(NAME, cmd.Begin("publish"), AGENT)
    assert store.load(NAME) == before
    assert views.refreshed == [1]


def test_a_command_that_changes_nothing_writes_nothing_and_shows_nothing(running, store, views):
    running.execute(NAME, cmd.Begin("build"), AGENT)
    outcome = running.execute(NAME, cmd.Begin("build"), AGENT)
    assert (outcome.changed, outcome.events, outcome.raced) == (False, (), ())
    assert outcome.state.revision == 2
    assert views.refreshed == [1, 2]


def test_a_key_makes_a_repetition_harmless(running, store):
    first = running.execute(NAME, cmd.Note("n"), AGENT, key="k1")
    again = running.execute(NAME, cmd.Note("n"), AGENT, key="k1")
    assert (first.changed, again.changed, again.state.revision) == (True, False, 2)
    with pytest.raises(Conflict) as caught:
        running.execute(NAME, cmd.Note("other"), AGENT, key="k1")
    assert caught.value.code == "key_conflict"
    with pytest.raises(Conflict):
        running.execute(NAME, cmd.Begin("build"), AGENT, key="k1")
    assert [record.revision for record in store.history(NAME)] == [1, 2]


def test_a_token_that_was_taken_over_is_fenced(running):
    running.execute(NAME, cmd.StartAgent("coder", "build"), AGENT)
    with pytest.raises(HoldfastError) as caught:
        running.execute(NAME, cmd.Begin("build"), AGENT, token=f"7-{'0' * 32}")
    assert caught.value.code == "fenced"


# Documents


def test_a_record_tells_what_was_shown_before_it(running, store, views):
    before = digest(views.documents[PATH])
    running.execute(NAME, cmd.Begin("build"), AGENT)
    first, second = store.history(NAME)
    assert first.shown is None
    assert second.shown == Shown(1, {PATH: before})


def test_what_was_shown_last_is_remembered_and_no_more(running, store):
    for number in range(KEPT_RENDERINGS + 5):
        running.execute(NAME, cmd.Note(f"note {number}"), AGENT)
    state = store.load(NAME)
    assert [one.at for one in state.renderings] == list(range(6, KEPT_RENDERINGS + 6))
    assert replay(store.history(NAME)) == state


def test_what_the_engine_returns_is_what_the_journal_says(running, store):
    state = running.execute(NAME, cmd.Begin("build"), AGENT).state
    assert state == replay(store.history(NAME)) == store.load(NAME)


def test_edits_that_came_in_meanwhile_are_handed_back(running, views):
    views.slipped_in.append((PATH, b"edited"))
    assert running.execute(NAME, cmd.Note("n"), AGENT).raced == ((PATH, b"edited"),)
    assert running.execute(NAME, cmd.Note("m"), AGENT).raced == ()


def test_the_lists_are_brought_up_to_date_after_the_store_knows(running, views):
    running.execute(NAME, cmd.Cancel("enough"), AGENT)
    running.execute(NAME, cmd.Resume(), AGENT)
    assert views.listed == [[True], [False], [True]]


def test_showing_again_writes_no_record(running, store, views):
    views.documents.clear()
    outcome = running.show(store.load(NAME))
    assert (outcome.changed, list(views.documents)) == (False, [PATH])
    assert len(list(store.history(NAME))) == 1


def test_the_same_edit_is_taken_once(running, store):
    edit = cmd.Edit(PATH, {"mine": [1]}, {}, (cmd.Part("history", entries=({"event": "mine"},)),))
    assert running.execute(NAME, edit, FILE).changed
    assert not running.execute(NAME, edit, FILE).changed
    assert running.execute(NAME, edit.replace(document={"mine": [True]}), FILE).changed
    assert [record.command for record in store.history(NAME)] == ["start", "edit", "edit"]
