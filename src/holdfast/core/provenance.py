"""How a check came by its result, in the words that every surface uses."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core.definition import Check
from holdfast.core.remedy import quoted
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any

BY = "by exit code only"
BY_EXIT_CODE = "by_exit_code"
"""Set in the data of evidence of which nothing is known but how the command ended: no test is named as proved."""

PASSING = "passing_before"
"""In the data of evidence: the tests that passed beside the task's own, to compare later runs with."""
NOT_RUN = "not_run"
"""In the data of evidence: tests that passed before and are not run any more."""
SINCE, START, RED = "since", "start", "red"
"""Where those are compared with what passed when the workflow began, or at red, not when the task began."""
LOST = "lost_proof"
"""In the data of evidence that failed because the test of an earlier task does not run: the step that shows another."""
UNTESTED = "untested"
"""In the facts about a task: what of its commit is not what was tested, in lists of files."""
UNCOMMITTED = "uncommitted"
"""In the data of evidence: files from before the workflow that were already uncommitted."""
FILTERED = "filtered"
"""In the data of evidence: files that a filter of git commits with other content than was tested."""
IGNORED = "ignored"
"""In the data of evidence: sources that git ignores, written since the task began, whose changes it does not notice."""
ONLY_HERE = "only_here"
"""In the data of evidence: files that came since the work began and that git ignores in this clone alone."""
TAKEN_OUT = "taken_out"
"""In the data of evidence: files that commits since the work began took out of git, and that are still there."""
LOCKED = "locked_by_others"
"""In the data of evidence: changed files that agents of other steps had locked, and that it is not of."""
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
COMMAND = "command"
"""In the data of evidence: the command as it was then."""
CHANGED = "changed_commands"
"""In the data of evidence: that the command, or what it stands for, was another one before in this workflow."""
VARIABLES = "variables"
"""In the data of evidence: what of the environment can change which code or tests run, by name."""
NOT_STARTED = "not_started"
"""In the data of evidence: the command came to no test, as its program is not there."""
NO_TEST = "no_test"
"""In the data of evidence that failed because the project has no test to run."""
UNSEEN = "unseen_proof"
"""In the data of evidence: the tests that proved earlier tasks and that nobody saw run, in one phrase each."""
UNREAD = "unread"
"""In the data of evidence that failed because only an exit code is known where test results could be read."""
DELETED = "deleted_tests"
"""In the data of evidence by exit code: files of tests that were there when the workflow began and are gone."""
INTERNAL = (PASSING, "test_contents", COMMAND, NOT_STARTED, UNREAD, NO_TEST)
"""What of the data of evidence only Holdfast itself compares: no answer has it."""
HIDDEN = "files that git ignores in this clone alone, so that no other clone has them"
_LIMITS = (NOT_RUN, DELETED, UNSEEN, FILTERED, ONLY_HERE, TAKEN_OUT, IGNORED)
_MOST_LISTED = 5


def how(evidence: Evidence) -> str:
    """Empty for what Holdfast itself saw test by test, or of a check that is no test."""
    if evidence.claimed:
        return "only claimed"
    if evidence.run_by != "engine":
        return "reported"
    return BY if evidence.data.get(BY_EXIT_CODE) else ""


def with_figures(evidence: Evidence) -> str:
    """` with 7 findings`: what a check that passed found all the same; empty where it found nothing."""
    found = [(name, evidence.data.get(name)) for name in ("findings", "issues")] if evidence.passed else []
    counts = [(name, len(one) if isinstance(one, (list, tuple)) else one) for name, one in found]
    said = [f"{one} {name[:-1] if one == 1 else name}" for name, one in counts if isinstance(one, int) and one > 0]
    return f" with {' and '.join(said)}" if said else ""


def remarks(evidence: Evidence) -> list[str]:
    """What everybody should hear who is shown that a check passed, in one sentence each."""
    if not evidence.passed:
        return []
    data = evidence.data
    tests = [*_not_run(data.get(NOT_RUN)), *_deleted(data.get(DELETED))]
    here = [*_only_here(data.get(ONLY_HERE)), *_taken_out(data.get(TAKEN_OUT))]
    files = [*_filtered(data.get(FILTERED)), *here, *_ignored(data.get(IGNORED))]
    return [*tests, *_unseen(data.get(UNSEEN)), *files]


def limits(evidence: Evidence) -> list[str]:
    """What limits the proof of a check that passed, one by one, to compare with what was shown of an earlier run."""
    found: list[str] = []
    for kind in _LIMITS if evidence.passed else ():
        said: Any = evidence.data.get(kind)
        names = said.get("names") or () if isinstance(said, Mapping) else said or ()
        found += [f"{kind}: {name}" for name in names]
        more = _count(said) - len(names)
        found += [f"{kind}: {more} more"] if more > 0 else []
    return found


def not_of(evidence: Evidence) -> list[str]:
    """The changed files that a check saw and that its evidence does not answer for, in one sentence."""
    found: Any = evidence.data.get(LOCKED)
    count = _count(found)
    files = "1 changed file" if count == 1 else f"{count} changed files"
    return [f"not of this: {files} that others have locked{listed(found.get('names'), count)}"] if count else []


def _count(found: Any) -> int:
    return int(found.get("count") or 0) if isinstance(found, Mapping) else 0


def _ignored(found: Any) -> list[str]:
    count = _count(found)
    files = "1 file" if count == 1 else f"{count} files"
    said = f"later changes of {files} that git ignores are not noticed"
    return [f"{said}{listed(found.get('names'), count)}"] if count else []


def _only_here(found: Any) -> list[str]:
    count = _count(found)
    return [f"the tests may use {HIDDEN}{listed(found.get('names'), count)}"] if count else []


def _taken_out(found: Any) -> list[str]:
    count = _count(found)
    said = "the tests may use files that were taken out of git and are still on disk, so that no other clone has them"
    return [f"{said}{listed(found.get('names'), count)}"] if count else []


def _filtered(found: Any) -> list[str]:
    count = _count(found)
    files = "1 file has" if count == 1 else f"{count} files have"
    return [f"{files} other content on disk than git commits{listed(found.get('names'), count)}"] if count else []


def _not_run(found: Any) -> list[str]:
    count = _count(found)
    if not count:
        return []
    when = {START: "earlier", RED: "at red"}.get(str(found.get(SINCE)), "before this task")
    what = f"1 test that passed {when} is" if count == 1 else f"{count} tests that passed {when} are"
    return [f"{what} not run any more{listed(found.get('names'), count)}"]


def _unseen(found: Any) -> list[str]:
    return [f"not seen to run: {one}" for one in found] if isinstance(found, (list, tuple)) else []


def _deleted(found: Any) -> list[str]:
    count = _count(found)
    files = "1 file of tests" if count == 1 else f"{count} files of tests"
    return [f"{files} from before this workflow deleted{listed(found.get('names'), count)}"] if count else []


def run_under(evidence: Evidence) -> str:
    """The variables of the environment that a run was made with; empty where none tells on it."""
    set_ = [f"{name}={value}" for name, value in _variables(evidence).items()]
    return f"run with {', '.join(set_)} in the environment" if set_ else ""


def _variables(evidence: Evidence) -> Mapping[str, Any]:
    found = evidence.data.get(VARIABLES)
    return found if isinstance(found, Mapping) else {}


def around(state: State) -> list[str]:
    """What holds of the runs of a workflow, each once: commands that were others before, and the environment.

    Of variables only the names: their values may be a machine's paths or a secret, and a pull request is read by all.
    """
    seen = [one for path in state.plan.paths for one in state.step(path).evidence.values() if one.run_by == "engine"]
    commands = (said for one in seen if not one.claimed for said in other_commands(one))
    names = sorted({name for one in seen for name in _variables(one)})
    under = [f"checks were run with {', '.join(names)} in the environment"] if names else []
    return list(dict.fromkeys((*commands, *under)))


def other_commands(evidence: Evidence) -> list[str]:
    """That its command was another one before, in one sentence each."""
    found = evidence.data.get(CHANGED)
    return [str(one) for one in found] if isinstance(found, (list, tuple)) else []


def of_commit(facts: Mapping[str, Any]) -> list[str]:
    """What of the commit of a task is not what was tested."""
    known = facts.get(UNTESTED)
    files = {name: known.get(name) for name in _OF_COMMIT} if isinstance(known, Mapping) else {}
    return [f"{_OF_COMMIT[name]}{listed(one, len(one))}" for name, one in files.items() if one]


def run_with(names: Sequence[str], count: int = 0) -> str:
    """The sentence about files from before the workflow that were already uncommitted."""
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


def first(before: Check, now: Check) -> str:
    """The command that a check had before another one took its place in the same folder; empty where that is back."""
    if not now.run or not before.run or before.folder != now.folder:
        return before.was
    was = before.was or (command(before) if before.run != now.run else "")
    return "" if was == command(now) else was


def replaced(check: Check) -> str:
    """The sentence about a command that took the place of another one in its folder; empty where none did."""
    return f"the {check.uses} command changed: {command(check)}; before: {check.was}" if check.was else ""


def typed(by: str) -> str:
    """Who typed a command: what an agent types, no person has looked at."""
    if not by:
        return ""
    return f"set by {by}" if is_person(by) else f"set by {by}, not by a person"


def is_person(by: str) -> bool:
    return by.partition(" ")[0] == "human"
