"""Other libraries that keep the state of a workflow in SQLite, each making the same durable step.

They are installed by `make bench` only. Each keeps a document of the size of ours, in a database with a write-ahead log
and `synchronous=FULL`, which is what makes a commit durable there.
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from typing import Any, TypedDict

Operation = Callable[[], object]
WAIT = 60
"""Seconds that a writer waits for another one's transaction."""


class Document(TypedDict):
    text: str
    turn: int


def opened(what: str, path: str, text: str) -> Operation | None:
    """One step of a peer on a database, new or not. Says so in a line, and gives None, where it is not installed."""
    base = _connected(path)
    base.execute("pragma journal_mode=wal")
    base.close()
    try:
        return PEERS[what](path, text)
    except ImportError as missing:
        print(f"  {what}: not measured, {missing.name} is not installed (make bench)", flush=True)
        return None


def each(folder: str, text: str) -> dict[str, Operation]:
    """One step of every peer that is installed, each on a database of its own."""
    os.makedirs(folder)
    found = {what: opened(what, os.path.join(folder, f"{at}.db"), text) for at, what in enumerate(PEERS)}
    return {what: operation for what, operation in found.items() if operation}


def _connected(path: str) -> sqlite3.Connection:
    base = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
    base.execute("pragma synchronous=full")
    return base


def _langgraph_saver(path: str, text: str) -> Operation:
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    saver = SqliteSaver(_connected(path))
    config: Any = {"configurable": {"thread_id": "one", "checkpoint_ns": ""}}
    saver.put(config, {**empty_checkpoint(), "channel_values": {"text": text, "turn": 0}}, {}, {})

    def step() -> None:
        values = saver.get(config)["channel_values"]
        after = {**empty_checkpoint(), "channel_values": {**values, "turn": values["turn"] + 1}}
        saver.put(config, after, {}, {})

    return step


def _langgraph_node(path: str, text: str) -> Operation:
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def node(state: Document) -> Document:
        return {"text": text, "turn": state["turn"] + 1}

    graph = StateGraph(Document).add_node("node", node).add_edge(START, "node").add_edge("node", END)
    compiled = graph.compile(checkpointer=SqliteSaver(_connected(path)))
    config = {"configurable": {"thread_id": "one"}}
    return lambda: compiled.invoke({"turn": 0}, config, durability="sync")


def _dbos(path: str, text: str) -> Operation:
    from dbos import DBOS

    logging.getLogger("dbos").setLevel(logging.ERROR)
    DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{path}", "log_level": "ERROR"})
    step = DBOS.step(name="step")(lambda: text)
    workflow: Operation = DBOS.workflow(name="bench")(lambda: step())
    DBOS.launch()
    return workflow


def _eventsourcing(path: str, text: str) -> Operation:
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Workflow(Aggregate):  # type: ignore[misc]  # unknown where it is not installed
        @event("Changed")
        def change(self, text: str) -> None:
            self.text = text

    environment = {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": path,
        "SQLITE_LOCK_TIMEOUT": str(WAIT),
    }
    application, workflow = Application(environment), Workflow()

    def step() -> None:
        workflow.change(text)
        application.save(workflow)

    return step


def _burr(path: str, text: str) -> Operation:
    from burr.core import ApplicationBuilder, State, action
    from burr.core.persistence import SQLitePersister

    @action(reads=["turn"], writes=["text", "turn"])
    def step(state: State) -> State:
        return state.update(text=text, turn=state["turn"] + 1)

    persister = SQLitePersister(path, connect_kwargs={"timeout": WAIT, "check_same_thread": False})
    persister.initialize()
    application = (
        ApplicationBuilder()
        .with_actions(step)
        .with_transitions(("step", "step"))
        .with_entrypoint("step")
        .with_state(text=text, turn=0)
        .with_state_persister(persister)
        .build()
    )
    return lambda: application.step()


PEERS: dict[str, Callable[[str, str], Operation]] = {
    "LangGraph SqliteSaver: get and put a checkpoint": _langgraph_saver,
    "LangGraph: invoke a graph of one node": _langgraph_node,
    "DBOS: a workflow of one step": _dbos,
    "eventsourcing: save one event of an aggregate": _eventsourcing,
    "Burr: one action, its state saved": _burr,
}
