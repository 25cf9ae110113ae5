"""A test command run by Holdfast, and what it found: asked for as data where the tool is known."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping, Sequence

from holdfast.checks import results, running
from holdfast.checks.output import Output, logged
from holdfast.checks.results import asking, go_output, junit, node_output, reports
from holdfast.checks.results.model import Results, together
from holdfast.core.definition import Check
from holdfast.core.secrets import Secrets
from holdfast.core.value import Any, Value
from holdfast.machine.place import read_regular

_MOST_REPORTS = 1000
_Stamps = Mapping[str, tuple[int, int]]


class Observed(Value):
    """How a command went, and its results; None when no known tool spoke."""

    ran: running.CheckRun
    results: Results | None = None


class EndedError(Exception):
    """Somebody cancelled the run: nothing is known."""


def report_in(check: Check) -> str:
    """Where a check's command writes its report, as seen from the folder that it runs in."""
    return os.path.relpath(check.report, check.folder or os.curdir) if check.report else ""


def observe(
    argv: Sequence[str], *, cwd: str, report: str = "", ask: bool, env: Mapping[str, str] | None = None, **how: Any
) -> Observed:
    """Runs a command in a folder; `report` is where it writes JUnit XML, if it does, and `env` is added to what is set.

    A tool that does not start when it is asked for data is run once more as the command is.
    """
    import tempfile

    around = {**os.environ, **(env or {})}
    if ask:
        with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
            command = asking.asked(argv, cwd, scratch, around)
            if command is not None:
                seen = _asked(command, cwd, {"env": {**around, **command.env}, **how})
                if seen.results is not None or seen.ran.passed or seen.ran.timed_out:
                    return seen
    reading, path = results.Reading(), os.path.join(cwd, report or os.devnull)
    before = _stamps(path)
    ran = _ran(argv, hear=reading.take, cwd=cwd, env=around, **how)
    return Observed(ran, results.merged(reading.results(), _report(path, before)))


def _asked(command: asking.Asked, cwd: str, how: Mapping[str, Any]) -> Observed:
    if command.form:
        ran = _ran(command.argv, cwd=cwd, **how)
        return Observed(ran, _told(command, ran, cwd))
    reading = results.Reading()
    shown = go_output.shown() if command.tool == "go" else None
    ran = _ran(command.argv, hear=reading.take, shown=shown, cwd=cwd, **how)
    return Observed(ran, reading.results())


def _ran(
    argv: Sequence[str],
    *,
    secrets: Secrets,
    hear: Callable[[bytes], None] | None = None,
    shown: Callable[[bytes], bytes] | None = None,
    log: str = "",
    **how: Any,
) -> running.CheckRun:
    output = Output(secrets, hear, shown)
    with logged(output, log):
        ran = running.run(argv, output=output, **how)
    if ran.cancelled:
        raise EndedError
    return ran


def _told(command: asking.Asked, ran: running.CheckRun, cwd: str) -> Results | None:
    """What is in the report. A tool that ended before it had one says why at the end of its output."""
    data = read_regular(command.report, reports.MOST_BYTES)
    read: Callable[[bytes, str], Results | None] = reports.jest if command.form == "jest" else reports.lines
    found = read(data, cwd) if data is not None else None
    if found is not None:
        return found
    reading = results.Reading()
    reading.take(ran.output_tail.encode())
    found = reading.results()
    if found is None and command.tool == "mocha":
        crash = node_output.NodeOutput(cwd)
        for line in ran.output_tail.splitlines():
            crash.take(line)
        found = crash.results()
    return Results() if found is None and data is not None else found


def _report(path: str, before: _Stamps) -> Results | None:
    """What the reports say that this run wrote: of one file, or of all in a folder."""
    written = (one for one, stamp in _stamps(path).items() if before.get(one) != stamp)
    read = (junit.read(read_regular(one, junit.MOST_BYTES) or b"") for one in written)
    found = [one for one in read if one is not None]
    return together(found) if found else None


def _stamps(path: str) -> _Stamps:
    names = [path]
    if os.path.isdir(path):
        listed = sorted(name for name in os.listdir(path) if name.endswith(".xml"))
        names = [os.path.join(path, name) for name in listed[:_MOST_REPORTS]]
    stamps = {}
    for name in names:
        try:
            found = os.stat(name)
        except OSError:
            continue
        stamps[name] = (found.st_mtime_ns, found.st_size)
    return stamps
