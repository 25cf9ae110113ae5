"""A durable transition with its document refreshed, against the raw costs of a disk and against a database."""

from __future__ import annotations

import os
import sqlite3
import subprocess

from bench import peers
from bench.measure import heading, interleaved, p50, row
from bench.project import Transitions, document_path, repository, started


def run(folder: str) -> None:
    repository(folder)
    workflow = started(folder)
    transition = Transitions(workflow)
    raw = raw_append(os.path.join(folder, "raw"))
    update = _sqlite(os.path.join(folder, "state.db"), workflow._wired.documents.render(workflow.state))
    for _ in range(120):
        transition()
    jq = _jq(folder, document_path(workflow))
    taken = interleaved({"raw": raw, "transition": transition, "sqlite": update}, 400)
    taken["jq"] = interleaved({"jq": jq}, 40)["jq"]
    cost, document = p50(taken["transition"]), os.path.getsize(document_path(workflow))
    detail = f"{cost * 1e6:.0f} µs against {p50(taken['raw']) * 1e6:.0f}"
    heading("A durable transition, native document refreshed")
    row("÷ raw append + fdatasync of 200 bytes", cost / p50(taken["raw"]), "≤ 1.8", detail)
    row("÷ one SQLite WAL/FULL update of the same document", cost / p50(taken["sqlite"]), "≤ 0.85")
    row("÷ jq + mv of the document, which is not durable", cost / p50(taken["jq"]), "")
    written = _bytes_written(transition, 64)
    row("bytes written ÷ size of the document", written / document, "≤ 1.4", f"document of {document} bytes")
    _beside(os.path.join(folder, "peers"), transition, raw, "x" * document)


def _beside(folder: str, transition: Transitions, raw, text: str) -> None:
    """The same step in other libraries, each with a document of the same size in SQLite, WAL/FULL."""
    heading("A durable step ÷ raw append + fdatasync of 200 bytes, beside other libraries (SQLite, WAL/FULL)")
    ours = {"Holdfast: a transition, document refreshed": transition}
    taken = interleaved({"raw": raw, **ours, **peers.each(folder, text)}, 100)
    cost = {what: p50(samples) for what, samples in taken.items()}
    for what in [*ours, *filter(cost.get, peers.PEERS)]:
        row(what, cost[what] / cost["raw"], "", f"{cost[what] * 1e6:.0f} µs")


def raw_append(path: str):
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def append() -> None:
        os.write(fd, b"x" * 200)
        os.fdatasync(fd)

    return append


def _sqlite(path: str, document: bytes):
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("pragma journal_mode=wal")
    base.execute("pragma synchronous=full")
    base.execute("create table state (id text primary key, revision integer, document text)")
    base.execute("insert into state values ('one', 0, ?)", (document.decode(),))
    turn = [0]

    def update() -> None:
        turn[0] += 1
        text = document.decode() + str(turn[0])
        base.execute("update state set revision = ?, document = ? where id = 'one'", (turn[0], text))

    return update


def _jq(folder: str, path: str):
    copy = os.path.join(folder, "jq.json")
    with open(path, "rb") as source, open(copy, "wb") as target:
        target.write(source.read())
    change = '.workflow.updated_at = "2026-01-01T00:00:00Z" | .history |= (. + [{"event": "phase_started"}])[-100:]'

    def edit() -> None:
        with open(copy + ".tmp", "wb") as target:
            subprocess.run(["jq", change, copy], stdout=target, check=True)
        os.replace(copy + ".tmp", copy)

    return edit


def _bytes_written(transition, count: int) -> float:
    def so_far() -> int:
        with open("/proc/self/io", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("wchar")).split()[1])

    before = so_far()
    for _ in range(count):
        transition()
    return (so_far() - before) / count
