"""Every store keeps the one contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.stores.files import FilesStore
from tests.stores.contract import SharedRootContract, StoreContract, forget_last, spoiled
from tests.stores.memory import MemoryStore


class TestMemory(StoreContract):
    @pytest.fixture
    def another(self):
        one = MemoryStore()
        return lambda: one

    @pytest.fixture
    def other(self):
        return MemoryStore()

    @pytest.fixture
    def spoil(self, another):
        journals = another()._journals

        def spoil(name, old, new, **how):
            journals[name] = spoiled(journals[name], old, new, **how)

        return spoil


class TestFiles(SharedRootContract):
    @pytest.fixture
    def another(self, tmp_path):
        home = tmp_path / ".holdfast"
        home.mkdir()
        return lambda: FilesStore(str(home))

    @pytest.fixture
    def other(self, tmp_path):
        (tmp_path / "other").mkdir()
        return FilesStore(str(tmp_path / "other"))

    @pytest.fixture
    def spoil(self, another):
        def spoil(name, old, new, **how):
            path = Path(another().file_of(name))
            path.write_bytes(spoiled(path.read_bytes(), old, new, **how))
            if how.get("resealed"):
                forget_last(path)

        return spoil
