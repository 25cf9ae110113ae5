"""What one watcher costs while nothing happens, and how soon it notices what somebody else did."""

from __future__ import annotations

import os
import random
import time

import holdfast
from bench.growth import framed
from bench.measure import heading, row
from bench.project import DEFINITION, repository, started
from holdfast.core import commands as cmd
from holdfast.core.apply import Record, fold
from holdfast.core.decide import decide
from holdfast.core.facts import Facts
from holdfast.core.reading import read
from holdfast.core.state import Actor, State
from holdfast.engine.codec import encode, encode_record
from holdfast.engine.ports import Entry, entry_of
from holdfast.plain import ulid
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.stores.files import FilesStore
from holdfast.surfaces.watching import Watcher

IDLE = 20.0
"""Seconds for which nothing happens."""
ROUNDS = 20


def run(folder: str) -> None:
    os.makedirs(folder)
    heading("One watcher")
    for count in (1, 1_000):
        root = _filled(os.path.join(folder, f"active-{count}"), count)
        store = holdfast.open(root).wired.store
        watcher = _watcher(store)
        watcher.look()
        watcher.look()
        row(f"CPU in % of a core while {count} active workflows are idle", _idle(watcher), "≤ 0.5")
        other = holdfast.open(root).workflow("bench-5bbf5a52")
        row(f"slowest of {ROUNDS} reactions with {count}, in seconds", _slowest(watcher, other), "≤ 1")


def _watcher(store: FilesStore) -> Watcher:
    return Watcher(lambda: store)


def _idle(watcher: Watcher) -> float:
    began, spent = time.monotonic(), time.process_time()
    watcher.wait(began + IDLE)
    return (time.process_time() - spent) / (time.monotonic() - began) * 100


def _slowest(watcher: Watcher, other: holdfast.Workflow) -> float:
    """A line is written at any moment between two looks; the time from the answer to the writer counts."""
    slowest = 0.0
    for _ in range(ROUNDS):
        watcher.look()
        before = random.uniform(0, watcher.pause)
        other.note("still at it")
        began = time.monotonic()
        time.sleep(watcher.pause - before)
        assert watcher.wait()
        slowest = max(slowest, time.monotonic() - began)
    return slowest


def _filled(root: str, count: int) -> str:
    """All are active: their journals are there, written without syncing each."""
    repository(root)
    started(root)
    store = holdfast.open(root).wired.store
    definition = read({**DEFINITION, "name": "other"})
    active = [*store.entries(), *(_active(store, definition, number) for number in range(count - 1))]
    rest = compact(encode([]))
    first = {"active": encode(active), "finished_count": 0, "seal": digest(rest.encode())}
    with open(os.path.join(root, ".holdfast", "index"), "w", encoding="utf-8") as file:
        file.write(f'{compact(first)[:-1]},"finished":{rest}}}')
    return root


def _active(store: FilesStore, definition, number: int) -> Entry:
    name, actor, facts = ulid.new(), Actor("agent"), Facts(now="2026-01-01T00:00:00.000Z")
    state: State | None = None
    start = cmd.Start.of(definition, name, f"other-{number}")
    record = Record(1, facts.now, actor, "start", decide(state, cmd.Request(start, actor), facts))
    path = store.file_of(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(framed([encode_record(record).encode()]))
    return entry_of(fold(state, record))
