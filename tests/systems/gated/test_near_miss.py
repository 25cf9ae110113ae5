"""A state that others wrote in words of their own: recovery takes every field that can be read, and names the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.feature import House
from tests.phases import PHASES

HOME = "workflow/user-auth"
AT = "2026-03-01T10:00:00Z"


def entry(status: str) -> dict[str, Any]:
    return {"status": status, "iterations": 0 if status == "pending" else 1, "started_at": AT, "completed_at": None}


def document(**changes: Any) -> dict[str, Any]:
    first, *later = PHASES
    return {
        "feature": "user-auth",
        "feature_title": "User Auth",
        "branch": "feature/user-auth",
        "created_at": AT,
        "updated_at": AT,
        "current_phase": later[0],
        "status": "in_progress",
        "phases": {
            first: entry("approved"),
            later[0]: entry("in_progress"),
            **{p: entry("pending") for p in later[1:]},
        },
        "escalations": [{"phase": first, "reason": "Too slow", "iteration": 4, "at": AT, "resolved_at": AT}],
        "pr_url": "https://github.com/ada/house/pull/17",
        "pr_number": 17,
        "last_reviewed_at": AT,
        "notes": "Ask Mona",
        **changes,
    }


def short(name: str) -> str:
    return name.partition("-")[2]


CASES = {
    "a word": {"status": "in-progress"},
    "no status": {"status": None},
    "short names": {
        "phases": {short(name): one for name, one in document()["phases"].items()},
        "current_phase": "architecture",
    },
    "a list": {"phases": [{"name": name, **one} for name, one in document()["phases"].items()]},
    "bare words": {"phases": {name: one["status"] for name, one in document()["phases"].items()}},
    "other words": {"phases": {**document()["phases"], PHASES[0]: entry("Done"), PHASES[1]: entry("In Progress")}},
    "one phase less": {"phases": {name: one for name, one in document()["phases"].items() if name != PHASES[-1]}},
    "a title": {"feature": "User Auth"},
}


@pytest.mark.parametrize("changes", CASES.values(), ids=list(CASES))
def test_what_can_be_read_is_kept_and_what_cannot_is_named(tmp_path: Path, changes: dict[str, Any]):
    house = House(tmp_path / "house")
    house.git("switch", "-q", "-c", "feature/user-auth")
    house.write(f"{HOME}/00-feature/description.md", "# Auth\n")
    text = json.dumps(document(**changes))
    house.write(f"{HOME}/workflow-state.json", text)
    answer = house.person("feature", "recover", "user-auth", "--yes")
    assert answer.code == 0, answer
    assert "read as" in answer.out or "phases has no" in answer.out
    after = json.loads(house.read(f"{HOME}/workflow-state.json"))
    kept = {name: after[name] for name in ("feature_title", "pr_url", "pr_number", "last_reviewed_at", "notes")}
    assert kept == {name: document()[name] for name in kept}
    assert [one["reason"] for one in after["escalations"]] == ["Too slow"]
    assert [after["phases"][name]["status"] for name in PHASES] == ["approved", "in_progress", *["pending"] * 3]
    (where,) = (line.rpartition(" ")[2] for line in answer.out.splitlines() if "as it was is kept in" in line)
    assert (house.root / where).read_text() == text
