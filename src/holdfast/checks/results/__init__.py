"""What a test run found: read from its output or its report into one model, and judged for test-driven development."""

from __future__ import annotations

import re
from _collections_abc import Sequence

from holdfast.checks.results.model import Results, together

_LONGEST_LINE = 4000  # bytes; what follows on the same line is dropped
_TELLING = (
    rb"\x1b|::|==|\.\.\. |--- |----|\.go:|--> |Running |Doc-tests |Error:| in [\d.]+s"
    rb"|^(?:_|E  |    |#|\?|\{\"|\[gw|1\.\.|ok\b|not ok|PASS|FAIL|ERROR|XPASS|SUBFAILED|Import|collect"
    rb"|panic|test |running |failures:|thread |error|warning)"
)
"""What a line has that a reader may take notice of: most lines have nothing, and reading them would cost the most."""
_AFTER_PANIC = 3
"""How many lines after a panic are read: the reason is one of them."""
_REPORT_OPTIONS = ("--junitxml", "--junit-xml", "--junitfile", "--log-junit", "--output-junit")


class Reading:
    """Follows a run's output as it comes, in chunks cut anywhere. Memory does not grow with the output."""

    def __init__(self) -> None:
        from holdfast.checks.results.cargo_output import CargoOutput
        from holdfast.checks.results.go_output import GoOutput
        from holdfast.checks.results.junit import JunitInOutput
        from holdfast.checks.results.pytest_output import PytestOutput
        from holdfast.checks.results.tap_output import TapOutput

        self._line = bytearray()
        self._telling = re.compile(_TELLING).search
        self._after = 0
        self._junit = JunitInOutput()
        self._pytest = PytestOutput()
        self._others = (CargoOutput(), GoOutput())
        self._tap = TapOutput()

    def take(self, chunk: bytes) -> None:
        self._junit.take(chunk)
        for at, piece in enumerate(chunk.split(b"\n")):
            if at:
                self._close()
            self._line += piece[: _LONGEST_LINE - len(self._line)]

    def results(self) -> Results | None:
        """What the run found; None when no known tool spoke. Ask at the end: an unfinished line is taken as it is."""
        if self._line:
            self._close()
        if (report := self._junit.results()) is not None:
            return report
        found = [results for reader in (self._pytest, *self._others) if (results := reader.results()) is not None]
        return together(found) if found else self._tap.results()

    def _close(self) -> None:
        from holdfast.checks.results.gathered import plain

        raw = bytes(self._line)
        self._line.clear()
        self._after = _AFTER_PANIC if b"panicked" in raw else self._after - 1
        if self._after < 0 and not self._telling(raw):
            return
        line = plain(raw.decode("utf-8", "replace"))
        self._pytest.take(line)
        if not self._pytest.holds_the_floor:
            for reader in (*self._others, self._tap):
                reader.take(line)


def merged(reading: Results | None, report: Results | None) -> Results | None:
    """One view of a run. The report wins; the output adds what the report does not speak of."""
    if reading is None or report is None:
        return report if reading is None else reading
    if report.nothing_ran() and not report.broken:
        return reading.replace(skipped=max(reading.skipped, report.skipped))
    known = {test.id: test.reason for test in reading.tests if test.fails}
    tests = (test.replace(reason=test.reason or known.get(test.id, "")) for test in report.tests)
    return report.replace(tests=tuple(tests), broken=report.broken or reading.broken)


def report_path(argv: Sequence[str]) -> str:
    """Where the command says its JUnit XML report goes; empty when it does not. The last mention counts."""
    found = ""
    for at, word in enumerate(argv):
        option, equals, path = word.partition("=")
        if option in _REPORT_OPTIONS:
            found = path if equals else next(iter(argv[at + 1 : at + 2]), "")
    return found
