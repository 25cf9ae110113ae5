"""`start` is killed before each system call that concerns the project."""

from __future__ import annotations

from tests.faults.kills import Stage, kill_before_every_call
from tests.faults.project import START


def test_a_killed_start_leaves_the_old_or_the_new_and_is_asked_for_again(tmp_path, commands):
    stage = Stage(str(tmp_path), commands, START)
    killed = kill_before_every_call(stage)
    assert len(killed) == len(stage.calls) > 100
    assert {"mkdir", "pwrite64", "fdatasync", "fsync", "rename", "renameat2", "write", "exit_group"} <= {
        call.name for call in killed
    }
