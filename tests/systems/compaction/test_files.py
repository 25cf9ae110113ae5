"""The compaction dialect in a real project: files that agents write, edit and delete, and what Holdfast makes of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core.state import State
from holdfast.errors import Refused
from holdfast.project.workflow import Workflow
from holdfast.upkeep import schemas
from tests.tiers import need
from tests.workbench import Bench

DATA = Path(__file__).parent / "data"
EXAMPLES = sorted(path.stem for path in DATA.glob("*.json"))
FOLDER = "untracked/workflow-state"
MIGRATION = ("Backup", "Schema", "Data Transformation", "Verify", "Switch")
RELEASE = """
name = "release"
dialect = "compaction"
advance = true

[[step]]
id = "plan"
approval = { by = "human" }

[[step]]
id = "build"

[[step]]
id = "ship"
"""


class Account:
    """One workflow of an agent's own, and its document. Every look is that of a new process."""

    def __init__(self, bench: Bench, id: str, path: Path) -> None:
        self.bench = bench
        self.id = id
        self.path = path

    def look(self, kind: str = "agent") -> Workflow:
        return self.bench.open(kind).workflow(self.id)

    @property
    def state(self) -> State:
        return self.look().state

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    @property
    def phase(self) -> dict[str, Any]:
        return self.document["phase"]

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> Account:
        document = self.document
        change(document)
        self.path.write_text(json.dumps(document, ensure_ascii=False))
        return self

    def move(self, **phase: Any) -> list[str]:
        """Another position, written into the file; the statuses that follow from it."""
        self.edit(lambda document: document["phase"].update(phase))
        return self.statuses()

    def statuses(self) -> list[str]:
        state = self.state
        return [state.step(path).status for path in state.plan.paths]

    def alerts(self) -> list[str]:
        return [alert.code for alert in self.state.alerts]

    def quarantined(self) -> list[bytes]:
        folder = self.bench.root / ".holdfast/quarantine"
        return [path.read_bytes() for path in sorted(folder.glob("*")) if path.suffix != ".reason"]


def said(document: dict[str, Any]) -> dict[str, Any]:
    """A document without the time of its last change."""
    return {name: value for name, value in document.items() if name != "updated_at"}


def documents(root: Path) -> list[Path]:
    return sorted((root / FOLDER).glob("*/state-*.json"))


def valid(document: Any) -> list[str]:
    return [error.message for error in Draft7Validator(schemas.schema("compaction")).iter_errors(document)]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def begun(bench):
    def begun(name: str = "Database Migration", definition: str = "custom", **how: Any) -> Account:
        if definition == "custom":
            how.setdefault("phases", MIGRATION)
        before = documents(bench.root)
        id = bench.start(definition, name, **how).id
        (path,) = [path for path in documents(bench.root) if path not in before]
        return Account(bench, id, path)

    return begun


@pytest.fixture
def account(begun):
    return begun()


@pytest.fixture
def found(bench):
    """A document that an agent wrote before Holdfast came, adopted on first use."""

    def found(document: dict[str, Any], name: str = "some/state-some-20251209_160000") -> Account:
        path = bench.write(f"{FOLDER}/{name}.json", json.dumps(document, indent=2))
        return Account(bench, bench.open().workflow().id, path)

    return found


@pytest.fixture
def release(bench, begun):
    """By a definition of the user's, whose first step a person approves."""
    bench.write(".holdfast/workflows/release.toml", RELEASE)
    return begun("1.0", "release")


def example(name: str = "migration") -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_document_of_the_convention_is_adopted_by_the_first_command_and_says_the_same_afterwards(bench, name):
    document = example(name)
    path = bench.root / FOLDER / "some" / "state-some-20251209_143052.json"
    path.parent.mkdir(parents=True)
    shutil.copy(DATA / f"{name}.json", path)
    status = json.loads(bench.ok("status", "--json").out)
    assert status["title"] == document["workflow"]
    assert json.dumps(json.loads(path.read_bytes())) == json.dumps(document)
    bench.ok("remind", "Mind the gap")
    document["key_reminders"].append("Mind the gap")
    after = json.loads(path.read_bytes())
    assert after == {**document, "updated_at": after["updated_at"]}
    assert list(after) == [*document, "updated_at"]
    assert valid(after) == []
    assert documents(bench.root) == [path]


def test_the_schema_is_printed_and_is_a_draft_07_schema(bench):
    schema = json.loads(bench.ok("schema", "compaction").out)
    Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert schema["$id"] == "urn:holdfast:schema:compaction"


def test_everything_holdfast_writes_from_the_start_on_is_valid(account):
    (account.bench.root / "GUIDE.md").write_text("guide")
    turns: list[Callable[[Workflow], Any]] = [
        lambda work: work.read_first(str(account.bench.root / "GUIDE.md")),
        lambda work: work.remind("Back up first"),
        lambda work: work.record({"source_db": "postgres", "n": None}),
        lambda work: work.block("backup", "no disk"),
        lambda work: work.unblock("backup"),
        lambda work: work.fail("backup", "disk full"),
        lambda work: work.resume(),
        lambda work: work.pause("lunch"),
        lambda work: work.resume(),
        lambda work: work.done("backup"),
        lambda work: work.skip("schema", "the same"),
        lambda work: work.reopen("backup"),
        lambda work: work.cancel("enough"),
        lambda work: work.resume(),
    ]
    for turn in turns:
        turn(account.look())
        if account.path.exists():
            assert valid(account.document) == []
    assert account.path.exists()


class TestThePosition:
    def test_one_phase_further_the_one_before_is_done(self, account):
        assert account.move(current=2, name="Schema") == ["done", "active", "pending", "pending", "pending"]
        assert account.phase == {"current": 2, "total": 5, "name": "Schema", "status": "in_progress"}
        assert account.alerts() == []

    def test_several_phases_further_those_between_were_skipped(self, account):
        assert account.move(current=4, name="Verify") == ["done", "skipped", "skipped", "active", "pending"]

    def test_backwards_the_phase_is_open_again_and_those_after_it_are_to_come(self, found):
        account = found(example())
        assert account.move(current=1, name="Backup") == ["active", "pending", "pending", "pending", "pending"]
        assert account.phase == {"current": 1, "total": 5, "name": "Backup", "status": "in_progress"}
        assert account.alerts() == []

    def test_more_phases_than_before_are_to_come(self, account):
        assert account.move(total=7) == ["active", *["pending"] * 6]
        assert account.move(current=7, name="Clean up") == ["done", *["skipped"] * 5, "active"]
        assert account.phase == {"current": 7, "total": 7, "name": "Clean up", "status": "in_progress"}

    def test_fewer_phases_than_before_are_left(self, account):
        assert account.move(total=3) == ["active", "pending", "pending"]
        assert account.phase["total"] == 3

    def test_a_name_is_filled_in_where_the_phase_had_none(self, found):
        account = found(example())
        account.move(current=4, name="Verify data")
        state = account.state
        assert [state.plan.step(path).name for path in state.plan.paths[2:]] == [
            "Data Transformation",
            "Verify data",
            "Phase 5",
        ]

    def test_blocked_until_somebody_goes_on(self, account):
        assert account.move(status="blocked")[0] == "blocked"
        assert account.phase["status"] == "blocked"
        assert account.look().status()["status"] == "blocked"
        assert account.move(current=2, name="Schema", status="in_progress")[:2] == ["done", "active"]
        assert account.alerts() == []

    def test_completed_begins_the_next(self, account):
        assert account.move(status="completed")[:2] == ["done", "active"]
        assert account.phase == {"current": 2, "total": 5, "name": "Schema", "status": "in_progress"}

    def test_not_started_waits_to_be_begun(self, found):
        account = found(example())
        assert account.move(current=4, name="Verify", status="not_started")[2:4] == ["done", "pending"]
        assert account.phase == {"current": 4, "total": 5, "name": "Verify", "status": "not_started"}
        assert account.move(status="in_progress")[3] == "active"

    def test_a_phase_of_another_workflow_of_the_same_name_is_not_touched(self, begun, account):
        other = begun("Database: Migration!")
        account.move(current=3, name="Data Transformation")
        assert (other.phase["current"], account.phase["current"]) == (1, 3)

    def test_the_journal_says_who_moved_it(self, account):
        account.move(current=2, name="Schema")
        last = list(account.look().history())[-1]
        assert (last.command, last.actor.kind) == ("edit", "file")


class TestTheEnd:
    def test_when_the_last_phase_is_done_the_document_goes_with_its_folder(self, account):
        for path in account.state.plan.paths:
            account.look().done(path)
        assert not account.path.parent.exists()
        assert account.look().status()["status"] == "completed"

    def test_a_last_phase_that_is_completed_in_the_document_ends_the_work(self, account):
        assert account.move(current=5, name="Switch", status="completed")[-1] == "done"
        assert not account.path.parent.exists()
        assert account.look().status()["status"] == "completed"

    def test_a_folder_in_which_somebody_keeps_something_stays(self, account):
        kept = account.path.parent / "notes.md"
        kept.write_text("mine")
        account.look().cancel("enough")
        assert (account.path.exists(), kept.read_text()) == (False, "mine")

    def test_two_workflows_in_one_folder_end_one_after_the_other(self, begun, account):
        other = begun("database migration")
        assert other.path.parent == account.path.parent
        account.look().cancel("enough")
        assert other.document["workflow"] == "database migration"
        other.look().cancel("enough")
        assert not other.path.parent.exists()

    def test_deleting_the_folder_by_hand_says_that_the_work_is_done(self, account):
        account.move(current=3, name="Data Transformation")
        shutil.rmtree(account.path.parent)
        assert account.statuses() == ["done", "skipped", "done", "skipped", "skipped"]
        assert account.look().status()["status"] == "completed"
        assert not account.path.parent.exists()

    def test_deleting_an_adopted_document_says_so_too(self, found):
        account = found(example())
        shutil.rmtree(account.path.parent)
        assert account.look().status()["status"] == "completed"
        assert documents(account.bench.root) == []

    def test_a_new_workflow_of_the_name_can_begin_afterwards(self, begun, account):
        shutil.rmtree(account.path.parent)
        assert account.look().status()["status"] == "completed"
        again = begun()
        assert again.id != account.id
        assert again.phase["current"] == 1


class TestWhatAnAgentWrites:
    @pytest.mark.parametrize("literal", ["2025-12-09T14:30:52.123456Z", "2025-12-09T15:30:52.5+01:00"])
    def test_when_it_was_made_stays_as_it_was_written(self, found, literal):
        account = found({**example(), "created_at": literal})
        account.move(current=4, name="Verify")
        account.look().remind("Mind the gap")
        assert account.document["created_at"] == literal

    def test_when_it_was_made_cannot_be_changed(self, account):
        made = account.document["created_at"]
        account.edit(lambda document: document.update(created_at="2020-01-01T00:00:00Z"))
        account.look()
        assert account.document["created_at"] == made

    def test_unknown_fields_and_the_order_of_all_are_kept(self, account):
        document = account.document
        changed = {"mine": [1, {"a": None}], **dict(reversed(document.items())), "last": "one"}
        changed["phase"] = {"since": "noon", **document["phase"]}
        account.path.write_text(json.dumps(changed))
        account.look().done("backup")
        after = account.document
        assert list(after) == list(changed)
        assert list(after["phase"]) == list(changed["phase"])
        assert (after["mine"], after["last"], after["phase"]["since"]) == ([1, {"a": None}], "one", "noon")

    @pytest.mark.parametrize("field", ["required_reading", "key_reminders"])
    def test_lists_are_taken_as_they_are_written(self, found, field):
        account = found(example())
        first, second = account.document[field]
        for listed in ([first, second, "@new.md"], [second, first], [second, "@new.md", first], [first], []):
            account.edit(lambda document, listed=listed: document.update({field: listed}))
            state = account.state
            assert list(state.reading if field == "required_reading" else state.reminders) == listed
            assert account.document[field] == listed
        assert account.alerts() == []

    def test_values_of_the_context_come_change_and_go(self, account):
        contexts: list[dict[str, Any]] = [
            {"a": 1},
            {"a": 1, "b": {"c": [None]}},
            {"a": None, "b": {"c": [None]}, "ключ": "值"},
            {"a": None, "b": {"c": []}, "ключ": "值"},
            {"a": None, "ключ": "值"},
        ]
        for context in contexts:
            account.edit(lambda document, context=context: document.update(context=context))
            account.look().remind("Look again")
            assert account.document["context"] == context
            assert {name: account.state.context[name] for name in context} == context
        assert account.alerts() == []

    def test_everything_at_once_is_one_edit(self, account):
        def change(document: dict[str, Any]) -> None:
            document["phase"].update(current=2, name="Schema")
            document["required_reading"].append("@docs/schema.md")
            document["key_reminders"].append("Validate")
            document["context"]["records"] = 15000

        state = account.edit(change).state
        assert (state.reading, state.reminders, state.context) == (
            ("@docs/schema.md",),
            ("Validate",),
            {"records": 15000},
        )
        assert [record.command for record in account.look().history()] == ["start", "edit"]

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda d: d.pop("workflow"),
            lambda d: d.update(workflow=""),
            lambda d: d.update(workflow_type=7),
            lambda d: d.pop("phase"),
            lambda d: d.update(phase=["Schema"]),
            lambda d: d["phase"].update(status="purple"),
            lambda d: d.update(key_reminders=["", " "]),
        ],
    )
    def test_a_field_that_cannot_be_taken_is_put_back_and_the_others_are_taken(self, account, spoil):
        before = account.document

        def change(document: dict[str, Any]) -> None:
            document["context"]["taken"] = True
            spoil(document)

        account.edit(change)
        written = account.path.read_bytes()
        assert account.alerts() == ["edit_partly_refused"]
        assert said(account.document) == {**said(before), "context": {"taken": True}}
        assert account.quarantined() == [written]

    def test_a_workflow_that_is_renamed_keeps_its_id_and_its_file(self, account):
        account.edit(lambda d: d.update(workflow="Move to Postgres", workflow_type="implementation"))
        state = account.state
        assert (state.title, state.id) == ("Move to Postgres", account.id)
        account.look().remind("Back up first")
        assert account.document["workflow"] == "Move to Postgres"
        assert account.document["workflow_type"] == "implementation"
        assert documents(account.bench.root) == [account.path]
        assert account.alerts() == []
        listed = account.bench.ok("list", "--json").json["workflows"]
        assert [(one["workflow_id"], one["title"]) for one in listed] == [(account.id, "Move to Postgres")]
        assert account.bench.ok("adopt").out.strip() != ""
        assert len(account.bench.open().list(status="active")) == 1

    @pytest.mark.parametrize("data", [b"", b"\n", b'{"workflow": "Dat', b"\0" * 40])
    def test_a_broken_file_is_kept_aside_and_restored_from_the_journal(self, account, data):
        account.look().remind("Back up first")
        before = account.document
        account.path.write_bytes(data)
        then = time.time() - 5
        os.utime(account.path, (then, then))
        assert account.alerts() == ["document_damaged"]
        assert said(account.document) == said(before)
        assert account.quarantined() == [data]

    @pytest.mark.parametrize(
        "data",
        [
            b"[]",
            b"\xff\xfe{\0}\0",
            b"workflow: Database\nphase: 2\n",
            b'{"workflow": "A", "context": {"at": "C:\\dir\\new"}}',
            b'{"workflow": "A", "context": {"at": NaN}}',
            b'{"workflow": "A"}\n{"workflow": "B"}',
            b'{\n<<<<<<< HEAD\n"workflow": "A"\n=======\n"workflow": "B"\n>>>>>>> b\n}',
        ],
    )
    def test_a_text_that_cannot_be_read_stays_and_is_told_once(self, account, data):
        account.look().remind("Back up first")
        before = account.document
        account.path.write_bytes(data)
        then = time.time() - 5
        os.utime(account.path, (then, then))
        assert account.alerts() == ["edit_unread"]
        account.look().remind("And test it")
        assert account.alerts() == ["edit_unread"]
        assert account.path.read_bytes() == data
        assert account.quarantined() == []
        account.path.write_text(json.dumps(before))
        assert account.look().state.reminders[-2:] == ("Back up first", "And test it")
        assert json.loads(account.path.read_text())["workflow"] == before["workflow"]


class TestNames:
    @pytest.mark.parametrize(
        "name",
        ["データベース移行", "🚀🚀", "نقل قاعدة البيانات", "Ünïcode – naïve", "x" * 300, "a/../../b", "tab\tand\nline"],
    )
    def test_a_name_in_any_script_is_kept_whole_in_the_document(self, begun, bench, name):
        account = begun(name)
        assert account.document["workflow"] == name
        assert valid(account.document) == []
        folder, file = account.path.parent.name, account.path.name
        assert file.startswith(f"state-{folder}-")
        assert len(folder) <= 50
        assert file.isascii()
        assert account.path.parent.parent == bench.root / FOLDER
        account.move(current=2, name=f"次 {name[:20]}")
        assert account.phase["name"] == f"次 {name[:20]}"
        assert account.alerts() == []

    def test_two_names_that_share_a_folder_are_told_apart_by_what_they_are_called(self, begun, bench):
        one, other = begun("QA Loop"), begun("qa: loop")
        assert one.path.parent == other.path.parent
        assert (one.document["workflow"], other.document["workflow"]) == ("QA Loop", "qa: loop")
        for again in ("QA Loop", "qa: loop"):
            with pytest.raises(Refused) as refused:
                bench.start("custom", again, phases=MIGRATION)
            assert refused.value.code == "already_active"
        found = [bench.open().find("custom", name) for name in ("QA Loop", "qa: loop", "QA loop")]
        assert [work.id if work else None for work in found] == [one.id, other.id, None]

    def test_however_many_begin_within_one_second_each_has_an_id_and_a_file_of_its_own(self, begun, bench):
        begins = [begun(name) for name in ("A B", "a b", "A-B", "a_b", "a  b")]
        assert len({account.id for account in begins}) == 5
        assert len(documents(bench.root)) == 5
        for number, account in enumerate(begins):
            account.look().record({"number": number})
        assert [account.document["context"] for account in begins] == [{"number": number} for number in range(5)]


class TestADefinitionOfTheUsers:
    def test_an_edit_past_the_gate_is_refused_and_the_document_says_where_the_work_is(self, release):
        before = release.document
        for phase in ({"current": 2, "name": "build"}, {"current": 3, "name": "ship"}, {"status": "completed"}):
            release.edit(lambda document, phase=phase: document["phase"].update(phase))
            release.look()
            assert release.document["phase"]["current"] == 1
        assert release.statuses()[1:] == ["pending", "pending"]
        assert set(release.alerts()) <= {"edit_refused"}
        assert release.document["workflow"] == before["workflow"]

    def test_what_is_handed_in_waits_for_the_person_whatever_the_document_says(self, release):
        release.look().done("plan")
        assert (release.phase["status"], release.phase["status_detail"]) == ("blocked", "waiting")
        assert release.move(current=2, name="build", status="in_progress") == ["waiting", "pending", "pending"]
        assert release.alerts() == ["edit_refused"]
        release.look("human").approve("plan")
        assert release.statuses() == ["done", "active", "pending"]
        assert release.move(current=3, name="ship") == ["done", "done", "active"]

    def test_deleting_the_document_does_not_pass_the_gate(self, release):
        before = release.document
        shutil.rmtree(release.path.parent)
        assert release.alerts() == ["edit_refused"]
        assert release.look().status()["status"] == "in_progress"
        assert said(release.document) == said(before)

    def test_a_gated_phase_cannot_be_dropped_by_another_total(self, bench, begun):
        steps = RELEASE.replace('id = "plan"\napproval = { by = "human" }', 'id = "plan"').replace(
            'id = "ship"', 'id = "ship"\napproval = { by = "human" }'
        )
        bench.write(".holdfast/workflows/release.toml", steps)
        account = begun("1.0", "release")
        assert account.move(total=2) == ["active", "pending", "pending"]
        assert account.alerts() == ["edit_refused"]
        assert account.phase["total"] == 3

    def test_a_document_that_claims_to_be_past_the_gate_opens_nothing(self, bench, found):
        bench.write(".holdfast/workflows/release.toml", RELEASE)
        phase = {"current": 2, "total": 3, "name": "build", "status": "in_progress"}
        account = found({**example(), "workflow_type": "release", "phase": phase})
        assert account.move(current=3, name="ship") == ["done", "active", "pending"]
        assert account.alerts() == ["edit_refused"]
        account.look("human").approve("plan")
        assert account.move(current=3, name="ship") == ["done", "done", "active"]


class TestWorktrees:
    @pytest.fixture
    def beside(self, bench, tmp_path):
        bench.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "beside"))
        return tmp_path / "beside"

    def test_each_worktree_has_its_own_document_of_the_same_name(self, bench, beside, account):
        other = bench.open(at=beside).start("custom", "Database Migration", phases=("One", "Two"))
        (path,) = documents(beside)
        assert documents(bench.root) == [account.path]
        document = json.loads(path.read_bytes())
        document["phase"].update(current=2, name="Two")
        path.write_text(json.dumps(document))
        assert bench.open(at=beside).workflow(other.id).state.step("one").status == "done"
        assert account.phase["current"] == 1

    def test_a_document_that_lies_in_another_worktree_is_adopted_there(self, bench, beside):
        path = beside / FOLDER / "some" / "state-some-20251209_160000.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(example()))
        work = bench.open(at=beside).workflow()
        assert work.id == "database-migration-20251209_160000"
        work.remind("Mind the gap")
        assert json.loads(path.read_bytes())["key_reminders"][-1] == "Mind the gap"
        assert documents(bench.root) == []

    def test_a_worktree_that_was_removed_does_not_end_the_work(self, bench, beside):
        id = bench.open(at=beside).start("custom", "Database Migration", phases=MIGRATION).id
        bench.git("worktree", "remove", "--force", str(beside))
        assert bench.open().workflow(id).status()["status"] == "in_progress"


REWRITER = """
import json, os, sys
path, count = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    with open(path) as file:
        document = json.load(file)
    document["context"][f"k{number}"] = number
    with open(path + ".tmp", "w") as file:
        json.dump(document, file, indent=2)
    os.replace(path + ".tmp", path)
"""


def test_rewrites_that_race_with_commands_lose_nothing(begun, bench):
    """One process rewrites the file as `jq … > tmp && mv tmp file` does, another hands in one phase after the other."""
    names = [f"P{number}" for number in range(8)]
    account = begun(phases=names)
    words = [sys.executable, "-c", REWRITER, str(account.path), "40"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as rewriter:
        assert rewriter.stdin is not None
        assert rewriter.stdout is not None
        assert rewriter.stdout.readline() == "ready\n"
        rewriter.stdin.write("go\n")
        rewriter.stdin.flush()
        for name in names[:-1]:
            bench.ok("done", name.lower(), "-w", account.id)
    assert rewriter.returncode == 0
    state = account.state
    assert account.statuses() == ["done"] * 7 + ["active"]
    assert state.context == {f"k{number}": number for number in range(40)}
    assert state.alerts == ()
    assert account.phase == {"current": 8, "total": 8, "name": "P7", "status": "in_progress"}
    assert account.document["context"] == state.context


# Taking back what was said


def jq(account: Account, program: str) -> None:
    """What an agent types: `jq … file > tmp && mv tmp file`."""
    need("jq")
    done = subprocess.run(["jq", program, str(account.path)], check=True, capture_output=True)
    beside = account.path.with_suffix(".tmp")
    beside.write_bytes(done.stdout)
    beside.rename(account.path)


def test_a_block_that_is_taken_back_at_once_is_taken_back(account):
    """The document says again what it said before the block; only when it was written tells the two apart."""
    for _ in range(3):
        jq(account, '.phase.status = "blocked"')
        assert account.bench.ok("status", "-w", account.id, "--json").json["status"] == "blocked"
        jq(account, '.phase.status = "in_progress"')
        assert account.bench.ok("status", "-w", account.id, "--json").json["status"] == "in_progress"
    assert account.statuses()[0] == "active"
    assert account.alerts() == []


def test_a_phase_that_is_moved_back_at_once_is_worked_on_again(account):
    account.move(current=2, name="Schema")
    assert account.move(current=1, name="Backup")[:2] == ["active", "pending"]


def test_a_context_that_is_emptied_stays_empty(account):
    account.edit(lambda document: document.update(context={"a": 1, "b": 2}))
    account.look()
    account.edit(lambda document: document.update(context={}))
    account.look()
    assert account.document["context"] == {}


def test_an_old_document_that_a_backup_or_a_slow_writer_brings_back_is_no_edit(account):
    old = account.path.read_bytes()
    account.look().done("backup")
    before = account.state
    account.path.write_bytes(old)
    assert account.statuses()[:2] == ["done", "active"]
    assert (account.phase["current"], account.state.revision) == (2, before.revision)


def test_an_edit_of_an_old_copy_adds_what_its_author_changed_and_moves_nothing_back(account):
    """An editor had the file open all the time, and saves the whole of it."""
    account.look().remind("Back up first", "Ask")
    copy = account.document
    account.look().done("backup")
    account.look().remind("Meanwhile", remove=("Ask",))
    account.move(current=3, name="Data Transformation")
    account.edit(lambda document: document["context"].update(theirs=1))
    account.look()

    copy["context"]["mine"] = 2
    copy["key_reminders"] = ["Back up first", "Ask", "Slowly"]
    account.path.write_text(json.dumps(copy))
    state = account.state
    assert account.statuses()[:3] == ["done", "done", "active"]
    assert (dict(state.context), state.reminders) == (
        {"theirs": 1, "mine": 2},
        ("Back up first", "Meanwhile", "Slowly"),
    )
    assert account.phase == {"current": 3, "total": 5, "name": "Data Transformation", "status": "in_progress"}
    assert account.document["key_reminders"] == list(state.reminders)
    assert account.alerts() == []


def test_an_old_copy_that_came_to_look_like_the_newest_document_is_told_by_its_time(account):
    """Its author moved on as somebody else had; what that one said besides is not taken away."""
    copy = account.document

    onward = {**copy["phase"], "current": 2, "name": "Schema"}
    account.edit(lambda document: document.update(phase=onward, key_reminders=["Meanwhile"]))
    account.look()
    copy.update(phase=onward, context={"mine": 1})
    account.path.write_text(json.dumps(copy))
    state = account.state
    assert (state.reminders, dict(state.context)) == (("Meanwhile",), {"mine": 1})
    assert account.statuses()[:2] == ["done", "active"]
    assert account.document["key_reminders"] == ["Meanwhile"]


def test_an_old_copy_from_before_a_block_was_taken_back_takes_nothing_back(account):
    """It looks like the newest document but for the time of it and one value."""
    account.move(status="blocked")
    copy = account.document
    account.move(status="in_progress")
    account.path.write_text(json.dumps({**copy, "context": {"k": 1}}))
    assert account.statuses()[0] == "active"
    assert (account.phase["status"], account.document["context"]) == ("in_progress", {"k": 1})


def test_whoever_drops_the_time_of_the_change_or_invents_one_is_still_understood(account):
    for stamp in ("2001-01-01T00:00:00.000Z", 7, None):
        account.edit(lambda document, stamp=stamp: document.update(updated_at=stamp, context={"stamp": str(stamp)}))
        assert account.state.context == {"stamp": str(stamp)}
        assert account.document["updated_at"] == account.state.updated_at
    account.edit(lambda document: document.pop("updated_at"))
    account.move(current=2, name="Schema")
    assert account.document["updated_at"] == account.state.updated_at
    assert account.alerts() == []


@pytest.mark.parametrize("key", ["keyReminders", "Key_Reminders", "key-reminders"])
def test_a_key_in_another_spelling_is_the_known_one_and_that_is_told(account, key):
    account.edit(lambda document: document.update({key: ["Never on a Friday"]}))
    state = account.state
    assert state.reminders == ("Never on a Friday",)
    assert [alert.code for alert in state.alerts] == ["edit_normalised"]
    assert (account.document["key_reminders"], key in account.document) == (["Never on a Friday"], False)


def test_a_respelled_key_takes_nothing_of_the_known_one_away(account):
    account.edit(lambda document: document.update(key_reminders=["First"]))
    account.look()
    account.edit(lambda document: document.update(keyReminders=["Second"]))
    assert account.state.reminders == ("First", "Second")


@pytest.mark.parametrize(
    ("change", "position"),
    [
        ({"phase": "3/4 - Convert"}, (3, 4, "Convert", "in_progress")),
        ({"phase": 3}, (3, 5, "Data Transformation", "in_progress")),
        (
            {"phase": {"current": 0, "total": 3, "name": "Backup", "status": "in_progress"}},
            (1, 3, "Backup", "in_progress"),
        ),
        (
            {"phase": {"number": 2, "total": 3, "name": "Schema", "status": "in_progress"}},
            (2, 3, "Schema", "in_progress"),
        ),
        ({"phase": {"current": 1, "total": 3, "name": "Backup", "status": "paused"}}, (1, 3, "Backup", "blocked")),
        ({"status": "blocked"}, (1, 5, "Backup", "blocked")),
        ({"current_phase": 2}, (2, 5, "Schema", "in_progress")),
        ({"currentPhase": 2, "totalPhases": 6}, (2, 6, "Schema", "in_progress")),
    ],
)
def test_an_edit_of_the_position_is_read_as_leniently_as_a_new_file_and_that_is_told(account, change, position):
    account.edit(lambda document: document.update(change))
    assert account.alerts() == ["edit_normalised"]
    phase = account.phase
    assert (phase["current"], phase["total"], phase["name"], phase["status"]) == position
    assert set(account.document) & {"status", "current_phase", "currentPhase", "totalPhases"} == set()


@pytest.mark.parametrize(
    ("change", "field", "wanted"),
    [
        ({"required_reading": "@README, @docs/x.md"}, "required_reading", ["@README", "@docs/x.md"]),
        ({"required_reading": {"a": "@x.md"}}, "required_reading", ["@x.md"]),
        ({"key_reminders": [{"text": "ask first"}, {"rule": "test"}]}, "key_reminders", ["ask first", "test"]),
        ({"reminders": ["ask first"]}, "key_reminders", ["ask first"]),
        ({"context": ["a", "b"]}, "context", {"context": ["a", "b"]}),
    ],
)
def test_an_edit_of_a_list_or_the_context_is_read_as_leniently_as_a_new_file(account, change, field, wanted):
    account.edit(lambda document: document.update(change))
    assert account.alerts() == ["edit_normalised"]
    assert account.document[field] == wanted
    assert "reminders" not in account.document


@pytest.mark.parametrize(("field", "empty"), [("context", {}), ("key_reminders", [])])
def test_what_a_rewrite_forgets_stays_and_an_empty_value_clears_it(account, field, empty):
    account.edit(lambda document: document.update(context={"a": 1}, key_reminders=["first"]))
    account.look()
    account.edit(lambda document: document.pop(field))
    state = account.state
    assert state.context if field == "context" else state.reminders
    account.edit(lambda document: document.update({field: empty}))
    state = account.state
    assert not (state.context if field == "context" else state.reminders)


def test_a_field_of_the_agents_own_that_says_nothing_new_stays(account):
    account.edit(lambda document: document.update(status="in_progress", current_phase=1))
    assert account.alerts() == []
    account.look().remind("Back up first")
    assert (account.document["status"], account.document["current_phase"]) == ("in_progress", 1)


def test_a_refused_position_says_what_to_write(account):
    account.edit(lambda document: document["phase"].update(status="purple"))
    (alert,) = account.state.alerts
    assert "not_started, in_progress, blocked, completed" in alert.message
    account.edit(lambda document: document.update(phase=["Schema"]))
    assert '"current": 1' in account.state.alerts[-1].message


def test_a_key_that_stands_there_twice_loses_nothing_and_is_told(account):
    text = json.dumps(account.document)
    account.path.write_text(text.replace('"context": {}', '"context": {"a": 1}, "context": {"b": 2}'))
    assert account.state.context == {"a": 1, "b": 2}
    assert "the key 'context' twice" in account.state.alerts[-1].message
