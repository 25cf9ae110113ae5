"""An older workspace that was checked out where nothing else knows the feature: the journal that HEAD has says more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.losing import forgotten
from tests.phases import FIRST, SECOND
from tests.systems.gated.lost import HOME, JOURNAL, SLUG, Site


@pytest.fixture
def site(tmp_path) -> Site:
    """The first phase was approved, which was committed, and a person opened it again, which was committed too."""
    site = Site(tmp_path / "project")
    site.begun()
    site.started()
    site.reviewed(FIRST, 1)
    site.workflow().approve(FIRST)
    site.workflow("agent").begin(SECOND)
    site.save("approved")
    site.git("tag", "approved")
    site.workflow().reopen(FIRST)
    site.save("opened again")
    return site


def rm(root: Path) -> None:
    shutil.rmtree(root / ".holdfast")


@pytest.mark.parametrize("lose", [rm, forgotten])
def test_a_person_opened_a_phase_and_it_stays_open(site, lose: Callable[[Path], None]):
    journal = site.read(JOURNAL)
    lose(site.root)
    site.git("checkout", "-q", "approved", "--", HOME)
    assert site.document()["phases"][FIRST]["status"] == "approved"
    assert journal.startswith(site.read(JOURNAL))
    assert journal != site.read(JOURNAL)
    for words in (("status",), ("feature", "recover", SLUG), ("begin", SECOND), ("approve", FIRST)):
        site.agent(*words)
    assert site.workflow().state.step(FIRST).status == "active"
    assert site.document()["phases"][FIRST]["status"] == "in_progress"


@pytest.mark.parametrize("lose", [rm, forgotten])
def test_a_copy_that_somebody_shortened_is_not_believed(site, lose: Callable[[Path], None]):
    lines = site.read(JOURNAL).splitlines(keepends=True)
    lose(site.root)
    site.write(JOURNAL, "".join(lines[:-1]))
    site.agent("status")
    assert site.workflow().state.step(FIRST).status == "active"
