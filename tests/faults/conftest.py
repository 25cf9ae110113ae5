from __future__ import annotations

import subprocess

import pytest

from tests.faults.commands import Commands
from tests.tiers import need


@pytest.fixture(scope="session", autouse=True)
def _needs():
    need("root", "strace", "mounts")


@pytest.fixture(scope="module")
def commands(_clean_environment):
    made = Commands()
    yield made
    made.close()


@pytest.fixture
def memory(tmp_path):
    """A folder in memory: a process that is killed leaves the same files on every file system, and here sooner."""
    folder = tmp_path / "memory"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "holdfast-faults", folder], check=True)
    try:
        yield str(folder)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
