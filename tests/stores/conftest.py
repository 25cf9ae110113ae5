"""A folder for journals, and the store that keeps them there."""

from __future__ import annotations

import pytest

from holdfast.stores.files import FilesStore


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / ".holdfast"
    folder.mkdir(mode=0o700)
    return str(folder)


@pytest.fixture
def store(home):
    return FilesStore(home)
