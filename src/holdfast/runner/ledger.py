"""What was booked of the cost of one session: each amount once, however often a runner dies in between.

A line is written before the amount is booked in the journal under a key that names the line. A runner that comes later
books what has a line and no key; what the host said after the last line, it reads again.
"""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core.value import Any
from holdfast.runner.events import Tokens
from holdfast.runner.folder import Folder
from holdfast.runner.meter import Meter, Seen

Spending = Callable[[int, str, str], None]
"""Books micro-dollars for a step, under a key."""


class Ledger:
    def __init__(self, folder: Folder, session: str) -> None:
        self._folder, self.session = folder, session
        self.file = f"{session}.ledger"
        self.turns = 0
        self.offset = 0
        """Where the output of the turn that began last begins."""
        self.step = ""
        self.host = ""
        self.known = ""
        """The host's own id of the session."""
        self.seen = Seen()
        self.is_over = True
        """Whether the turn that began last was counted to its end."""
        self._target = 0
        """What all turns that are over came to."""
        self._booked: dict[int, tuple[int, str]] = {}
        for line in folder.lines(self.file):
            self._read(line)

    def _read(self, line: dict[str, Any]) -> None:
        if "turn" in line:
            self.turns, self.offset, self.step = line["turn"], line["at"], line["step"]
            self.host, self.is_over = line["host"], False
        elif "known" in line:
            self.known = line["known"]
        elif "book" in line:
            self._booked[line["book"]] = line["micros"], line["step"]
        elif "over" in line:
            self._target, self.is_over = line["over"], True
            self.seen = Seen(line["cost"], Tokens(*line["tokens"]), line["loose"])

    def begin(self, host: str, step: str) -> None:
        at = self._folder.size(f"{self.session}.jsonl")
        self._write({"turn": self.turns + 1, "at": at, "step": step, "host": host})

    def know(self, session: str) -> None:
        """The host's id of the session, as soon as it says it."""
        if session and session != self.known:
            self._write({"known": session})

    def lose(self) -> None:
        """The host does not have the session any more."""
        self._write({"known": ""})

    def settle(self, meter: Meter, spend: Spending) -> None:
        """Books what the turn cost so far and is not booked. What was booked too much is taken off what comes next."""
        due = self._target + meter.micros - sum(micros for micros, _ in self._booked.values())
        if due > 0:
            number = len(self._booked) + 1
            self._write({"book": number, "micros": due, "step": self.step})
            self._spend(number, spend)

    def end(self, meter: Meter, spend: Spending) -> None:
        meter.close()
        self.settle(meter, spend)
        seen = meter.seen
        tokens = [seen.tokens.given, seen.tokens.written, seen.tokens.cached, seen.tokens.kept]
        over = self._target + meter.micros
        self._write({"over": over, "cost": seen.cost, "tokens": tokens, "loose": seen.loose})

    def repeat(self, is_known: Callable[[str], bool], spend: Spending) -> None:
        """Books the last lines whose amounts a runner that died did not book."""
        for number in sorted(self._booked)[-2:]:
            if not is_known(self._key(number)):
                self._spend(number, spend)

    def _spend(self, number: int, spend: Spending) -> None:
        micros, step = self._booked[number]
        spend(micros, step, self._key(number))

    def _key(self, number: int) -> str:
        return f"spend.{self.session}.{number}"

    def _write(self, line: dict[str, Any]) -> None:
        self._folder.append(self.file, line)
        self._read(line)
