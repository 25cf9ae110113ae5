"""One scene: a project, a home of its own, and a stage without internet on which hosts and Holdfast run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).resolve().parent
DEADLINE = 300
"""Seconds for one run of a host, which takes ten: only one that hangs is ended."""

Turn = dict[str, Any]


def say(text: str) -> Turn:
    return {"say": text}


def full(turn: Turn, tokens: int) -> Turn:
    """The same, and the host is told that its window holds that many tokens by now."""
    return {**turn, "tokens": tokens}


def call(tool: str, **given: Any) -> Turn:
    """The model calls a tool by the name the host gave it."""
    return {"call": tool, "with": given}


class Request(dict):
    """A request to the model, as the host sent it."""

    @property
    def kind(self) -> str:
        return str(self["kind"])

    @property
    def text(self) -> str:
        """What the model reads, tools apart: line breaks and quotes as they are, wherever the protocol puts them."""
        parts = ("system", "systemInstruction", "instructions", "messages", "input", "contents")
        return "\n".join(_texts([self["body"].get(part) or "" for part in parts]))

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the model is offered."""
        found = []
        for tool in self["body"].get("tools", []):
            inner = tool.get("tools") if tool.get("type") == "namespace" else tool.get("functionDeclarations")
            prefix = f"{tool['name']}/" if inner and "name" in tool else ""
            found += [prefix + str(one.get("name") or one.get("function", {}).get("name")) for one in inner or [tool]]
        return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


class Run:
    """What one command did, and what the model was asked meanwhile."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.code: int = told["code"]
        self.out: str = told["out"]
        self.err: str = told["err"]
        self.late: bool = told["late"]
        self.unheard: list[Turn] = told["unheard"]
        self.requests = [Request(one) for one in told["requests"]]

    @property
    def turns(self) -> list[Request]:
        return [one for one in self.requests if one.kind == "turn"]

    @property
    def summaries(self) -> list[Request]:
        return [one for one in self.requests if one.kind == "summary"]

    def __str__(self) -> str:
        asked = [(one.kind, one["path"]) for one in self.requests]
        ended = f"exit {self.code}{' (killed)' if self.late else ''}"
        return f"{ended}\n{self.out}\n{self.err}\nasked: {asked}\nunheard: {self.unheard}"


class Scene:
    """A project in git, with the hosts and a Holdfast on its path."""

    def __init__(self, folder: Path, holdfast: Path, clients: Path) -> None:
        self._folder = folder
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir()
        self.home.mkdir()
        self._holdfast, self.clients = holdfast, clients
        own = "--net" if os.geteuid() == 0 else "--map-root-user --net"
        self._stage = subprocess.Popen(
            ["unshare", *own.split(), sys.executable, "-S", str(HERE / "stage.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        told = json.loads(self._stage.stdout.readline())
        assert told["alone"], "the stage can reach more than itself"
        self.model = f"http://127.0.0.1:{told['port']}"
        self.sh("git", "init", "-q", "-b", "main")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stage.stdin.close()
        self._stage.wait(DEADLINE)
        self._stage.stdout.close()

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of ours gets in: no proxies, no keys, no settings of whoever runs the tests."""
        path = f"{self._holdfast.parent}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        return {
            "HOME": str(self.home),
            "PATH": path,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/bash",
            "USER": "tester",
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def run(
        self,
        *argv: str | Path,
        turns: list[Turn] | None = None,
        known: str = "",
        env: dict[str, str] | None = None,
        lines: list[str] | None = None,
        answered: str = "",
        deadline: float = DEADLINE,
    ) -> Run:
        """Runs a program while the model has these turns, and knows what fits a pattern when it has read it.

        `lines` go to its standard input: all at once, or each when a line with `answered` in it has come from it.
        """
        order = {
            "argv": [str(word) for word in argv],
            "env": {**self.environment, **(env or {})},
            "cwd": str(self.project),
            "turns": turns or [],
            "known": known,
            "lines": lines or [],
            "answered": answered,
            "deadline": deadline,
        }
        self._stage.stdin.write(json.dumps(order) + "\n")
        self._stage.stdin.flush()
        return Run(json.loads(self._stage.stdout.readline()))

    def sh(self, *argv: str | Path) -> str:
        done = self.run(*argv)
        assert done.code == 0, str(done)
        return done.out

    def holdfast(self, *words: str) -> str:
        """A command that is typed outside of any host."""
        return self.sh(self._holdfast, *words)

    def typed(self, *words: str | Path) -> Run:
        """A command that a person types in a terminal of their own, and confirms with Enter."""
        emulator = self._folder / "emulator"
        if not emulator.exists():
            shutil.copy(os.path.realpath(sys.executable), emulator)  # a program of its own, as a terminal has one
        words = ("-S", "-P", HERE / "terminal.py", "--alone", self._holdfast, *words)
        return self.run(emulator, *words, env={"PYTHONHOME": sys.base_prefix})

    def seen(self, steps: list[tuple[str, str]], *argv: str | Path, turns: list[Turn], env: dict[str, str]) -> Run:
        """A program in a terminal, and a person who waits for what it shows and types; its output is all it showed."""
        words = (sys.executable, HERE / "terminal.py", json.dumps(steps), *argv)
        return self.run(*words, turns=turns, env={**env, "TERM": "xterm-256color"})

    def asked(self, *words: str) -> Any:
        """The answer of a command in JSON."""
        return json.loads(self.holdfast(*words, "--json"))

    def commit(self, message: str) -> None:
        self.sh("git", "add", "--all")
        self.sh("git", "-c", "user.name=tester", "-c", "user.email=t@example.org", "commit", "-q", "-m", message)

    def write(self, name: str, text: str) -> Path:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def tree(self, top: Path | None = None) -> dict[str, bytes]:
        """Every file of the project, or below another folder, that is not git's; folders that are empty as well."""
        top = top or self.project
        found: dict[str, bytes] = {}
        for folder, below, files in os.walk(top):
            below[:] = [name for name in below if name != ".git"]
            here = Path(folder)
            if not below and not files:
                found[f"{here.relative_to(top)}/"] = b""
            for name in files:
                path = here / name
                found[str(path.relative_to(top))] = (
                    os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
                )
        return found
