"""A run of a task document, from its plan on, and a document that somebody else wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.orchestrated import Run, example
from tests.workbench import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def run(bench):
    return Run(bench)


@pytest.fixture
def executing(run):
    return run.planned()


@pytest.fixture
def found(bench):
    """The convention's own example, which the first look adopts."""

    def found(document: dict[str, Any] | None = None) -> Path:
        return bench.write(".claude/agent-state.json", json.dumps(document or example(), indent=2))

    return found
