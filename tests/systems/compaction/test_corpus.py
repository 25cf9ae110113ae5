"""Plans and notes as people and agents really write them: each is read as its author meant it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.systems.compaction.detection import detect

CORPUS = Path(__file__).parents[2] / "corpus"
PLANS: dict[str, dict[str, str]] = json.loads((CORPUS / "plans" / "expected.json").read_text())
NOTES: dict[str, dict[str, str]] = json.loads((CORPUS / "notes" / "expected.json").read_text())


def read(base: Path) -> list[dict[str, str]]:
    return [
        {"workflow": s.workflow, "phase": f"{s.current}/{s.total} {s.phase}".strip(), "status": s.status}
        for s in detect(str(base))
    ]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_read_as_its_author_meant_it(tmp_path, name):
    path = tmp_path / "CLAUDE" / "Plan" / name / "PLAN.md"
    path.parent.mkdir(parents=True)
    path.write_bytes((CORPUS / "plans" / f"{name}.md").read_bytes())
    assert read(tmp_path) == ([PLANS[name]] if PLANS[name]["status"] else [])


@pytest.mark.parametrize("name", NOTES)
def test_notes_are_read_as_their_author_meant_them(tmp_path, name):
    (tmp_path / "CLAUDE.local.md").write_bytes((CORPUS / "notes" / f"{name}.md").read_bytes())
    assert read(tmp_path) == ([NOTES[name]] if NOTES[name]["status"] else [])


def test_every_file_of_the_corpus_has_its_expectation():
    for kind, expected in (("plans", PLANS), ("notes", NOTES)):
        assert {path.stem for path in (CORPUS / kind).glob("*.md")} == set(expected)
