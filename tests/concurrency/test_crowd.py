"""Many processes on one root: nothing acknowledged is lost, nobody waits for ever, nothing needs repair."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
import time

import pytest

from holdfast.project.project import open_project
from tests.actors import acting
from tests.concurrency.crowd import Crowd, document, notes
from tests.tiers import need

PLAIN = {"name": "plain", "step": [{"id": "one", "checks": ["lint"]}, {"id": "two"}]}

WRITER = """
work = project.workflow("plain")
for turn in range(TURNS):
    work.note(f"{number}.{turn}", key=f"{number}.{turn}")
    tell(work.state.revision, f"{number}.{turn}")
"""

WRITER_UNTIL = """
work = project.workflow("plain")
turn = 0
while not os.path.exists(os.path.join(root, "stop")):
    work.note(f"{number}.{turn}")
    tell(work.state.revision, f"{number}.{turn}")
    turn += 1
"""

WRITER_AT_EASE = """
import time
work = project.workflow("plain")
turn = 0
while not os.path.exists(os.path.join(root, "stop")):
    work.note(f"{number}.{turn}")
    tell(work.state.revision, f"{number}.{turn}")
    turn += 1
    time.sleep(0.02)
"""

VICTIM = """
work = project.workflow("plain")
turn = 0
while True:
    text = f"{number}.{turn}"
    work.note(text)
    tell("noted", work.state.revision, text)
    other = project.start({"name": "other", "step": [{"id": "a"}]}, text)
    tell("started", other.ulid)
    other.begin("a")
    tell("begun", other.ulid)
    if turn % 2:
        other.cancel("enough")
        tell("cancelled", other.ulid)
    turn += 1
"""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def crowd(root):
    crowd = Crowd(root)
    yield crowd
    crowd.end()


def assert_in_order(work, extra=()):
    """Revisions without gaps, by commands that were given and no others."""
    records = list(work.history())
    assert [record.revision for record in records] == list(range(1, len(records) + 1))
    assert {record.command for record in records} == {"start", "note", *extra}
    return records


def assert_document_is_newest(root, work, records):
    """Read from the disk as it is, before anybody looked at it again."""
    wired = open_project(str(root), settings=acting({"HOME": str(root)})).wired
    state = wired.store.load(work.ulid)
    assert state.revision == records[-1].revision
    assert document(root, work.id).read_bytes() == wired.documents.render(state)


def test_eight_processes_lose_nothing(crowd, root):
    work = crowd.open().start(PLAIN, "1.0")
    crowd.run(f"TURNS = 250\n{WRITER}", 8)
    records = list(crowd.open().wired.store.history(work.ulid))
    assert_document_is_newest(root, work, records)
    assert len(assert_in_order(work)) == 2001
    written = notes(records)
    for number in range(8):
        told = crowd.told(number)
        assert [text for _, text in told] == [f"{number}.{turn}" for turn in range(250)]
        assert all(written[int(revision)] == text for revision, text in told)
    state = crowd.open().workflow().state
    assert (state.revision, state.alerts) == (2001, ())
    assert not (root / ".holdfast/quarantine").exists()


def test_checks_reported_by_several_processes_are_all_kept(crowd):
    work = crowd.open().start(PLAIN, "1.0").begin("one")
    script = """
work = project.workflow("plain")
for turn in range(40):
    work.check("lint", passed=turn % 2 == 0)
    tell(work.state.revision)
"""
    crowd.run(script, 4)
    records = list(work.history())
    assert [record.revision for record in records] == list(range(1, 163))
    told = sorted(int(revision) for number in range(4) for (revision,) in crowd.told(number))
    assert told == list(range(3, 163))


@pytest.mark.parametrize("seed", [1])
def test_a_process_that_is_killed_again_and_again_takes_nothing_with_it(crowd, root, seed):
    """Eight continue while a ninth is killed at random moments and started again."""
    chance = random.Random(seed)
    work = crowd.open().start(PLAIN, "1.0")
    steady = [crowd.add(WRITER_UNTIL, number) for number in range(8)]
    for process in steady:
        crowd.begin(process)
    acts: list[list[str]] = []
    for round_number in range(60):
        victim = crowd.add(VICTIM, 100 + round_number)
        crowd.begin(victim)
        time.sleep(
            chance.random() * 0.25 * (1 + round_number / 12)
        )  # on a busy machine it gets less far in the same time
        victim.kill()
        victim.communicate()
        acts += crowd.told(100 + round_number)
        if round_number >= 11 and {act for act, *_ in acts} >= {"noted", "started", "begun"}:
            break
    (root / "stop").touch()
    crowd.join(steady)

    written = notes(assert_in_order(work))
    for number in range(8):
        told = crowd.told(number)
        assert told
        assert all(written[int(revision)] == text for revision, text in told)
        own = [text for text in written.values() if text.startswith(f"{number}.")]
        assert own == [text for _, text in told]
    project = crowd.open()
    listed = {one.ulid: one.state for one in project.list(type="other")}
    assert {act for act, *_ in acts} >= {"noted", "started", "begun"}
    for act, *words in acts:
        match act, words:
            case "noted", [revision, text]:
                assert written[int(revision)] == text
            case "started", [name]:
                assert name in listed
            case "begun", [name]:
                assert listed[name].step("a").status == "active"
            case "cancelled", [name]:
                assert listed[name].cancelled

    assert project.wired.store.unsettled() == []
    assert next(entry for entry in project.wired.store.entries() if entry.ulid == work.ulid).active
    for state in listed.values():
        assert document(root, state.id).exists() == (state.cancelled is None)
    names = json.loads((root / ".claude/workflow-state/index.json").read_bytes())["active_workflows"]
    assert {item["id"] for item in names} == {work.id, *(s.id for s in listed.values() if s.cancelled is None)}
    final = project.workflow(work.id)
    assert (final.state.alerts, final.document()) == ((), json.loads(document(root, work.id).read_bytes()))
    assert not (root / ".holdfast/quarantine").exists()


def test_four_processes_that_start_workflows_at_once_are_all_in_the_index(crowd, root):
    script = """
for turn in range(10):
    tell(project.start({"name": "other", "step": [{"id": "a"}]}, f"{number}.{turn}").ulid)
"""
    crowd.run(script, 4)
    told = {name for number in range(4) for (name,) in crowd.told(number)}
    assert len(told) == 40
    entries = crowd.open().wired.store.entries()
    assert {entry.ulid for entry in entries} == told
    assert len(list((root / ".claude/workflow-state/active").iterdir())) == 40
    names = json.loads((root / ".claude/workflow-state/index.json").read_bytes())["active_workflows"]
    assert {item["id"] for item in names} == {entry.id for entry in entries}
    assert crowd.open().wired.store.unsettled() == []


def test_of_four_processes_that_start_the_same_workflow_one_does(crowd, root):
    script = """
try:
    tell("started", project.start({"name": "plain", "step": [{"id": "one"}]}, "1.0").ulid)
except HoldfastError as refusal:
    tell(refusal.code)
"""
    crowd.run(script, 4)
    told = [words for number in range(4) for words in crowd.told(number)]
    (winner,) = [words[1] for words in told if words[0] == "started"]
    assert {words[0] for words in told if words[0] != "started"} <= {"already_active", "already_started"}
    assert [entry.ulid for entry in crowd.open().wired.store.entries()] == [winner]


def test_processes_that_end_and_resume_one_workflow_leave_a_true_index(crowd):
    work = crowd.open().start(PLAIN, "1.0")
    script = """
work = project.workflow("plain")
for turn in range(25):
    (work.cancel if number % 2 else work.resume)()
"""
    crowd.run(script, 4)
    (entry,) = crowd.open().wired.store.entries()
    assert entry.active == (crowd.open().wired.store.load(work.ulid).cancelled is None)
    assert crowd.open().wired.store.unsettled() == []


def test_edits_by_jq_among_writers_all_get_in(crowd, root):
    need("jq")
    work = crowd.open().start(PLAIN, "1.0")
    path = document(root, work.id)
    writers = [crowd.add(WRITER_AT_EASE, number) for number in range(3)]
    for process in writers:
        crowd.begin(process)
    for number in range(20):
        edit = shlex.join(["jq", f".context.k{number} = {number}", str(path)])
        for _ in range(100):  # a reader that was overtaken twice sees the file change under its hands, and tries again
            if subprocess.run(f"{edit} > {root}/doc.tmp && mv {root}/doc.tmp {path}", shell=True).returncode == 0:
                break
    (root / "stop").touch()
    crowd.join(writers)
    state = crowd.open().workflow().state
    assert state.context == {f"k{number}": number for number in range(20)}
    assert state.alerts == ()
    records = assert_in_order(work, {"edit"})
    told = [text for number in range(3) for _, text in crowd.told(number)]
    assert sorted(notes(records).values()) == sorted(told)
