"""Projects on a real disk, seen by a person and by an agent."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.state import Actor
from holdfast.machine import place as places
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project

EXAMPLES = Path(__file__).resolve().parent.parent / "systems" / "skill" / "data"
ACTIVE = Path(".claude/workflow-state/active")
COMPLETED = Path(".claude/workflow-state/completed")

RELEASE = {
    "name": "release",
    "step": [
        {"id": "plan", "approval": {"by": "human"}},
        {"id": "work", "checks": [{"name": "tests"}]},
        {"id": "publish"},
    ],
}


class Site:
    """A folder with a project in it. Each `open` is what a new process would see."""

    def __init__(self, root: Path, data: Path) -> None:
        self.root = root
        self._data = data

    @property
    def home(self) -> Path:
        return self.root / ".holdfast"

    def open(self, kind: str = "human", at: str = "", wait: float = 10.0) -> Project:
        settings = Settings(
            actor=Actor(kind, "ada", "test"),
            data_dir=str(self._data / "data"),
            config_dir=str(self._data / "config"),
            lock_wait=wait,
        )
        return Project(bootstrap.wire(places.find(at or str(self.root)), settings))

    def example(self, name: str, stem: str = "") -> Path:
        """Puts one of the example documents where the convention has it."""
        document = json.loads((EXAMPLES / f"{name}.json").read_text())
        path = self.root / ACTIVE / f"{stem or document['workflow']['id']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / f"{name}.json", path)
        return path

    def definition(self, name: str, text: str) -> Path:
        path = self.home / "workflows" / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def git(self, *words: str) -> str:
        run = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True)
        return run.stdout

    def json(self, path: Path) -> dict[str, Any]:
        return json.loads((self.root / path).read_text())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    root = tmp_path / "project"
    root.mkdir()
    return Site(root, tmp_path)


@pytest.fixture
def repository(site: Site) -> Site:
    site.git("init", "-q", "-b", "main")
    (site.root / "README.md").write_text("A project.\n")
    site.git("add", ".")
    site.git("commit", "-q", "-m", "first")
    return site
