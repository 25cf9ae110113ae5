"""A repository with a feature to build, and the ways to type commands there: as an agent, as a person, or killed."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests import forked

FEATURE = "features/auth/user-login.md"
FEATURE_TEXT = """\
# Feature: User login

> People come in by name and password.

## Context

There are no users yet.

## Tasks

- [ ] Add User model
- [ ] Add password hashing
- [ ] Add login method

## Acceptance Criteria

- [ ] Somebody with the right password comes in
"""
UNTESTED_TEXT = """\
# Feature: User login

## Tasks

- [ ] Describe the door (no tests)
- [ ] Describe the key (no tests)
"""
PYPROJECT = '[tool.pytest.ini_options]\npythonpath = ["."]\n'
CONFTEST = """\
import os
import sys

sys.dont_write_bytecode = True  # code is rewritten within a second: a compiled copy could be taken for it


def pytest_configure():
    gate = os.environ.get("GATE")
    if gate:
        with open(f"{gate}/here", "w") as here:
            here.write(f"{os.getpid()}\\n")
        with open(f"{gate}/go") as go:
            go.readline()
"""
PATIENCE_SECONDS = 60


class Task:
    """What is written in the course of one task: a test, code that is wrong, code that is right, the same tidied."""

    def __init__(self, name: str, test: str, wrong: str, right: str, tidy: str) -> None:
        self.test_file, self.code_file = f"tests/test_{name}.py", f"auth/{name}.py"
        self.test_name = f"test_{name}"
        self.test, self.wrong, self.right, self.tidy = test, wrong, right, tidy


TASKS = (
    Task(
        "user",
        'from auth.user import User\n\n\ndef test_user():\n    assert User("ada").name == "ada"\n',
        "class User:\n    def __init__(self, name):\n        self.name = None\n",
        "class User:\n    def __init__(self, name):\n        self.name = name\n",
        'class User:\n    """A person."""\n\n    def __init__(self, name):\n        self.name = name\n',
    ),
    Task(
        "password",
        'from auth.password import hashed\n\n\ndef test_password():\n    assert hashed("key") != "key"\n',
        "def hashed(text):\n    return text\n",
        "def hashed(text):\n    return text[::-1]\n",
        'def hashed(text):\n    return "".join(reversed(text))\n',
    ),
    Task(
        "login",
        'from auth.login import login\n\n\ndef test_login():\n    assert login("ada", "key")\n',
        "def login(name, password):\n    return False\n",
        "def login(name, password):\n    return bool(name and password)\n",
        "def login(name, password):\n    return all((name, password))\n",
    ),
)


class Answer:
    """What a process said and how it ended."""

    def __init__(self, code: int, out: str, err: str = "") -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"


class Gate:
    """A door that the project's tests stop at, so that whoever runs them can be killed at exactly that moment."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.environ = {"GATE": str(folder)}
        for name in ("here", "go"):
            os.mkfifo(folder / name)
        self._here, self._go = (os.open(folder / name, os.O_RDWR) for name in ("here", "go"))

    def arrived(self) -> int:
        """Waits until a run of the tests is at the door; its process id."""
        assert select.select([self._here], [], [], PATIENCE_SECONDS)[0], "nobody ran the tests"
        return int(os.read(self._here, 100))

    def let_through(self, pid: int) -> None:
        """The run continues; waits until it has ended."""
        os.write(self._go, b"\n")
        wait_for_end(pid)

    def close(self) -> None:
        os.close(self._here)
        os.close(self._go)


def wait_for_end(pid: int) -> None:
    """Of a process that need not be a child of this one."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], PATIENCE_SECONDS)[0], f"process {pid} does not end"
    finally:
        os.close(handle)


class Checkout:
    """A working tree with a pytest project in it, and `main` pushed to a bare repository beside it."""

    def __init__(self, root: Path, feature: str = FEATURE_TEXT) -> None:
        self.root = root
        programs = os.path.dirname(sys.executable)
        self.env = {
            **os.environ,
            "TERM": "dumb",
            "PATH": os.pathsep.join((programs, os.environ["PATH"])),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "",
        }
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)  # many processes start here
        subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
        self.write("pyproject.toml", PYPROJECT)
        self.write("conftest.py", CONFTEST)
        self.write("auth/__init__.py", "")
        self.write("notes.txt", "A note.\n")
        self.write(FEATURE, feature)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "A house")

    def publish(self) -> Checkout:
        """A remote that knows nothing of pull requests."""
        remote = self.root.with_name("remote.git")
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
        self.git("remote", "add", "origin", str(remote))
        self.git("push", "-q", "origin", "main")
        return self

    def git(self, *words: str) -> str:
        argv = ["git", "-C", str(self.root), *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout

    def status(self) -> list[str]:
        """What git finds changed, without caches and what belongs to Holdfast."""
        lines = self.git("status", "--porcelain", "--untracked-files=all").splitlines()
        aside = (".holdfast/", ".claude/", "__pycache__/")
        return sorted(line for line in lines if not line[3:].startswith(aside))

    def commits(self) -> list[str]:
        """The hashes since `main`, oldest first."""
        return self.git("rev-list", "--reverse", "main..HEAD").split()

    def files_of(self, sha: str) -> list[str]:
        return sorted(self.git("show", "--format=", "--name-only", sha).split())

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, name: str) -> str:
        return (self.root / name).read_text()

    def agent(self, *words: str, env: dict[str, str] | None = None) -> Answer:
        """No terminal is attached, so whoever types is an agent."""
        return _checked(Answer(*forked.run(*words, cwd=self.root, env={**self.env, **(env or {})})))

    def ok(self, *words: str, env: dict[str, str] | None = None) -> Answer:
        answer = self.agent(*words, env=env)
        assert answer.code == 0, answer
        return answer

    def refused(self, *words: str, env: dict[str, str] | None = None, code: int = 3) -> dict[str, Any]:
        """The error of a command that must not work."""
        answer = self.agent(*words, "--json", env=env)
        assert answer.code == code, answer
        return answer.error

    def failing(self, *words: str) -> str:
        """What a check found that was run and did not pass."""
        answer = self.agent("check", *words, "--json")
        assert answer.code == 3, answer
        assert answer.json["evidence"]["passed"] is False
        return answer.json["evidence"]["detail"]

    def person(self, *words: str, prompt: str = "", says: str = "") -> Answer:
        """A terminal of one's own; `says` is typed, and Enter, when the prompt is there."""
        primary, secondary = forked.terminal()
        ends = (secondary, secondary, secondary)
        process = forked.start(words, ends, cwd=self.root, env=self.env, session=True)
        os.close(secondary)
        try:
            out = _conversation(primary, prompt, says)
            code = process.wait(PATIENCE_SECONDS)
        except BaseException:
            process.kill()
            raise
        finally:
            os.close(primary)
        return _checked(Answer(code, out.replace("\r\n", "\n")))

    def killed_at(self, gate: Gate, *words: str) -> None:
        """Runs a command until the project's tests are at the gate, and kills it there; its children end as well."""
        process = subprocess.Popen(
            argv(*words),
            cwd=self.root,
            env={**self.env, **gate.environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        child = gate.arrived()
        process.kill()
        assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        gate.let_through(child)

    def document(self) -> dict[str, Any]:
        return self.ok("show").json

    def documents(self, folder: str) -> list[str]:
        """The names of the state files in `active` or `completed`."""
        found = self.root / ".claude/workflow-state" / folder
        return sorted(path.name for path in found.iterdir()) if found.is_dir() else []

    def stored(self, folder: str) -> dict[str, Any]:
        (name,) = self.documents(folder)
        return json.loads(self.read(f".claude/workflow-state/{folder}/{name}"))

    def passes(self, check: str, step: str) -> None:
        self.ok("check", check)
        self.ok("done", step)

    def red(self, task: Task) -> None:
        self.write(task.test_file, task.test)
        self.ok("check", "test_fails", "--set", f"test={task.test_name}")
        self.ok("done", "red")

    def green(self, task: Task) -> None:
        self.write(task.code_file, task.right)
        self.passes("test_passes", "green")

    def refactor(self, task: Task) -> None:
        self.write(task.code_file, task.tidy)
        self.passes("test_passes", "refactor")


def argv(*words: str) -> list[str]:
    return [sys.executable, "-m", "holdfast", *words]


def _checked(answer: Answer) -> Answer:
    assert "Traceback (most recent" not in answer.err + answer.out, answer
    return answer


def _conversation(primary: int, prompt: str, says: str) -> str:
    out, said, deadline = b"", not prompt, time.monotonic() + PATIENCE_SECONDS
    while select.select([primary], [], [], max(deadline - time.monotonic(), 0))[0]:
        part = b""
        with contextlib.suppress(OSError):  # the other end of a terminal is gone
            part = os.read(primary, 65536)
        if not part:
            break
        out += part
        if out.endswith((b"[y/N] ", b"[Y/n] ")):
            os.write(primary, f"{'' if said else says}\n".encode())
            said = said or prompt.encode() in out
    assert said, f"{prompt!r} was never asked: {out.decode()}"
    return out.decode()
