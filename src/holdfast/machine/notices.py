"""The table `[notify]` of the user's own settings: which news are sent to them, and how.

A project cannot have one: its files come with a clone, and what they name would run on every machine.
"""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core.moment import read_span
from holdfast.core.names import unknown_key
from holdfast.core.value import Any, Value
from holdfast.machine import users
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import object_in

KINDS = ("person", "escalated", "failed", "done", "approvers")
"""A person's decision is waited for, a step is escalated or has failed, a workflow is done, who may approve changed."""
RECORD = "notified.json"
"""In the project's private folder: what was sent, and what kept the last ones from being sent."""
FAILURES, REST = 3, 3600.0
"""So many failures in a row let it rest for so many seconds."""
LARGEST_RECORD = 1 << 20
_LONGEST_QUIET = 86_400


class Notices(Value):
    on: tuple[str, ...] = KINDS
    desktop: bool = True
    run: tuple[str, ...] = ()
    """A command that gets each notification as JSON on standard input; no shell reads it."""
    quiet: int = 30
    """Seconds after a notification in which no other one of the same workflow is sent."""


def read(config_dir: str) -> Notices | None:
    """What the user's settings say; None where they have no such table."""
    table = users.config(config_dir).get("notify")
    if table is None:
        return None
    wrong = list(_mistakes(table))
    if wrong:
        raise users.bad_config(config_dir, f"notify: {'; '.join(wrong)}")
    given: dict[str, Any] = {name: table[name] for name in ("desktop",) if name in table}
    given |= {name: tuple(table[name]) for name in ("on", "run") if name in table}
    given |= {"quiet": read_span(table["quiet"])} if "quiet" in table else {}
    return Notices(**given)


def kept(home: str) -> dict[str, Any]:
    """The record as data; empty where there is none that can be read."""
    return object_in(read_regular(os.path.join(home, RECORD), LARGEST_RECORD) or b"") or {}


def resting(home: str) -> tuple[float, str]:
    """Until when nothing is sent, in seconds since 1970, and why."""
    found = kept(home)
    until = found.get("rests_until")
    return float(until) if isinstance(until, (int, float)) else 0.0, str(found.get("why") or "")


def _mistakes(table: Any) -> Iterator[str]:
    """Every mistake in the table, each in a sentence."""
    if not isinstance(table, dict):
        yield "it is a table such as [notify] with desktop = true"
        return
    known = ("on", "desktop", "run", "quiet")
    yield from (unknown_key(key, known) for key in table if key not in known)
    on, run = table.get("on", []), table.get("run", [])
    if not isinstance(on, list) or any(one not in KINDS for one in on):
        yield f"on is a list of some of {', '.join(KINDS)}"
    if not isinstance(table.get("desktop", True), bool):
        yield "desktop is true or false"
    if not isinstance(run, list) or not all(isinstance(word, str) and "\0" not in word for word in run):
        yield 'run is a list of words such as ["curl", "-s", "-d", "@-", "https://…"], no shell'
    elif run and not os.path.basename(run[0]):
        yield "run begins with a program"
    quiet = table.get("quiet", "30s")
    seconds = read_span(quiet) if isinstance(quiet, str) else 0
    if not seconds or seconds > _LONGEST_QUIET:
        yield 'quiet is a time such as "30s", at most a day'
