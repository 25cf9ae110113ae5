"""Feature files in the styles that people use: each is read as the JSON beside it says, or refused with its line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.systems.skill import features
from tests.tiers import examples

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


def test_there_are_forty_and_more():
    assert len(FILES) >= 40


HEADINGS = ("# A title", "## Tasks", "### Backend", "## Notes", "## Acceptance criteria", "## Definition of done",
            "**Steps**", "Checklist:", "## To do", "text", "")  # fmt: skip
MARKS = (
    *("- [ ] {}", "1. [x] {}", "* [ ] {}", "☐ {}", "- ☑ {}", "[ ] {}", "  - [ ] {}", "    - [x] {}", "> - [ ] {}"),
    *("    [ ] {}", "- {}", "- {}\n  - [ ] {}", "| [ ] | {} |", "- [ ] ~~{}~~", "- [~] {}", "<div>\n- [ ] {}\n</div>"),
    *("-[ ] {}", "*[ ] {}", "1.[x] {}", "-[] {}", "- one\n-[ ] {}"),
    *("- [ ] one\n  Given {}\n[ ] two", "Later:\n- [ ] {}"),
    *("<!-- a note\n- [ ] {}", "~~~~\ncode\n- [ ] {}", "- [-] {}", "- [x] I have read {}", "<pre>\n- [ ] {}"),
    *("```\n- [ ] {}\n```", "- [ ] one\n  ```\n  - [ ] {}\n  ```", "| a | b |\n|---|---|\n| [ ] | {} |"),
)
ENDS = st.sampled_from(["\n", "\n\n"])
PARTS = st.tuples(st.sampled_from(HEADINGS), st.sampled_from(MARKS), ENDS)


@given(st.lists(PARTS, max_size=9), ENDS)
@settings(max_examples=examples(300), deadline=None)
def test_every_box_is_a_task_or_part_of_one_or_a_criterion_or_is_told(parts, between):
    words = [f"word{n}x" for n in range(len(parts))]
    pieces = [f"{head}{end}{mark.replace('{}', word)}" for (head, mark, end), word in zip(parts, words, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "a.md")
        file.write_text(between.join(pieces) + "\n")
        try:
            feature = features.read(str(file), "a.md")
        except UsageError:
            return  # with lines: the refusals are tested above
    assert all(sum(word in task.text for word in words) <= 1 for task in feature.tasks), feature.tasks
    read = [feature.summary, *feature.criteria, *(f"{task.text}\n{task.description}" for task in feature.tasks)]
    for word, piece in zip(words, pieces, strict=True):
        if "[" not in piece and "☐" not in piece and "☑" not in piece:
            continue
        line = between.join(pieces[: words.index(word) + 1]).count("\n") + 1
        told = any(one.line <= line for one in feature.remarks if one.code not in ("title", "no_heading"))
        assert any(word in text for text in read) or told, piece
