"""`done` and `approve` are killed before each of their system calls."""

from __future__ import annotations

from tests.faults.kills import Stage, by_name, kill_before_every_call
from tests.faults.project import APPROVE, DONE, disk, snapshot_of
from tests.tiers import rows

NEEDED = {"flock", "pwrite64", "fdatasync", "renameat2", "write", "exit_group"}


def test_a_killed_done_leaves_the_old_or_the_new_and_is_asked_for_again(memory, commands):
    stage = Stage(memory, commands, DONE)
    killed = kill_before_every_call(stage)
    assert len(stage.calls) > 60
    assert killed == rows(stage.calls, by_name)
    assert {call.name for call in killed} >= NEEDED


def test_a_killed_approve_leaves_the_old_or_the_new_and_is_asked_for_again_also_while_it_takes_a_snapshot(
    memory, commands
):
    stage = Stage(memory, commands, APPROVE)
    after = stage.fresh()
    assert commands(after, *stage.scene.words).code == 0
    assert [snapshot_of(disk(root)) for root in (stage.base, after)] == [64, 128]
    killed = kill_before_every_call(stage)
    assert len(stage.calls) > 60
    assert killed == rows(stage.calls, by_name)
    assert {call.name for call in killed} >= NEEDED
