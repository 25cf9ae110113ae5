"""Eight processes writing to one workflow, against the same on SQLite."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time

import holdfast
from bench import peers
from bench.measure import heading, interleaved, p50, p99, row
from bench.project import document_path, repository, started
from bench.transitions import raw_append

WRITERS, EACH, OF_A_PEER = 8, 100, 20
LONGEST = 300
"""Seconds: a writer that takes longer has failed."""


def run(folder: str) -> None:
    repository(folder)
    workflow = started(folder)
    base = os.path.join(folder, "state.db")
    _prepare(base, workflow._wired.documents.render(workflow.state))
    ours, samples = _together(_notes, folder)
    theirs, others = _together(_updates, base)
    kept = workflow.refresh().state.revision - 1
    heading(f"{WRITERS} processes × {EACH} durable operations on one workflow")
    row("operations a second ÷ SQLite BEGIN IMMEDIATE, FULL", ours / theirs, "≥ 2", f"{ours:.0f} against {theirs:.0f}")
    row("p99 ÷ p50", p99(samples) / p50(samples), "≤ 5")
    row("operations kept ÷ acknowledged", kept / (WRITERS * EACH), "1")
    raw = p50(interleaved({"raw": raw_append(os.path.join(folder, "raw"))}, 200)["raw"])
    heading(f"{WRITERS} processes at once: the time for each operation ÷ raw append + fdatasync of 200 bytes")
    _row("Holdfast: a note, document refreshed", raw, ours, samples)
    _row("SQLite: an update of the document, WAL/FULL", raw, theirs, others)
    text = "x" * os.path.getsize(document_path(workflow))
    for at, what in enumerate(peers.PEERS):
        target = (what, os.path.join(folder, f"peer-{at}.db"), text)
        if _together(_steps, target, writers=1, each=1)[1]:  # which makes the tables
            _row(what, raw, *_together(_steps, target, each=OF_A_PEER))


def _row(what: str, raw: float, rate: float, samples: list[float]) -> None:
    row(what, 1 / rate / raw, "", f"p50 {p50(samples) * 1e6:.0f} µs, {rate:.0f} a second")


def _together(work, target, writers: int = WRITERS, each: int = EACH) -> tuple[float, list[float]]:
    """How many operations were done in a second, and how long each took."""
    context = multiprocessing.get_context("spawn")
    ready, go, results = context.Semaphore(0), context.Event(), context.Queue()
    children = [context.Process(target=work, args=(target, n, each, ready, go, results)) for n in range(writers)]
    for child in children:
        child.start()
    for _ in children:
        assert ready.acquire(timeout=LONGEST), "a writer did not start"
    begin = time.perf_counter()
    go.set()
    samples = [seconds for _ in children for seconds in results.get(timeout=LONGEST)]
    elapsed = time.perf_counter() - begin
    for child in children:
        child.join()
    return len(samples) / elapsed, samples


def _timed(operation, each: int, ready, go, results) -> None:
    ready.release()
    go.wait()
    samples = []
    for turn in range(each):
        begin = time.perf_counter()
        operation(turn)
        samples.append(time.perf_counter() - begin)
    results.put(samples)


def _notes(folder: str, number: int, each: int, ready, go, results) -> None:
    workflow = holdfast.open(folder).workflow()
    _timed(lambda turn: workflow.note(f"writer {number}, note {turn}"), each, ready, go, results)


def _prepare(path: str, document: bytes) -> None:
    base = sqlite3.connect(path)
    base.execute("pragma journal_mode=wal")
    base.execute("create table state (id text primary key, revision integer, document text)")
    base.execute("insert into state values ('one', 0, ?)", (document.decode(),))
    base.commit()


def _updates(path: str, number: int, each: int, ready, go, results) -> None:
    base = sqlite3.connect(path, isolation_level=None, timeout=60)
    base.execute("pragma synchronous=full")

    def update(turn: int) -> None:
        base.execute("begin immediate")
        _, text = base.execute("select revision, document from state where id = 'one'").fetchone()
        base.execute("update state set revision = revision + 1, document = ? where id = 'one'", (text,))
        base.execute("commit")

    _timed(update, each, ready, go, results)


def _steps(target: tuple[str, str, str], number: int, each: int, ready, go, results) -> None:
    step = peers.opened(*target)
    _timed(lambda turn: step and step(), each if step else 0, ready, go, results)
