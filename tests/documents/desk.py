"""A desk: a real project in a real repository, with a workflow whose document people and agents touch."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from holdfast.project.project import Project, open_project
from holdfast.project.workflow import Workflow
from tests.actors import acting
from tests.tiers import need

RELEASE = {
    "name": "release",
    "step": [
        {"id": "write"},
        {"id": "verify", "checks": ["tests"]},
        {"id": "sign-off", "approval": {"by": "human"}},
        {"id": "publish"},
    ],
}
PLAIN = {"name": "plain", "step": [{"id": "one"}, {"id": "two"}, {"id": "three"}]}


class Desk:
    """Every look opens the project again, as the next process would."""

    def __init__(self, folder: Path, shape: dict[str, Any] | None = None) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main")
        (folder / "README.md").write_text("a project\n")
        self.commit("README.md")
        self.id = self.open().start(shape or RELEASE, "1.0").id

    def open(self, *, person: bool = False, folder: Path | None = None) -> Project:
        return open_project(str(folder or self.folder), settings=acting(os.environ, person=person))

    def look(self, **how: Any) -> Workflow:
        """The workflow as the next process finds it, which also judges its document."""
        return self.open(**how).workflow(self.id)

    @property
    def person(self) -> Workflow:
        return self.look(person=True)

    @property
    def path(self) -> Path:
        return self.folder / ".claude/workflow-state/active" / f"{self.id}.json"

    @property
    def completed(self) -> Path:
        return self.path.parents[1] / "completed" / self.path.name

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    def phases(self) -> dict[str, str]:
        return {phase["name"]: phase["status"] for phase in self.document["state_machine"]["phases"]}

    def statuses(self) -> dict[str, str]:
        state = self.look().state
        return {path: state.step(path).status for path in state.plan.paths}

    def jq(self, program: str, *arguments: str, of: Path | None = None) -> None:
        """What an agent types: `jq … doc > tmp && mv tmp doc`."""
        need("jq")
        words = ["jq", *arguments, program, str(of or self.path)]
        subprocess.run(
            f"{shlex.join(words)} > doc.tmp && mv doc.tmp {self.path}", shell=True, check=True, cwd=self.folder
        )

    def age(self, seconds: float = 5) -> None:
        """The file was last written a while ago."""
        then = time.time() - seconds
        os.utime(self.path, (then, then))

    def git(self, *words: str, folder: Path | None = None) -> str:
        done = subprocess.run(["git", *words], cwd=folder or self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def commit(self, *paths: str, message: str = "more") -> None:
        self.git("add", "-f", "--", *paths)
        self.git("commit", "-q", "-m", message)

    def commit_document(self) -> None:
        self.commit(str(self.path.relative_to(self.folder)), message="the workflow's document")

    def quarantined(self) -> dict[bytes, str]:
        """Files that were set aside: their content, with the reason beside it."""
        folder = self.folder / ".holdfast/quarantine"
        kept = [path for path in folder.glob("*") if path.suffix != ".reason"] if folder.exists() else []
        return {path.read_bytes(): Path(f"{path}.reason").read_text().strip() for path in kept}

    def alerts(self) -> list[str]:
        return [alert.code for alert in self.look().state.alerts]

    def commands(self) -> list[str]:
        return [record.command for record in self.look().history()]

    def is_clean(self) -> bool:
        """The document on disk is the newest rendering, and looking at it changes nothing."""
        before, data = self.look().state, self.path.read_bytes()
        after = self.look()
        return after.state == before and self.path.read_bytes() == data and after.document() == json.loads(data)
