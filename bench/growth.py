"""What history and numbers cost: a transition after many events, and a project with many workflows."""

from __future__ import annotations

import os

import holdfast
from bench.measure import heading, interleaved, p50, row
from bench.project import DEFINITION, Transitions, repository, started
from holdfast.core import commands as cmd
from holdfast.core.apply import Record, fold
from holdfast.core.decide import decide
from holdfast.core.definition import Definition
from holdfast.core.facts import Facts
from holdfast.core.reading import read
from holdfast.core.state import Actor, State
from holdfast.engine.codec import encode, encode_record
from holdfast.engine.ports import Entry, entry_of
from holdfast.plain import ulid
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.stores.files import FilesStore
from holdfast.systems.story.sessions import Sessions


def run(folder: str) -> None:
    os.makedirs(folder)
    _events(folder)
    _workflows(folder)
    _session(folder)


def _events(folder: str) -> None:
    transitions = {}
    for events in (10, 1_000, 10_000):
        repository(os.path.join(folder, f"events-{events}"))
        workflow = started(os.path.join(folder, f"events-{events}"))
        transition = Transitions(workflow)
        for _ in range(events // 2):
            transition()
        transitions[events] = transition
    taken = {events: p50(samples) for events, samples in interleaved(transitions, 200).items()}
    heading("A transition when the journal is long")
    row("at 1 000 events ÷ at 10", taken[1_000] / taken[10], "≤ 1.1")
    row("at 10 000 events ÷ at 10", taken[10_000] / taken[10], "≤ 1.1")


def _workflows(folder: str) -> None:
    counts = (10, 1_000, 100_000)
    active = "bench-5bbf5a52"
    roots = {count: _filled(os.path.join(folder, f"workflows-{count}"), count) for count in counts}
    os.sync()  # else the disk writes these files while it is measured

    def listed(root: str):
        return lambda: holdfast.open(root).list(status="active")

    def opened(root: str):
        return lambda: holdfast.open(root).workflow(active)

    updates = {count: Transitions(holdfast.open(root).workflow(active)) for count, root in roots.items()}
    listing = {c: p50(s) for c, s in interleaved({c: listed(r) for c, r in roots.items()}, 60).items()}
    opening = {c: p50(s) for c, s in interleaved({c: opened(r) for c, r in roots.items()}, 60).items()}
    updating = {c: p50(s) for c, s in interleaved(updates, 200).items()}
    for count in counts[1:]:
        heading(f"{count} workflows against 10")
        row("list the active ones", listing[count] / listing[10], "≤ 1.2")
        row("open one", opening[count] / opening[10], "≤ 1.4")
        row("update one", updating[count] / updating[10], "≤ 1.1")


def _session(folder: str) -> None:
    """The same in one session, in the dialect whose lists are kept for each session."""
    counts = (10, 1_000)
    roots = {count: _filled(os.path.join(folder, f"session-{count}"), count, "work") for count in counts}

    def listed(root: str):
        return lambda: holdfast.open(root).list(status="active", session="work")

    def asked(root: str):
        (one,) = holdfast.open(root).list(status="active", session="work")
        return lambda: holdfast.open(root).workflow(one.ulid).status()

    def noted(root: str):
        (one,) = holdfast.open(root).list(status="active", session="work")
        one.begin("step-1")
        return lambda: one.note("still at it")

    def failed(root: str):
        (one,) = holdfast.open(root).list(status="active", session="work")

        def turn() -> None:
            stuck = one.state.step("step-1").status == "failed"
            one.resume("step-1") if stuck else one.fail("step-1", "one test is red")

        return turn

    listing = {c: p50(s) for c, s in interleaved({c: listed(r) for c, r in roots.items()}, 60).items()}
    asking = {c: p50(s) for c, s in interleaved({c: asked(r) for c, r in roots.items()}, 60).items()}
    updating = {c: p50(s) for c, s in interleaved({c: noted(r) for c, r in roots.items()}, 200).items()}
    failing = {c: p50(s) for c, s in interleaved({c: failed(r) for c, r in roots.items()}, 100).items()}
    heading("1000 workflows in one session against 10")
    row("list the active ones", listing[1_000] / listing[10], "≤ 1.2")
    row("status of one", asking[1_000] / asking[10], "≤ 1.4")
    row("update one", updating[1_000] / updating[10], "≤ 1.1")
    row("fail or resume one, which the session's list shows at once", failing[1_000] / failing[10], "")


def _filled(root: str, count: int, session: str = "") -> str:
    """One active workflow, and all the others finished: their journals are there, written without syncing each."""
    repository(root)
    if session:
        Sessions(holdfast.open(root).wired).create(session)
    started(root, session)
    store = holdfast.open(root).wired.store
    dialect = {"dialect": "story"} if session else {}
    definition = read({**DEFINITION, **dialect, "name": "past", "step": DEFINITION["step"][:1]})
    newest: list[Entry] = []
    for number in range(count - 1):
        entry = _finished(store, definition, number, session)
        newest = [*newest[-99:], entry]
    (active,) = store.entries()
    rest = compact(encode(newest))
    first = {"active": [encode(active)], "finished_count": count - 1, "seal": digest(rest.encode())}
    with open(os.path.join(root, ".holdfast", "index"), "w", encoding="utf-8") as file:
        file.write(f'{compact(first)[:-1]},"finished":{rest}}}')
    return root


def _finished(store: FilesStore, definition: Definition, number: int, session: str) -> Entry:
    name = ulid.new()
    actor, facts = Actor("agent"), Facts(now="2026-01-01T00:00:00.000Z")
    state: State | None = None
    lines: list[bytes] = []
    commands: tuple[cmd.Command, ...] = (
        cmd.Start.of(definition, name, f"past-{number}", session=session),
        cmd.Begin("step-1"),
        cmd.Done("step-1"),
    )
    for command in commands:
        events = decide(state, cmd.Request(command, actor), facts)
        record = Record(len(lines) + 1, facts.now, actor, "past", events)
        state = fold(state, record)
        lines.append(encode_record(record).encode())
    path = store.file_of(name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(framed(lines))
    assert state is not None
    return entry_of(state)


def framed(bodies: list[bytes]) -> bytes:
    """The journal that these bodies make, without a file."""
    from holdfast.stores.lines import FIRST, head, seal

    out, before = b"", FIRST
    for seq, body in enumerate(bodies, 1):
        text = head(seq, seq - 1, before) + body[1:-1]
        line = text + seal(text)
        out, before = out + line, line[-19:-3].decode()
    return out
