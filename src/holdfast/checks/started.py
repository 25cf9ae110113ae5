"""Whether a command whose results cannot be read got as far as running tests, as its words and its output tell."""

from __future__ import annotations

import os
import re
from _collections_abc import Sequence

from holdfast.checks.results import asking

_INTERPRETERS = re.compile(r"(?:ba|da|k|z|fi)?sh|python[\d.]*|pypy3|node|nodejs|deno|ruby|perl|php|lua")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_REFUSED = re.compile(
    r"bad option: \S+|no such command: \S+|could not determine executable to run|[Mm]issing script: \S+"
    r"|No rule to make target \S+"
)


def why_not(argv: Sequence[str], folder: str, tail: str) -> str:
    """Why a command that failed is no failing test: it did not start one. Empty where it may have."""
    program, *words = argv
    name = os.path.basename(program)
    if "-m" in words[:-1] and f"No module named {(module := words[words.index('-m') + 1])}" in tail.replace("'", ""):
        return f"the Python module {module} is not installed for {program}"
    if tool := asking.known(argv, folder):
        return f"{tool} told no result of a test"
    file = words[0] if words and not words[0].startswith("-") else ""
    if file and _INTERPRETERS.fullmatch(name) and not os.path.exists(os.path.join(folder, file)):
        return f"there is no file {file} to run"
    if name == "make" and not any(os.path.exists(os.path.join(folder, one)) for one in _MAKEFILES):
        return "there is no Makefile"
    found = _REFUSED.search(tail)
    return f"the command did not start: {found[0]}" if found else ""


def ran_nothing(tail: str) -> bool:
    """Whether unittest found no test at all: before Python 3.12 it succeeds then."""
    return re.search(r"^Ran 0 tests in [\d.]+s\s+OK\s*$", tail, re.MULTILINE) is not None
