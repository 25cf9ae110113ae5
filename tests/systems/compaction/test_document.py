"""The compaction dialect: what it writes, what it reads back, and which names it gives."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

import holdfast
from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, queries
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.reading import read
from holdfast.core.state import Evidence, State
from holdfast.definitions.file import load
from holdfast.documents.lens.changes import changes
from holdfast.documents.lens.edits import edit
from holdfast.documents.lens.mapping import put
from holdfast.documents.lens.text import Writer
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.systems.compaction.adoption import MOST_PHASES, TYPES, name_for
from holdfast.systems.compaction.document import DIALECT, DOCUMENT, phases
from holdfast.upkeep import schemas
from tests.core.play import AGENT, FILE, PERSON, Play
from tests.tiers import examples

DATA = Path(__file__).parent / "data"
DEFINITIONS = Path(holdfast.__file__).parent / "systems" / "compaction" / "definitions"
EXAMPLES = sorted(path.stem for path in DATA.glob("*.json"))
NOW = "2026-01-01T09:00:00.000Z"
CUSTOM = load(f"{DEFINITIONS}/custom.toml")
MIGRATION = ("Backup", "Schema", "Data Transformation", "Verify", "Switch")
RELEASE = read(
    {
        "name": "release",
        "dialect": "compaction",
        "step": [
            {"id": "plan", "name": "Plan", "approval": {"by": "human"}},
            {"id": "build", "name": "Build", "checks": ["tests"], "retry": {"max": 2, "exhausted": "escalated"}},
            {"id": "look", "review": {"by": ["reviewer"], "max": 2}},
            {"id": "ship"},
        ],
    }
)


def example(name: str = "migration") -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def at(**phase: Any) -> dict[str, Any]:
    """The migration, at another phase than its own."""
    document = example()
    document["phase"].update(phase)
    return document


def adopted(document: dict[str, Any], definition: Definition | None = None) -> State:
    return DIALECT.adopt(document, definition, Facts(now=NOW), "0" * 26)


def plain(document: Any) -> dict[str, Any]:
    """A document as it is after it was written and read."""
    return json.loads(Writer().write(document))


def document_of(play: Play) -> dict[str, Any]:
    return plain(put(DOCUMENT, play.state.base, play.state))


def said(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the time of its last change."""
    return {name: value for name, value in document.items() if name != "updated_at"}


def valid(document: Any) -> list[str]:
    return [error.message for error in Draft7Validator(schemas.schema("compaction")).iter_errors(document)]


def started(definition: Definition = CUSTOM, names: tuple[str, ...] = MIGRATION, **how: Any) -> Play:
    play = Play()
    if definition.loads == "phases":
        definition = definition.replace(steps=phases(names))
    id = DIALECT.identify(definition, "Database Migration", {}, play.now)
    play.do(cmd.Start.of(definition, "0" * 26, id, subject="Database Migration", title="Database Migration", **how))
    return play


def found(document: dict[str, Any], definition: Definition | None = None) -> Play:
    play = Play()
    play.do(cmd.Adopt(adopted(document, definition), document))
    return play


def edited(play: Play, change: Callable[[dict[str, Any]], Any]) -> Play:
    """Decides what somebody wrote into the document."""
    old = document_of(play)
    new = copy.deepcopy(old)
    change(new)
    play.do(edit(DOCUMENT, play.state, "state.json", old, new), by=FILE)
    return play


def moved(play: Play, **phase: Any) -> Play:
    return edited(play, lambda document: document["phase"].update(phase))


class TestTheExamplesOfTheConvention:
    @pytest.fixture(params=EXAMPLES)
    def document(self, request):
        return example(request.param)

    def test_there_is_one_for_each_the_convention_gives(self):
        assert EXAMPLES == ["design", "format", "migration", "qa-loop", "testing"]

    def test_writing_one_back_gives_the_same_value_in_the_same_order(self, document):
        state = adopted(document)
        for revision in (0, 1):
            written = plain(put(DOCUMENT, state.base, state.replace(revision=revision)))
            assert json.dumps(written) == json.dumps(document)

    def test_once_something_happened_the_time_of_it_comes_last_and_nothing_else_is_new(self, document):
        state = adopted(document)
        written = plain(put(DOCUMENT, state.base, state.replace(revision=2)))
        assert json.dumps(written) == json.dumps({**document, "updated_at": NOW})

    def test_the_state_says_what_the_document_says(self, document):
        state = adopted(document)
        phase = document["phase"]
        statuses = [state.step(path).status for path in state.plan.paths]
        before, after = phase["current"] - 1, phase["total"] - phase["current"]
        assert statuses == [lifecycle.DONE] * before + [lifecycle.ACTIVE] + [lifecycle.PENDING] * after
        assert state.plan.step(state.plan.paths[before]).name == phase["name"]
        assert (state.title, state.type) == (document["workflow"], document["workflow_type"])
        assert list(state.reading) == document["required_reading"]
        assert list(state.reminders) == document["key_reminders"]
        assert state.context == document["context"]

    def test_one_more_reminder_changes_nothing_else(self, document):
        play = found(document)
        play.do(cmd.Brief("reminders", add=("Mind the gap",)))
        document["key_reminders"].append("Mind the gap")
        assert document_of(play) == {**document, "updated_at": play.now}

    def test_it_is_valid(self, document):
        assert valid(document) == []

    def test_nobody_touched_it_so_it_asks_for_nothing(self, document):
        play = found(document)
        assert list(changes(DOCUMENT, play.state, document, document)) == []
        asked = edit(DOCUMENT, play.state, "state.json", document_of(play), document)
        assert asked.parts == ()


def test_a_definition_with_as_many_phases_gives_the_others_their_names():
    state = adopted(example("qa-loop"), load(f"{DEFINITIONS}/qa-loop.toml"))
    assert [state.plan.step(path).name for path in state.plan.paths] == ["Run QA", "Fixing Errors", "Verify"]
    other = adopted(example("design"), load(f"{DEFINITIONS}/implementation.toml"))
    assert [other.plan.step(path).name for path in other.plan.paths] == [
        "Design",
        "Phase 2",
        "Phase 3",
        "Phase 4",
        "Phase 5",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Database Migration", "database-migration"),
        ("  Feature Implementation (User Auth)  ", "feature-implementation-user-auth"),
        ("plan-001", "plan-001"),
        ("QA_Loop", "qa-loop"),
        ("a -- b", "a-b"),
        ("Ünïcode", "n-code"),
        ("ſtate \u212a", "tate-k"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\x00\x1b[31m\n", "a-31m"),
        ("x" * 300, "x" * 50),
        ("x" * 49 + " y", "x" * 49),
        ("٣ 3", "3"),
    ],
)
def test_a_name_for_folders_has_only_letters_digits_and_single_hyphens(text, name):
    assert name_for(text) == name


@pytest.mark.parametrize("text", ["", "データベース移行", "🚀", "שלום", "---", "\ud800"])
def test_a_name_with_nothing_left_is_a_hash(text):
    assert len(name_for(text)) == 8
    assert set(name_for(text)) <= set("0123456789abcdef")


def test_names_with_nothing_left_have_hashes_of_their_own():
    assert len({name_for(text) for text in ("🚀", "🚁", "移行", "שלום")}) == 4


@given(st.text(max_size=300))
def test_whatever_the_name_the_folder_is_a_safe_one(text):
    name = name_for(text)
    assert 1 <= len(name) <= 50
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name.strip("-") == name
    assert "--" not in name
    assert name_for(name) == name


def test_the_place_of_a_document_has_the_name_and_the_time():
    play = started()
    folder = "untracked/workflow-state/database-migration"
    assert DOCUMENT.path(play.state) == f"{folder}/state-database-migration-20260101_090000.json"


def test_the_id_of_a_document_is_its_name_and_when_it_was_made_in_utc():
    assert DIALECT.id_of(example()) == "database-migration-20251209_160000"
    assert DIALECT.id_of({**example(), "created_at": "2025-12-09T17:00:00.5+01:00"}) == DIALECT.id_of(example())
    for spoilt in ({}, {**example(), "created_at": "yesterday"}, {**example(), "workflow": 7}):
        assert DIALECT.id_of(spoilt) == ""


def test_phases_have_ids_that_can_be_typed_and_the_names_they_were_given():
    steps = phases(("Back up!", "設計", " Build ", "Phase 2", "Back up?", "x" * 60 + "1", "x" * 60 + "2"))
    ids = ["back-up", "phase-2", "build", "phase-4", "phase-5", "x" * 50, "phase-7"]
    assert [step.id for step in steps] == ids
    assert [step.name for step in steps[:5]] == ["Back up!", "設計", "Build", "Phase 2", "Back up?"]
    assert all(step.optional for step in steps)


@pytest.mark.parametrize(
    "names",
    [("A", ""), ("A", " "), ("A", "B", "A "), ("x" * 501,), tuple(f"P{number}" for number in range(MOST_PHASES + 1))],
)
def test_phases_without_a_name_twice_or_too_many_are_refused(names):
    with pytest.raises(UsageError) as refused:
        phases(names)
    assert refused.value.code == "bad_phases"


class TestWhatIsWritten:
    def test_a_workflow_that_just_began(self):
        play = started(reading=("@docs/guide.md",), reminders=("Back up first",), context={"source_db": "postgres"})
        assert document_of(play) == {
            "workflow": "Database Migration",
            "workflow_type": "custom",
            "phase": {"current": 1, "total": 5, "name": "Backup", "status": "in_progress"},
            "required_reading": ["@docs/guide.md"],
            "context": {"source_db": "postgres"},
            "key_reminders": ["Back up first"],
            "created_at": "2026-01-01T09:00:00Z",
            "updated_at": "2026-01-01T09:00:00.000Z",
        }

    def test_the_time_of_the_last_change_is_last_and_tells_one_document_from_the_next(self):
        play = started()
        stamps = [document_of(play)["updated_at"]]
        for status in ("blocked", "in_progress", "blocked"):
            moved(play.wait(0.001), status=status)
            stamps.append(document_of(play)["updated_at"])
        assert stamps == [f"2026-01-01T09:00:00.00{number}Z" for number in range(4)]
        assert list(document_of(play))[-2:] == ["created_at", "updated_at"]

    def test_a_workflow_of_a_type_the_convention_does_not_know_is_custom(self):
        assert document_of(started(RELEASE))["workflow_type"] == "custom"

    @pytest.mark.parametrize("type", TYPES)
    def test_the_definitions_that_come_with_holdfast_have_the_types_of_the_convention(self, type):
        definition = load(f"{DEFINITIONS}/{'compaction-planning' if type == 'planning' else type}.toml")
        document = document_of(started(definition))
        assert document["workflow_type"] == type
        assert valid(document) == []

    def test_a_definition_that_does_not_advance_stays_at_the_finished_phase_until_the_next_begins(self):
        play = started(RELEASE.replace(steps=RELEASE.steps[2:]))
        assert document_of(play)["phase"]["status"] == "not_started"
        play.do(cmd.Begin("look"), cmd.Done("look"))
        play.do(cmd.Review("look", "approved"), by=PERSON)
        assert document_of(play)["phase"] == {"current": 1, "total": 2, "name": "look", "status": "completed"}
        play.do(cmd.Begin("ship"))
        assert document_of(play)["phase"] == {"current": 2, "total": 2, "name": "ship", "status": "in_progress"}

    def test_the_engines_word_stands_beside_where_it_says_more(self):
        play = started(RELEASE)
        seen = []

        def turn(*commands: cmd.Command, by: Any = AGENT) -> None:
            play.do(*commands, by=by)
            phase = document_of(play)["phase"]
            seen.append((phase["status"], phase.get("status_detail")))

        turn(cmd.Begin("plan"))
        turn(cmd.Done("plan"))
        turn(cmd.Approve("plan"), by=PERSON)
        turn(cmd.Begin("build"))
        turn(cmd.Block("build", "no key"))
        turn(cmd.Unblock("build"))
        turn(cmd.Pause("lunch"))
        turn(cmd.Resume())
        turn(cmd.Fail("build", "red"), cmd.Fail("build", "red again"))
        turn(cmd.Unblock("build", "use the other door"), cmd.Skip("build", "not now"), by=PERSON)
        turn(cmd.Begin("look"), cmd.Done("look"))
        assert seen == [
            ("in_progress", None),
            ("blocked", "waiting"),
            ("completed", None),
            ("in_progress", None),
            ("blocked", None),
            ("in_progress", None),
            ("blocked", "paused"),
            ("in_progress", None),
            ("blocked", "escalated"),
            ("completed", "skipped"),
            ("in_progress", "in_review"),
        ]

    def test_nothing_is_left_once_the_work_is_over(self):
        play = started(names=("A", "B"))
        file = DOCUMENT.path(play.state)
        assert DOCUMENT.former(play.state) == ()
        play.do(cmd.Done("a"), cmd.Done("b"))
        assert (DOCUMENT.path(play.state), DOCUMENT.former(play.state)) == ("", (file,))
        given_up = started()
        given_up.do(cmd.Cancel("enough"))
        assert DOCUMENT.path(given_up.state) == ""


# What a workflow may go through: any command at any time, refused ones aside.
step = st.sampled_from(["plan", "build", "look", "ship"])
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(lambda t: t.strip())
ONWARD: list[cmd.Command] = [
    cmd.Begin("plan"),
    cmd.Done("plan"),
    cmd.Approve("plan"),
    cmd.Begin("build"),
    cmd.RecordCheck("build", "tests", Evidence(True, NOW, 0)),
    cmd.Done("build"),
    cmd.Begin("look"),
    cmd.Done("look"),
    cmd.Review("look", "approved"),
    cmd.Begin("ship"),
]
COMMANDS = st.one_of(
    st.builds(cmd.Begin, step),
    st.builds(cmd.Done, step),
    st.builds(cmd.Approve, step),
    st.builds(cmd.Reject, step, text),
    st.builds(cmd.Fail, step, text),
    st.builds(cmd.Block, step, text),
    st.builds(cmd.Unblock, step),
    st.builds(cmd.Skip, step, text),
    st.builds(cmd.Reopen, step),
    st.builds(cmd.Resume),
    st.builds(cmd.Pause, text),
    st.builds(cmd.Cancel, text),
    st.builds(cmd.Record, st.dictionaries(st.sampled_from(["a", "b"]), st.integers() | text, min_size=1)),
    st.builds(lambda t: cmd.Brief("reminders", add=(t,)), text),
    st.builds(lambda t: cmd.Brief("reading", add=(f"@{t}",)), text),
)


@st.composite
def lives(draw: st.DrawFn) -> Play:
    play = started(RELEASE)
    onward = ONWARD[: draw(st.integers(0, len(ONWARD)))]
    for command in [*onward, *draw(st.lists(COMMANDS, max_size=10))]:
        try:
            play.do(command, by=PERSON)
        except HoldfastError:
            continue
    return play


@given(lives())
@settings(max_examples=examples(150))
def test_at_every_turn_of_a_life_the_document_is_valid_and_asks_for_nothing(play):
    for state in play.states:
        document = plain(put(DOCUMENT, state.base, state))
        assert valid(document) == []
        assert edit(DOCUMENT, state, "state.json", document, document).commands == ()


@given(lives())
@settings(max_examples=examples(100))
def test_a_document_can_be_taken_up_again_without_its_journal(play):
    """What is written can always be read, and leads to the same place."""
    document = document_of(play)
    state = adopted(document, RELEASE)
    assert queries.top_number(state) >= document["phase"]["current"]
    again = plain(put(DOCUMENT, state.base, state))
    for name in ("workflow", "required_reading", "context", "key_reminders", "created_at"):
        assert again[name] == document[name]


@pytest.mark.parametrize("spoil", [lambda d: d.pop("workflow"), lambda d: d.update(workflow=" ")])
def test_what_is_no_workflow_is_refused_by_holdfast_and_by_the_schema(spoil):
    document = example()
    spoil(document)
    with pytest.raises(UsageError) as refused:
        adopted(document)
    assert refused.value.remedy.startswith("holdfast schema")
    assert valid(document)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(workflow="x" * 501),
        lambda d: d.pop("phase"),
        lambda d: d.update(phase=[]),
        lambda d: d["phase"].pop("current"),
        lambda d: d["phase"].update(current=0),
        lambda d: d["phase"].update(current="3"),
        lambda d: d["phase"].update(current=True),
        lambda d: d["phase"].update(total=201),
        lambda d: d["phase"].update(name=None),
        lambda d: d["phase"].update(name="x" * 501),
        lambda d: d["phase"].update(status="nearly"),
        lambda d: d.update(required_reading="@a.md"),
        lambda d: d.update(required_reading=[1]),
        lambda d: d.update(key_reminders={}),
        lambda d: d.update(context=[]),
    ],
)
def test_what_the_schema_does_not_allow_is_taken_up_all_the_same(spoil):
    document = example()
    spoil(document)
    state = adopted(document)
    assert state.base == document
    assert 1 <= queries.top_number(state) <= len(state.plan.children(""))
    assert valid(document)


def test_the_schema_asks_for_what_the_convention_requires_and_holdfast_does_without():
    for name in ("workflow_type", "required_reading", "created_at"):
        document = example()
        del document[name]
        assert adopted(document).title == "Database Migration"
        assert valid(document)


def test_what_need_not_be_there_is_added_only_when_there_is_something_to_say():
    document = {name: value for name, value in example().items() if name not in ("context", "key_reminders")}
    play = found(document)
    assert valid(document) == []
    assert document_of(play) == document
    play.do(cmd.Record({"k": 1}))
    assert document_of(play) == {**document, "context": {"k": 1}, "updated_at": play.now}


def test_another_type_is_read_and_kept_and_so_are_fields_nobody_knows():
    document = {"mine": [1, {"a": None}], **example(), "workflow_type": "page orchestration!"}
    document["phase"]["since"] = "noon"
    play = found(document)
    play.do(cmd.Done("phase-3"), cmd.Begin("phase-4"))
    after = document_of(play)
    assert list(after) == [*document, "updated_at"]
    assert (after["mine"], after["phase"]["since"]) == (document["mine"], "noon")
    assert after["workflow_type"] == "page orchestration!"
    assert valid(after) == []


@pytest.mark.parametrize("literal", ["2025-12-09T14:30:52.123456Z", "2025-12-09T15:30:52+01:00", "2025-12-09T14:30Z"])
def test_the_moment_it_was_made_stays_as_it_is_written(literal):
    play = found({**example(), "created_at": literal})
    play.do(cmd.Done("phase-3"))
    assert document_of(play)["created_at"] == literal


@pytest.mark.parametrize(
    ("status", "engine"), [("not_started", "pending"), ("blocked", "blocked"), ("completed", "done")]
)
def test_the_status_of_the_phase_is_taken_from_the_document(status, engine):
    play = found(at(status=status))
    assert play.status("phase-3") == engine
    assert document_of(play)["phase"]["status"] == status


@pytest.mark.parametrize(
    ("word", "engine"),
    [("pending", "pending"), ("active", "active"), ("in-progress", "active"), ("complete", "done"), ("done", "done")],
)
def test_a_plain_word_beside_the_one_of_the_convention_is_understood_and_stays(word, engine):
    play = found(at(status=word))
    assert play.status("phase-3") == engine
    play.do(cmd.Note("on"))
    phase = document_of(play)["phase"]
    assert (phase["current"], phase["status"]) == (3, word)


@pytest.mark.parametrize(
    ("word", "engine"), [("active", "active"), ("in-progress", "active"), ("complete", "done"), ("done", "done")]
)
def test_a_plain_word_moves_a_phase_like_the_one_of_the_convention(word, engine):
    play = moved(started(), status="blocked")
    assert moved(play, status=word).status("backup") == engine
    assert valid(document_of(play)) == []


def test_a_gate_that_a_document_says_was_passed_opens_nothing():
    document = at(current=2, total=4, name="Build", status="in_progress")
    play = found({**document, "workflow_type": "release"}, RELEASE)
    grant = play.state.step("plan").grant
    assert grant is not None
    assert grant.claimed
    assert gates.missing(play.state, "build", play.facts()) == ["plan"]
    play.check("build", "tests")
    play.refuses(cmd.Done("build"), "gate_unmet")
    play.do(cmd.Approve("plan"), by=PERSON)
    play.do(cmd.Done("build"))
    play.do(cmd.Begin("look"))


class TestWhatAnEditAsksFor:
    """The position is one thing: whatever of it changes, the phases follow."""

    def names(self, play: Play) -> list[str]:
        return [play.state.plan.step(path).name for path in play.state.plan.paths]

    def statuses(self, play: Play) -> list[str]:
        return list(play.statuses().values())

    def moved(self, play: Play, **phase: Any) -> list[str]:
        return self.statuses(moved(play, **phase))

    def test_going_back_opens_a_phase_again_and_those_after_it_are_to_come(self):
        play = found(example())
        assert self.moved(play, current=1, name="Backup") == ["active", *["pending"] * 4]
        assert self.names(play)[0] == "Backup"

    @pytest.mark.parametrize(
        ("status", "first"), [("not_started", "active"), ("blocked", "blocked"), ("completed", "done")]
    )
    def test_going_back_is_heard_whatever_the_phase_is_said_to_be(self, status, first):
        statuses = self.moved(found(example()), current=1, name="Backup", status=status)
        assert (statuses[0], statuses[3:]) == (first, ["pending", "pending"])
        assert statuses[2] != "done"

    def test_a_phase_is_blocked_and_goes_on(self):
        play = started()
        assert self.moved(play, status="blocked")[0] == "blocked"
        assert self.moved(play, status="in_progress")[0] == "active"
        self.moved(play, status="blocked")
        assert self.moved(play, current=2, name="Schema", status="blocked")[:2] == ["done", "blocked"]
        assert self.moved(play, status="completed")[1:3] == ["done", "active"]

    def test_fewer_phases_than_were_begun_are_possible_where_the_work_goes_back(self):
        play = started()
        self.moved(play, current=4, name="Verify")
        assert self.moved(play, current=2, total=2, name="Schema") == ["done", "active"]

    def test_a_total_below_the_phase_in_progress_is_put_right(self):
        play = started()
        self.moved(play, current=4, name="Verify")
        self.moved(play, total=2)
        assert document_of(play)["phase"]["total"] == 4

    def test_moving_on_while_the_work_was_paused_takes_it_up_again(self):
        play = started()
        play.do(cmd.Pause("lunch"))
        assert self.moved(play, current=2, name="Schema", status="in_progress")[:2] == ["done", "active"]
        assert play.state.paused is None
        play.do(cmd.Pause("tea"))
        self.moved(play, total=6)
        assert play.state.paused is not None

    def test_an_edit_that_was_overtaken_takes_nothing_back(self):
        """A slow editor moved on from the first phase to the second, and meanwhile the second was finished too."""
        play = started()
        old = document_of(play)
        new = copy.deepcopy(old)
        new["phase"].update(current=2, name="Schema")
        new["context"]["seen"] = True
        play.do(cmd.Done("backup"), cmd.Done("schema"))
        play.do(edit(DOCUMENT, play.state, "state.json", old, new), by=FILE)
        assert self.statuses(play)[:3] == ["done", "done", "active"]
        assert play.state.context == {"seen": True}

    @pytest.mark.parametrize("field", ["required_reading", "key_reminders"])
    def test_a_list_that_changed_meanwhile_keeps_what_others_did_to_it(self, field):
        """An old copy is saved: what its author added and took away counts, and nothing besides."""
        what = "reading" if field == "required_reading" else "reminders"
        play = started(**{what: ("@a", "@b", "@c")})
        old = document_of(play)
        play.do(cmd.Brief(what, add=("@theirs",), remove=("@a",)))
        new = copy.deepcopy(old)
        new[field] = ["@a", "@mine", "@c"]
        play.do(edit(DOCUMENT, play.state, "state.json", old, new), by=FILE)
        assert getattr(play.state, what) == ("@c", "@theirs", "@mine")

    def test_a_list_that_nobody_else_touched_is_taken_in_the_order_it_has(self):
        play = started(reminders=("a", "b", "c"))
        edited(play, lambda document: document.update(key_reminders=["c", "new", "a"]))
        assert play.state.reminders == ("c", "new", "a")

    def test_a_phase_that_was_left_out_can_be_returned_to(self):
        play = started()
        self.moved(play, current=4, name="Verify")
        assert self.moved(play, current=2, name="Schema") == ["done", "active", *["pending"] * 3]

    def test_a_name_left_standing_from_the_phase_before_names_nothing(self):
        play = started()
        self.moved(play, current=3)
        assert self.names(play) == list(MIGRATION)

    def test_the_name_of_another_phase_alone_moves_there(self):
        play = started()
        self.moved(play, name=MIGRATION[2])
        assert self.names(play) == list(MIGRATION)
        assert document_of(play)["phase"] == {"current": 3, "total": 5, "name": MIGRATION[2], "status": "in_progress"}
        self.moved(play, name=MIGRATION[0])
        assert document_of(play)["phase"]["current"] == 1

    def test_no_phase_gets_the_name_that_another_one_has(self):
        play = started()
        self.moved(play, current=2, name=MIGRATION[3])
        assert self.names(play) == list(MIGRATION)
        assert document_of(play)["phase"]["current"] == 2

    @pytest.mark.parametrize("key", ["Current", "current ", "CURRENT"])
    def test_a_key_of_the_position_in_another_spelling_is_that_key(self, key):
        play = started()
        self.moved(play, **{key: 2})
        phase = document_of(play)["phase"]
        assert (phase["current"], key in phase) == (2, False)

    def test_names_of_a_definition_of_the_users_stay(self):
        play = started(RELEASE.replace(source="release.toml"))
        play.do(cmd.Begin("plan"))
        with pytest.raises(Refused, match="names the phase"):
            self.moved(play, name="Scheming")
        assert self.names(play) == ["Plan", "Build", "", ""]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
PLACES = [
    *([name] for name in ("workflow", "workflow_type", "phase", "required_reading", "context", "key_reminders")),
    *(["phase", name] for name in ("current", "total", "name", "status", "status_detail")),
    ["created_at"],
    ["updated_at"],
    ["context", "source_db"],
    ["required_reading", 0],
    ["key_reminders", 1],
]


@given(st.sampled_from(PLACES), JSON)
@settings(max_examples=examples(300))
def test_any_value_anywhere_is_read_or_refused_and_never_an_accident(place, value):
    """Documents come from outside: whatever is in a field, adopting and editing answer in Holdfast's words."""
    document = example()
    holder: Any = document
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    try:
        play = found(document)
        play.do(cmd.Note("on"))
        document_of(play)
    except HoldfastError:
        pass
    play = found(example())
    try:
        play.do(edit(DOCUMENT, play.state, "state.json", example(), document), by=FILE)
        assert valid(document_of(play)) == []
    except HoldfastError:
        pass


positions = st.fixed_dictionaries(
    {
        "current": st.integers(1, 7),
        "total": st.integers(1, 7),
        "name": st.sampled_from(["", "Backup", "Schema", "Other"]),
        "status": st.sampled_from(["not_started", "in_progress", "completed", "blocked"]),
    }
)


@given(positions)
def test_wherever_an_account_says_it_is_writing_it_back_says_the_same(phase):
    document = at(**{**phase, "total": max(phase["current"], phase["total"]), "name": phase["name"] or "Backup"})
    state = adopted(document)
    assert plain(put(DOCUMENT, state.base, state)) == document


@given(st.lists(positions, min_size=1, max_size=5))
@settings(max_examples=examples(300))
def test_an_account_of_ones_own_may_move_anywhere_and_is_never_refused(wanted):
    play = started()
    for phase in wanted:
        if not queries.is_active(play.state):
            break
        before = document_of(play)["phase"]
        moved(play, **phase)
        shown = document_of(play)["phase"]
        assert shown["total"] >= shown["current"]
        has_moved = any(phase[name] != before[name] for name in ("current", "total", "status"))
        if phase["status"] in ("in_progress", "blocked") and has_moved:
            assert (shown["current"], shown["status"]) == (phase["current"], phase["status"])
        assert valid(document_of(play)) == []
