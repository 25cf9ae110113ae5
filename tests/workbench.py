"""A real git repository with feature files in it, and the ways to work there: Python, a pipe, a terminal."""

from __future__ import annotations

import atexit
import functools
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from holdfast.core.state import Actor
from holdfast.machine import place as places
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from tests import forked
from tests.surfaces.cli.conftest import Answer

LOGIN = "features/auth/user-login.md"
PATIENCE = 60


@functools.cache
def _template() -> Path:
    """A project with one commit and nothing else: a copy of it costs less than four calls of git."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    root = Bench(Path(folder.name, "project"))._begin().root
    for sample in (root / ".git/hooks").iterdir():
        sample.unlink()
    return root


class Bench:
    """A folder, and after `begun` the top of a repository. Paths are relative to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def begun(self) -> Bench:
        """With one commit on `main`."""
        if any(self.root.iterdir()):
            return self._begin()
        shutil.copytree(_template(), self.root, symlinks=True, dirs_exist_ok=True)
        return self

    def _begin(self) -> Bench:
        self.git("init", "-q", "-b", "main")
        self.write("README.md", "A project.\n")
        self.save("first")
        return self

    def git(self, *words: str, cwd: Path | None = None) -> str:
        run = subprocess.run(["git", *words], cwd=cwd or self.root, check=True, capture_output=True, text=True)
        return run.stdout.strip()

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    @property
    def branch(self) -> str:
        return self.git("branch", "--show-current")

    def save(self, message: str = "more") -> str:
        """Commits everything there is."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head

    def publish(self) -> None:
        """As if the branch were pushed: what git knows of a remote."""
        if not self.git("remote"):
            self.git("remote", "add", "origin", "https://github.com/ada/shop.git")
        self.git("update-ref", f"refs/remotes/origin/{self.branch}", "HEAD")

    def committed(self, revision: str = "HEAD") -> list[str]:
        """The names of what a commit changed."""
        return self.git("show", "--format=", "--name-only", revision).split()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def feature(self, name: str = LOGIN, *tasks: str, title: str = "User Login") -> str:
        """A feature file; a task that begins with `x ` is ticked."""
        boxes = [f"- [x] {task[2:]}" if task.startswith("x ") else f"- [ ] {task}" for task in tasks or ("Add a form",)]
        self.write(name, "\n".join([f"# Feature: {title}", "", "## Tasks", "", *boxes, ""]))
        return name

    def saved_feature(self, name: str = LOGIN, *tasks: str, title: str = "User Login") -> str:
        self.feature(name, *tasks, title=title)
        self.save("the feature")
        return name

    def open(self, kind: str = "agent", *, session: str = "", token: str = "", at: Path | None = None) -> Project:
        """What a new process would see."""
        settings = Settings(
            actor=Actor(kind, "", "test", session),
            token=token,
            data_dir=os.environ["XDG_DATA_HOME"],
            config_dir=os.environ["XDG_CONFIG_HOME"],
        )
        return Project(bootstrap.wire(places.find(str(at or self.root)), settings))

    def start(self, definition: str = "dev", subject: str = LOGIN, **how: Any) -> Workflow:
        return self.open().start(definition, subject, **how)

    def everything(self) -> dict[str, bytes]:
        """Every file that is neither git's nor remade at will, and where git stands."""
        files = {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not {".git", "trees", "pull-request.md"} & {*path.relative_to(self.root).parts}
        }
        said = (self.git("symbolic-ref", "HEAD"), self.git("for-each-ref"), self.git("status", "--porcelain"))
        return {**files, "(git)": "\n".join(said).encode()}

    def agent(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Answer:
        """No terminal is attached."""
        return _without_traceback(Answer(*forked.run(*words, cwd=cwd or self.root, env=_environment(env))))

    def ok(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Answer:
        answer = self.agent(*words, env=env, cwd=cwd)
        assert answer.code == 0, answer
        return answer

    def typed(self, line: str) -> Answer:
        """A line as a shell takes it, with `holdfast` on its path."""
        found = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.root, env=_environment(found), stdin=subprocess.DEVNULL, capture_output=True
        )
        return _without_traceback(Answer(done.returncode, done.stdout.decode(), done.stderr.decode()))

    def person(self, *words: str, says: str | None = None, env: dict[str, str] | None = None) -> Answer:
        """At a terminal; `says` is typed, with Enter, as soon as a question is there; then only Enter."""
        primary, secondary = forked.terminal()
        ends = (secondary, secondary, secondary)
        process = forked.start(words, ends, cwd=self.root, env=_environment(env), session=True)
        os.close(secondary)
        out = conversation(primary, says)
        os.close(primary)
        return _without_traceback(Answer(process.wait(PATIENCE), out.replace("\r\n", "\n")))


def _environment(more: dict[str, str] | None) -> dict[str, str]:
    return {**os.environ, "TERM": "dumb", "PYTHONUTF8": "1", **(more or {})}


def _without_traceback(answer: Answer) -> Answer:
    assert "Traceback" not in answer.out + answer.err, answer
    return answer


def conversation(primary: int, says: str | None) -> str:
    out, deadline = b"", time.monotonic() + PATIENCE
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
        if out.endswith(b"] "):
            os.write(primary, f"{says or ''}\n".encode())
            says = None
    return out.decode()
