"""`holdfast demo`: one real story in a temporary git repository, each command shown before its output.

Nothing is staged: every line is a process of its own, run as a user or an agent would run it, and its exit code is
checked. An agent's commands run with a host's variable set; a person's run on a terminal of their own (a pty).
"""

from __future__ import annotations

import os
import sys
from _collections_abc import Sequence

from holdfast.core import refusals, remedies
from holdfast.plain.terminal import Style

DEFINITION = """\
name = "release"
title = "Release {subject}"

[bounds]
max_cost = "$10"

[[step]]
id = "code"
name = "Make the change"

[[step]]
id = "verify"
name = "Prove that it works"
checks = [ { name = "tests", run = ["python3", "-m", "unittest", "-q"], run_by = "engine", timeout = "1m" } ]
retry = { max = 3, back_to = "code", exhausted = "escalated" }

[[step]]
id = "sign-off"
name = "A person reads the notes"
outputs = ["notes"]
approval = { by = "human" }

[[step]]
id = "publish"
"""
BROKEN = "def greet(name):\n    return 'Hello ' + nme\n"
FIXED = "def greet(name):\n    return 'Hello ' + name\n"
TEST = """\
import unittest
from greeting import greet

class Greeting(unittest.TestCase):
    def test_greets_by_name(self):
        self.assertEqual(greet("Ada"), "Hello Ada")
"""
AGENT = """\
import holdfast, os, signal
workflow = holdfast.open(".").workflow()
with workflow.step("publish"):
    workflow.note("wheel built, upload half way")
    os.kill(os.getpid(), signal.SIGKILL)
"""
_ADA = {"NAME": "Ada", "EMAIL": "ada@example.org"}


class Story:
    """Tells who does what, runs it for real, and stops when something does not go as told."""

    def __init__(self, folder: str, style: Style, pause: float) -> None:
        self.folder = folder
        self._style = style
        self._pause = pause
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "TERM", "PYTHONPATH")}
        people = {f"GIT_{who}_{what}": said for who in ("AUTHOR", "COMMITTER") for what, said in _ADA.items()}
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "HOME": os.path.join(folder, "home"), "USER": "ada"}
        self._environment = {**kept, **people, **own, "FORCE_COLOR" if style.enabled else "NO_COLOR": "1"}

    def chapter(self, text: str) -> None:
        from time import sleep

        sleep(self._pause)
        print(f"\n{self._style.bold('── ' + text)}", flush=True)

    def write(self, name: str, content: str) -> None:
        path = os.path.join(self.folder, "project", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        print(self._style.dim(f"   (writes {name})"), flush=True)

    def agent(self, *words: str, expect: int = 0) -> str:
        """A command of an agent: no terminal, and the variable its host sets."""
        self._show("agent", words)
        return self._run(self._argv(words), {"CLAUDECODE": "1"}, expect)

    def person(self, *words: str, expect: int = 0) -> None:
        """A command of a person, at a terminal. Questions are answered with yes."""
        self._show("you  ", words)
        self._on_terminal(self._argv(words), expect)

    def quietly(self, *words: str) -> str:
        return self._run(words, {}, 0, shown=False)

    def crash(self, program: str) -> None:
        """An agent process that is killed in the middle of its step."""
        from signal import SIGKILL

        print(f"{self._style.cyan('agent')} $ python agent.py   {self._style.dim('# killed with -9 inside its step')}")
        self._run([sys.executable, "-c", program], {"CLAUDECODE": "1"}, -SIGKILL)

    def _argv(self, words: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "holdfast", *words[1:]] if words[0] == "holdfast" else list(words)

    def _show(self, who: str, words: Sequence[str]) -> None:
        from shlex import join

        print(f"{self._style.cyan(who)} $ {join(words)}", flush=True)

    def _run(self, argv: Sequence[str], more: dict[str, str], expect: int, *, shown: bool = True) -> str:
        import subprocess

        cwd = os.path.join(self.folder, "project")
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**self._environment, **more},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        text = done.stdout.decode(errors="replace")
        if shown:
            self._print(text)
        self._expect(argv, done.returncode, expect, text)
        return text

    def _on_terminal(self, argv: Sequence[str], expect: int) -> None:
        import fcntl
        import pty
        import subprocess
        import termios

        mine, theirs = pty.openpty()
        process = subprocess.Popen(
            argv,
            cwd=os.path.join(self.folder, "project"),
            env=self._environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - there is one thread
        )
        os.close(theirs)
        heard = b""
        while True:
            try:
                data = os.read(mine, 4096)
            except OSError:  # Linux says so when the other side is closed
                break
            if not data:
                break
            heard += data
            if heard.rstrip().endswith((b"[y/N]", b"[y/N]:", b"[y/N]?")):
                os.write(mine, b"y\n")
        os.close(mine)
        text = heard.decode(errors="replace").replace("\r\n", "\n")
        self._print(text)
        self._expect(argv, process.wait(60), expect, text)

    def _print(self, text: str) -> None:
        for line in text.rstrip("\n").split("\n") if text.strip() else ():
            print(f"   {line}", flush=True)

    def _expect(self, argv: Sequence[str], code: int, expect: int, text: str) -> None:
        if code != expect:
            raise AssertionError(f"{argv} ended with {code}, not {expect}:\n{text}")


def play(style: Style, pause: float = 0.0) -> None:
    """The whole story, in about a minute; `pause` is the seconds to rest before each chapter."""
    import shutil
    import tempfile

    from holdfast.machine.person import objection

    whose = objection()
    if whose:
        refusal = refusals.person_needed("watch the demo, which plays a person's part", remedies.named("demo"))
        refusal.message += f": {whose}"
        raise refusal

    folder = tempfile.mkdtemp(prefix="holdfast-demo-")
    try:
        os.makedirs(os.path.join(folder, "project"))
        _tell(Story(folder, style, pause))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _tell(story: Story) -> None:
    story.chapter("A project, and a workflow of its own in .holdfast/workflows/release.toml")
    story.quietly("git", "init", "-q", "-b", "main")
    story.write(".holdfast/workflows/release.toml", DEFINITION)
    story.write("greeting.py", BROKEN)
    story.write("test_greeting.py", TEST)
    story.quietly("git", "add", "greeting.py", "test_greeting.py")
    story.quietly("git", "commit", "-qm", "A greeting")
    story.person("holdfast", "workflows", "check", ".holdfast/workflows/release.toml")
    story.person("holdfast", "trust", "release")
    story.agent("holdfast", "start", "release", "1.4.0")

    story.chapter("The agent is in a hurry: it tries to skip ahead")
    story.agent("holdfast", "begin", "publish", expect=3)

    story.chapter("It does the first step, and claims that the tests pass")
    story.agent("holdfast", "begin", "code")
    story.agent("holdfast", "done", "code")
    story.agent("holdfast", "begin", "verify")
    story.agent("holdfast", "check", "tests", "--passed", expect=3)
    story.agent("holdfast", "check", "tests", "--run", expect=3)

    story.chapter("They do not. The try is used up, and its reason goes back to the first step")
    story.agent("holdfast", "fail", "verify", "--reason", "NameError: name 'nme' is not defined")
    story.agent("holdfast", "next")
    story.write("greeting.py", FIXED)
    story.agent("holdfast", "done", "code")
    story.agent("holdfast", "begin", "verify")
    story.agent("holdfast", "check", "tests", "--run")
    story.agent("holdfast", "done", "verify")

    story.chapter("The next gate is a person's. The agent tries to pass it, then to forge it")
    story.agent("holdfast", "begin", "sign-off")
    story.write("NOTES.md", "# 1.4.0\n\nGreets by name.\n")
    story.agent("holdfast", "done", "sign-off", "--artifact", "notes=NOTES.md")
    story.agent("holdfast", "approve", "sign-off", expect=3)
    _forge(story)
    story.agent("holdfast", "status")

    story.chapter("You approve, on your own terminal")
    story.person("holdfast", "approve", "sign-off")

    story.chapter("The agent works on the last step, and its process is killed in the middle")
    story.crash(AGENT)

    story.chapter("A new agent, which knows nothing, asks where it is, and continues right there")
    story.agent("holdfast", "status")
    story.agent("holdfast", "done", "publish")

    story.chapter("What happened, and what it took")
    story.agent("holdfast", "log", "-w", "release")
    story.agent("holdfast", "metrics", "-w", "release")


def _forge(story: Story) -> None:
    import json

    folder = os.path.join(story.folder, "project", ".claude", "workflow-state", "active")
    (name,) = os.listdir(folder)
    path = os.path.join(folder, name)
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    phase = document["state_machine"]["phases"][2]
    phase["status"] = "completed"
    phase["approval"]["approved"] = True
    story.write(f".claude/workflow-state/active/{name}", json.dumps(document, indent=2))
