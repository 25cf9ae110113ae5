"""The power goes while a project is on ext4: what was not synced is lost, and may be lost in part."""

from __future__ import annotations

from functools import partial

import pytest

from tests.faults.power import Site, cut_before_every_change
from tests.faults.project import DONE, LAST, REOPEN, START

full = partial(pytest.param, marks=pytest.mark.full)  # cut on the other file system in any case
ids = {"ids": lambda scene: scene.name}


@pytest.mark.parametrize("scene", [START, full(LAST), REOPEN], **ids)
def test_a_power_cut_takes_nothing_acknowledged_and_accuses_nobody(memory, commands, scene):
    cut = cut_before_every_change(Site("ext4", memory, commands, scene))
    assert len(cut) > 30


@pytest.mark.parametrize("scene", [full(DONE), LAST, full(REOPEN)], **ids)
def test_a_power_cut_that_tears_the_views_takes_nothing_acknowledged_and_accuses_nobody(memory, commands, scene):
    """Others have synced meanwhile: the disk knows the new names, and the content of none that was not synced."""
    site = Site("ext4", memory, commands, scene)
    cut = cut_before_every_change(site, later=True)
    assert len(cut) > 10
    assert site.torn or scene is REOPEN, "nothing was torn, so nothing was fixed"
