"""Journals that a newer Holdfast wrote: every surface says so with the remedy, and nobody is told to cut a line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.remedy import typed
from holdfast.engine.codec import VERSION
from holdfast.machine import installer
from holdfast.stores.journal import Journal
from tests.losing import RELEASE, SCENES
from tests.workbench import Bench

NEWER = {
    "a newer format": lambda body: body.update(v=VERSION + 1),
    "an unknown event": lambda body: body["events"][0].update(event="danced"),
    "an unknown field": lambda body: body["events"][0].update(more=1),
}
COMMANDS = (("status",), ("next",), ("note", "more"), ("show",), ("log",), ("resume-packet",), ("cancel",))

STRANGE = {
    **NEWER,
    "a field too many": lambda body: body.update(more=1),
    "a field missing": lambda body: body.pop("at"),
    "no events": lambda body: body.pop("events"),
    "an event without its name": lambda body: body["events"][0].pop("event"),
}


def appended(journal: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A whole line that says what is not known here."""
    body = json.loads(journal.read_bytes().splitlines()[-1])
    for name in ("seq", "synced", "prev", "sum"):
        del body[name]
    change(body)
    with Journal(str(journal)) as opened:
        with opened.writing():
            opened.append(json.dumps(body).encode())
        opened.sync()


@pytest.mark.parametrize("what", STRANGE)
def test_a_line_that_is_not_understood_stops_its_own_workflow_only(tmp_path, what):
    bench = Bench(tmp_path / "project").begun()
    strange, other = (bench.open().start(RELEASE, subject) for subject in ("1.0", "2.0"))
    (journal,) = Path(bench.root, ".holdfast/journal").rglob(f"{strange.ulid}.jsonl")
    appended(journal, STRANGE[what])
    for gone in ((), (".holdfast/index",), (".holdfast/index", ".holdfast/guard")):
        for name in gone:
            (bench.root / name).unlink()
        listed = bench.ok("list")
        assert other.id in listed.out
        assert f"⚠ {strange.id}: " in listed.out
        assert bench.agent("status", "-w", strange.ulid).code == 6
        for words in (("status",), ("next",), ("show",), ("note", "more")):
            bench.ok(*words, "-w", other.id)
        assert bench.agent("doctor").code == 6


@pytest.mark.parametrize("system", SCENES)
@pytest.mark.parametrize("what", NEWER)
def test_a_line_of_a_newer_version_is_told_by_every_command_and_never_cut(tmp_path, system, what):
    scene = SCENES[system](Bench(tmp_path / "project").begun())
    (journal,) = Path(scene.bench.root, ".holdfast/journal").rglob("*.jsonl")
    appended(journal, NEWER[what])
    whole, document = journal.read_bytes(), scene.bench.root.joinpath
    for words in COMMANDS:
        error = scene.bench.agent(*words, "-w", scene.ulid, "--json").error
        assert error["code"] == "newer_version", words
        assert error["remedy"] == typed(installer.upgrade())
    for words in (("doctor",), ("doctor", "--repair"), ("list",)):
        answer = scene.bench.agent(*words)
        assert "newer Holdfast" in answer.out + answer.err, words
        assert "quarantine" not in answer.out, words
    told = next(one for one in scene.bench.agent("doctor").out.splitlines() if "newer Holdfast" in one)
    assert f"{journal.relative_to(scene.bench.root)}: this journal was written by" in told
    scene.bench.agent("adopt")
    assert journal.read_bytes() == whole
    assert document(".holdfast/journal").exists()
    assert len(scene.journals()) == 1
