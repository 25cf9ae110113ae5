"""An installation that is killed while it writes: what it leaves is found, and gone after the next one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiers import need
from tests.workbench import Bench

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
SETTINGS = '{"model": "opus"}\n'


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write(".claude/settings.json", SETTINGS)
    return made


def temporary(bench: Bench) -> list[str]:
    home = Path.home()
    found = [*bench.root.rglob("*.tmp"), *home.rglob("*.tmp")]
    return sorted(path.name for path in found)


@pytest.mark.parametrize("again", ["install", "uninstall"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_the_next_one_removes_what_is_left(bench, count, again):
    """Killed as it is about to put its first, second or third file in place."""
    need("strace")
    kill = ("strace", "-f", "-o", "/dev/null", "-e", f"inject=/^rename:signal=KILL:when={count}")
    subprocess.run((*kill, HOLDFAST, "install", "claude-code"), cwd=bench.root, capture_output=True)
    left = temporary(bench)
    assert len(left) == 1
    if count > 1:
        assert "was left by an installation that was killed" in bench.ok("doctor").out
    person = bench.person(again, "claude-code")
    assert person.code == 0, person
    assert temporary(bench) == []
    assert (bench.read(".claude/settings.json") == SETTINGS) == (again == "uninstall")
    assert "was killed" not in bench.ok("doctor").out
