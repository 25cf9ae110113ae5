"""Feature files in the styles that people use: each is read as the JSON beside it says, or refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UsageError
from holdfast.systems.skill import features

FILES = sorted(Path(__file__).with_name("features").glob("*.md"))


def reading(file: Path) -> dict[str, Any]:
    feature = features.read(str(file), file.name)
    said = {name: getattr(feature, name) for name in ("title", "title_from", "summary")}
    tasks = [{name: getattr(task, name) for name in ("text", "line", "done", "tested", "description")}
             for task in feature.tasks]  # fmt: skip
    remarks = [[one.line, one.code] for one in feature.remarks]
    lists = {"headings": list(feature.headings), "criteria": list(feature.criteria)}
    return {**said, **lists, "tasks": tasks, "remarks": remarks}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_read_as_its_author_means_it(file):
    expected = json.loads(file.with_suffix(".json").read_text())
    if "refused" not in expected:
        assert reading(file) == expected
        return
    with pytest.raises(UsageError) as refusal:
        reading(file)
    found: Any = refusal.value.facts["mistakes"]
    told = [(int(one["where"].rpartition(":")[2]), one["message"]) for one in found]
    assert [line for line, _ in told] == [line for line, _ in expected["refused"]]
    assert all(part in said for (_, said), (_, part) in zip(told, expected["refused"], strict=True))


def test_there_are_twenty_and_more():
    assert len(FILES) >= 20
