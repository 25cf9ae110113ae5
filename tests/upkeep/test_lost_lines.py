"""What people and agents are told when a journal lost lines, in every system, and how they get on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil

import pytest

from holdfast.errors import Broken
from holdfast.systems.seam import adoption
from holdfast.upkeep.doctor import examine, repair
from tests.tiers import is_full
from tests.workbench import Bench

PLAN = """# Task: Login
**Plan approval**: relayed

## Phase 1: Base

### Task 1.1: A form
- **Files**: form.py
"""
STARTS = {
    "skill": ("start", "tdd", "Greet by name", "--set", "test_command=true"),
    "story": ("start", "story/planning", "--set", "level=act", "--set", "act=1"),
    "orchestrator": ("start", "orchestrate", "docs/login.md"),
    "compaction": ("start", "custom", "Database Migration", "--phases", "Backup,Migrate"),
    "gated": ("start", "feature", "Sign in by key"),
}


class Scene:
    """A workflow of one system whose journal has three lines at least, beside another that is in order."""

    def __init__(self, bench: Bench, system: str) -> None:
        self.bench = bench
        bench.write("docs/login.md", PLAN)
        bench.save("the plan")
        bench.ok(*STARTS[system])
        (self.journal,) = bench.root.glob(".holdfast/journal/*/*.jsonl")
        for text in ("one", "two"):
            bench.ok("note", text)
        self.data = self.journal.read_bytes()
        self.lines = self.data.splitlines(keepends=True)

    def journals(self) -> list[str]:
        return sorted(path.name for path in self.bench.root.glob(".holdfast/journal/*/*.jsonl"))


@pytest.fixture(params=list(STARTS))
def scene(request, tmp_path):
    return Scene(Bench(tmp_path / "project").begun(), request.param)


def rows(items):
    found = list(items)
    return found if is_full() else [found[0], found[-1]]


def test_a_lost_end_stops_its_workflow_and_no_other(scene):
    bench = scene.bench
    copies = [path for path in bench.root.rglob("journal.jsonl") if ".holdfast" not in path.parts]
    for path in copies:
        path.unlink()  # what travels with git brings the lines back by itself
    bench.save("all")
    for count in rows(range(len(scene.lines))):
        scene.journal.write_bytes(b"".join(scene.lines[:count]))
        said = bench.agent("status")
        assert said.code == 6, said
        assert f"{scene.journal.name} is missing" in said.err
        assert bench.agent("note", "more").code == 6
        listed = bench.ok("list")
        assert f"{scene.journal.name} is missing" in listed.out
        found = bench.agent("doctor")
        assert found.code == 6
        assert "had acknowledged" in found.out
        assert scene.journals() == [scene.journal.name]
        assert scene.journal.read_bytes() == b"".join(scene.lines[:count])
    scene.journal.write_bytes(scene.data)
    bench.ok("status")


def truncated(data: bytes) -> list[bytes]:
    """At the end of each line."""
    lines = data.splitlines(keepends=True)
    return [b"".join(lines[:count]) for count in range(len(lines))]


def zeroed(data: bytes) -> list[bytes]:
    size = len(data) // 60
    return [data[:at] + bytes(len(data[at : at + size])) + data[at + size :] for at in range(0, len(data), size)]


def flipped(data: bytes) -> list[bytes]:
    return [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(3, len(data), len(data) // 150)]


DAMAGE = {
    "truncated": (truncated, ()),
    "zeroed": (zeroed, ("index",)),
    "flipped": (flipped, ("index",)),
    "truncated, records lost": (truncated, ("index", "state")),
    "zeroed, records lost": (zeroed, ("index", "state")),
    "flipped, records lost": (flipped, ("index", "state")),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_noticed_wherever_it_is_and_the_document_is_not_adopted(scene, kind):
    """Also by a process that finds neither the index nor the records beside the journals."""
    bench, (damage, gone) = scene.bench, DAMAGE[kind]
    for path in [path for path in bench.root.rglob("journal.jsonl") if ".holdfast" not in path.parts]:
        path.unlink()
    bench.save("all")
    workflow = bench.open().workflow()
    for number in range(27):
        workflow.note(f"note {number}")
    data = scene.journal.read_bytes()
    table = rows(damage(data))
    for spoilt in table:
        scene.journal.write_bytes(spoilt)
        for name in gone:
            shutil.rmtree(bench.root / ".holdfast" / name, ignore_errors=True)
            (bench.root / ".holdfast" / name).unlink(missing_ok=True)
        for words in ((), (workflow.id,)):
            with pytest.raises(Broken) as caught:
                bench.open().workflow(*words)
            assert caught.value.exit_code == 6
        with contextlib.suppress(Broken):
            assert adoption.adopt(bench.open().wired) == []
        assert [one.level for one in examine(bench.open()).findings if one.path.endswith(".jsonl")] == ["broken"]
        assert scene.journals() == [scene.journal.name]
        assert scene.journal.read_bytes() == spoilt
    print(f"{len(table)} of {len(table)} {kind}: noticed")
    scene.journal.write_bytes(data)
    bench.ok("status")


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_person_gives_the_missing_lines_up_and_their_documents_are_kept(site, left):
    workflow = site.open("human").start({"name": "small", "step": [{"id": "one"}, {"id": "two"}]}, "x")
    workflow.begin("one").done("one")
    (journal,) = site.home.glob("journal/*/*.jsonl")
    document = site.root / ".claude/workflow-state/active" / f"{workflow.id}.json"
    shown = document.read_bytes()
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:left]))
    (finding,) = [one for one in examine(site.open()).findings if one.code == "lines_missing"]
    assert "had acknowledged" in finding.message
    with pytest.raises(Broken):
        site.open().workflow(workflow.id)
    said = [one.message for one in repair(site.open("human")).findings if one.code == "repaired"]
    which = "1 line that was acknowledged is" if left == 2 else f"{3 - left} lines that were acknowledged are"
    assert any(f"{which} given up" in one for one in said)
    if left:
        assert site.open().workflow(workflow.id).state.revision == left
        assert document.read_bytes() != shown
        assert shown in [path.read_bytes() for path in site.home.glob("quarantine/*")]
        assert site.open().workflow(workflow.id).state.alerts == ()
    else:
        assert site.open().workflow(workflow.id).ulid != workflow.ulid
    assert examine(site.open()).worst != "broken"


def test_lines_that_a_copy_has_are_brought_back_by_a_repair(site):
    workflow = site.open("human").start({"name": "small", "step": [{"id": "one"}, {"id": "two"}]}, "x")
    workflow.begin("one")
    (journal,) = site.home.glob("journal/*/*.jsonl")
    data = journal.read_bytes()
    copy = site.home / "quarantine" / f"20260101-{journal.name}"
    copy.parent.mkdir(mode=0o700)
    copy.write_bytes(data)
    journal.write_bytes(data.splitlines(keepends=True)[0])
    (finding,) = [one for one in examine(site.open()).findings if one.code == "lines_missing"]
    assert "bring the lines back from .holdfast/quarantine" in finding.remedy
    repair(site.open("agent"))
    assert journal.read_bytes() == data


def test_the_copy_in_git_brings_lost_lines_back(tmp_path):
    scene = Scene(Bench(tmp_path / "project").begun(), "gated")
    (copy,) = [path for path in scene.bench.root.rglob("journal.jsonl") if ".holdfast" not in path.parts]
    copy.write_bytes(scene.data)
    scene.journal.write_bytes(scene.lines[0])
    scene.bench.ok("status")
    assert scene.journal.read_bytes() == scene.data


@pytest.mark.parametrize("at", ["first line", "last line"])
def test_a_document_that_names_its_workflow_otherwise_is_not_adopted_beside_an_unreadable_journal(tmp_path, at):
    """The id of a run is read from the time in its document, which an edit can change."""
    scene = Scene(Bench(tmp_path / "project").begun(), "orchestrator")
    place = 3 if at == "first line" else len(scene.data) - 3
    scene.journal.write_bytes(scene.data[:place] + b"?" + scene.data[place + 1 :])
    (scene.bench.root / ".holdfast/index").unlink()
    document = scene.bench.root / ".claude/agent-state.json"
    said = json.loads(document.read_bytes())
    said["orchestrator"]["start_time"] = "2020-01-01T00:00:00Z"
    document.write_text(json.dumps(said))
    for words in (("status",), ("adopt",), ("note", "more")):
        assert scene.bench.agent(*words).code == 6, words
        assert scene.journals() == [scene.journal.name]


def test_a_name_that_only_an_unreadable_journal_can_have_is_not_called_unknown(site):
    workflow = site.open("human").start({"name": "small", "step": [{"id": "one"}]}, "x")
    (journal,) = site.home.glob("journal/*/*.jsonl")
    journal.write_bytes(b"X" + journal.read_bytes()[1:])
    (site.home / "index").unlink()
    shutil.rmtree(site.root / ".claude")
    for words in ((), (workflow.id,)):
        with pytest.raises(Broken):
            site.open().workflow(*words)
    assert site.open().list() == []


def test_a_person_is_told_what_a_repair_gives_up_and_enter_is_no(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    scene = Scene(bench, "skill")
    scene.journal.write_bytes(b"".join(scene.data.splitlines(keepends=True)[:-1]))
    answer = bench.person("doctor", "--repair")
    number = len(scene.data.splitlines()) - 1
    assert f"Cut off {scene.journal.relative_to(bench.root)} after line {number} (1 line)? [y/N]" in answer.out
    assert answer.code == 1, answer
    assert len(scene.journal.read_bytes().splitlines()) == number
    answer = bench.person("doctor", "--repair", says="y")
    assert "1 line that was acknowledged is given up" in answer.out


def test_a_process_that_looks_at_damage_again_and_again_keeps_no_files_open(scene):
    scene.bench.open().workflow().note("one more")
    scene.journal.write_bytes(b"".join(scene.journal.read_bytes().splitlines(keepends=True)[:-1]))
    opened = []
    for _ in range(5):
        with pytest.raises(Broken):
            scene.bench.open().workflow()
        examine(scene.bench.open())
        opened.append(len(os.listdir("/proc/self/fd")))
    assert opened[-1] <= opened[0]
