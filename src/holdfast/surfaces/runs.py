"""What every surface says of `holdfast run`: the turn of an agent while it runs, then why a person is needed."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import moment
from holdfast.core.state import State
from holdfast.core.value import Any

_CLOCKS = ("at", "seconds", "silent", "waits")
"""What changes by itself while nothing happens."""


def of(home: str, state: State) -> dict[str, Any]:
    """How the turn of an agent stands. After a run that ended for a person, why, until something happens."""
    folder = os.path.join(home, "runs", state.ulid)
    if not any(os.path.exists(os.path.join(folder, name)) for name in ("now", "ended")):
        return {}
    from holdfast.runner.folder import Folder

    return Folder(home, state.ulid).standing(state.revision)


def line(run: Mapping[str, Any]) -> str:
    if not run:
        return ""
    if "ended" in run:
        return f"the run {'failed' if run['ended'] == 'failed' else 'ended'}: {run['message']}"
    if "waits" in run:
        return f"a run waits {moment.span(run['waits'])} for the model's service"
    if "checks" in run:
        return f"a run has checks of {run['checks']} running, {moment.span(run['seconds'])}"
    who = f" as {run['role']}" if run.get("role") else ""
    said = f"a run is at {run['step'] or 'the end'}: turn {run['turn']} of {run['host']}{who}"
    return f"{said}, {moment.span(run['seconds'])}" + (f", {run['tool']}" if run["tool"] else "")


class Turns:
    """Whether a turn changed since this was asked last: in any run, or in that of one workflow.

    A runner touches the folder of all runs when it notes how its turn stands, so a look is one question to the system.
    """

    def __init__(self, home: str, only: str = "", *, clock: bool = False) -> None:
        self._home, self._only, self._clock = home, only, clock
        self._stamp = 0
        self._seen: dict[str, object] = {}
        self()

    def __call__(self) -> bool:
        folder = os.path.join(self._home, "runs")
        try:
            stamp = os.stat(folder).st_mtime_ns
        except OSError:
            stamp = 0
        if stamp == self._stamp:
            return False
        self._stamp, before = stamp, self._seen
        self._seen = {ulid: self._told(folder, ulid) for ulid in ([self._only] if self._only else os.listdir(folder))}
        return self._seen != before

    def _told(self, folder: str, ulid: str) -> object:
        from holdfast.runner.folder import Folder

        found = Folder(os.path.dirname(folder), ulid).read("now")
        return found if self._clock else {name: "" if name in _CLOCKS else said for name, said in found.items()}
