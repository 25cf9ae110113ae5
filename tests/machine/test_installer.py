"""Remedies name the program that installed Holdfast."""

from __future__ import annotations

import pytest

from holdfast.core.remedy import typed
from holdfast.machine import installer


@pytest.mark.parametrize(
    ("receipt", "upgrade", "again", "reach"),
    [
        ("", "pip install --upgrade holdfast", "pip install --force-reinstall holdfast", 'export PATH="/x:$PATH"'),
        ("pipx_metadata.json", "pipx upgrade holdfast", "pipx reinstall holdfast", "pipx ensurepath"),
        (
            "uv-receipt.toml",
            "uv tool upgrade holdfast",
            "uv tool install --reinstall holdfast",
            "uv tool update-shell",
        ),
    ],
)
def test_each_installer_has_its_own_commands(tmp_path, receipt, upgrade, again, reach):
    if receipt:
        (tmp_path / receipt).touch()
    prefix = str(tmp_path)
    ways = installer.upgrade(prefix), installer.again(prefix), installer.reach("/x", prefix)
    assert tuple(map(typed, ways)) == (upgrade, again, reach)
