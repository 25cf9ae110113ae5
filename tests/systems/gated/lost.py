"""The life of a feature in a real repository, kept at every stage, and the ways in which its state gets lost."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from holdfast.core import commands as cmd
from holdfast.core.state import Actor
from holdfast.machine import place as places
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.systems.gated.delivery import recovery
from tests.phases import CODE, DOCS, FIRST, MAKEFILE, PHASES, SECOND, TESTING, write_all, write_outputs
from tests.workbench import Bench

SLUG = "user-login"
HOME = f"workflow/{SLUG}"
DOCUMENT, JOURNAL = f"{HOME}/workflow-state.json", f"{HOME}/journal.jsonl"
REQUEST = {"pr_url": "https://github.com/o/r/pull/7", "pr_number": 7, "last_reviewed_at": "2026-03-01T10:00:00Z"}
TORN = b'{"feature": "user-lo'
STAGES = (
    *("started", "in_review", "revised", "user_review", "pull_request", "approved"),
    *("second", "escalated", "overridden", "regression", "completed"),
)
LOSSES = ("document deleted", "document damaged", "status deleted", "status damaged", "both")


class Site(Bench):
    """A repository with one feature in it."""

    def begun(self) -> Site:
        super().begun()
        self.write("Makefile", MAKEFILE)
        self.save("tests")
        return self

    def started(self) -> Workflow:
        """A feature, with the documents of all phases written."""
        workflow = self.project("agent").start("feature", "User login")
        write_all(self.write, HOME)
        return workflow

    def project(self, kind: str = "human") -> Project:
        """What a new process would see."""
        named = {"data_dir": "XDG_DATA_HOME", "config_dir": "XDG_CONFIG_HOME"}
        beside = self.root.parent  # what all tests of a module share is made before a test has its own home
        kept = {name: os.environ.get(variable, str(beside / name)) for name, variable in named.items()}
        settings = Settings(actor=Actor(kind, "ada", "test"), **kept)
        return Project(bootstrap.wire(places.find(str(self.root)), settings))

    def workflow(self, kind: str = "human") -> Workflow:
        return self.project(kind).workflow(SLUG)

    def document(self) -> dict[str, Any]:
        return json.loads(self.read(DOCUMENT))

    def status(self, phase: str) -> dict[str, Any]:
        return json.loads(self.read(f"{HOME}/{phase}/status.json"))

    def statuses(self) -> dict[str, dict[str, Any]]:
        return {phase: self.status(phase) for phase in PHASES if (self.root / HOME / phase / "status.json").exists()}

    def reviewed(self, phase: str, number: int, *findings: str, again: bool = False) -> None:
        """A phase is handed in and reviewed; a review without findings approves it."""
        self.make(phase, number)
        workflow = self.workflow("agent").done(phase, unchanged="as it was" if again else "")
        self.opinion(phase, number, *findings)
        workflow.review(phase)

    def make(self, phase: str, number: int = 1) -> None:
        """What a creator leaves in the working tree for a review."""
        write_outputs(self.write, HOME, phase, f"What {phase} says for review {number}.")

    def opinion(self, phase: str, number: int, *findings: str) -> None:
        decision = "NEEDS_REVISION" if findings else "APPROVED"
        listed = "".join(f"- **[MAJOR]** {finding}\n" for finding in findings)
        self.write(f"{HOME}/{phase}/reviews/review-{number}.md", f"# Review\n\n## Decision: {decision}\n\n{listed}")

    def copy(self, root: Path) -> Site:
        shutil.copytree(self.root, root, symlinks=True)
        return Site(root)

    def afresh(self, root: Path) -> Site:
        """The working tree in another repository, whose history knows nothing of the feature."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns(".git", ".holdfast"))
        other = Site(root)
        other.git("init", "-q", "-b", f"feature/{SLUG}")
        other.git("add", "README.md")
        other.git("commit", "-q", "-m", "first")
        return other

    def forgotten(self) -> Site:
        """Nothing of Holdfast's own is left."""
        shutil.rmtree(self.root / ".holdfast", ignore_errors=True)
        (self.root / JOURNAL).unlink(missing_ok=True)
        return self

    def lost(self, what: str) -> str:
        """The journal is gone, and so is what is named; the phase whose status went."""
        self.forgotten()
        document = self.root / DOCUMENT
        phase = max(self.statuses()) if self.document()["current_phase"] not in self.statuses() else ""
        phase = phase or self.document()["current_phase"]
        status = self.root / HOME / phase / "status.json"
        if what in ("document deleted", "both"):
            document.unlink()
        if what == "document damaged":
            document.write_bytes(TORN)
        if what in ("status deleted", "both"):
            status.unlink()
        if what == "status damaged":
            status.write_bytes(TORN)
        return phase

    def recovered(self) -> Workflow:
        """A person looks at what was put together, and says yes."""
        project = self.project()
        project.heal()
        found = recovery.recover(project.wired, SLUG)
        assert isinstance(found, recovery.Recovery)
        return Workflow(project.wired, recovery.confirm(project.wired, found).state)


def lived(site: Site, keep: Any) -> None:
    """The whole life of a feature; `keep` is called with the name of each stage."""
    site.begun()
    site.started()
    keep("started")
    site.make(FIRST)
    site.workflow("agent").done(FIRST)
    keep("in_review")
    site.opinion(FIRST, 1, "no numbers")
    site.workflow("agent").review(FIRST)
    keep("revised")
    site.reviewed(FIRST, 2)
    keep("user_review")
    site.workflow().execute(cmd.Record(REQUEST))
    keep("pull_request")
    site.workflow().approve(FIRST)
    keep("approved")
    site.workflow("agent").begin(SECOND)
    keep("second")
    for number in range(1, 5):
        site.reviewed(SECOND, number, f"finding {number}")
    keep("escalated")
    site.workflow().approve(SECOND)
    keep("overridden")
    site.make(CODE)
    site.workflow("agent").begin(CODE).done(CODE)
    site.workflow().reopen(FIRST, "say it again")
    keep("regression")
    site.reviewed(FIRST, 1, again=True)
    site.workflow().approve(FIRST)
    for phase in (SECOND, CODE, TESTING, DOCS):
        site.workflow("agent").begin(phase)
        site.reviewed(phase, 1)
        site.workflow().approve(phase)
    keep("completed")
