"""Any command as a host: a table `[runner.hosts.NAME]` says how it is started and where its events have the cost."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.machine.running import Custom
from holdfast.runner.events import Began, Called, Event, Limited, Total, Used
from holdfast.runner.events import Tokens as _Tokens
from holdfast.runner.host import RIGHTS, Order, Started, count, digest_of, micros, short, table, text


class Command:
    """Its own exit code says how a turn ended. Each line of its output is a sign of life."""

    rights = RIGHTS

    def __init__(self, name: str, asked: Custom, passed: tuple[str, ...]) -> None:
        self.name, self._asked, self.variables = name, asked, passed
        self.program = asked.run[0]
        self.tells_cost, self.is_sum = bool(asked.cost), asked.is_sum
        self._lines = 0

    def start(self, order: Order) -> Started:
        blanks = {"{prompt_file}": order.prompt, "{session}": order.session, "{folder}": order.folder}
        blanks["{rights}"] = order.rights
        words = [_filled(word, blanks) for word in self._asked.run]
        takes = any("{prompt_file}" in word for word in self._asked.run)
        return Started(tuple(words), "" if takes else order.prompt)

    def read(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        found: list[Event] = [Began(text(line.get("session")))] if line.get("session") else []
        if line.get("tool"):
            found.append(Called(text(line.get("tool")), short(line.get("input")), digest_of(line)))
        if line.get("limited") is not None:
            found.append(Limited(count(line.get("limited"))))
        cost = micros(_at(line, self._asked.cost)) if self._asked.cost else None
        if cost is not None:
            self._lines += 1
            found.append(Total(cost) if self.is_sum else Used(f"line-{self._lines}", "", _Tokens(), cost))
        return tuple(found)

    def failed(self, said: str) -> Event | None:
        return None


def _filled(word: str, blanks: Mapping[str, str]) -> str:
    for blank, value in blanks.items():
        word = word.replace(blank, value)
    return word


def _at(line: Mapping[str, Any], path: str) -> Any:
    """What is at a path such as `usage.cost_usd`."""
    value: Any = line
    for name in path.split("."):
        value = table(value).get(name)
    return value
