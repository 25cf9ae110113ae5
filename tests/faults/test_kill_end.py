"""The `done` that finishes a workflow, and `reopen`, move the document, and are killed before each system call."""

from __future__ import annotations

import pytest

from tests.faults.kills import Stage, by_name, kill_before_every_call
from tests.faults.project import LAST, REOPEN
from tests.tiers import rows


@pytest.mark.parametrize("scene", [LAST, REOPEN], ids=lambda scene: scene.name)
def test_a_document_that_was_being_moved_is_in_its_new_place_after_the_next_command(memory, commands, scene):
    stage = Stage(memory, commands, scene)
    killed = kill_before_every_call(stage)
    assert len(stage.calls) > 100
    assert killed == rows(stage.calls, by_name)
    assert {"flock", "pwrite64", "fdatasync", "fsync", "rename", "unlink", "write", "exit_group"} <= {
        call.name for call in killed
    }
