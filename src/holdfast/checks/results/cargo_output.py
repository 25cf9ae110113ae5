"""The output of `cargo test`, including what the compiler says when there is nothing to run."""

from __future__ import annotations

import re

from holdfast.checks.results.gathered import Gathered
from holdfast.checks.results.model import FAILED, PASSED, SKIPPED, Results

_REMARKS = (" - should panic", " - compile fail", " - compile")  # said of a test, but not part of its name


class CargoOutput:
    """Follows the lines of any number of test binaries."""

    def __init__(self) -> None:
        self._ended = re.compile(r"test (\S.*) \.\.\. (ok|FAILED|ignored)(?:, .*)?(?: <[^>]*>)?$")
        self._begun = re.compile(r"running (\d+) tests?$")
        self._summary = re.compile(r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;")
        self._output_of = re.compile(r"---- (\S.*?) (?:stdout )?----$")
        self._panicked = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at (.*)$")
        self._error = re.compile(r"(error(?:\[E\d+\])?|warning): (.+)$")
        self._place = re.compile(r"\s*--> (\S.*?):\d+:\d+$")
        self._uncompiled = re.compile(r"error: could not compile `([^`]+)`")
        self._running = re.compile(r"\s+Running (unittests )?(?:(\S+\.rs) )?\((?:\S*/)?(\w+)-[0-9a-f]{16}(?:\.exe)?\)$")
        self._documented = re.compile(r"\s+Doc-tests (\S+)$")
        self._gathered = Gathered()
        self._binary = ""
        self._spoke = False
        self._listing = False
        self._test = ""
        self._reason_next = False
        self._compile_error = ""
        self._last_error = ""
        self._passed = 0
        self._ran = 0

    def take(self, line: str) -> None:
        if self._listing:
            self._listing = line.startswith("    ")
            if self._listing:
                self._tell(line.strip(), FAILED)
                return
        if not (self._of_a_test(line) or self._of_a_binary(line)):
            self._explain(line)
            self._compiled(line)

    def results(self) -> Results | None:
        if not self._spoke:
            return None
        named = len(self._gathered.names(PASSED))
        total = max(self._ran, max(self._passed, named) + len(self._gathered.names(FAILED)))
        # Binaries may share names, so that fewer names than passes is normal once names are printed at all.
        return self._gathered.results(total=total, unnamed=max(self._gathered.unkept, 0 if named else self._passed))

    def _of_a_test(self, line: str) -> bool:
        ended = self._ended.match(line)
        if not ended:
            return False
        self._spoke = True
        self._tell(ended[1], {"ok": PASSED, "FAILED": FAILED}.get(ended[2], SKIPPED))
        return True

    def _tell(self, name: str, outcome: str) -> None:
        self._gathered.take(self._named(name), outcome)

    def _named(self, name: str) -> str:
        """Binaries share names, so that the crate, or the file of an integration test, goes before them."""
        return f"{self._binary}::{_bare(name)}" if self._binary else _bare(name)

    def _of_a_binary(self, line: str) -> bool:
        if running := self._running.match(line):
            self._binary = running[3] if running[1] else running[2] or running[3]
        elif self._documented.match(line):
            self._binary = ""
        elif summary := self._summary.match(line):
            passed, failed, ignored = (int(number[:9]) for number in summary.groups())
            self._passed += passed
            self._ran += passed + failed
            self._gathered.skipped += ignored
            self._test = ""
        elif not self._begun.match(line):
            self._listing = line == "failures:"
            return self._listing
        self._spoke = True
        return True

    def _explain(self, line: str) -> None:
        """The message of a panic follows the line that says where; before Rust 1.73 it was on that line."""
        output_of, panicked = self._output_of.match(line), self._panicked.match(line)
        if output_of:
            self._test, self._reason_next = self._named(output_of[1]), False
        elif panicked and self._test:
            before_173 = panicked[1].startswith("'")
            self._reason_next = not before_173
            if before_173:
                self._note(panicked[1].rpartition("', ")[0].lstrip("'"))
        elif self._reason_next and line.strip():
            self._note(line)
            self._reason_next = False
        elif self._test and line.startswith("Error: "):  # a test that returned an error
            self._note(line)

    def _note(self, reason: str) -> None:
        if self._test not in self._gathered.notes:
            self._gathered.note(self._test, reason)

    def _compiled(self, line: str) -> None:
        """An error of the compiler belongs to the file of the first place it names."""
        error, place, uncompiled = self._error.match(line), self._place.match(line), self._uncompiled.match(line)
        if uncompiled:
            self._spoke = True
            if not self._gathered.broken:
                self._gathered.broke(uncompiled[1], self._last_error or "could not compile")
        elif error:
            self._compile_error = error[2] if error[1] != "warning" else ""
            self._last_error = self._compile_error or self._last_error
        elif place and self._compile_error:
            self._spoke = True
            self._gathered.broke(place[1], self._compile_error)
            self._compile_error = ""


def _bare(name: str) -> str:
    for remark in _REMARKS:
        name = name.removesuffix(remark)
    return name
