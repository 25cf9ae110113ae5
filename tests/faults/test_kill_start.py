"""`start` is killed before each of its system calls."""

from __future__ import annotations

import pytest

from tests.faults.kills import Stage, by_name, kill_before_every_call
from tests.faults.project import START, START_BESIDE
from tests.tiers import rows


@pytest.mark.parametrize("scene", [START, START_BESIDE], ids=lambda scene: scene.name)
def test_a_killed_start_leaves_the_old_or_the_new_and_is_asked_for_again(memory, commands, scene):
    stage = Stage(memory, commands, scene)
    killed = kill_before_every_call(stage)
    assert len(stage.calls) > 100
    assert killed == rows(stage.calls, by_name)
    assert {"mkdir", "flock", "pwrite64", "fdatasync", "fsync", "rename", "unlink", "write", "exit_group"} <= {
        call.name for call in killed
    }
