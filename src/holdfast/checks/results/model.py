"""What a test run found, whichever tool ran it."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.value import Value

LONGEST = 300  # characters of a name or of a reason
PASSED, FAILED, ERROR, SKIPPED, FILTERED = "passed", "failed", "error", "skipped", "filtered"
"""How a test that was collected ended. Only the first three ran; the last was left out by the command itself."""
_JOINED = (" > ", "::", " ", " › ")
_EXPECTED_TO_FAIL = (
    "[xpass(strict)]",
    "unexpected success",
    "failed: unexpected success",
    "error: failing test passed even though it was supposed to fail",
    "error: expect test to fail",
)
"""How tools begin the reason of a test that passes although it is marked to fail, in small letters."""


class Case(Value):
    """One test that was collected, by the name the tool has for it."""

    id: str
    outcome: str
    file: str = ""
    """Relative to the folder of the run, where the tool says it."""
    reason: str = ""
    titles: tuple[str, ...] = ()
    """The groups it is in and its own title, of tools that name tests by sentences."""

    @property
    def fails(self) -> bool:
        return self.outcome in (FAILED, ERROR)

    @property
    def passes_unexpectedly(self) -> bool:
        """Whether it fails only because it is marked to fail, and passes."""
        return self.fails and self.reason.lower().startswith(_EXPECTED_TO_FAIL)

    def is_called(self, asked: str) -> bool:
        """Whether this is what somebody means: the id, its end in whole segments, its titles, or its file."""
        if asked in (self.id, self.file):
            return bool(asked)
        if self.titles:
            tails = [self.titles[start:] for start in range(len(self.titles))]
            wholes = [*tails, (self.file, *self.titles)]
            return any(mark.join(tail)[:LONGEST] == asked[:LONGEST] for tail in wholes for mark in _JOINED)
        return matches(self.id, asked)


class Results(Value):
    """The outcome of a run. A test that is not among `tests` was not collected, unless some are `unnamed`."""

    tests: tuple[Case, ...] = ()
    broken: Mapping[str, str] = {}
    """Files or packages that could not be loaded or compiled, and why."""
    total: int = 0
    """Tests that ran: passed and failed."""
    skipped: int = 0
    unnamed: int = 0
    """Tests that passed without their names being printed or kept; at least so many."""

    @property
    def failing(self) -> tuple[str, ...]:
        return tuple(test.id for test in self.tests if test.fails)

    @property
    def passing(self) -> tuple[str, ...]:
        return tuple(test.id for test in self.tests if test.outcome == PASSED)

    def called(self, asked: str) -> list[Case]:
        """The tests that a name means; where one is exactly so called, only that."""
        found = [test for test in self.tests if test.is_called(asked)] if asked else []
        return [test for test in found if test.id == asked] or found

    def reason(self, test: Case) -> str:
        """Why a test fails; one that only has failing parts fails for the reason of the first of them."""
        parts = (one.reason for one in self.tests if one.fails and one.reason and matches(one.id, test.id))
        return test.reason or next(parts, "") or f"{test.id} fails"

    def culprits(self) -> list[Case]:
        """The failing tests without those that fail only because a part of them does."""
        wholes = {test.id[:end] for test in self.tests if test.fails for end in _slashes(test.id)}
        return [test for test in self.tests if test.fails and test.id not in wholes]

    def nothing_ran(self) -> bool:
        return not (self.total or self.unnamed or any(test.fails or test.outcome == PASSED for test in self.tests))


def together(found: Iterable[Results]) -> Results:
    """Several tools may speak in one run, as when `make` tests two languages."""
    first, *rest = found
    for other in rest:
        first = Results(
            first.tests + other.tests,
            {**first.broken, **other.broken},
            first.total + other.total,
            first.skipped + other.skipped,
            first.unnamed + other.unnamed,
        )
    return first


def matches(full: str, asked: str) -> bool:
    """Whether `asked` is the full name or its end, in whole segments; parameters and sub-tests may be left off.

    The name of a file stands for the tests in it.
    """
    asked = asked[:LONGEST]
    if not asked:
        return False
    if full == asked or (is_file(asked) and full.startswith(f"{asked}::")):
        return True
    return any(_ends_with(full[start:], asked) for start in _starts(full))


def is_file(name: str) -> bool:
    """Whether what is named is a file rather than a test."""
    return "::" not in name and " " not in name and "." in name.rpartition("/")[2]


def function_name(name: str) -> str:
    """What a source file calls the test: the last segment, without parameters, class and sub-tests."""
    plain = name.partition("[")[0]
    last = plain.rpartition("::")[2]
    return last.partition("/")[0] if _of_go(last) else last.rpartition("/")[2]


def _ends_with(part: str, asked: str) -> bool:
    if not part.startswith(asked):
        return False
    rest = part[len(asked) :]
    return not rest or rest[0] == "[" or (rest[0] == "/" and _of_go(asked.rpartition("::")[2]))


def _of_go(segment: str) -> bool:
    """Go's tests are known by how they must be called; only their sub-tests are parted by a slash."""
    for kind in ("Test", "Fuzz", "Example", "Benchmark"):
        if segment.startswith(kind) and not segment[len(kind) : len(kind) + 1].islower():
            return True
    return False


def _starts(full: str) -> list[int]:
    """Where segments begin. Those of a dotted class count, the ending of a file name does not."""
    plain = full.partition("[")[0]
    marks = ["::", "/"]
    if "/" not in plain and ".py::" not in plain:
        marks.append(".")
    found = [0]
    for mark in marks:
        at = plain.find(mark)
        while at >= 0:
            found.append(at + len(mark))
            at = plain.find(mark, at + len(mark))
    return found


def _slashes(full: str) -> list[int]:
    begin = full.rfind("::") + 2 if "::" in full else 0
    if not _of_go(full[begin:]):
        return []
    return [at for at in range(begin, len(full)) if full[at] == "/"]
