"""Every command that commits, ended at each git it starts or within one: no plain commit takes work back afterwards."""

from __future__ import annotations

import shutil
import signal

import pytest

from tests.acceptance.committing import PATHS, Ended, holdfast, left_over, reverted, shown
from tests.tiers import need, rows

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAYS = ["9-before", "9-after", "9-outlived", *(f"{int(n)}-{when}" for n in SIGNALS for when in ("before", "after"))]
CHANGES = ("commit", "switch", "push")
TOLD = ("was interrupted", "was made but not recorded", "its commit was not made", "not committed yet")
ENDING = "is to be finished"
"""An end that has begun is told until it is complete, whether a commit was interrupted in it or not."""
TRACED = ("task",)
"""Tracing costs a minute or two for each path, and all paths commit by the same module."""


@pytest.mark.parametrize("name", PATHS)
def test_whatever_ends_a_command_that_commits_its_work_is_not_taken_back(tmp_path, name):
    ended = Ended(tmp_path, name)
    table = [(way, number, call) for way in WAYS for number, call in ended.gits()]
    for way, number, call in rows(table, lambda row: (row[0][:2] == "9-", row[2] in CHANGES)):
        root = ended.fresh()
        done = ended.run(root, number, way)
        is_not_taken_back(ended, root, number, f"{way} at {call}, git {number} of {name}: {done}")


@pytest.mark.parametrize("name", [one if one in TRACED else pytest.param(one, marks=pytest.mark.full) for one in PATHS])
def test_a_git_that_is_killed_within_a_change_takes_nothing_back(tmp_path, name):
    need("strace")
    ended = Ended(tmp_path, name)
    kinds = dict(ended.gits())
    table = [(by, one) for by in ("within", "within-both") for one in ended.changes()]
    chosen = rows(table, lambda row: (row[0], kinds[row[1].git], row[1].call if kinds[row[1].git] in CHANGES else ""))
    hits = 0
    for by, one in chosen:
        root = ended.fresh()
        done = ended.run(root, one.git, by, CALL=one.call, WHEN=str(one.when))
        hits += ended.was_hit()
        is_not_taken_back(ended, root, one.when, f"{by} {kinds[one.git]} of {name}: {one} {done}")
    assert hits > 0.8 * len(chosen)  # which calls a git makes depends on hashes and times


def is_not_taken_back(ended, root, number, which):
    assert "Traceback" not in which, which
    for words in (("-m",), ("-am",)):
        plain = shutil.copytree(root, root.with_name(f"{root.name}-plain"), symlinks=True)
        assert reverted(plain, *words) == "", which
        shutil.rmtree(plain)
    began = any((root / ".git" / name).exists() for name in ("holdfast-commit", "holdfast-made"))
    told = holdfast(root, "list" if number % 2 else "doctor")
    assert "Traceback" not in told.stderr, (which, told)
    began = began or ENDING in told.stdout
    assert any(one in told.stdout + told.stderr for one in TOLD) == began, (which, told)
    assert [name for name in left_over(root) if not name.startswith("holdfast-made")] == [], (which, told)
    assert shown(root, "diff", "--cached", "--name-status") == "A\tstaged.txt", which
    again = ended.again(root)
    assert not [one for one in again if "Traceback" in one.stderr], (which, again)
    assert ended.prepared.proof(root), (which, again)
    assert left_over(root) == [], (which, again)
    assert reverted(root, "-m") == "", (which, again)
