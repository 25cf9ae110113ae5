"""Making each system call of a command that opens, changes or syncs something fail in turn."""

from __future__ import annotations

import shutil
from functools import partial

from tests.faults.commands import Answer
from tests.faults.kills import Stage, by_name
from tests.faults.project import told
from tests.faults.tracing import Call
from tests.tiers import rows

FAILING = frozenset(
    ("fchmod", "fdatasync", "fsync", "ftruncate", "mkdir", "openat", "pwrite64", "rename", "renameat2", "unlink")
)
DEFINITION = "/.holdfast/workflows/release.toml"
"""The user's own file: reading it is not part of changing anything."""


def fail_every_call(stage: Stage, error: str) -> list[Call]:
    """A disk that cannot is `EIO`; one that is full, `ENOSPC`, says so only where something is written."""
    failed = []
    failures = []
    able = [call for call in stage.calls if call.name in FAILING and DEFINITION not in call.about]
    for call in rows([call for call in able if call.changes or error != "ENOSPC"], by_name):
        root, answer = stage.hit(partial(stage.tracer.failing, call, error))
        failed.append(call)
        try:
            is_truthful(stage, root, answer)
            stage.judge.goes_on(root)
        except AssertionError as failure:
            failures.append(f"{error} at {call}: {failure}")
        shutil.rmtree(root)
    assert not failures, "\n".join([f"{len(failures)} of {len(failed)}", *failures])
    return failed


def is_truthful(stage: Stage, root: str, answer: Answer) -> None:
    """Success is kept; a failure is told and changed nothing, or says that nobody knows."""
    stage.judge.old_or_new(root)
    happened = stage.judge.happened(root)
    if answer.code == 0:
        assert happened, "acknowledged, and gone"
        return
    assert answer.code == 1, answer
    assert not happened or "may or may not" in told(answer), answer
