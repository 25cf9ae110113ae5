"""What people and agents are told when a journal lost lines, in every system, and how they get on."""

from __future__ import annotations

import pytest

from holdfast.errors import Broken
from holdfast.upkeep.doctor import examine, repair
from tests.tiers import is_full
from tests.workbench import Bench

PLAN = """# Task: Login

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
        assert f"{scene.journal.name} has lost its end" in said.err
        assert bench.agent("note", "more").code == 6
        listed = bench.ok("list")
        assert f"{scene.journal.name} has lost its end" in listed.out
        found = bench.agent("doctor")
        assert found.code == 6
        assert "were acknowledged" in found.out or "was acknowledged" in found.out
        assert scene.journals() == [scene.journal.name]
        assert scene.journal.read_bytes() == b"".join(scene.lines[:count])
    scene.journal.write_bytes(scene.data)
    bench.ok("status")


def test_a_damaged_journal_is_not_adopted_again_when_the_index_is_lost_too(scene):
    bench, index = scene.bench, scene.bench.root / ".holdfast/index"
    for path in [path for path in bench.root.rglob("journal.jsonl") if ".holdfast" not in path.parts]:
        path.unlink()
    bench.save("all")
    step = max(1, len(scene.data) // 150)
    for at in rows(range(3, len(scene.data), step)):
        scene.journal.write_bytes(scene.data[:at] + bytes([scene.data[at] ^ 1]) + scene.data[at + 1 :])
        index.unlink()
        for words in (("status",), ("note", "more"), ("adopt",)):
            bench.agent(*words)
            assert scene.journals() == [scene.journal.name], (at, words)
        assert bench.agent("status").code == 6
        assert scene.journal.name in bench.ok("list").out
    scene.journal.write_bytes(scene.data)
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
    assert ("still shows what they led to" in finding.message) == (left > 0)
    with pytest.raises(Broken):
        site.open().workflow(workflow.id)
    said = [one.message for one in repair(site.open("human")).findings if one.code == "repaired"]
    assert any(f"{3 - left} lines that were acknowledged are given up" in one for one in said)
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
