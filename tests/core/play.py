"""A play: given a definition and commands, when one more command comes, then events or a refusal.

Time is a number that only the play moves, files are a mapping of paths to content, and who acts is said each time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from holdfast.core import moment
from holdfast.core.apply import Record, fold, replay
from holdfast.core.commands import (
    PARTLY,
    Adopt,
    Approve,
    Begin,
    Command,
    Done,
    Edit,
    Part,
    RecordCheck,
    Request,
    Review,
    Start,
    StartAgent,
    Submit,
)
from holdfast.core.decide import decide
from holdfast.core.definition import Definition
from holdfast.core.events import Event, Moved
from holdfast.core.facts import Facts
from holdfast.core.gates import Unmet
from holdfast.core.plan import Plan
from holdfast.core.reading import read
from holdfast.core.remedy import Scope, told
from holdfast.core.state import Actor, Artifact, Evidence, Grant, Progress, State
from holdfast.errors import HoldfastError, Refused
from holdfast.plain.digest import digest
from holdfast.systems.seam.registry import rules

PERSON = Actor("human", "ada", "terminal")
AGENT = Actor("agent", "coder", "command line", "session-1")
OTHER_AGENT = Actor("agent", "coder", "command line", "session-2")
REVIEWER = Actor("agent", "reviewer", "command line", "session-3")
FILE = Actor("file")

NINE = moment.to_epoch("2026-01-01T09:00:00Z")
MINUTE, HOUR = 60, 3600
DOLLAR = 1_000_000


def kept(command: Command, decide: Callable[[Command], tuple[Event, ...]]) -> tuple[Event, ...]:
    """The events of a command; of an edit that is taken in part, once its original is kept with what became of it."""
    try:
        return decide(command)
    except Refused as partly:
        if partly.code != PARTLY:
            raise
        assert isinstance(command, Edit)
        return decide(command.replace(kept="quarantine/copy.json", told=tuple(partly.facts["told"])))


def step(its_id: str, /, *children: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """A step as a definition file has it."""
    return {"id": its_id, **keys, **({"step": list(children)} if children else {})}


def definition(*steps: dict[str, Any], **keys: Any) -> Definition:
    return read({"name": "release", "step": list(steps), **keys})


def passed(**seen: Any) -> Evidence:
    """What a check leaves when it passed; the attempt and who it was are filled in by the rules."""
    return Evidence(passed=True, at="", attempt=0, **seen)


def failed(**seen: Any) -> Evidence:
    return Evidence(passed=False, at="", attempt=0, **seen)


SECRET = "5" * 32


def held(lease: int) -> str:
    """The token of a lease, by its number."""
    return f"{lease}-{SECRET}" if lease else ""


class Play:
    """One workflow and the world around it."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.states: list[State] = []
        self.seconds = NINE
        self.mono = 1000.0
        self.world: dict[str, Any] = {"boot": "boot-1", "tree": None, "head": None}
        self.files: dict[str, tuple[str, int] | None] = {}

    @property
    def state(self) -> State:
        return self.states[-1]

    @property
    def now(self) -> str:
        return moment.from_epoch(self.seconds)

    def facts(self, **more: Any) -> Facts:
        return Facts(now=self.now, mono=self.mono, hashes=dict(self.files), **{**self.world, **more})

    def wait(self, seconds: float) -> Play:
        """Both clocks continue."""
        self.seconds += seconds
        self.mono += seconds
        return self

    def write(self, path: str, content: str) -> Play:
        self.files[path] = (f"hash of {content}", len(content))
        return self

    def remove(self, path: str) -> Play:
        self.files[path] = None
        return self

    def decide(
        self, command: Command, by: Actor = AGENT, token: int = 0, key: str = "", payload: str = "", **facts: Any
    ):
        """The events a command would lead to; nothing is kept."""
        state = self.states[-1] if self.states else None
        if isinstance(command, StartAgent) and not command.agent:
            command = command.replace(key=command.key or digest(SECRET.encode()))
        return decide(state, Request(command, by, held(token), key, payload), self.facts(**facts), rules)

    def do(self, *commands: Command, by: Actor = AGENT, token: int = 0, key: str = "", payload: str = "", **facts: Any):
        """Carries commands out, one record each; returns the events of the last."""
        events: tuple[Event, ...] = ()
        for command in commands:
            events = kept(command, lambda one: self.decide(one, by, token, key, payload, **facts))
            if events or key:
                self.keep(events, by, type(command).__name__, key, payload)
        return events

    def keep(self, events: tuple[Event, ...], by: Actor, command: str = "", key: str = "", payload: str = "") -> None:
        record = Record(len(self.records) + 1, self.now, by, command, events, key, payload)
        self.records.append(record)
        self.states.append(fold(self.states[-1] if self.states else None, record))

    def refuses(self, command: Command, code: str, **how: Any) -> HoldfastError:
        """The refusal of a command; nothing may have changed by it."""
        with pytest.raises(HoldfastError) as caught:
            self.decide(command, **how)
        assert caught.value.code == code
        assert caught.value.message
        assert caught.value.remedy
        assert replay(self.records) == self.state
        return caught.value

    def typed(self, refused: HoldfastError | Unmet, *, person: bool = True) -> str:
        """What leads on, as it is typed where this workflow is picked without `-w`."""
        return told(refused.remedies, Scope(self.state.ulid, about=self.state.ulid, person=person))

    def unchanged_by(self, command: Command, **how: Any) -> None:
        assert self.decide(command, **how) == ()

    def status(self, path: str) -> str:
        return self.state.step(path).status

    def statuses(self) -> dict[str, str]:
        return {path: self.status(path) for path in self.state.plan.paths}

    def check(self, path: str, name: str, evidence: Evidence | None = None, **how: Any):
        return self.do(RecordCheck(path, name, evidence or passed()), **how)

    def finish(self, *paths: str) -> Play:
        """Begins and finishes steps that have no gates."""
        for path in paths:
            self.do(Begin(path), Done(path))
        return self

    def approved(self, path: str, **artifacts: str) -> Play:
        """A step with an approval, done with these artifacts and approved by a person."""
        self.do(Begin(path), Done(path, artifacts))
        self.do(Approve(path), by=PERSON)
        return self

    def send_back(self, path: str, times: int) -> Play:
        """Reviews that ask for a revision, as often as said."""
        for number in range(times):
            self.do(Submit(path))
            self.do(Review(path, "needs_revision", f"round {number + 1}"), by=PERSON)
        return self


def given(*steps: dict[str, Any], bounds: Mapping[str, Any] | None = None, **start: Any) -> Play:
    """A workflow that was just started."""
    play = Play()
    keys = {"bounds": bounds} if bounds else {}
    play.do(Start.of(definition(*steps, **keys), "0" * 26, "release-1", **start))
    return play


def adopted(*steps: dict[str, Any], **progress: Progress) -> Play:
    """A workflow that was taken over from a document; double underscores stand for the slashes of a path."""
    play = Play()
    at = {path.replace("__", "/"): where for path, where in progress.items()}
    plan = Plan(definition(*steps).steps)
    state = State(ulid="0" * 26, id="release-1", type="release", plan=plan, progress=at)
    play.do(Adopt(state, {"status": "as found"}))
    return play


def claimed_grant(hashes: Mapping[str, str] | None = None) -> Grant:
    return Grant("2025-12-31T00:00:00Z", "a document", "document", 1, hashes or {})


def artifact(path: str, content: str) -> Artifact:
    return Artifact(path, f"hash of {content}", "2025-12-31T00:00:00Z", len(content))


def edit(*commands: Command, source: str = "file", **more: Any) -> Edit:
    """An edit of which all commands are one part."""
    parts = (Part("all", commands=commands, **more),) if commands or more else ()
    return Edit("state.json", {"edited": True}, {}, parts, source)


def moves(events: tuple[Event, ...]) -> list[tuple[str, str]]:
    """What the events did to steps, as (move, path)."""
    return [(event.move, event.step) for event in events if isinstance(event, Moved)]


def only(events: tuple[Event, ...], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]
