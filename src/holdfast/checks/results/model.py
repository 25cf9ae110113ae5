"""What a test run found, whichever tool ran it."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.value import Value

LONGEST = 300  # characters of a name or of a reason


class Results(Value):
    """The outcome of a run. Names are those the tool prints; one name is never both failing and passing."""

    failing: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()
    skipped: int = 0
    reasons: Mapping[str, str] = {}  # of failing tests, where the tool gave one
    broken: Mapping[str, str] = {}  # file or package that could not be loaded or compiled, and why
    total: int = 0  # tests that ran: passed and failed
    unnamed: int = 0  # tests that passed without their names being printed or kept; at least so many

    def failure(self, name: str) -> str:
        """The failing test that `name` means, in full; an exact match goes first. Empty when there is none."""
        return _first(self.failing, name)

    def success(self, name: str) -> str:
        """The passing test that `name` means, in full. Empty when there is none."""
        return _first(self.passing, name)

    def reason(self, name: str) -> str:
        """Why a failing test fails; a test that only has failing parts fails for the reason of the first of them."""
        if name in self.reasons:
            return self.reasons[name]
        return next((self.reasons[full] for full in self.failing if matches(full, name) and full in self.reasons), "")

    def culprits(self) -> tuple[str, ...]:
        """The failing tests without those that fail only because a part of them does."""
        wholes = {full[:end] for full in self.failing for end in _slashes(full)}
        return tuple(full for full in self.failing if full not in wholes)

    def nothing_ran(self) -> bool:
        return not (self.total or self.failing or self.passing or self.unnamed)


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
    return "::" not in name and "." in name.rpartition("/")[2]


def function_name(name: str) -> str:
    """What a source file calls the test: the last segment, without parameters, class and sub-tests."""
    plain = name.partition("[")[0]
    last = plain.rpartition("::")[2]
    return last.partition("/")[0] if _of_go(last) else last.rpartition("/")[2]


def _first(names: Iterable[str], asked: str) -> str:
    found = [full for full in names if matches(full, asked)]
    return asked if asked in found else next(iter(found), "")


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
