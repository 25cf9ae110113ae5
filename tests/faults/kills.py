"""Killing a command before each of its system calls in turn, or before the first and the last of each kind.

Nothing outside the process changes between two of its calls, so that being killed before a call is being killed after
the one that precedes it; the last call of all is the end of the process.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from operator import attrgetter

from tests.faults.commands import Answer, Commands
from tests.faults.project import Judge, Scene, aged, copy, disk, lay, play
from tests.faults.tracing import Call, Tracer
from tests.tiers import rows

TRIES = 5
by_name = attrgetter("name")


class Stage:
    """A project before a command, what the command makes of it, and the calls it takes."""

    def __init__(self, folder: str, commands: Commands, scene: Scene) -> None:
        self.scene = scene
        self._folder = folder
        self._count = 0
        self.base = aged(play(lay(os.path.join(folder, "base")), commands, scene))
        after = self.fresh()
        answer = commands(after, *scene.words)
        assert answer.code == 0, answer
        self.judge = Judge(disk(self.base), disk(after), commands, scene)
        self.tracer = Tracer(commands, scene.words, os.path.join(folder, "log"))
        self.calls = agreed(lambda: self.tracer.calls(self.fresh()))

    def hit(self, run: Callable[[str], Answer | None]) -> tuple[str, Answer]:
        """Runs a command on a fresh copy until it met the call it was meant to meet."""
        for _ in range(TRIES):
            root = self.fresh()
            answer = run(root)
            if answer:
                return root, answer
            shutil.rmtree(root)
        raise RuntimeError("the calls of the command are not those that were recorded")

    def fresh(self, of: str = "") -> str:
        self._count += 1
        return copy(of or self.base, os.path.join(self._folder, str(self._count)))


def agreed(record: Callable[[], list[Call]]) -> list[Call]:
    """What is recorded twice in a row: an id that spared a directory is an exception."""
    calls = record()
    for _ in range(TRIES):
        before, calls = calls, record()
        if calls == before:
            return calls
    raise RuntimeError("the command makes other calls each time")


def kill_before_every_call(stage: Stage) -> list[Call]:
    killed = []
    failures = []
    for call in rows(stage.calls, by_name):
        root, answer = stage.hit(partial(stage.tracer.killed_before, call))
        killed.append(call)
        try:
            stage.judge.old_or_new(root)
            assert not answer.out or stage.judge.happened(root), "acknowledged, and gone"
            twin = stage.fresh(root)
            stage.judge.goes_on(root)
            stage.judge.again(twin)
            shutil.rmtree(twin)
        except AssertionError as failure:
            failures.append(f"killed before {call}: {failure}")
        shutil.rmtree(root)
    assert not failures, "\n".join([f"{len(failures)} of {len(killed)}", *failures])
    return killed
