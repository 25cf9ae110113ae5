"""Eight processes writing to one workflow, against the same on SQLite."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time

import holdfast
from bench.measure import heading, p50, p99, row
from bench.project import repository, started

WRITERS, EACH = 8, 100


def run(folder: str) -> None:
    repository(folder)
    workflow = started(folder)
    base = os.path.join(folder, "state.db")
    _prepare(base, workflow._wired.documents.render(workflow.state))
    ours, samples = _together(_notes, folder)
    theirs, _ = _together(_updates, base)
    kept = workflow.refresh().state.revision - 1
    heading(f"{WRITERS} processes × {EACH} durable operations on one workflow")
    row("operations a second ÷ SQLite BEGIN IMMEDIATE, FULL", ours / theirs, "≥ 2", f"{ours:.0f} against {theirs:.0f}")
    row("p99 ÷ p50", p99(samples) / p50(samples), "≤ 5")
    row("operations kept ÷ acknowledged", kept / (WRITERS * EACH), "1")


def _together(work, target: str) -> tuple[float, list[float]]:
    context = multiprocessing.get_context("spawn")
    ready, go, results = context.Semaphore(0), context.Event(), context.Queue()
    children = [context.Process(target=work, args=(target, n, ready, go, results)) for n in range(WRITERS)]
    for child in children:
        child.start()
    for _ in children:
        ready.acquire()
    begin = time.perf_counter()
    go.set()
    samples = [seconds for _ in children for seconds in results.get()]
    elapsed = time.perf_counter() - begin
    for child in children:
        child.join()
    return WRITERS * EACH / elapsed, samples


def _timed(operation, ready, go, results) -> None:
    ready.release()
    go.wait()
    samples = []
    for turn in range(EACH):
        begin = time.perf_counter()
        operation(turn)
        samples.append(time.perf_counter() - begin)
    results.put(samples)


def _notes(folder: str, number: int, ready, go, results) -> None:
    workflow = holdfast.open(folder).workflow()
    _timed(lambda turn: workflow.note(f"writer {number}, note {turn}"), ready, go, results)


def _prepare(path: str, rendered: dict[str, bytes]) -> None:
    (document,) = rendered.values()
    base = sqlite3.connect(path)
    base.execute("pragma journal_mode=wal")
    base.execute("create table state (id text primary key, revision integer, document text)")
    base.execute("insert into state values ('one', 0, ?)", (document.decode(),))
    base.commit()


def _updates(path: str, number: int, ready, go, results) -> None:
    base = sqlite3.connect(path, isolation_level=None, timeout=60)
    base.execute("pragma synchronous=full")

    def update(turn: int) -> None:
        base.execute("begin immediate")
        _, text = base.execute("select revision, document from state where id = 'one'").fetchone()
        base.execute("update state set revision = revision + 1, document = ? where id = 'one'", (text,))
        base.execute("commit")

    _timed(update, ready, go, results)
