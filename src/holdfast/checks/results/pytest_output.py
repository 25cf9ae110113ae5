"""The output of pytest: with -v, with -q, with -rA, and of its parallel workers."""

from __future__ import annotations

import re

from holdfast.checks.results.gathered import MOST_NAMES, Gathered, short
from holdfast.checks.results.model import FAILED, PASSED, SKIPPED, Results

_DETAILS = ("FAILURES", "ERRORS", "PASSES", "warnings summary", "XFAILURES", "XPASSES")
_RUN, _DETAIL, _SUMMARY = "run", "detail", "summary"


class PytestOutput:
    """Follows the lines. What tests printed is shown between the run and the summary, and is not mistaken for them."""

    def __init__(self) -> None:
        words = "PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN"
        self._verbose = re.compile(rf"(\S[^:]*\.\w+::.*) ({words})(?: \(.*\))?\s*(?:\[[ \d%/]+\])?\s*$")
        self._parallel = re.compile(rf"\[gw\d+\] \[[ \d%/]+\] ({words}) (\S.*?)\s*$")
        self._summary = re.compile(r"(PASSED|FAILED|ERROR|SUBFAILED\S*|XPASS) (\S.*)$")
        self._title = re.compile(r"=+ (.+?) =+$")
        self._detail = re.compile(r"_+ (?:ERROR (?:at setup of|at teardown of|collecting) )?(\S.*?) _+$")
        self._final = re.compile(
            r"(?:=+ )?((?:\d+ [a-z]+(?: [a-z]+)?(?:, )?)+|no tests ran) in [\d.]+s(?: \([\d:, a-z]+\))?(?: =+)?$"
        )
        self._counts = re.compile(r"(\d+) ([a-z]+)")
        self._collected = re.compile(r"(?:collecting \.\.\. )?collected \d+ items?\b")
        self._conftest = re.compile(r"ImportError while loading conftest '(.+)'\.$")
        self._gathered = Gathered()
        self._spoke = False
        self._section = _RUN
        self._headed = ""
        self._errors: dict[str, tuple[str, str]] = {}
        self._loading = ""
        self._in_session = False
        self._counted: dict[str, int] = {}

    @property
    def holds_the_floor(self) -> bool:
        """Whether lines now are pytest's or its tests', and so no other tool's, whatever they look like."""
        return self._in_session

    def take(self, line: str) -> None:
        title = self._title.match(line)
        if final := self._final.match(line):
            self._finish(final[1])
        elif title and self._heading(title[1]):
            self._spoke = self._in_session = True
        elif self._collected.match(line):
            self._spoke = True
        elif conftest := self._conftest.match(line):
            self._spoke = True
            self._loading = conftest[1]
            self._gathered.broke(self._loading, "")
        elif self._section == _RUN:
            self._progress(line)
        elif self._section == _DETAIL:
            self._explain(line)
        else:
            self._summarise(line)

    def results(self) -> Results | None:
        if not self._spoke:
            return None
        gathered, counted = self._gathered, self._counted
        for name in gathered.names(FAILED):
            case = gathered.cases[name]
            gathered.cases[name] = case.replace(reason=self._whole(_domain(name), case.reason, last=False))
        for file, reason in gathered.broken.items():
            gathered.broken[file] = self._whole(file, reason, last=True)
        named = len(gathered.names(PASSED))
        if not counted:
            return gathered.results(total=named + len(gathered.names(FAILED)) + gathered.unkept)
        passed = counted.get("passed", 0) + counted.get("xpassed", 0)
        errors = counted.get("error", 0) + counted.get("errors", 0) - len(gathered.broken)
        gathered.skipped = counted.get("skipped", 0) + counted.get("xfailed", 0)
        total = passed + counted.get("failed", 0) + max(errors, 0)
        return gathered.results(total=total, unnamed=max(passed - named, 0))

    def _heading(self, title: str) -> bool:
        if title == "test session starts":
            self._section = _RUN
        elif title in _DETAILS or title.startswith("warnings summary"):
            self._section = _DETAIL
        elif title == "short test summary info":
            self._section = _SUMMARY
        else:
            return False
        self._headed = ""
        return True

    def _progress(self, line: str) -> None:
        parallel = self._parallel.match(line)
        verbose = None if parallel else self._verbose.match(line)
        if parallel:
            self._count(parallel[1], parallel[2])
        elif verbose:
            self._count(verbose[2], verbose[1])
        elif self._loading and line.startswith("E  "):
            self._gathered.broke(self._loading, line[1:])
            self._loading = ""

    def _count(self, word: str, name: str) -> None:
        self._spoke = True
        if word in ("FAILED", "ERROR"):
            self._tell(name, FAILED)
        elif word in ("PASSED", "XPASS"):
            self._tell(name, PASSED)
        elif word in ("SKIPPED", "XFAIL"):
            self._tell(name, SKIPPED)
            self._gathered.skipped += 1

    def _tell(self, name: str, outcome: str, reason: str = "") -> None:
        self._gathered.take(name, outcome, reason, name.partition("::")[0])

    def _explain(self, line: str) -> None:
        """Keep the first and the last of the lines that pytest marks with an E below each heading."""
        heading = self._detail.match(line)
        if heading:
            self._headed = heading[1]
        elif self._headed and line.startswith("E  ") and line[1:].strip():
            self._keep(short(line[1:]))

    def _keep(self, error: str) -> None:
        if self._headed in self._errors or len(self._errors) < MOST_NAMES:
            first, _ = self._errors.get(self._headed, (error, ""))
            self._errors[self._headed] = (first, error)

    def _summarise(self, line: str) -> None:
        found = self._summary.match(line)
        if not found:
            return
        word = found[1]
        name, reason = _parted(found[2])
        if word == "ERROR" and "::" not in name:
            self._gathered.broke(name, reason)
        elif word in ("PASSED", "XPASS"):
            self._tell(name, PASSED)
        else:
            self._tell(name, FAILED, reason)

    def _whole(self, heading: str, reason: str, *, last: bool) -> str:
        """The reason, or the uncut form of it from the details."""
        first, final = self._errors.get(heading, ("", ""))
        if last:  # a module that cannot be parsed shows its own lines first
            return final or reason
        begin = reason.removesuffix("...")
        cut = not reason or begin != reason
        return first if cut and first.startswith(begin) else reason

    def _finish(self, counts: str) -> None:
        """Add up the last line of a session; `make` may run several."""
        self._spoke = True
        self._in_session = False
        self._section = _RUN
        self._counted.setdefault("passed", 0)
        for number, word in self._counts.findall(counts):
            self._counted[word] = self._counted.get(word, 0) + int(number[:9])


def _parted(text: str) -> tuple[str, str]:
    """A name and its reason. Parameters may hold the dash that parts them, so brackets must be closed before it."""
    at = text.find(" - ")
    while at >= 0:
        name = text[:at]
        if "[" not in name or (name.endswith("]") and name.count("[") == name.count("]")):
            return name, text[at + 3 :]
        at = text.find(" - ", at + 1)
    return text, ""


def _domain(name: str) -> str:
    """How the heading of the details calls a test: classes and function, with dots between them."""
    plain, bracket, parameters = name.partition("[")
    return ".".join(plain.split("::")[1:]) + bracket + parameters
