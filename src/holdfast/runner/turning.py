"""One turn of a host: started, watched, booked as it goes, and ended when it is over or has to be."""

from __future__ import annotations

import time
from _collections_abc import Callable, Mapping

from holdfast.core.value import Value
from holdfast.runner.events import Began, Called, Denied, Ended, Event, Limited, Said, Total, Used
from holdfast.runner.folder import LARGEST, NOW, Folder, read_lines
from holdfast.runner.host import Host, Order
from holdfast.runner.ledger import Ledger, Spending
from holdfast.runner.meter import Meter
from holdfast.runner.process import Process

TICK = 0.05
SAME = 5
"""How often in a row an agent may call the same tool with the same input."""
OVER, FAILED, STALLED, LIMITED, MISSING, STOPPED, BOUND = (
    *("over", "failed", "stalled", "limited", "missing", "stopped", "bound"),
)
_BESIDE = 2.0
"""Seconds between two looks at what can end a turn and is not cheap to see."""


class Outcome(Value):
    """How a turn ended, and what is known of it."""

    kind: str
    said: str = ""
    wait: float = 0
    """Seconds for which the model's service wants to be left alone, where it said so."""
    denied: tuple[str, ...] = ()
    words: str = ""
    """The agent's last words."""


class Watch(Value):
    """What a turn is watched for."""

    spend: Spending
    enough: Callable[[], str]
    """Why the turn has to end by a bound; empty while it may continue."""
    beat: Callable[[], None]
    """Called now and then: a sign of life."""
    stopping: Callable[[], str]
    """`now` where the turn has to end at once."""
    show: Callable[[Mapping[str, object]], None]
    """Told how the turn stands."""


class Turn:
    def __init__(self, host: Host, order: Order, ledger: Ledger, meter: Meter, folder: Folder, watch: Watch) -> None:
        self._host, self._order, self._ledger, self._meter = host, order, ledger, meter
        self._folder, self._watch = folder, watch
        self._began = self._heard = time.monotonic()
        self._offset = 0
        self._last, self._same = "", 0
        self._tool = self._words = ""
        self._tools = 0
        self._denied: list[str] = []
        self._ended: Ended | None = None
        self._limited: Limited | None = None
        self._looked = 0.0

    def run(self, env: Mapping[str, str]) -> Outcome:
        order, ledger = self._order, self._ledger
        started = self._host.start(order)
        ledger.begin(self._host.name, ledger.step)
        self._offset = ledger.offset
        process = Process(started, order.folder, env, self._folder, ledger.session)
        why = Outcome("")
        try:
            code = None
            while code is None and not why.kind:
                code = process.code  # asked first: what the host wrote before its end is read
                self._read()
                if code is None:
                    why = self._to_end()
                    process.wait(TICK)
        finally:
            code = process.end()
        self._read()
        ledger.end(self._meter, self._watch.spend)
        found = why if why.kind else self._judged(code)
        return found.replace(denied=tuple(dict.fromkeys(self._denied)), words=self._words[-500:])

    def _read(self) -> None:
        """What the host said since the last look; what it cost is booked at once."""
        heard = False
        for offset, line in read_lines(self._folder.file(f"{self._ledger.session}.jsonl"), self._offset):
            self._offset, heard = offset, True
            for event in self._host.read(line):
                self._take(event)
        if heard:
            self._heard = time.monotonic()
            self._ledger.settle(self._meter, self._watch.spend)

    def _take(self, event: Event) -> None:
        match event:
            case Began():
                self._ledger.know(event.session)
            case Used() | Total():
                self._meter.take(event)
            case Called():
                self._tools += 1
                self._same = self._same + 1 if event.digest == self._last else 1
                self._last, self._tool = event.digest, f"{event.tool} {event.shown}".strip()
            case Denied():
                self._denied.append(event.tool)
            case Limited():
                self._limited = event
            case Said():
                self._words = event.text or self._words
            case Ended():
                self._ended = event

    def _to_end(self) -> Outcome:
        """Why the turn has to end before the host ends it."""
        now, running = time.monotonic(), self._order.running
        self._watch.show(
            {"tool": self._tool, "tools": self._tools, "seconds": now - self._began, "silent": now - self._heard}
        )
        if self._watch.stopping() == NOW:
            return Outcome(STOPPED, "it was stopped")
        if said := self._watch.enough():
            return Outcome(BOUND, said)
        if self._limited is not None:
            return Outcome(LIMITED, "the model's service limits requests", self._limited.seconds)
        if now - self._heard > running.stall:
            return Outcome(STALLED, f"it said nothing for {int(now - self._heard)} seconds")
        if self._same >= SAME:
            return Outcome(STALLED, f"it called the same tool with the same input {self._same} times: {self._tool}")
        if now - self._began > running.turn_time:
            return Outcome(STALLED, f"its turn took longer than {running.turn_time} seconds")
        if now - self._looked > _BESIDE:
            self._looked = now
            self._watch.beat()
            if self._folder.size(f"{self._ledger.session}.jsonl") > LARGEST:
                return Outcome(STALLED, f"its session said more than {LARGEST >> 20} MiB")
        return Outcome("")

    def _judged(self, code: int) -> Outcome:
        said = self._folder.end_of(f"{self._ledger.session}.err")
        ended = self._ended
        if code != 0 and ended is None:
            found = self._host.failed(said)
            ended = found if isinstance(found, Ended) else None
        if ended is not None and ended.is_missing:
            return Outcome(MISSING, ended.failure)
        if self._limited is not None and (code != 0 or (ended is not None and ended.failure)):
            return Outcome(LIMITED, "the model's service limits requests", self._limited.seconds)
        if code == 0 and (ended is None or not ended.failure):
            return Outcome(OVER)
        why = (ended.failure if ended is not None else "") or _reason(said) or f"exit code {code}"
        is_limit = code != 0 and ended is not None and not ended.failure  # its own limit of requests
        return Outcome(OVER) if is_limit else Outcome(FAILED, why[:500])


def _reason(said: str) -> str:
    """The last line of what a host printed that is no advice."""
    lines = [line for line in said.split("\n") if line.strip() and not line.startswith("→")]
    return lines[-1] if lines else ""


def counted_again(host: Host, ledger: Ledger, meter: Meter, folder: Folder, spend: Spending) -> None:
    """Counts a turn to its end that a runner began which died: what the host said since is in its file."""
    for _, line in read_lines(folder.file(f"{ledger.session}.jsonl"), ledger.offset):
        for event in host.read(line):
            if isinstance(event, Began):
                ledger.know(event.session)
            elif isinstance(event, Used | Total):
                meter.take(event)
    ledger.end(meter, spend)
