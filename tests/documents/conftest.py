from __future__ import annotations

import pytest

from tests.documents.desk import PLAIN, Desk


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path / "project")


@pytest.fixture
def plain(tmp_path):
    """A workflow without gates."""
    return Desk(tmp_path / "project", PLAIN)
