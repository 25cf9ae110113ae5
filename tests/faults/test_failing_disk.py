"""A disk that fails, or is full, at any moment of a command."""

from __future__ import annotations

import pytest

from tests.faults.errors import fail_every_call
from tests.faults.kills import Stage
from tests.faults.project import APPROVE, DONE, LAST, REOPEN, START
from tests.tiers import is_full

SCENES = pytest.mark.parametrize("scene", [START, DONE, APPROVE, LAST, REOPEN], ids=lambda scene: scene.name)


@SCENES
def test_a_disk_that_fails_once_costs_nothing_acknowledged_and_nobody_is_told_a_lie(memory, commands, scene):
    failed = fail_every_call(Stage(memory, commands, scene), "EIO")
    assert len(failed) > (15 if is_full() else 7)
    assert {"openat", "pwrite64", "fdatasync"} <= {call.name for call in failed}


@SCENES
def test_a_disk_that_is_full_once_costs_nothing_acknowledged_and_nobody_is_told_a_lie(memory, commands, scene):
    failed = fail_every_call(Stage(memory, commands, scene), "ENOSPC")
    assert len(failed) > 5
    assert {"pwrite64", "fdatasync"} <= {call.name for call in failed}
