from __future__ import annotations

import os
import subprocess

import pytest

from tests.faults.commands import Commands


@pytest.fixture(scope="session", autouse=True)
def _as_root():
    if os.geteuid() != 0:
        pytest.fail("the fault tests mount file systems: run them as root, for example with sudo make test")


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
