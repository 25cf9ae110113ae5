"""A project in which hooks may be sent anything, and what has to hold of every answer they give there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import posix
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core.state import Actor
from holdfast.machine import place
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.surfaces.hooks import events, quick
from holdfast.upkeep.doctor import examine
from holdfast.upkeep.findings import BROKEN
from tests.acceptance.hosting import ANSWERS, SHOWN
from tests.surfaces.hooks.conftest import COMMAND
from tests.surfaces.hooks.lines import Lines, traced

HANG_SECONDS = 20
"""No measure of anything: a hook that is not back by then never will be."""
CHANGING = (".holdfast", "untracked", "workspace")
"""The only places below the root that a hook may write to."""

DEFINITION = """\
name = "release"
keep_going = true
dialect = "story"

[[step]]
id = "build"
deny = ["Bash(git push:*)", "Bash(*curl*http?:*x)", "Edit(vendor/*)", "mcp__db__*", "WebFetch"]

[[step]]
id = "sign-off"
approval = { by = "human" }
"""
NOTES = "# Current Workflow State\n\nWorkflow: Case Studies\nPhase: 4/10 - Texts\n\n@CLAUDE/Style.md\n"
PLAN = "# Plan 066: Search Index\n\n**Status**: In Progress\n\n## Phase 1: Schema ✅\n## Phase 2: Import\n"
STRAY = {
    "workflow": "Left Behind",
    "workflow_type": "custom",
    "phase": {"current": 1, "total": 3, "name": "Look", "status": "in_progress"},
    "required_reading": ["@CLAUDE/Style.md"],
    "context": {"why": "nobody wrote a journal"},
    "key_reminders": ["heed this"],
    "created_at": "2026-01-31T12:00:00Z",
}
_VALIDATORS = {name: Draft7Validator(schema) for name, schema in ANSWERS.items()}


class Run:
    """One event that was answered: the answer, the lines it took, and everything that is wrong with it."""

    def __init__(self, answer: bytes, wrong: list[str], lines: frozenset[tuple[str, int]] = frozenset()) -> None:
        self.answer, self.wrong, self.lines = answer, wrong, lines


class Sandbox:
    """A real repository with workflows under way. While it is entered, the process is in it and sees no other.

    Session S1 is at a workflow of phases, S2 at one with a person's gate, rules, a lock and orders to keep going.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "deep" / "enough"  # so that ../.. leads nowhere that matters
        self.root, self.tree, self.odd = (self.folder / name for name in ("project", "tree", "odd"))
        self.names: dict[bytes, bytes] = {b"{root}": os.fsencode(self.root), b"{odd}": os.fsencode(self.odd)}
        self._pristine, self._streams = folder / "pristine", folder / "streams"
        self._home = folder / "home"
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Sandbox:
        for path in (self.root, self.odd, self._pristine, self._streams, self._home):
            path.mkdir(parents=True)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._home),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        as_bytes = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
        self._stack.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        self._stack.enter_context(mock.patch.dict(posix.environ, as_bytes, clear=True))  # what hooks look at
        self._stack.enter_context(contextlib.chdir(self.root))
        self._furnish()
        self._begin()
        for name in self._changing():
            shutil.copytree(self.root / name, self._pristine / name, symlinks=True)
        self._there = self._elsewhere()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _furnish(self) -> None:
        files = {
            ".gitignore": "/untracked/\n",
            ".holdfast/workflows/release.toml": DEFINITION,
            "CLAUDE.local.md": NOTES,
            "CLAUDE/Plan/066-search/PLAN.md": PLAN,
            "CLAUDE/Style.md": "Short sentences.\n",
            "src/locked.py": "",
        }
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        os.mkfifo(self.root / "pipe")
        (self.root / "loop").symlink_to("loop")
        (self.root / "way").symlink_to(".holdfast")
        (self.root / "out").symlink_to(self.odd)
        for name, pointer in (("torn", b"gitdir: \0"), ("none", b"nothing"), ("gone", b"gitdir: ../nowhere")):
            (self.odd / name).mkdir()
            (self.odd / name / ".git").write_bytes(pointer)

    def _begin(self) -> None:
        for words in (
            ("init", "-q", "-b", "main"),
            ("add", ".gitignore", "src"),
            ("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"),
            ("worktree", "add", "-q", str(self.tree)),
            ("init", "-q", "--bare", str(self.odd / "bare" / ".git")),
        ):
            subprocess.run(["git", *words], check=True, capture_output=True)
        phases = ("--phases", "Backup,Migrate,Verify", "--read", "CLAUDE/Style.md", "--remind", "Back up first")
        first = self._typed("S1", "start", "custom", "Database Migration", *phases)
        second = self._typed("S2", "start", "release")
        self._typed("S2", "begin", "build", "-w", second["workflow_id"])
        self._typed("S2", "lock", "src/locked.py", "vendor/*", "--agent", "coder", "-w", second["workflow_id"])
        ids = {b"{first}": first["workflow_id"], b"{second}": second["workflow_id"], b"{tree}": str(self.tree)}
        self.names |= {name: os.fsencode(value) for name, value in ids.items()}
        stray = self.root / "untracked" / "workflow-state" / "left-behind" / "state-left-behind-20260131_120000.json"
        stray.parent.mkdir(parents=True)
        stray.write_text(json.dumps(STRAY))
        stray.with_name("state-left-behind-20260131_120001.json").write_text("{")

    def _typed(self, session: str, *words: str) -> dict[str, Any]:
        """What the shell of a session's agent answers."""
        env = {**os.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}
        command = [sys.executable, "-m", "holdfast", *words, "--json"]
        return dict(json.loads(subprocess.run(command, env=env, check=True, capture_output=True).stdout))

    def restore(self) -> None:
        """Everything is again as it was before the first event."""
        for name in self._changing():
            shutil.rmtree(self.root / name)
            shutil.copytree(self._pristine / name, self.root / name, symlinks=True)

    def _changing(self) -> list[str]:
        """With the records of journals that are in git's folder."""
        return [*CHANGING, *(str(path.relative_to(self.root)) for path in self.root.glob(".git/holdfast-lines-*"))]

    def filled(self, data: bytes) -> bytes:
        """An event with the paths and names of this project in it."""
        for name, value in self.names.items():
            data = data.replace(name, value)
        return data

    def run(self, data: bytes) -> Run:
        """Answers an event in this process."""
        data, lines, hung = self.filled(data), Lines(), []

        def give_up(*_: object) -> None:
            hung.append("it hangs")
            raise TimeoutError

        before = signal.signal(signal.SIGALRM, give_up)
        out, err = self._streams / "out", self._streams / "err"
        said = io.StringIO()
        signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
        try:
            with _redirected(1, out), _redirected(2, err), contextlib.redirect_stderr(said), traced(lines):
                code = quick.main(data)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        wrong = [*hung, *lines.raised, *self._judged(data, code, out.read_bytes(), err.read_bytes() + _bytes(said))]
        return Run(out.read_bytes(), wrong, frozenset(lines.reached))

    def spawn(self, data: bytes) -> Run:
        """Answers an event as a host has it answered."""
        data = self.filled(data)
        done = subprocess.run(COMMAND, input=data, capture_output=True, cwd=self.root, timeout=HANG_SECONDS)
        return Run(done.stdout, self._judged(data, done.returncode, done.stdout, done.stderr))

    def _judged(self, data: bytes, code: int, answer: bytes, errors: bytes) -> list[str]:
        wrong = [f"it ended with {code}"] if code else []
        wrong += [f"it complained: {errors!r}"] if errors else []
        if answer:
            wrong += unfit(data, answer)
        return [*wrong, *self._left()]

    def _left(self) -> Iterator[str]:
        """What is wrong with the lines that hooks leave; those of the log are read once."""
        inbox, log = (self.root / ".holdfast" / name for name in ("inbox", "hook.log"))
        if inbox.exists():
            text = inbox.read_text("ascii")
            notes = [json.loads(line) for line in text.splitlines()]
            if not text.endswith("\n") or not all(0 < len(note["session"]) <= 100 for note in notes):
                yield "a note is not whole"
        if log.exists():
            lines = log.read_text().split("\n")
            if lines.pop() or not all(line.isprintable() and len(line) <= 300 for line in lines):
                yield f"the log has odd lines: {lines}"
            log.unlink()

    def examined(self) -> list[str]:
        """What is broken in the project as a whole, and what was written where nothing should be."""
        settings = Settings(actor=Actor("agent", "", "test", ""), data_dir=str(self._home), config_dir=str(self._home))
        report = examine(Project(bootstrap.wire(place.find(str(self.root)), settings)))
        wrong = [f"{found.code}: {found.message}" for found in report.findings if found.level == BROKEN]
        views = {name: json.loads((self.root / ".holdfast" / name).read_text()) for name in ("index", "guard")}
        wrong += [f"{name} is no object" for name, view in views.items() if not isinstance(view, dict)]
        return wrong + [f"{path} came or went" for path in sorted(self._elsewhere() ^ self._there)]

    def _elsewhere(self) -> set[str]:
        """Everything that no hook has any business with."""
        skipped = [str(self.root / name) for name in (*CHANGING, ".git")]
        return {
            f"{folder}/{name}"
            for folder, folders, names in os.walk(self.folder)
            if not folder.startswith(tuple(skipped))
            for name in (*folders, *names)
            if f"{folder}/{name}" not in skipped
        }


def unfit(data: bytes, answer: bytes) -> list[str]:
    """Why a host could not take an answer to an event."""
    event = _parsed(data.decode("utf-8", "replace"))
    name, text = event["hook_event_name"], answer.decode()
    if name == "PreCompact":
        plain = not text.lstrip().startswith("{") and len(text) <= SHOWN and not events.is_codex(event)
        return [] if plain and _is_readable(text) else [f"no plain text: {text!r}"]
    if name not in _VALIDATORS:
        return [f"nobody asked for {text!r}"]
    said = json.loads(text)
    wrong = [error.message for error in _VALIDATORS[name].iter_errors(said)]
    texts = said.get("hookSpecificOutput", said).values()
    return wrong + [f"it hides something: {one!r}" for one in texts if not _is_readable(one)]


def _parsed(text: str) -> Any:
    """As deep as a hook can follow, which stands higher on the stack than its judge."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(2 * limit)
    try:
        return json.loads(text)
    finally:
        sys.setrecursionlimit(limit)


def _is_readable(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def _bytes(said: io.StringIO) -> bytes:
    return said.getvalue().encode("utf-8", "replace")


@contextlib.contextmanager
def _redirected(number: int, path: Path) -> Iterator[None]:
    """A descriptor of this process leads into a file."""
    kept = os.dup(number)
    with path.open("wb") as file:
        os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
