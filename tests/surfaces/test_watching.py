"""A watcher notices what others write, whatever drives it."""

from __future__ import annotations

import itertools
import subprocess
import sys
import time

import pytest

import holdfast
from holdfast.core import remedies
from holdfast.errors import NotFound
from holdfast.surfaces.watching import EVERY, SHARE, Watcher

STEPS = {"name": "plain", "step": [{"id": "one"}, {"id": "two"}]}


@pytest.fixture
def project(tmp_path):
    return holdfast.open(str(tmp_path))


def elsewhere(project, *words: str) -> None:
    command = [sys.executable, "-m", "holdfast", *words]
    subprocess.run(command, cwd=project.root, check=True, capture_output=True)


def test_the_lines_of_another_process_are_told_once(project):
    first, second = project.start(STEPS, "A"), project.start(STEPS, "B")
    watcher = Watcher(lambda: holdfast.open(project.root).wired.store)
    assert not watcher.look().moved
    elsewhere(project, "note", "a decision", "-w", second.id)
    seen = watcher.look()
    assert (dict(seen.moved), seen.listed) == ({second.ulid: second.id}, False)
    assert not watcher.look().moved
    elsewhere(project, "cancel", "-w", first.id)
    seen = watcher.look()
    assert (dict(seen.moved), seen.listed) == ({first.ulid: first.id}, True)


def test_a_named_workflow_is_watched_after_its_end_and_the_others_are_not(project):
    first, second = project.start(STEPS, "A"), project.start(STEPS, "B")
    first.cancel()
    watcher = Watcher(lambda: project.wired.store, first.ulid)
    watcher.look()
    second.note("a decision")
    assert not watcher.look().moved
    first.resume()
    assert set(watcher.look().moved) == {first.ulid}


def test_waiting_ends_with_a_change_with_the_time_and_with_the_caller(project):
    workflow = project.start(STEPS, "A")
    watcher = Watcher(lambda: project.wired.store)
    watcher.look()
    assert watcher.wait(time.monotonic()) is None
    assert watcher.wait(ended=lambda: True) is None
    workflow.note("a decision")
    assert set(watcher.wait(time.monotonic() + 60).moved) == {workflow.ulid}


def test_a_watcher_can_be_iterated_over(project):
    workflow = project.start(STEPS, "A")
    watcher = Watcher(lambda: project.wired.store)
    watcher.look()
    told = []
    workflow.note("one")
    for number, changes in enumerate(watcher):
        told.append(set(changes.moved))
        if number == 1:
            break
        workflow.note("two")
    assert told == [{workflow.ulid}, {workflow.ulid}]


def test_a_store_that_cannot_be_read_is_opened_again_and_tells_then_what_happened_meanwhile(project):
    workflow = project.start(STEPS, "A")
    store, opened = project.wired.store, itertools.count()

    class Unreadable:
        def changes(self, *_):
            raise OSError("no such device")

    def open_store():
        number = next(opened)
        if number == 2:
            raise NotFound("no_folder", "the disk is not there", remedy=remedies.listing())
        return Unreadable() if number == 1 else store

    watcher = Watcher(open_store)
    assert not watcher.look().moved
    watcher._store = None  # as after a failure
    workflow.note("a decision")
    assert (watcher.look(), watcher.look()) == (None, None)
    assert set(watcher.look().moved) == {workflow.ulid}


def test_looks_that_cost_much_become_rarer(project, monkeypatch):
    project.start(STEPS, "A")
    watcher = Watcher(lambda: project.wired.store)
    assert watcher.pause == EVERY
    clock = itertools.count(step=0.01)
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    watcher.look()
    assert watcher.pause == pytest.approx(0.01 / SHARE)
