"""What a skill document says of checks: its checkpoints, the tests of the phases, the last run, the files written."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import lifecycle
from holdfast.core.definition import Check
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import COUNT, MOMENT, TEXT_OR_NULL, or_absent
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Field, Items, Meaning, record
from holdfast.systems.skill.words import FIGURES, RAN

TOLD = {
    "test_file": str,
    "test_name": str,
    "failure_confirmed": bool,
    "failure_reason": str,
    "implementation_file": str,
    "tests_passing": bool,
    "last_error": str,
}
"""What a phase says of its test. The author of the document may say it too."""


def is_test_driven(state: State) -> bool:
    """Whether phases of the workflow are about a test; in a workflow with tasks, it is the tasks that are."""
    if not state.plan.checked():
        return False
    return any(check.test for path in state.plan.children("") for check in state.plan.step(path).checks)


def shown(state: State, path: str) -> Evidence | None:
    """What was seen when the test of a phase last ran, in this try at it."""
    progress = state.step(path)
    for check in state.plan.step(path).checks if progress.status != lifecycle.PENDING else ():
        evidence = progress.evidence.get(check.name)
        if check.test and evidence and evidence.attempt == progress.attempt and not evidence.claimed:
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
    own = test.removeprefix(f"{file}::").removeprefix(f"{file} > ") if file else test
    return file, "" if test == file else own


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
    if not is_test_driven(state):
        return UNKNOWN
    import shlex

    checks = [check for path in state.plan.children("") for check in state.plan.step(path).checks if check.test]
    return shlex.join(checks[0].run) if checks[0].run else UNKNOWN


def _result(evidence: Evidence, test: str) -> str:
    return "passed" if evidence.tests_passed(test) else "failed"


def _names(kind: str) -> Callable[[Evidence, str], Any]:
    return lambda evidence, _: list(evidence.data.get(kind) or ())


def _cycle(state: State, _: str) -> Any:
    if not is_test_driven(state):
        return UNKNOWN
    attempt = max((1, *(state.step(path).attempt for path in state.plan.children("") if _is_red(state, path))))
    return UNKNOWN if state.origin == "adopted" and attempt == 1 else attempt


def _files(state: State, _: str) -> Any:
    if not is_test_driven(state) or (state.origin == "adopted" and last_shown(state) is None):
        return UNKNOWN
    return written(state)


CYCLE = Field("state_machine.cycle_count", _cycle, shape=COUNT)
OF_PHASE = tuple(Field(name, _told(name), meaning=Meaning.DATA, shape=kind) for name, kind in TOLD.items())
RUNS = (
    Field("test_state.test_command", _command, shape=TEXT_OR_NULL),
    Field("test_state.last_run", _of_last(lambda e, _: e.at, ABSENT), MOMENT, nullable=True),
    Field("test_state.last_result", _of_last(_result, ABSENT), nullable=True, shape=str),
    Field("test_state.failing_tests", _of_last(_names("failing"), []), shape=[str]),
    Field("test_state.passing_tests", _of_last(_names("passing"), []), shape=[str]),
    Field("files_modified", _files, shape=[record("path", path=str, phase=str, lines_added=COUNT)]),
)


def _checks(state: State) -> list[str]:
    """The checkpoints. What a test showed is not one: it belongs to its phase."""
    return [f"{path}#{name}" for path, name in state.plan.checked() if not _check(state, path, name).test]


def _check(state: State, path: str, name: str) -> Check:
    check = state.plan.step(path).check(name)
    assert check is not None
    return check


def _evidence(state: State, item: str) -> Evidence | None:
    path, _, name = item.rpartition("#")
    return state.step(path).evidence.get(name)


def _ran(state: State, item: str) -> str:
    return "completed" if _evidence(state, item) else "pending"


_SAID_OF = {
    "test": ("last_run", "passed", "count"),
    "security_review": ("last_run", "findings"),
    "code_simplifier": ("last_run", "issues"),
    "pr_created": ("pr_number", "pr_url"),
}
"""What a checkpoint has beside its status, where that is not `last_run` and `passed`."""


def _about(name: str, read: Callable[[Evidence], Any]) -> Any:
    def value(state: State, item: str) -> Any:
        evidence = _evidence(state, item)
        found = None if evidence is None else read(evidence)
        if name in _SAID_OF.get(item.rpartition("#")[2], ("last_run", "passed")):
            return or_absent(found)
        telling = evidence is not None and ((name == "passed" and not evidence.passed) or name in evidence.data)
        return found if telling else UNKNOWN

    return value


def _figure(name: str, kind: type | None, read: Callable[[Evidence], Any] | None = None) -> Field:
    """What goes with a checkpoint: whether it passed, a number, an address."""
    value = _about(name, read or (lambda evidence: evidence.data.get(name)))
    return Field(name, value, nullable=True, quiet=True, meaning=Meaning.CHECK, shape=kind)


CHECKPOINTS = Items(
    "checkpoints",
    each=_checks,
    name=lambda s, item: item.rpartition("#")[2],
    fields=(
        Field("status", _ran, RAN, meaning=Meaning.CHECK, required=True),
        Field("last_run", _about("last_run", lambda e: e.at), MOMENT, nullable=True, quiet=True),
        _figure("passed", bool, lambda e: e.passed),
        *(_figure(name, kind) for name, kind in FIGURES.items()),
    ),
)
