"""Plays a workflow through the real rules, on a clock that moves only when told to."""

from __future__ import annotations

from typing import Any

from holdfast.core import commands as cmd
from holdfast.core import moment, reading
from holdfast.core.apply import Record, fold
from holdfast.core.decide import decide
from holdfast.core.facts import Facts
from holdfast.core.state import Actor, Evidence, State
from holdfast.plain.digest import digest
from holdfast.systems.seam.registry import rules
from tests.core.play import SECRET, held

NOON = moment.to_epoch("2026-01-31T12:00:00Z")
PERSON = Actor("human", "ada", "cli")
CODER = Actor("agent", "coder", "mcp")
REVIEWER = Actor("agent", "reviewer", "mcp")


class Story:
    """Each `do` happens `after` seconds after the one before it."""

    def __init__(self, *steps: dict, bounds: dict | None = None, **start: Any) -> None:
        self.now = NOON
        self.records: list[Record] = []
        self.world: dict[str, Any] = {}
        made = reading.read({"name": "release", "bounds": bounds or {}, "step": list(steps)})
        begun = cmd.Start.of(made, "01JZ0000000000000000000000", "release-1", **start)
        self._state: State | None = None
        self.do(begun, PERSON, after=0)

    @property
    def state(self) -> State:
        assert self._state is not None
        return self._state

    def do(self, command: cmd.Command, actor: Actor = CODER, *, after: float = 60, token: int = 0) -> Story:
        self.now += after
        facts = self.facts()
        if isinstance(command, cmd.StartAgent):
            command = command.replace(key=digest(SECRET.encode()))
        events = decide(self._state, cmd.Request(command, actor, held(token)), facts, rules)
        record = Record(len(self.records) + 1, facts.now, actor, type(command).__name__.lower(), events)
        self.records.append(record)
        self._state = fold(self._state, record)
        return self

    def facts(self, after: float = 0, **world: Any) -> Facts:
        """The world as it is so many seconds after the last command."""
        now = self.now + after
        seen: dict[str, Any] = {"boot": "boot", "mono": now - NOON, **self.world, **world}
        return Facts(now=moment.from_epoch(now), **seen)

    def check(self, step: str, name: str, passed: bool, *, token: int = 0, **seen: Any) -> Story:
        """Records a check a minute after what was before."""
        at = moment.from_epoch(self.now + 60)
        seen = {"run_by": "engine", **seen}
        return self.do(cmd.RecordCheck(step, name, Evidence(passed, at, 0, **seen)), token=token)
