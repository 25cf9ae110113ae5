"""A project and a person's folder, with hosts in them, and `holdfast` as a process."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.hosts.installing import installation, setting
from holdfast.machine.settings import read
from tests import forked
from tests.workbench import Bench

SERVER = ("/usr/bin/python3", "-m", "holdfast", "mcp")


class Room:
    """What is on disk, and both ways to change it: the functions behind the commands, and the commands."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home

    def setting(self, scope="project", **changes):
        at = setting.setting(read(os.environ, terminal=False, surface="test"), scope, str(self.root))
        return at.replace(server=SERVER, **changes)

    @property
    def data(self) -> str:
        return os.environ["XDG_DATA_HOME"]

    def install(self, host, scope="project", **changes):
        plan = installation.planned(host, self.setting(scope, **changes), self.data)
        installation.carry_out(plan)
        return plan

    def uninstall(self, host, scope="project", **changes):
        plan = installation.planned(host, self.setting(scope, **changes), self.data, is_removal=True)
        installation.carry_out(plan)
        return plan

    def write(self, name, text, mode=0o644):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return path

    def json(self, name):
        return json.loads((self.root / name).read_text())

    def holdfast(self, *words, code=0, **environment):
        """A process without a terminal; its answer in JSON where that was asked for."""
        ended, out, err = forked.run(*words, cwd=self.root, env={**os.environ, **environment})
        assert ended == code, (out, err)
        assert "Traceback" not in err
        return json.loads(out) if "--json" in words else out + err

    def person(self, *words, says=None):
        """At a terminal, where Enter answers every question that `says` does not."""
        answer = Bench(self.root).person(*words, says=says)
        assert answer.code == 0, answer
        return answer.out


def tree(*folders: Path) -> dict[str, tuple[int, bytes | None]]:
    """Everything below some folders: mode, and content of files."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            found[str(path)] = (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
    return found


@pytest.fixture
def room(tmp_path) -> Room:
    root = tmp_path / "project"
    root.mkdir()
    return Room(root, Path(os.environ["HOME"]))


@pytest.fixture
def with_package(tmp_path, monkeypatch):
    """The MCP server's package can be found, whatever is installed here."""
    (tmp_path / "packages" / "mcp").mkdir(parents=True)
    (tmp_path / "packages" / "mcp" / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
