"""The table `[runner]` of a project's settings: with what, with which rights and how long `holdfast run` runs hosts."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core.names import unknown_key
from holdfast.core.value import Any, Value
from holdfast.errors import UsageError
from holdfast.machine.configuration import CONFIG, Mistake, parse
from holdfast.plain.digest import digest

HOSTS = ("claude", "codex", "opencode")
RIGHTS = ("read", "edits", "all")
_CUSTOM = ("run", "cost", "sum")
_PRICE = ("input", "output", "cached", "kept")
_DEFAULTS = {"turn_time": "45m", "stall": "10m", "backoff": "30s"}


class Custom(Value):
    """A host of the project's own."""

    run: tuple[str, ...]
    cost: str = ""
    """Where an event has dollars: `usage.cost_usd`."""
    is_sum: bool = False
    """Whether these are of the whole session."""


class Price(Value):
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float
    """Read from a cache."""
    kept: float
    """Written to a cache."""


class Running(Value):
    host: str = ""
    model: str = ""
    turn_time: int = 2700
    max_turns: int = 60
    stall: int = 600
    turns: int = 20
    backoff: int = 30
    rights: str = "edits"
    sandbox: bool = False
    allow: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    hosts: Mapping[str, Custom] = {}
    prices: Mapping[str, Price] = {}

    def price(self, *names: str) -> Price | None:
        """The price of the first of these models or hosts that has one."""
        return next((self.prices[name] for name in names if name in self.prices), None)


def running(root: str) -> Running:
    """Raises one error that lists every mistake."""
    parsed = parse(root)
    if parsed is None or "runner" not in parsed.data:
        return Running()
    table = parsed.data["runner"]
    if not isinstance(table, dict):
        parsed.report([(("runner",), 'runner is a table such as [runner] with host = "claude"')])
    wrong: list[Mistake] = []
    known = (*("host", "model", "turn_time", "max_turns", "stall", "turns", "backoff"),
             *("rights", "sandbox", "allow", "env", "hosts", "prices"))  # fmt: skip
    wrong += [(("runner", key), unknown_key(key, known)) for key in table if key not in known]
    given = {**_texts(table, wrong), **_spans(table, wrong), **_wholes(table, wrong), **_lists(table, wrong)}
    sandbox = table.get("sandbox", False)
    if not isinstance(sandbox, bool):
        wrong.append((("runner", "sandbox"), "sandbox is true or false"))
    if table.get("rights") == "all" and sandbox is not True:
        said = 'rights = "all" lets agents do what you can do: it needs sandbox = true, which says that a sandbox keeps'
        wrong.append((("runner", "rights"), f"{said} them from everything else"))
    hosts, prices = _hosts(table.get("hosts", {}), wrong), _prices(table.get("prices", {}), wrong)
    host = given.get("host", "")
    if host and host not in (*HOSTS, *hosts):
        wrong.append((("runner", "host"), f"host is one of {', '.join((*HOSTS, *hosts))}"))
    parsed.report(wrong)
    return Running(**given, sandbox=sandbox, hosts=hosts, prices=prices)


def trusted(root: str, is_trusted: Callable[[str, str], bool]) -> Running:
    """The same, refused where nobody on this machine trusts the file: it says what runs, and with which rights."""
    found = running(root)
    parsed = parse(root)
    if parsed is None or "runner" not in parsed.data:
        return found
    if not is_trusted(digest(parsed.text.encode()), os.path.join(root, CONFIG)):
        from holdfast.core.refusals import untrusted

        raise untrusted(CONFIG)
    return found


def offered(root: str) -> tuple[tuple[tuple[str, str, tuple[str, ...]], ...], tuple[tuple[str, str], ...]]:
    """What somebody trusts with it: commands, and what agents may do beside editing files."""
    found = running(root)
    commands = tuple(("runner", name, host.run) for name, host in found.hosts.items())
    told = [("runner · rights", "agents run with all rights of the user")] if found.rights == "all" else []
    told += [("runner · allow", ", ".join(found.allow))] if found.allow else []
    told += [("runner · env", f"agents get {', '.join(found.env)}")] if found.env else []
    return commands, tuple(told)


def _texts(table: Mapping[str, Any], wrong: list[Mistake]) -> dict[str, Any]:
    found = {key: table[key] for key in ("host", "model", "rights") if key in table}
    for key, value in found.items():
        if key == "rights" and value not in RIGHTS:
            wrong.append((("runner", key), f"rights is one of {', '.join(RIGHTS)}"))
        elif not isinstance(value, str) or not value or value.startswith("-"):
            wrong.append((("runner", key), f"{key} is a name"))
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _spans(table: Mapping[str, Any], wrong: list[Mistake]) -> dict[str, Any]:
    from holdfast.core.moment import read_span

    found = {key: read_span(table[key]) for key in _DEFAULTS if key in table}
    missing = [key for key, value in found.items() if value is None]
    wrong += [(("runner", key), f'{key} is a span of time such as "{_DEFAULTS[key]}"') for key in missing]
    return {key: value for key, value in found.items() if value}


def _wholes(table: Mapping[str, Any], wrong: list[Mistake]) -> dict[str, Any]:
    found = {key: table[key] for key in ("max_turns", "turns") if key in table}
    for key, value in found.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10_000:
            wrong.append((("runner", key), f"{key} is a number from 1 to 10000"))
    return found


def _lists(table: Mapping[str, Any], wrong: list[Mistake]) -> dict[str, Any]:
    found = {}
    for key, example in (("allow", "Bash(pytest *)"), ("env", "ANTHROPIC_API_KEY")):
        value = table.get(key, [])
        if not _are_words(value) or (key == "env" and any("=" in one for one in value)):
            wrong.append((("runner", key), f'{key} is a list such as ["{example}"]'))
        else:
            found[key] = tuple(value)
    return found


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one and "\0" not in one for one in value)


def _hosts(table: Any, wrong: list[Mistake]) -> dict[str, Custom]:
    if not isinstance(table, dict):
        wrong.append((("runner", "hosts"), "hosts is a table such as [runner.hosts.mine]"))
        return {}
    found = {}
    for name, one in table.items():
        at = ("runner", "hosts", name)
        if not isinstance(one, dict) or not _are_words(one.get("run")) or not one["run"]:
            wrong.append((at, 'a host has run = ["my-agent", "{prompt_file}"]'))
            continue
        wrong += [((*at, key), unknown_key(key, _CUSTOM)) for key in one if key not in _CUSTOM]
        if name in HOSTS:
            wrong.append((at, f"{name} is a host that comes with Holdfast: choose another name"))
        cost, is_sum = one.get("cost", ""), one.get("sum", False)
        if not isinstance(cost, str) or not isinstance(is_sum, bool):
            wrong.append((at, 'cost is a path in an event such as "usage.cost_usd", and sum is true or false'))
            continue
        found[name] = Custom(tuple(one["run"]), cost, is_sum)
    return found


def _prices(table: Any, wrong: list[Mistake]) -> dict[str, Price]:
    found = {}
    for name, one in table.items() if isinstance(table, dict) else ():
        numbers = isinstance(one, dict) and all(_is_amount(value) for value in one.values())
        if not numbers or not {"input", "output"} <= {*one} or not {*one} <= {*_PRICE}:
            said = (
                f"a price has input and output, in dollars for a million tokens, and may have {_PRICE[2]}, {_PRICE[3]}"
            )
            wrong.append((("runner", "prices", name), said))
            continue
        given = one["input"]
        found[name] = Price(given, one["output"], one.get("cached", given), one.get("kept", given))
    if not isinstance(table, dict):
        wrong.append((("runner", "prices"), 'prices is a table such as [runner.prices."MODEL"]'))
    return found


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def no_rights(host: str, rights: str, known: tuple[str, ...]) -> UsageError:
    said = f"{host} cannot be held to the rights {rights!r}, only to {' or '.join(map(repr, known))}"
    return UsageError("no_rights", said, remedy=f"change rights in {CONFIG}", facts={"host": host, "rights": rights})


def no_host(word: str, known: tuple[str, ...]) -> UsageError:
    from holdfast.core.remedy import Blank, Remedy

    way = Remedy("run", {"host": Blank("HOST")}, text=f"one of {', '.join(known)}")
    return UsageError("no_host", f"there is no host {word[:80]!r} to run", remedy=way, facts={"host": word[:80]})
