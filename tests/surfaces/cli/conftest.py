"""The command line through processes: an agent's has no terminal, a person's has one of its own."""

from __future__ import annotations

import hashlib
import json
import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import holdfast
from holdfast.project.project import open_project
from tests import forked
from tests.actors import acting
from tests.trusted import trust_file

DEFINITION = ".holdfast/workflows/release.toml"
RELEASE = """\
name = "release"
title = "Release {subject}"

[bounds]
max_cost = "$10"
max_time = "2h"
max_iterations = 5

[[step]]
id = "draft"
name = "Write the draft"
outputs = ["draft"]

[[step]]
id = "verify"
checks = [ { name = "tests", run = ["@PYTHON@", "check.py"], run_by = "engine" }, { name = "lint" } ]
retry = { max = 2, exhausted = "escalated" }

[[step]]
id = "look"
review = { by = ["reviewer"], max = 2 }

[[step]]
id = "sign-off"
approval = { by = "human" }

[[step]]
id = "pick"
choice = { options = ["A", "B"] }

[[step]]
id = "publish"
parallel = true
[[step.step]]
id = "wheel"
[[step.step]]
id = "docs"
optional = true
"""


class Answer:
    """What a process said and how it ended."""

    def __init__(self, code: int, out: str, err: str = "") -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


class Project:
    """A folder with a definition in it, and the two ways to type commands there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = {**os.environ, "TERM": "dumb"}
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes start here

    def agent(self, *words: str | bytes, stdin: str = "", env: dict[str, str] | None = None, cwd: Path | None = None):
        """No terminal is attached, so whoever types is an agent."""
        answer = forked.run(*words, cwd=cwd or self.root, env={**self.env, **(env or {})}, stdin=stdin.encode())
        return _checked(Answer(*answer))

    def person(
        self,
        *words: str,
        says: str = "",
        meanwhile: Callable[[], object] = lambda: None,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Answer:
        """A terminal of one's own; each line of `says` is typed at a prompt, after what happens meanwhile."""
        primary, secondary = forked.terminal()
        ends = (secondary, secondary, secondary)
        process = forked.start(words, ends, cwd=cwd or self.root, env={**self.env, **(env or {})}, session=True)
        os.close(secondary)
        out = _converse(primary, says, meanwhile)
        os.close(primary)
        return _checked(Answer(process.wait(60), out.replace("\r\n", "\n")))

    def ok(self, *words: str) -> Answer:
        answer = self.agent(*words)
        assert answer.code == 0, answer
        return answer

    def people_ok(self, *words: str, says: str = "") -> Answer:
        answer = self.person(*words, says=says)
        assert answer.code == 0, answer
        return answer

    def write(self, name: str, text: str) -> str:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def step(self, path: str) -> str:
        return next(step["status"] for step in self.ok("status", "--json").json["steps"] if step["path"] == path)

    def fingerprint(self) -> dict[str, str]:
        """Every file that belongs to Holdfast, by its content."""
        return {
            str(file.relative_to(self.root)): hashlib.sha256(file.read_bytes()).hexdigest()
            for home in (".holdfast", ".claude")
            for file in sorted((self.root / home).rglob("*"))
            if file.is_file()
        }

    def until(self, step: str) -> Project:
        """Everything before a step is done. This is only the way there, so it takes the short one, through Python."""
        for name, do in _WAY.items():
            if name == step:
                break
            do(self)
        return self

    def opened(self, kind: str = "agent", name: str = "") -> holdfast.Project:
        found = acting(os.environ, person=kind == "human", surface="python", role=name)
        return open_project(str(self.root), settings=found)


def _checked(answer: Answer) -> Answer:
    assert "Traceback" not in answer.err + answer.out, answer
    return answer


def _converse(primary: int, says: str, meanwhile: Callable[[], object]) -> str:
    out, said, deadline = b"", False, time.monotonic() + 60
    lines = iter(says.split("\n"))
    while time.monotonic() < deadline:
        if not select.select([primary], [], [], 1)[0]:
            continue
        try:
            part = os.read(primary, 65536)
        except OSError:  # the other end of a terminal is gone
            break
        if not part:
            break
        out += part
        if out.endswith((b"[y/N] ", b"[Y/n] ", b"(Enter = none): ", b"the step then fails): ")):
            if not said:
                meanwhile()
            os.write(primary, f"{next(lines, '')}\n".encode())
            said = True
    return out.decode()


def _drafted(project: Project) -> None:
    project.write("draft.md", "a draft\n")
    with project.opened().workflow().step("draft") as step:
        step.artifact("draft", str(project.root / "draft.md"))


def _verified(project: Project) -> None:
    hf = project.opened()
    trust_file(hf, str(project.root / DEFINITION))
    with hf.workflow().step("verify") as step:
        step.check("lint", passed=True)
        step.check("tests")


def _looked(project: Project) -> None:
    hf = project.opened(name="reviewer")
    hf.workflow().begin("look").submit("look").review("look", "approved")


def _signed_off(project: Project) -> None:
    project.opened("human").workflow().begin("sign-off").approve("sign-off")


def _picked(project: Project) -> None:
    project.opened().workflow().begin("pick").approve("pick", "B")


_WAY = {"draft": _drafted, "verify": _verified, "look": _looked, "sign-off": _signed_off, "pick": _picked}


@pytest.fixture
def empty(tmp_path) -> Project:
    """A project with a definition and nothing started."""
    root = tmp_path / "project"
    project = Project(root)
    project.write(DEFINITION, RELEASE.replace("@PYTHON@", sys.executable))
    project.write("check.py", "print('all good')\n")
    return project


@pytest.fixture
def project(empty) -> Project:
    """A project in which a release was started."""
    empty.opened().start("release", "1.4.0")
    return empty


@pytest.fixture
def desk(project, tmp_path):
    from tests.surfaces.cli.desk import Desk

    project.until("sign-off").ok("begin", "sign-off")
    folder = tmp_path / "programs"
    folder.mkdir()
    return Desk(project, folder)
