"""How a check came by its result, in the words that every surface uses."""

from __future__ import annotations

from holdfast.core.state import Evidence

BY = "by exit code only"
BY_EXIT_CODE = "by_exit_code"
"""Set in the data of evidence of which nothing is known but how the command ended: no test is named as proved."""


def how(evidence: Evidence) -> str:
    """Empty for what Holdfast itself saw test by test, or of a check that is no test."""
    if evidence.claimed:
        return "only claimed"
    if evidence.run_by != "engine":
        return "reported"
    return BY if evidence.data.get(BY_EXIT_CODE) else ""
