"""Every store keeps the one contract."""

from __future__ import annotations

import pytest

from holdfast.stores.files import FilesStore
from holdfast.stores.memory import MemoryStore
from tests.stores.contract import SharedRootContract, StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    def another(self):
        one = MemoryStore()
        return lambda: one


class TestFiles(SharedRootContract):
    @pytest.fixture
    def another(self, tmp_path):
        home = tmp_path / ".holdfast"
        home.mkdir()
        return lambda: FilesStore(str(home))
