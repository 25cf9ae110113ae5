"""What one request costs: how often the journal is loaded, the document looked at, and facts gathered."""

from __future__ import annotations

import json

import pytest

from holdfast.core.commands import Note
from holdfast.documents.reconcile import Reconciler
from holdfast.engine.world import LocalWorld
from holdfast.project.project import open_project
from holdfast.stores.files import FilesStore
from holdfast.surfaces.cli.main import main
from tests.orchestrated import TASKS, Run
from tests.project.test_project import opened
from tests.trusted import trust_file
from tests.workbench import Bench

STEPS = [
    {"id": "build", "checks": [{"name": "lint"}]},
    {"id": "plan", "approval": {"by": "relayed"}},
    {"id": "ship"},
]
READ = {"load": 1, "reconcile": 1, "facts": 1}
WRITE = {"newest": 2, "load": 1, "reconcile": 1, "facts": 1}
"""A writer looks without a sync. The showing asks for durable lines, and after it whether there are more."""
TYPED = {**WRITE, "newest": 1, "load": 2}
"""What a command line tells of a refusal is durable, so that its look is that of a reader."""


@pytest.fixture
def root(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def counts(monkeypatch):
    """Counts from when it is cleared."""
    found: dict[str, int] = {}

    def count(owner, name):
        real = getattr(owner, name)

        def counted(*args, **how):
            found[name] = found.get(name, 0) + 1
            return real(*args, **how)

        monkeypatch.setattr(owner, name, counted)

    count(FilesStore, "load")
    count(FilesStore, "newest")
    count(Reconciler, "reconcile")
    count(LocalWorld, "facts")
    return found


@pytest.fixture
def workflow(root, counts):
    workflow = opened(root, person=True).start({"name": "small", "step": STEPS}, "x")
    workflow.note("the views are made")
    counts.clear()
    return workflow


@pytest.mark.parametrize("name", ["next", "status"])
def test_a_read_is_one_load_one_look_and_one_gathering(workflow, counts, name):
    getattr(workflow, name)()
    assert counts == READ


def test_a_write_is_the_same_and_the_showing(workflow, counts):
    for write in (
        lambda: workflow.begin("build"),
        lambda: workflow.note("n"),
        lambda: workflow.check("lint", passed=True),
        lambda: workflow.done("build"),
        lambda: workflow.begin("plan"),
        lambda: workflow.done("plan"),
        lambda: workflow.approve("plan"),
    ):
        counts.clear()
        write()
        assert counts == WRITE


def test_so_it_is_on_the_command_line_with_its_answer(workflow, counts, capsys):
    for words in ("next", "status", "begin build", "note n", "done build", "next", "begin plan", "done plan"):
        if words == "done build":
            workflow.check("lint", passed=True)
        counts.clear()
        assert main([*words.split(), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
        assert (words, counts) == (words, READ if words in ("next", "status") else TYPED)
    counts.clear()
    assert main(["approve", "plan", "--json"]) == 0
    assert counts == TYPED


@pytest.mark.parametrize("many", [1, 4])
def test_criteria_that_done_runs_are_no_further_looks(tmp_path, counts, many):
    criteria = "".join(f"- [ ] holds {number}: `test {number} -ge 0`\n" for number in range(many))
    bench = Bench(tmp_path / "project").begun()
    run = Run(bench, TASKS.replace("- [ ] Model updated\n- [ ] Tests pass\n", criteria))
    workflow = run.planned().look("human")
    trust_file(bench.open("human"), str(run.task))
    workflow.begin("1.1")
    counts.clear()
    workflow.done("1.1")
    assert sum(one.passed for one in workflow.state.step(workflow.path("1.1")).evidence.values()) == many
    assert counts["reconcile"] == 1


# A turn that lasts


def test_a_request_sees_lines_that_others_write_meanwhile(workflow, root):
    request = open_project(str(root), one_request=True)
    ours = request.workflow()
    workflow.note("by another process")
    assert request.workflow().state.revision == ours.state.revision + 1
    assert ours.execute(Note("ours")).state.revision == ours.state.revision


def test_a_project_that_lives_long_looks_each_time(workflow, root, counts):
    project = open_project(str(root))
    project.workflow()
    counts.clear()
    project.workflow()
    assert counts["reconcile"] == 1


def test_after_refresh_files_are_read_again(workflow, root):
    (root / "log.txt").write_text("one")
    workflow.begin("build")
    workflow.attach("build", {"log": "log.txt"})
    ours = open_project(str(root), one_request=True).workflow()
    first = ours.facts().hashes["log.txt"]
    (root / "log.txt").write_text("three")
    assert ours.facts().hashes["log.txt"] == first
    assert ours.refresh().facts().hashes["log.txt"] != first
