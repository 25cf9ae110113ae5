"""JUnit XML, as pytest, gotestsum, jest-junit, Maven and Gradle write it."""

from __future__ import annotations

import re
from _collections_abc import Mapping
from xml.parsers import expat

from holdfast.checks.results.gathered import Gathered
from holdfast.checks.results.go_output import GoOutput
from holdfast.checks.results.model import ERROR, FAILED, PASSED, SKIPPED, Results

MOST_BYTES = 16 * 1024 * 1024
_MOST_TEXT = 65536  # characters kept of one failure
_SAYS_NOTHING = ("", "failed", "collection failure", "error")
_BEGIN, _ENDS = b"<testsuite", (b"</testsuites>", b"</testsuite>")
_SUITE_OF_JEST = "Test suite failed to run"


class _RefusedError(Exception):
    """The document has what no report needs."""


def read(data: bytes) -> Results | None:
    """The results in a report. None for what is too large, is not JUnit's XML, or declares a document type."""
    if len(data) > MOST_BYTES:
        return None
    parser = expat.ParserCreate()
    report = _Report(parser)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, _RefusedError, ValueError, LookupError):
        return None  # the latter two: an encoding that is unknown or wrong
    return report.gathered.results()


class JunitInOutput:
    """Looks for a report in what is printed. At most 16 MiB are kept, and only from where one begins."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def take(self, chunk: bytes) -> None:
        self._kept += chunk[: MOST_BYTES - len(self._kept)]
        if not self._kept.startswith(_BEGIN):
            at = self._kept.find(_BEGIN)
            del self._kept[: at if at >= 0 else max(len(self._kept) - len(_BEGIN) + 1, 0)]

    def results(self) -> Results | None:
        end = max((self._kept.rfind(mark) + len(mark) for mark in _ENDS if mark in self._kept), default=0)
        data = bytes(self._kept[:end])
        return read(data) or read(b"<testsuites>" + data + b"</testsuites>") if end else None


class _Report:
    """Takes the elements in the order of the document."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self.gathered = Gathered()
        self._depth = 0
        self._by_pytest = False
        self._case: Mapping[str, str] | None = None
        self._verdict = ""
        self._message = ""
        self._text: list[str] = []
        self._size = 0
        self._inside = False
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters

    def _refuse(self, *_: object) -> None:
        raise _RefusedError  # entities are declared there, and a few can expand to gigabytes

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._depth and tag not in ("testsuites", "testsuite"):
            raise _RefusedError
        self._depth += 1
        if tag in ("testsuites", "testsuite"):
            self._by_pytest = self._by_pytest or attributes.get("name") in ("pytest", "pytest tests")
        elif tag == "testcase":
            self._case, self._verdict, self._message, self._text, self._size = attributes, "", "", [], 0
        elif tag in ("failure", "error", "skipped") and self._case is not None and not self._verdict:
            self._verdict, self._message, self._inside = tag, attributes.get("message", ""), True

    def _characters(self, text: str) -> None:
        if self._inside and self._size < _MOST_TEXT:
            self._text.append(text[: _MOST_TEXT - self._size])
            self._size += len(text)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == self._verdict:
            self._inside = False
        elif tag == "testcase" and self._case is not None:
            self._close(self._case, self._message, "".join(self._text))
            self._case = None

    def _close(self, case: Mapping[str, str], message: str, text: str) -> None:
        outcome = {"": PASSED, "failure": FAILED, "error": ERROR}.get(self._verdict, SKIPPED)
        if outcome in (FAILED, ERROR) and self._unloadable(case, message, text):
            return
        self.gathered.skipped += outcome == SKIPPED
        self.gathered.ran += outcome != SKIPPED
        name = _name(case, by_pytest=self._by_pytest)
        file = case.get("file", "") or (name.partition("::")[0] if self._by_pytest else "")
        self.gathered.take(name, outcome, _reason(message, text) if outcome in (FAILED, ERROR) else "", file)

    def _unloadable(self, case: Mapping[str, str], message: str, text: str) -> bool:
        """Whether this is no test but a file or package that could not be loaded; it is then noted."""
        name, owner = case.get("name", ""), case.get("classname", "")
        if message == "collection failure":
            self.gathered.broke(case.get("file") or _path(name), _last_error(text) or _reason("", text))
        elif owner == _SUITE_OF_JEST:
            self.gathered.broke(case.get("file") or name, _reason(message, text))
        elif "[build failed]" in text or "[setup failed]" in text:
            package = GoOutput()
            for line in text.splitlines():
                package.take(line)
            found = package.results()
            for file, reason in found.broken.items() if found else ():
                self.gathered.broke(file, reason)
        elif name == "TestMain" and message == "Failed":
            self.gathered.broke(owner, _reason(message, text))
        else:
            return False
        return True


def _name(case: Mapping[str, str], *, by_pytest: bool) -> str:
    name, owner, file = case.get("name", ""), case.get("classname", ""), case.get("file", "")
    if owner in ("", name):
        return name
    module = file.removesuffix(".py").replace("/", ".")
    if file.endswith(".py") and (owner == module or owner.startswith(module + ".")):
        classes = owner[len(module) + 1 :]
        return "::".join([file, *(classes.split(".") if classes else ()), name])
    if by_pytest:
        parts = owner.split(".")
        length = _module_length(parts)
        return "::".join([_path(".".join(parts[:length])), *parts[length:], name])
    return f"{owner}::{name}"


def _module_length(parts: list[str]) -> int:
    """How many of the parts name folders and the module; classes follow them, and are written with a capital."""
    usual = [at for at, part in enumerate(parts, 1) if part.startswith("test_") or part.endswith("_test")]
    small = [at for at, part in enumerate(parts, 1) if not part[:1].isupper()]
    return (usual or small or [len(parts)])[-1]


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _reason(message: str, text: str) -> str:
    """The first line of the message, or of the text when the message says no more than that it failed."""
    first = next((line for line in message.splitlines() if line.strip()), "")
    if first.strip().lower() not in _SAYS_NOTHING:
        return first
    marks = ("=== ", "--- ")  # Go's lines about a test say only that it began and ended
    return _note_of_go(text) or next(
        (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(marks)), ""
    )


def _note_of_go(text: str) -> str:
    notes: list[str] = re.findall(r"^\s+\S+\.go:\d+: (\S.*)$", text, flags=re.MULTILINE)
    return notes[-1] if notes else ""


def _last_error(text: str) -> str:
    """What pytest marks as the error: the last of the lines that begin with an E."""
    return next((line[1:].strip() for line in reversed(text.splitlines()) if line.startswith("E  ")), "")
