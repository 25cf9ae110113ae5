"""What a skill document says of tests: the facts of the red and green phases, the last run, the files written."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import lifecycle
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import MOMENT
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Field, Meaning

TOLD = (
    *("test_file", "test_name", "failure_confirmed", "failure_reason"),
    *("implementation_file", "tests_passing", "last_error"),
)
"""What a phase says of its test. Whoever writes the document may say it too."""


def is_test_driven(state: State) -> bool:
    """Whether phases of the workflow are about a test; in a workflow with tasks, it is the tasks that are."""
    return any(check.test for path in state.plan.children("") for check in state.plan.step(path).checks)


def shown(state: State, path: str) -> Evidence | None:
    """What was seen when the test of a phase last ran, in this try at it."""
    progress = state.step(path)
    for check in state.plan.step(path).checks if progress.status != lifecycle.PENDING else ():
        evidence = progress.evidence.get(check.name)
        if check.test and evidence is not None and evidence.attempt == progress.attempt:
            return evidence
    return None


def last_shown(state: State) -> tuple[str, Evidence] | None:
    """The phase whose test ran last, and what was seen."""
    found = [(path, one) for path in state.plan.children("") if (one := shown(state, path)) is not None]
    return max(found, key=lambda pair: pair[1].at, default=None)


def written(state: State) -> list[dict[str, Any]]:
    """The files of each phase, with the lines it added: what earlier phases had added already does not count again."""
    before: dict[str, int] = {}
    listed = []
    for path in state.plan.children(""):
        evidence = shown(state, path)
        files = evidence.data.get("files") if evidence else None
        for name, lines in files.items() if isinstance(files, Mapping) else ():
            if name not in before or lines > before[name]:
                listed.append({"path": name, "phase": path, "lines_added": lines - before.get(name, 0)})
            before[name] = lines
    return listed


def _is_red(state: State, path: str) -> bool:
    return any(check.test == "fails" for check in state.plan.step(path).checks)


def _test(evidence: Evidence) -> tuple[str, str]:
    """The file and the name of a test."""
    test, file = str(evidence.data.get("test") or ""), str(evidence.data.get("test_file") or "")
    return file, "" if test == file else test.removeprefix(f"{file}::") if file else test


def _implementation(state: State, path: str, evidence: Evidence) -> Any:
    """The file that has most of what the phase wrote."""
    own = [one for one in written(state) if one["phase"] == path]
    return max(own, key=lambda one: int(one["lines_added"]))["path"] if own else ""


_RED: dict[str, Callable[[State, str, Evidence], Any]] = {
    "test_file": lambda s, p, e: _test(e)[0],
    "test_name": lambda s, p, e: _test(e)[1],
    "failure_confirmed": lambda s, p, e: e.passed,
    "failure_reason": lambda s, p, e: e.detail if e.passed else "",
}
_GREEN: dict[str, Callable[[State, str, Evidence], Any]] = {
    "implementation_file": _implementation,
    "tests_passing": lambda s, p, e: e.passed,
    "last_error": lambda s, p, e: "" if e.passed else e.detail,
}


def _told(name: str) -> Callable[[State, str], Any]:
    """What the engine saw, else what somebody wrote, else whatever the document says."""
    seen = _RED.get(name) or _GREEN[name]

    def value(state: State, path: str) -> Any:
        evidence = shown(state, path)
        if evidence is not None:
            found = seen(state, path, evidence) if _is_red(state, path) == (name in _RED) and path != "refactor" else ""
            return ABSENT if found == "" else found
        said = state.step(path).data
        if name in said:
            return said[name]
        return UNKNOWN if state.step(path).attempt <= 1 else ABSENT

    return value


def _of_last(read: Callable[[Evidence, str], Any], nothing: Any) -> Callable[[State, str], Any]:
    """Of the last run; before any, `nothing`, unless somebody else keeps the document."""

    def value(state: State, _: str) -> Any:
        if not is_test_driven(state):
            return UNKNOWN
        last = last_shown(state)
        if last is None:
            return UNKNOWN if state.origin == "adopted" else nothing
        path, evidence = last
        return read(evidence, "fails" if _is_red(state, path) else "passes")

    return value


def _command(state: State, _: str) -> Any:
    import shlex

    checks = [check for path in state.plan.children("") for check in state.plan.step(path).checks if check.test]
    return shlex.join(checks[0].run) if checks and checks[0].run else UNKNOWN


def _result(evidence: Evidence, test: str) -> str:
    return "passed" if evidence.tests_passed(test) else "failed"


def _names(kind: str) -> Callable[[Evidence, str], Any]:
    return lambda evidence, _: list(evidence.data.get(kind) or ())


def _cycle(state: State, _: str) -> Any:
    if not is_test_driven(state):
        return UNKNOWN
    attempt = max(1, *(state.step(path).attempt for path in state.plan.children("") if _is_red(state, path)))
    return UNKNOWN if state.origin == "adopted" and attempt == 1 else attempt


def _files(state: State, _: str) -> Any:
    if not is_test_driven(state) or (state.origin == "adopted" and last_shown(state) is None):
        return UNKNOWN
    return written(state)


CYCLE = Field("state_machine.cycle_count", _cycle)
OF_PHASE = tuple(Field(name, _told(name), meaning=Meaning.DATA) for name in TOLD)
RUNS = (
    Field("test_state.test_command", _command),
    Field("test_state.last_run", _of_last(lambda e, _: e.at, ABSENT), MOMENT, nullable=True),
    Field("test_state.last_result", _of_last(_result, ABSENT), nullable=True),
    Field("test_state.failing_tests", _of_last(_names("failing"), [])),
    Field("test_state.passing_tests", _of_last(_names("passing"), [])),
    Field("files_modified", _files),
)
