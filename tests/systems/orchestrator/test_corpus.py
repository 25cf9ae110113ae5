"""Task documents as people write them: each is understood as its author meant it, or refused with its line.

Beside every document in `tests/corpus/task_documents` lies what it means, in short: a criterion is its text, with
`=> command` where Holdfast runs it; what is empty is left out; of warnings only the lines are there.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import UsageError
from holdfast.systems.orchestrator import task_document
from holdfast.systems.orchestrator.task_document import echo

CORPUS = Path(__file__).parents[2] / "corpus" / "task_documents"
DOCUMENTS = sorted(CORPUS.glob("*.md"))


def test_there_are_thirty_documents_each_with_its_meaning():
    assert len(DOCUMENTS) >= 30
    assert {path.stem for path in DOCUMENTS} == {path.stem for path in CORPUS.glob("*.json")}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_document_is_understood_as_its_author_meant_or_refused_with_its_line(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    if "refused" not in expected:
        assert _short(echo.understood(task_document.read(str(path)))) == expected
        return
    with pytest.raises(UsageError) as refusal:
        task_document.read(str(path))
    mistakes: Any = refusal.value.facts["mistakes"]
    found = [(each["where"].rpartition(":")[2], each["message"]) for each in mistakes]
    assert {line for line, _ in found} == set(expected["refused"])
    for line, said in expected["refused"].items():
        assert any(said in message for where, message in found if where == line), (line, said, found)


def _short(said: dict[str, Any]) -> dict[str, Any]:
    phases = {
        f"{phase['phase']} {phase['name']}": _full(
            description=phase["description"],
            criteria=_criteria(phase["criteria"]),
            tasks={f"{task.pop('task')} {task.pop('name')}": _task(task) for task in phase["tasks"]},
        )
        for phase in said["phases"]
    }
    supervisor, outer, bounds = said["supervisor"], said["outer_loop"], said["bounds"]
    outer["criteria"] = _criteria(outer["criteria"])
    return _full(
        **{name: said[name] for name in ("title", "goal", "context")},
        iterations=bounds["max_iterations_per_task"],
        cost=bounds["max_cost"],
        time=bounds["max_time"],
        criteria=_criteria(said["criteria"]),
        phases=phases,
        supervisor=_full(**supervisor) if supervisor["enabled"] else None,
        outer_loop=_full(**outer) if outer["enabled"] else None,
        warnings=[one["line"] for one in said["warnings"]],
    )


def _task(task: dict[str, Any]) -> dict[str, Any]:
    return _full(**{**task, "criteria": _criteria(task["criteria"])})


def _criteria(listed: list[dict[str, Any]]) -> list[str]:
    return [one["text"] + (f" => {shlex.join(one['command'])}" if one["how"] == "run" else "") for one in listed]


def _full(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ("", None, [], False)}
