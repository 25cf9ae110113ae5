"""How a check came by its result, in the words that every surface uses."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core.definition import Check
from holdfast.core.remedy import quoted
from holdfast.core.state import Evidence
from holdfast.core.value import Any

BY = "by exit code only"
BY_EXIT_CODE = "by_exit_code"
"""Set in the data of evidence of which nothing is known but how the command ended: no test is named as proved."""

PASSING = "passing_before"
"""In the data of evidence: the tests that passed beside the task's own, to compare later runs with."""
NOT_RUN = "not_run"
"""In the data of evidence: tests that passed before the task and are not run any more."""
LOST = "lost_proof"
"""In the data of evidence that failed because the test of an earlier task does not run: the step that shows another."""
UNTESTED = "untested"
"""In the facts about a task: what of its commit is not what was tested, in lists of files."""
UNCOMMITTED = "uncommitted"
"""In the data of evidence: files from before the workflow that lay there uncommitted."""
DROPPED = "is not in the branch"
_OF_COMMIT = {
    "left_out": "not in the commit",
    "other": "in the commit with other content than was tested",
    "ignored": "not in the commit, because git ignores it",
}
SCRIPT, PROGRAM = "script", "program"
"""In the data of evidence: what the command stood for when it ran."""
PACKAGES = "packages"
"""In the data of evidence: the other packages whose tests ran with it, a line for each."""
INTERNAL = (PASSING, "test_contents")
"""What of the data of evidence only Holdfast itself compares: no answer has it."""
_MOST_LISTED = 5


def how(evidence: Evidence) -> str:
    """Empty for what Holdfast itself saw test by test, or of a check that is no test."""
    if evidence.claimed:
        return "only claimed"
    if evidence.run_by != "engine":
        return "reported"
    return BY if evidence.data.get(BY_EXIT_CODE) else ""


def remarks(evidence: Evidence) -> list[str]:
    """What everybody should hear who is shown that a check passed, in one sentence each."""
    found = evidence.data.get(NOT_RUN) if evidence.passed else None
    if not isinstance(found, Mapping) or not found.get("count"):
        return []
    count = int(found["count"])
    what = "1 test that passed before this task is" if count == 1 else f"{count} tests that passed before this task are"
    return [f"{what} not run any more{listed(found.get('names'), count)}"]


def of_commit(facts: Mapping[str, Any]) -> list[str]:
    """What of the commit of a task is not what was tested."""
    known = facts.get(UNTESTED)
    files = {name: known.get(name) for name in _OF_COMMIT} if isinstance(known, Mapping) else {}
    return [f"{_OF_COMMIT[name]}{listed(one, len(one))}" for name, one in files.items() if one]


def run_with(names: Sequence[str], count: int = 0) -> str:
    """The sentence about files from before the workflow that lay there uncommitted."""
    count = count or len(names)
    files = "1 uncommitted file" if count == 1 else f"{count} uncommitted files"
    return f"run with {files} from before this workflow{listed(names, count)}"


def listed(names: Any, count: int) -> str:
    """The first of some names, after a colon, and how many there are more."""
    shown = [str(name) for name in names][:_MOST_LISTED] if isinstance(names, (list, tuple)) else []
    more = f" and {count - len(shown)} more" if count > len(shown) else ""
    return f": {', '.join(shown)}{more}" if shown else ""


def other_packages(evidence: Evidence) -> str:
    """The packages that were tested with it, or were not; empty where there are none."""
    said = evidence.data.get(PACKAGES)
    return "; ".join(map(str, said)) if isinstance(said, (list, tuple)) else ""


def command(check: Check) -> str:
    """The command of a check as a shell takes it, where it runs, and where it is from."""
    words = " ".join(map(quoted, check.run))
    where = f" in {check.folder}" if check.folder else ""
    return f"{words}{where} ({f'from {check.source}' if check.source else typed(check.by) or 'set by hand'})"


def typed(by: str) -> str:
    """Who typed a command: what an agent types, no person has looked at."""
    if not by:
        return ""
    return f"set by {by}" if is_person(by) else f"set by {by}, not by a person"


def is_person(by: str) -> bool:
    return by.partition(" ")[0] == "human"
