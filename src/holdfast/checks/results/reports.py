"""Reports that Holdfast asks a tool for: of jest and vitest, and what its own reporters write, a JSON value a line."""

from __future__ import annotations

import json
import os
from _collections_abc import Iterator

from holdfast.checks.results.gathered import Gathered, plain
from holdfast.checks.results.model import ERROR, FAILED, FILTERED, PASSED, SKIPPED, Results
from holdfast.core.value import Any

MOST_BYTES = 64 * 1024 * 1024
BEGAN, ENDED = "began", "ended"
"""The keys of the first and the last line of a reporter of ours."""
_OUTCOMES = {PASSED: PASSED, FAILED: FAILED, ERROR: ERROR, FILTERED: FILTERED}
"""What jest calls `pending`, `todo` or `disabled` is skipped too."""


def lines(data: bytes, folder: str) -> Results | None:
    """What a reporter of ours wrote; None when it was not loaded, or the tool ended before it had anything to tell."""
    gathered, spoke = Gathered(), False
    for line in data.split(b"\n"):
        said = _object(line)
        spoke = spoke or bool(said.keys() - {BEGAN})
        if "broken" in said:
            gathered.broke(_inside(str(said["broken"]), folder), str(said.get("reason", "")))
        elif "id" in said or "titles" in said:
            _take(gathered, said, folder)
    return gathered.results() if spoke else None


def jest(data: bytes, folder: str) -> Results | None:
    """The JSON of jest and of vitest."""
    said = _object(data)
    if not isinstance(said.get("testResults"), list):
        return None
    gathered = Gathered()
    for suite in _objects(said["testResults"]):
        file = _inside(str(suite.get("name", "")), folder)
        tests = list(_objects(suite.get("assertionResults")))
        for test in tests:
            ancestors = test.get("ancestorTitles")
            titles = [*(ancestors if isinstance(ancestors, list) else ()), test.get("title", "")]
            messages = test.get("failureMessages")
            reason = messages[0] if isinstance(messages, list) and messages else ""
            row = {"titles": titles, "file": file, "outcome": test.get("status"), "reason": _first(reason)}
            _take(gathered, row, "")
        if suite.get("status") == "failed" and not any(test.get("status") == "failed" for test in tests):
            gathered.broke(file, _first(suite.get("message")))
    return gathered.results()


def _take(gathered: Gathered, said: dict[str, Any], folder: str) -> None:
    file = _inside(str(said.get("file") or ""), folder)
    given = said.get("titles")
    titles = [str(title) for title in given if title] if isinstance(given, list) else []
    outcome = _OUTCOMES.get(str(said.get("outcome")), SKIPPED)
    name = " > ".join((file, *titles) if file else titles) if titles else str(said.get("id", ""))
    gathered.skipped += outcome == SKIPPED
    gathered.ran += outcome not in (SKIPPED, FILTERED)
    gathered.take(name, outcome, str(said.get("reason") or ""), file, titles)


def _inside(path: str, folder: str) -> str:
    """A path from the folder of the run; one that is elsewhere stays as it is."""
    if not folder or not os.path.isabs(path):
        return path
    for top in (folder, os.path.realpath(folder)):
        if path.startswith(os.path.join(top, "")):
            return os.path.relpath(path, top)
    return path


def _first(text: object) -> str:
    """The first line that says something."""
    return next((line for line in text.splitlines() if plain(line).strip()), "") if isinstance(text, str) else ""


def _object(text: bytes) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _objects(said: object) -> Iterator[dict[str, Any]]:
    yield from (one for one in (said if isinstance(said, list) else ()) if isinstance(one, dict))
