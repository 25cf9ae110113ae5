"""Killing a command before each of its changes in turn, where it runs git as well."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

from holdfast.surfaces.cli.main import main
from tests.acceptance.checkout import Checkout
from tests.tiers import rows

_CHANGES = frozenset(("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link"))
_GIT = frozenset(("commit", "switch", "update-index", "read-tree", "push", "update-ref", "merge", "worktree"))

AN_HOUR = 3600


class Kills:
    """Runs a command on copies of a repository, in a fork of this process, and kills it before its nth change.

    A change is what it does to a file of the repository, or a git that changes something. The clock is still, at
    the same moment in every run: a document is written again when a second has passed, and so the number of changes
    would depend on where in a second a run begins.
    """

    def __init__(self, base: Checkout) -> None:
        self._base = base
        remote = base.root.with_name("remote.git")
        places = (base.root, remote) if remote.is_dir() else (base.root,)
        self._kept = {one: shutil.copytree(one, one.with_name(f"kept-{one.name}"), symlinks=True) for one in places}
        self._now = time.time() + AN_HOUR

    def changes(self, *words: str) -> list[str]:
        """What the command changes when nobody stops it."""
        said = self._run(self._fresh(), 0, words)
        assert said[-1] == "0", said
        return said[:-1]

    def chosen(self, *words: str) -> list[tuple[int, str]]:
        """The changes to be killed before, each with its number."""
        return rows(list(enumerate(self.changes(*words), 1)), lambda row: _kind(row[1]))

    def before(self, number: int, *words: str) -> Any:
        """What a command left that was killed before this change, the first being 1."""
        house = self._fresh()
        said = self._run(house, number, words)
        assert len(said) == number, said
        return house

    def again(self, house: Any, *words: str) -> None:
        """The same, or what follows, by a process that nobody kills."""
        said = self._run(house, 0, words, later=1)
        assert said[-1:] == ["0"], said[-3:]

    def _fresh(self) -> Any:
        """At the same place as ever: in another one, approvals would only be claimed."""
        for place, kept in self._kept.items():
            shutil.rmtree(place)
            shutil.copytree(kept, place, symlinks=True)
        return self._base

    def _run(self, house: Any, number: int, words: tuple[str, ...], later: float = 0) -> list[str]:
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            passing = time.clock_gettime
            time.clock_gettime = lambda of: self._now + later if of == time.CLOCK_REALTIME else passing(of)
            self._child(house.root, number, words, writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as file:
            said = file.read().splitlines()
        _, status = os.waitpid(pid, 0)
        if number:
            assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, said
        return said

    def _child(self, root: Path, number: int, words: tuple[str, ...], writing: int) -> None:
        code, count = 70, 0

        def heed(event: str, details: tuple[Any, ...]) -> None:
            nonlocal count
            said = _change(event, details, str(root))
            if said:
                count += 1
                os.write(writing, f"{said}\n".encode())
                if count == number:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            os.chdir(root)
            sys.addaudithook(heed)
            code = main(list(words))
            os.write(writing, f"{code}\n".encode())
        finally:
            os._exit(code)


def _kind(change: str) -> tuple[str, ...]:
    """A verb, a folder, and whether the file is one that is still being written."""
    return (*change.split("/")[:2], ".tmp" if change.endswith(".tmp") else "")


def _change(event: str, details: tuple[Any, ...], root: str) -> str:
    if event == "subprocess.Popen":
        named = [word for word in details[1] if word in _GIT]
        return f"git {named[0]}" if named else ""
    paths = [str(one) for one in details if isinstance(one, str) and one.startswith(root)]
    if event == "open" and not (isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        return ""
    return f"{event} {paths[-1][len(root) :]}" if paths and event in (*_CHANGES, "open") else ""
