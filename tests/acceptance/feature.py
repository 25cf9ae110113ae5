"""A repository in which a feature is developed in phases, and the pull request that people speak on."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from holdfast.core.state import Actor
from holdfast.machine import place as places
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from tests.acceptance.checkout import Checkout, argv
from tests.forges.github.conversation import KeptThread
from tests.forges.github.server import PUBLISHED, GitHub
from tests.forges.loopback import Loopback
from tests.phases import CODE, DOCS, FIRST, MAKEFILE, PHASES, SECOND, TESTING, paths, write_outputs

TITLE, SLUG = "Sign in by key", "sign-in-by-key"
HOME, BRANCH = f"workflow/{SLUG}", f"feature/{SLUG}"
__all__ = ["CODE", "DOCS", "FIRST", "PHASES", "SECOND", "TESTING", "House", "Talk", "act", "hosted", "row", "timeless"]
MEMBER = "MEMBER"
_TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_EXAMPLE = next(one["example"][0]["user"] for one in PUBLISHED["operations"] if one["id"] == "pulls/list-reviews")


class House(Checkout):
    """A checkout with central docs; the feature has its own words in every phase."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        for name in ("GH_TOKEN", "GITHUB_TOKEN"):
            self.env.pop(name, None)
        self.git("rm", "-q", "pyproject.toml", "conftest.py")
        self.write("Makefile", MAKEFILE)
        self.write("docs/requirements.md", "# Requirements\n\nDoors open.\n")
        self.write("docs/architecture.md", "# Architecture\n\nOne door.\n")
        self.write("docs/diagrams/door.svg", "<svg/>\n")
        self.git("add", "docs", "Makefile")
        self.git("commit", "-q", "-m", "Docs")

    def publish(self) -> House:
        super().publish()
        return self

    def clone(self, root: Path) -> House:
        """Another working tree of the same remote, as somebody else has it."""
        subprocess.run(["git", "clone", "-q", str(self.root.with_name("remote.git")), str(root)], check=True)
        return self.at(root)

    def at(self, root: Path) -> House:
        """The same commands in another folder."""
        other = House.__new__(House)
        other.root, other.env = root, self.env
        return other

    def started(self) -> House:
        """The first phase is under way, and everything is committed."""
        self.project().start("feature", TITLE)
        return self

    def begun(self) -> House:
        """The first phase is under way, and its document is written."""
        self.started().make(FIRST)
        return self

    def project(self, kind: str = "human") -> Project:
        """What a process would see, for the way to where a test begins."""
        actor = Actor(kind, "", "test", "")
        kept = {name: os.environ[f"XDG_{name.upper()[:-4]}_HOME"] for name in ("data_dir", "config_dir")}
        return Project(bootstrap.wire(places.find(str(self.root)), Settings(actor=actor, **kept)))

    def workflow(self) -> Workflow:
        return self.project().workflow(SLUG)

    def state(self) -> dict[str, Any]:
        return json.loads(self.read(f"{HOME}/workflow-state.json"))

    def phase(self, phase: str) -> dict[str, Any]:
        return self.state()["phases"][phase]

    def phases(self) -> list[str]:
        return [one["status"] for one in self.state()["phases"].values()]

    def status_of(self, phase: str) -> dict[str, Any]:
        return json.loads(self.read(f"{HOME}/{phase}/status.json"))

    def subjects(self, since: str = "main") -> list[str]:
        """What the commits are called, oldest first."""
        return self.git("log", "--reverse", "--format=%s", f"{since}..HEAD").splitlines()

    def trailers(self, revision: str = "HEAD") -> dict[str, str]:
        listed = self.git("log", "-1", "--format=%(trailers:only,unfold)", revision).splitlines()
        return dict(line.split(": ", 1) for line in listed if line)

    def make(self, phase: str, text: str = "") -> None:
        """What a creator leaves in the working tree."""
        text = text or f"What {phase} says."
        write_outputs(self.write, HOME, phase, text)
        if phase == SECOND:
            self.write(f"{HOME}/{phase}/diagrams/key.svg", f"# diagrams/key.svg\n\n{text}\n")
        if phase == CODE:
            self.write("src/key.py", f"# {text}\n")
            self.git("add", "src/key.py")
            self.git("commit", "-q", "-m", f"[workflow] {CODE}: Add the key")

    def opinion(self, phase: str, number: int, *findings: str) -> str:
        """A review file: it asks for a revision when it has findings."""
        decision = "NEEDS_REVISION" if findings else "APPROVED"
        listed = "".join(f"- **[MAJOR]** {finding}\n" for finding in findings)
        path = f"{HOME}/{phase}/reviews/review-{number}.md"
        self.write(path, f"# Review {number}\n\n## Decision: {decision}\n\n{listed}")
        return path

    def reviewed(self, phase: str, number: int, *findings: str) -> None:
        """An agent hands in, another one reviews; both by commands."""
        if not all((self.root / path).exists() for path in paths(HOME, phase)):
            self.make(phase)
        self.ok("done", phase, *(("--unchanged", "as it was") if number > 1 else ()))
        self.opinion(phase, number, *findings)
        self.ok("review", phase)

    def up_to(self, phase: str, status: str = "user_review") -> House:
        """A feature that has come so far without trouble: `user_review` or `in_progress` of a phase, or completed."""
        workflow = self.project("human").start("feature", TITLE)
        for each in PHASES:
            if each != FIRST:
                workflow.begin(each)
            if (each, status) == (phase, "in_progress"):
                write_outputs(self.write, HOME, each)
                break
            self.make(each)
            workflow.done(each)
            self.opinion(each, 1)
            workflow.review(each)
            if (each, status) == (phase, "user_review"):
                break
            workflow.approve(each)
        return self

    def completed(self) -> House:
        return self.up_to(DOCS, "completed")

    def on_main(self, name: str, text: str) -> None:
        """Somebody else changes a file of the base branch, which is merged into the feature's."""
        self.git("switch", "-q", "main")
        self.write(name, text)
        self.git("add", name)
        self.git("commit", "-q", "-m", f"Change {name}")
        if self.git("remote").strip():
            self.git("push", "-q", "origin", "main")
        self.git("switch", "-q", BRANCH)
        self.git("merge", "-q", "--no-edit", "main")

    def begin_agent(self, *words: str) -> subprocess.Popen[bytes]:
        """A command that runs while the test continues."""
        none = subprocess.DEVNULL
        return subprocess.Popen(argv(*words), cwd=self.root, env=self.env, stdin=none, stdout=none, stderr=none)

    def approve(self, phase: str) -> str:
        answer = self.person("approve", phase, "--yes")
        assert answer.code == 0, answer
        return answer.out


def timeless(value: Any) -> Any:
    """A document without when."""
    return json.loads(_TIME.sub("T", json.dumps(value)))


def row(status: str = "pending", iterations: int = 0, started: bool = True, completed: bool = False) -> dict[str, Any]:
    """A phase as `workflow-state.json` shows it, without when."""
    return {
        "status": status,
        "iterations": iterations,
        "started_at": "T" if started and status != "pending" else None,
        "completed_at": "T" if completed or status == "approved" else None,
        "escalation_reason": None,
    }


def act(iteration: int, action: str, result: str | None) -> dict[str, Any]:
    return {"iteration": iteration, "action": action, "timestamp": "T", "result": result}


class Talk:
    """What people say on the pull request of a feature, a minute after the last of them."""

    def __init__(self, github: GitHub, house: House, number: int = 1) -> None:
        self.github, self._house, self._number = github, house, number
        self._minute = 0
        for lists in (github.reviews, github.comments, github.threads):
            lists.setdefault(number, [])

    @property
    def now(self) -> str:
        hours, minutes = divmod(self._minute, 60)
        return f"2026-03-01T{10 + hours}:{minutes:02}:00Z"

    def _later(self) -> str:
        self._minute += 1
        return self.now

    def reviews(
        self, state: str, body: str = "", who: str = "mona", commit: str = "", association: str = MEMBER
    ) -> None:
        self.github.reviews[self._number].append(
            {
                "id": 100 + len(self.github.reviews[self._number]),
                "user": {**_EXAMPLE, "login": who},
                "state": state,
                "body": body,
                "submitted_at": self._later(),
                "commit_id": commit or self.github.tip(BRANCH),
                "author_association": association,
            }
        )

    def approves(self, body: str = "", **more: str) -> None:
        self.reviews("APPROVED", body, **more)

    def approves_every_phase(self) -> None:
        """From the first one, which waits, to the end; each is made, reviewed and approved in turn."""
        for phase in PHASES:
            if phase != FIRST:
                self._house.make(phase)
                self._house.reviewed(phase, 1)
                self._house.ok("feature", "continue")
            self.approves()
            self._house.ok("feature", "continue")
            assert self._house.phase(phase)["status"] == "approved"

    def asks(self, body: str, **more: str) -> None:
        self.reviews("CHANGES_REQUESTED", body, **more)

    def says(self, body: str, who: str = "mona", association: str = MEMBER) -> None:
        said = self.github.comments[self._number]
        said.append(
            {
                "id": 500 + len(said),
                "user": {**_EXAMPLE, "login": who},
                "body": body,
                "created_at": self._later(),
                "author_association": association,
            }
        )

    def points_at(self, path: str, body: str, who: str = "mona", association: str = MEMBER) -> KeptThread:
        """A thread on a line of a file."""
        shown = {"author": {"__typename": "User", "login": who}, "body": body, "state": "SUBMITTED"}
        place = {
            "createdAt": self._later(),
            "url": "https://github.com/o/r/pull/1#r1",
            "authorAssociation": association,
        }
        every = self.github.threads[self._number]
        every.append(KeptThread(f"T{len(every)}", path, [{**shown, **place}]))
        return every[-1]


def hosted(house: House, forge: Loopback) -> House:
    """`origin` is on a forge: its address is the forge's, pushes go to a bare repository, the API is on loopback."""
    house.git("remote", "add", "origin", forge.url)
    house.git("config", f"url.{forge.bare}.insteadOf", forge.url)
    house.git("push", "-q", "-f", "origin", "main")
    config = Path(house.env["XDG_CONFIG_HOME"]) / "holdfast" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[forges]\n"{forge.site}" = "{forge.address}"\n')
    house.env |= {"GH_TOKEN": forge.token}
    return house
