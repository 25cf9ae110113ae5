"""How a check came by its result, in the words that every surface uses."""

from __future__ import annotations

from holdfast.core.definition import Check
from holdfast.core.remedy import quoted
from holdfast.core.state import Evidence

BY = "by exit code only"
BY_EXIT_CODE = "by_exit_code"
"""Set in the data of evidence of which nothing is known but how the command ended: no test is named as proved."""

SCRIPT, PROGRAM = "script", "program"
"""What the data of evidence says that the command stood for when it ran."""
PACKAGES = "packages"
"""What the data of evidence says of the other packages whose tests ran with it: a line for each."""


def how(evidence: Evidence) -> str:
    """Empty for what Holdfast itself saw test by test, or of a check that is no test."""
    if evidence.claimed:
        return "only claimed"
    if evidence.run_by != "engine":
        return "reported"
    return BY if evidence.data.get(BY_EXIT_CODE) else ""


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
