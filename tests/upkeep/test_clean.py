"""Cleaning up: what is over is put away, what was left standing is given up, and a crash in between is made good."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from holdfast.core import moment
from holdfast.systems.seam import adoption
from holdfast.upkeep.clean import Cleaned, clean
from holdfast.upkeep.doctor import examine

DAY = 86_400
DEV = 'name = "dev"\n[[step]]\nid = "a"\n[[step]]\nid = "b"\napproval = { by = "human" }\n'
SMALL = {"name": "small", "step": [{"id": "one"}, {"id": "two"}]}


def later(project, days: float) -> str:
    return moment.from_epoch(moment.to_epoch(project.wired.world.now()) + days * DAY)


def finished(site, subject: str = "x", definition: object = SMALL):
    workflow = site.open("human").start(definition, subject)
    for step in ("one", "two"):
        workflow.begin(step).done(step)
    return workflow


def completed(workflow) -> str:
    return f".claude/workflow-state/completed/{workflow.id}.json"


def test_the_output_of_checks_goes_with_what_is_archived(site):
    check = {"name": "tests", "run": ["echo", "all good"], "run_by": "engine"}
    one = site.open("human").start({"name": "one", "step": [{"id": "a", "checks": [check]}]}, "x").begin("a")
    other = site.open("human").start({"name": "other", "step": [{"id": "a", "checks": [check]}]}, "x").begin("a")
    one.done("a")
    other.check("tests")
    kept = site.home / "checks"
    assert {path.name for path in kept.iterdir()} == {one.ulid, other.ulid}
    project = site.open()
    clean(project, now=later(project, 2))
    assert {path.name for path in kept.iterdir()} == {other.ulid}
    assert (kept / other.ulid / "a+tests.log").read_text() == "all good\n"


def test_what_ended_a_day_ago_is_archived_and_stays_readable(site):
    workflow = finished(site)
    project = site.open()
    assert clean(project, now=later(project, 0.9)) == Cleaned()
    assert (site.root / completed(workflow)).exists()
    done = clean(project, now=later(project, 1.1))
    assert done == Cleaned(archived=(workflow.id,), removed=(completed(workflow),))
    assert not (site.root / completed(workflow)).exists()
    lines = (site.home / "archive" / f"{workflow.ulid}.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert site.open().list() == []
    assert [f.message for f in examine(site.open()).findings if f.level != "ok"] == []


def test_the_age_is_the_journals_and_not_the_files(site):
    workflow = finished(site)
    for path in (site.root / completed(workflow), *site.home.glob("journal/*/*")):
        os.utime(path, (0, 0))
    project = site.open()
    assert clean(project, now=later(project, 0.5)).archived == ()


def test_all_takes_everything_that_is_over_and_nothing_else(site):
    over = finished(site)
    cancelled = site.open("human").start(SMALL, "y").cancel("no need")
    running = site.open("human").start(SMALL, "z")
    project = site.open()
    done = clean(project, now=later(project, 0), all=True)
    assert sorted(done.archived) == sorted([over.id, cancelled.id])
    assert [workflow.id for workflow in site.open().list()] == [running.id]
    listed = site.json(".claude/workflow-state/index.json")["active_workflows"]
    assert [item["id"] for item in listed] == [running.id]


def test_a_dry_run_says_what_would_happen_and_does_nothing(site):
    workflow = finished(site)
    project = site.open()
    before = sorted(str(path) for path in site.root.rglob("*"))
    assert clean(project, now=later(project, 2), dry_run=True).archived == (workflow.id,)
    assert sorted(str(path) for path in site.root.rglob("*")) == before


def test_cleaning_again_finds_nothing_more(site):
    finished(site)
    project = site.open()
    clean(project, now=later(project, 2))
    assert clean(project, now=later(project, 2)) == Cleaned()
    assert clean(site.open(), now=later(project, 2), all=True) == Cleaned()


def test_nothing_is_cleaned_where_there_is_nothing(site):
    project = site.open()
    assert clean(project, now=later(project, 9), all=True) == Cleaned()
    assert not site.home.exists()


def test_a_document_that_was_changed_after_the_end_is_kept_in_quarantine(site):
    workflow = finished(site)
    path = site.root / completed(workflow)
    path.write_text(path.read_text().replace('"context"', '"notes": "mine", "context"', 1))
    mine = path.read_bytes()
    project = site.open()
    clean(project, now=later(project, 2))
    assert not path.exists()
    kept = [p for p in (site.home / "quarantine").iterdir() if not p.name.endswith(".reason")]
    assert [p.read_bytes() for p in kept] == [mine]


def test_the_document_of_a_later_workflow_of_the_same_id_stays(site):
    first = finished(site)
    second = site.open("human").start(SMALL, "x").note("again")
    for step in ("one", "two"):
        second.begin(step).done(step)
    assert first.id == second.id
    a_day_after_the_first = moment.from_epoch(moment.to_epoch(first.state.finished_at) + DAY)
    done = clean(site.open(), now=a_day_after_the_first)
    assert done == Cleaned(archived=(first.id,))
    assert (site.home / "archive" / f"{first.ulid}.jsonl").exists()
    assert site.json(completed(second))["history"][1]["note"] == "again"
    assert site.open().workflow(second.id).ulid == second.ulid


def test_a_journal_that_is_damaged_is_left_to_the_doctor(site):
    workflow = finished(site)
    (journal,) = site.home.glob("journal/*/*.jsonl")
    data = journal.read_bytes()
    journal.write_bytes(data[:50] + b"#" + data[51:])
    project = site.open()
    assert clean(project, now=later(project, 2)) == Cleaned()
    assert journal.exists()
    assert (site.root / completed(workflow)).exists()


# Skills that nobody continued with.


@pytest.fixture
def dev(site, monkeypatch, tmp_path):
    """A built-in definition called `dev`."""
    from holdfast.definitions import catalogue

    folder = tmp_path / "built-in"
    folder.mkdir()
    (folder / "dev.toml").write_text(DEV)
    (folder / "other.toml").write_text(DEV.replace("dev", "other"))
    init = catalogue.Catalogue.__init__
    monkeypatch.setattr(
        catalogue.Catalogue,
        "__init__",
        lambda self, *given, **named: init(self, *given, **{**named, "builtin": (str(folder),)}),
    )
    return site


def test_a_skill_that_stood_still_for_a_week_is_abandoned_and_can_be_resumed(dev):
    workflow = dev.open("agent").start("dev", "feature.md").begin("a")
    project = dev.open()
    assert clean(project, now=later(project, 6.9)) == Cleaned()
    assert clean(project, now=later(project, 7.1)).abandoned == (workflow.id,)
    assert dev.json(f".claude/workflow-state/completed/{workflow.id}.json")["workflow"]["status"] == "abandoned"
    assert dev.json(".claude/workflow-state/index.json")["active_workflows"] == []
    last = list(dev.open().workflow(workflow.id).history())[-1]
    assert (last.actor.kind, last.command) == ("engine", "cancel")
    assert dev.open("human").workflow(workflow.id).resume().status()["status"] == "in_progress"


def test_one_that_waits_is_blocked_or_paused_is_never_abandoned(dev):
    person = dev.open("human")
    person.start("dev", "waits").begin("a").done("a").begin("b").done("b")
    person.start("dev", "blocked").begin("a").block("a", "no key")
    person.start("dev", "failed").begin("a").fail("a", "no luck")
    person.start("dev", "paused").begin("a").pause("lunch")
    project = dev.open()
    assert clean(project, now=later(project, 90)) == Cleaned()


def test_workflows_of_other_definitions_are_never_abandoned(dev):
    dev.open("human").start("other", "x").begin("a")
    dev.open("human").start({"name": "dev", "step": [{"id": "mine"}]}, "from Python")
    dev.definition("tdd", 'name = "tdd"\n[[step]]\nid = "mine"\n')
    dev.open("human").start("tdd", "from a file")
    project = dev.open()
    assert clean(project, now=later(project, 90)) == Cleaned()


def test_a_skill_that_was_adopted_is_abandoned_too_unless_a_script_went_on_in_its_document(site):
    path = site.example("tdd")
    (state,) = adoption.adopt(site.open().wired, [str(path)])
    document = json.loads(path.read_text())
    document["context"]["from"] = "a script"
    path.write_text(json.dumps(document))
    project = site.open()
    assert clean(project, now=later(project, 8)) == Cleaned()
    assert site.open().workflow().state.context["from"] == "a script"
    project = site.open()
    assert clean(project, now=later(project, 8), dry_run=True).abandoned == (state.id,)
    assert clean(project, now=later(project, 8)).abandoned == (state.id,)


# Dying in between.

PROGRAM = """
import os, sys
import holdfast
from holdfast.upkeep import clean as cleaning
from holdfast.stores import files, index

point = sys.argv[2]
die = lambda *a, **k: os.kill(os.getpid(), 9)
if point == "document":
    files.FilesStore.archive = die
if point == "journal":
    index.Index.drop = die
project = holdfast.open(sys.argv[1])
cleaning.clean(project, now=project.wired.world.now(), all=True)
"""


@pytest.mark.parametrize("point", ["document", "journal"])
def test_a_cleaning_that_dies_is_finished_by_the_next(site, point):
    workflow = finished(site)
    running = site.open("human").start(SMALL, "still running")
    died = subprocess.run([sys.executable, "-c", PROGRAM, str(site.root), point])
    assert died.returncode == -signal.SIGKILL
    assert not (site.root / completed(workflow)).exists()
    project = site.open()
    clean(project, now=later(project, 0), all=True)
    assert (site.home / "archive" / f"{workflow.ulid}.jsonl").exists()
    assert [w.id for w in site.open().list()] == [running.id]
    assert {f.code for f in examine(site.open()).findings if f.level != "ok"} == set()
