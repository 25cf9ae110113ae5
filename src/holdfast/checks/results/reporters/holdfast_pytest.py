"""A plugin of pytest that tells Holdfast of every test. The project's own interpreter runs it, whichever that is."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REPORT = os.environ.pop("HOLDFAST_REPORT", "")  # what the tests start is none of this run
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_seen: dict[str, tuple[str, str]] = {}


def _restore_path() -> None:
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != _FOLDER]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if not paths:
        del os.environ["PYTHONPATH"]


def _tell(**said: Any) -> None:
    if _REPORT:
        with open(_REPORT, "a") as file:
            file.write(json.dumps(said) + "\n")


def _reason(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return str(crash.message).split("\n", 1)[0]
    lines = str(report.longrepr or "").splitlines()
    marked = [line[1:].strip() for line in lines if line.startswith("E  ")]
    return (marked[-1:] or [line for line in lines if line.strip()][-1:] or [""])[0]


def _file(config: Any, node_id: Any) -> str:
    return os.path.join(str(config.rootdir), *node_id.split("::")[0].split("/"))


def pytest_configure(config: Any) -> None:
    if not hasattr(config, "workerinput"):  # a worker of xdist reports to the process that started it
        config.pluginmanager.register(_Telling(config), "holdfast-telling")


class _Telling:
    def __init__(self, config: Any) -> None:
        self._config = config

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            _tell(broken=_file(self._config, report.nodeid), reason=_reason(report))

    def pytest_deselected(self, items: Any) -> None:
        for item in items:
            _tell(id=item.nodeid, file=_file(self._config, item.nodeid), outcome="filtered")

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test is set up, called and torn down; it passes when all three do. Sub-tests fail the test they are in."""
        outcome = report.outcome
        if outcome == "rerun":
            _seen.pop(report.nodeid, None)
            return
        if outcome == "failed" and report.when != "call":
            outcome = "error"
        known, reason = _seen.get(report.nodeid, ("passed", ""))
        if known == "passed" and outcome != "passed":
            _seen[report.nodeid] = (outcome, _reason(report) if outcome != "skipped" else "")
        if report.when == "teardown":
            known, reason = _seen.pop(report.nodeid, ("passed", ""))
            _tell(id=report.nodeid, file=_file(self._config, report.nodeid), outcome=known, reason=reason)

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        for name, (outcome, reason) in _seen.items():  # their process ended under them
            _tell(id=name, file=_file(self._config, name), outcome=outcome, reason=reason)
        _tell(ended=int(exitstatus))


_restore_path()
_tell(began=True)
