"""System calls of a command that concern its project: listing them, and making one the last, or one that fails."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from typing import NamedTuple

from tests.faults.commands import Answer, Commands
from tests.faults.project import place
from tests.tiers import need

WATCHED = "trace=%file,%desc,flock,fsync,fdatasync,ftruncate,exit_group"
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)$")
_PATH = re.compile(r'"((?:[^"\\]|\\.)*)"|<(/[^>]*)>')
_CHANGING = frozenset(
    ("fchmod", "fdatasync", "flock", "fsync", "ftruncate", "mkdir", "pwrite64", "rename", "renameat2", "unlink")
)


class Call(NamedTuple):
    """One system call: the `when`-th of its name in the process, and what in the project it concerns."""

    name: str
    when: int
    about: tuple[str, ...]
    changes: bool

    def __str__(self) -> str:
        return f"{self.name}#{self.when} {' '.join(self.about)}"


class Tracer:
    def __init__(self, commands: Commands, words: tuple[str, ...], log: str) -> None:
        need("strace")
        self._commands = commands
        self._words = words
        self._log = log

    def calls(self, root: str) -> list[Call]:
        """Every call of a command that names something in the project, then its answer and its end."""
        answer = self._traced(root, WATCHED)
        assert answer.code == 0, answer
        seen: Counter[str] = Counter()
        found = []
        for name, arguments in self._logged():
            seen[name] += 1
            about = _about(arguments, root)
            if about or (name == "write" and arguments.startswith("1<")) or name == "exit_group":
                makes = name == "openat" and "O_CREAT" in arguments
                found.append(Call(name, seen[name], about, makes or name in _CHANGING))
        return found

    def killed_before(self, call: Call, root: str) -> Answer | None:
        """Runs the command, which gets SIGKILL when it enters a call, so that the call does not happen.

        None when the count led to another call: a new id may spare a directory that the recorded one had to make.
        """
        answer = self._traced(root, f"trace={call.name}", f"inject={call.name}:signal=KILL:when={call.when}")
        name, arguments = self._logged()[-1]
        hit = answer.code == -signal.SIGKILL and (name, _about(arguments, root)) == (call.name, call.about)
        return answer if hit else None

    def failing(self, call: Call, error: str, root: str) -> Answer | None:
        """Runs the command, in which one call fails; None when the count led to another call."""
        answer = self._traced(root, f"trace={call.name}", f"inject={call.name}:error={error}:when={call.when}")
        injected = [_about(arguments, root) for _, arguments in self._logged() if "(INJECTED)" in arguments]
        return answer if injected == [call.about] else None

    def _traced(self, root: str, *expressions: str) -> Answer:
        options = [word for expression in expressions for word in ("-e", expression)]
        strace = ("strace", "-f", "-y", "-s", "0", "-o", self._log, *options)
        return self._commands(root, *self._words, strace=strace)

    def _logged(self) -> list[tuple[str, str]]:
        with open(self._log, encoding="utf-8", errors="replace") as file:
            return [(found[1], found[2]) for line in file if (found := _CALL.match(line)) and found[1] != "getcwd"]


def _about(arguments: str, root: str) -> tuple[str, ...]:
    """The paths below the root that a call names, or has open, with what differs from run to run left out."""
    named = []
    for quoted, opened in _PATH.findall(re.sub(r"AT_FDCWD<[^>]*>", "", arguments)):
        path = (quoted or opened).removesuffix(" (deleted)")
        if path == root or path.startswith(root + os.sep):
            named.append(place(path[len(root) :] or "/"))
    return tuple(dict.fromkeys(named))
