"""A project with workflows, and the notes that hooks leave in its inbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.state import State
from holdfast.project.workflow import Workflow
from tests.workbench import Bench

PLAIN = {"name": "plain", "step": [{"id": "one"}, {"id": "two"}, {"id": "three"}]}


class House(Bench):
    """Every look opens the project again, as the next process would."""

    @property
    def home(self) -> Path:
        return self.root / ".holdfast"

    @property
    def inbox(self) -> Path:
        return self.home / "inbox"

    def plain(self, subject: str = "1", *, session: str = "", definition: Any = PLAIN) -> Workflow:
        """A workflow whose first step is worked on: by a session, or by a person."""
        started = self.open("agent" if session else "human", session=session).start(definition, subject)
        return started.begin("one")

    def note(self, event: str, session: str = "S1", **more: Any) -> None:
        self.line(json.dumps({"at": 1.5, "event": event, "session": session, **more}))

    def line(self, text: str | bytes) -> None:
        with self.inbox.open("ab") as file:
            file.write((text if isinstance(text, bytes) else text.encode()) + b"\n")

    def fold(self) -> None:
        self.open("human").heal()

    def state(self, workflow: Workflow) -> State:
        """What the journal says, and nothing else is looked at."""
        return self.open("human").wired.store.load(workflow.ulid)

    def left(self) -> list[str]:
        """Notes that are still there."""
        return sorted(path.name for path in self.home.glob("inbox*"))

    def files(self, workflow: Workflow, step: str = "one") -> list[str]:
        return list(self.state(workflow).step(step).data.get("files_modified", ()))

    def account(self, name: str = "Case Studies", folder: str = "case-studies", **more: Any) -> str:
        """A state file that an agent keeps by itself."""
        document = {
            "workflow": name,
            "workflow_type": "custom",
            "phase": {"current": 2, "total": 3, "name": "Import", "status": "in_progress"},
            "required_reading": [],
            "context": {},
            "key_reminders": [],
            "created_at": "2025-12-09T14:30:52Z",
            **more,
        }
        path = f"untracked/workflow-state/{folder}/state-{folder}-20251209_143052.json"
        self.write(path, json.dumps(document))
        return path


@pytest.fixture
def house(tmp_path, monkeypatch):
    house = House(tmp_path / "project")
    house.begun()
    monkeypatch.chdir(house.root)
    return house
