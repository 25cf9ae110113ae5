"""A project's folder that a test fills with files."""

from __future__ import annotations

import pytest

from holdfast.checks import tooling


class Folder:
    def __init__(self, path):
        self.path = path

    def write(self, name, text=""):
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def program(self, name):
        self.write(name, "#!/bin/sh\n").chmod(0o755)

    def tools(self):
        return tooling.commands(str(self.path))

    def runs(self):
        """The commands as they would be typed."""
        return {name: " ".join(tool.run) for name, tool in self.tools().items()}

    def sources(self):
        return {name: tool.source for name, tool in self.tools().items()}


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "project"
    path.mkdir()
    return Folder(path)
