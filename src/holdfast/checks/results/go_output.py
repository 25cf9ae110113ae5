"""The output of `go test`: plain, with -v, or with -json."""

from __future__ import annotations

import json
import re
from _collections_abc import Callable

from holdfast.checks.results.gathered import MOST_NAMES, Gathered
from holdfast.checks.results.model import FAILED, PASSED, SKIPPED, Results
from holdfast.core.value import Any

_TOLD = {"PASS": PASSED, "FAIL": FAILED, "SKIP": SKIPPED}
_ACTIONS = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}


def shown() -> Callable[[bytes], bytes]:
    """What people see of `-json`: gets the output in chunks cut anywhere, and gives what go prints without it."""
    rest = bytearray()

    def take(chunk: bytes) -> bytes:
        rest.extend(chunk)
        *lines, last = bytes(rest).split(b"\n")
        rest[:] = last
        if not chunk and last:  # the end
            lines.append(last)
            rest.clear()
        return b"".join(map(_printed, lines))

    return take


def _printed(line: bytes) -> bytes:
    if line.startswith(b'{"') and b'"Action":' in line:
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if isinstance(event, dict):
            return str(event.get("Output", "")).encode("utf-8", "replace")
    return line + b"\n"


class GoOutput:
    """Follows the lines. Plain output does not count what passed: each package that did counts as one test."""

    def __init__(self) -> None:
        self._ended = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
        self._begun = re.compile(r"=== (RUN|CONT|NAME|PAUSE)\s+(\S+)$")
        self._package = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(?:\s(.*))?$")
        self._header = re.compile(r"# (\S+)(?: \[\S+\])?$")
        self._compiler = re.compile(r"(?:vet: )?(?:\./)?([^\s:]+\.go):\d+:(?:\d+:)? (.+)$")
        self._note = re.compile(r"\s+\S+\.go:\d+: (\S.*)$")
        self._explained = re.compile(r"\s+Error:\s+(\S.*)$")  # testify puts its reason below an empty note
        self._gathered = Gathered()
        self._spoke = False
        self._json = False
        self._test = ""
        self._open: dict[str, None] = {}
        self._panic = ""
        self._building = False
        self._build_explained = False
        self._events = 0
        self._failures = 0
        self._failed: set[str] = set()
        self._unnamed = 0

    def take(self, line: str) -> None:
        if line.startswith('{"') and '"Action":' in line:
            self._event(line)
        elif not self._outcome(line):
            self._other(line)

    def results(self) -> Results | None:
        if not self._spoke:
            return None
        total = self._gathered.ran + self._unnamed
        return self._gathered.results(total=total, unnamed=self._unnamed + self._gathered.unkept)

    def _event(self, line: str) -> None:
        try:
            event: Any = json.loads(line)
        except (ValueError, RecursionError):
            return  # cut, because it was too long
        if not isinstance(event, dict) or not all(isinstance(event.get(key, ""), str) for key in _KEYS):
            return
        if not event.get("Package") and not event.get("ImportPath"):
            return
        self._spoke = self._json = True
        action, output = event.get("Action", ""), event.get("Output", "").rstrip("\n")
        test = f"{event['Package']}::{event['Test']}" if event.get("Package") and event.get("Test") else ""
        if action in _ACTIONS and test:
            self._tell(_ACTIONS[action], test)
        elif action == "run" and test:
            self._begin(test)
        elif action == "fail" and event.get("Package", "") not in self._failed and not self._build_explained:
            self._gathered.broke(event.get("Package", ""), self._panic or "the package failed outside its tests")
        elif action == "output" and test:
            self._test = test
            self._remark(output)
        elif action in ("output", "build-output"):
            self._other(output)

    def _outcome(self, line: str) -> bool:
        ended = self._ended.search(line)
        begun = None if ended else self._begun.search(line)
        if ended:
            self._tell(_TOLD[ended[1]], ended[2])
        elif begun:
            self._test = begun[2]
            if begun[1] == "RUN":
                self._begin(begun[2])
        else:
            return False
        self._spoke = True
        self._building = False
        return True

    def _begin(self, test: str) -> None:
        if len(self._open) < MOST_NAMES:
            self._open[test] = None

    def _tell(self, outcome: str, test: str) -> None:
        self._test = test
        self._open.pop(test, None)
        self._events += 1
        self._failures += outcome == FAILED
        self._failed |= {test.rpartition("::")[0]} if outcome == FAILED else set()
        self._gathered.skipped += outcome == SKIPPED
        self._gathered.ran += outcome != SKIPPED
        if outcome != FAILED:
            self._gathered.notes.pop(test, None)
        self._gathered.take(test, outcome)

    def _other(self, line: str) -> None:
        package = self._package.match(line)
        header = self._header.match(line)
        compiler = self._compiler.match(line) if self._building else None
        if package:
            self._spoke = True
            self._close(package[1].strip(), package[2], package[3] or "")
        elif header:
            self._building = True
        elif compiler:
            self._build_explained = True
            self._gathered.broke(compiler[1], compiler[2])
        else:
            self._remark(line)

    def _remark(self, line: str) -> None:
        """Keep what may be the reason: the last note of a test, or the panic that ended it."""
        if line.startswith("panic: "):
            self._panic = line.removesuffix(" [recovered]")
            self._keep(self._panic)
        elif found := self._note.match(line) or self._explained.match(line):
            self._keep(found[1])

    def _keep(self, note: str) -> None:
        if self._test:
            self._gathered.note(self._test, note)

    def _close(self, word: str, package: str, rest: str) -> None:
        unended = [test for test in self._open if not self._json or test.startswith(f"{package}::")]
        if word == "FAIL":
            self._fail(package, rest, unended)
        elif word == "ok" and not self._json and not self._events and "[no tests to run]" not in rest:
            self._unnamed += 1
        self._test = self._panic = ""
        self._building = False
        self._events = self._failures = 0
        for test in unended:
            self._open.pop(test, None)

    def _fail(self, package: str, rest: str, unended: list[str]) -> None:
        if rest.startswith("[") and "failed]" in rest:
            if not self._build_explained:  # else it may only be on the package whose file is broken
                self._gathered.broke(package, rest.strip("[]"))
        elif unended:  # they began and nothing ended them: the process died under them
            for test in unended:
                if test not in self._gathered.notes:
                    self._gathered.note(test, self._panic or "the test did not end")
                self._tell(FAILED, test)
        elif not self._failures and not self._json:
            self._gathered.broke(package, self._panic or "the package failed outside its tests")


_KEYS = ("Action", "Package", "ImportPath", "Test", "Output")
