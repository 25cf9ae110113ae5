"""Every surface tells agents what the golden files say. To accept a change: `python -m tests.golden.capture`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden import capture
from tests.golden.scenarios import SCENARIOS

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(request, tmp_path_factory) -> Path:
    """The files of all scenarios that are tested, made by one process that nothing else runs in."""
    made = tmp_path_factory.mktemp("golden")
    specs = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    wanted = {spec.params["name"] for spec in specs if spec}
    argv = [sys.executable, "-m", "tests.golden.capture", "--into", str(made), *sorted(wanted)]
    done = subprocess.run(argv, cwd=TOP, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize("name", SCENARIOS)
def test_agents_are_told_the_same(name, folder):
    found = capture.difference(name, (folder / f"{name}.txt").read_text())
    assert not found, f"\n{found}"


def test_no_file_is_left_over():
    assert {path.stem for path in capture.DATA.glob("*")} == set(SCENARIOS)
