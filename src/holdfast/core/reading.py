"""Definitions from plain data: a TOML file's, or what a caller wrote in Python."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import moment
from holdfast.core.conduct import Conduct
from holdfast.core.definition import (
    ACTIONS,
    DEEPEST,
    MAX_STEPS,
    POLICIES,
    Approval,
    Bounds,
    Check,
    Choice,
    Definition,
    Retry,
    Review,
    Step,
)
from holdfast.core.mistakes import Mistakes, check_names, check_references, dotted
from holdfast.core.names import is_name, nearest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHECK_KEYS = ("name", "run", "run_by", "timeout", "uses", "test", "report")
STEP_KEYS = (
    *("id", "name", "description", "kind", "agents", "requires", "outputs", "checks", "review", "approval", "choice"),
    *("retry", "parallel", "optional", "mandatory", "action", "result", "passed", "failed", "task", "deny", "step"),
)
TASK_KEYS = tuple(key for key in STEP_KEYS if key not in ("id", "name", "requires", "task"))
TOP_KEYS = (
    *("name", "version", "title", "dialect", "bounds", "loads", "advance"),
    *("reading", "reminders", "keep_going", "require_ack", "read_only", "step"),
)
REJECTED = ("fail", "revise")
"""What a bare no of a person leads to."""
USES = ("lint", "test", "security_review", "code_simplifier")
"""The commands of a project that a check can stand for."""


def read(
    data: Mapping[str, Any],
    locate: Callable[[tuple[str | int, ...]], str] = lambda path: dotted(path),
    digest: str = "",
    loads: Mapping[str, Conduct] | None = None,
) -> Definition:
    """A definition from plain data; raises one error that lists every mistake.

    `loads` are the words that a subject can be read as, with what holds for each; without them any word will do.
    """
    mistakes = Mistakes(locate)
    definition = _Reader(mistakes).definition(data, digest)
    if loads is not None and definition.loads:
        _check_loads(definition, loads, mistakes)
    check_references(definition.steps, mistakes)
    mistakes.report()
    return definition


def _check_loads(definition: Definition, loads: Mapping[str, Conduct], mistakes: Mistakes) -> None:
    word = definition.loads
    if word not in loads:
        mistakes.add(("loads",), f"loads is one of {', '.join(loads)}")
    elif loads[word].groups and not any(step.task for step in definition.steps):
        mistakes.add(("loads",), f"a step has to say what the {word}'s tasks look like ([step.task])")


class _Reader:
    """Plain data → values. Wrong parts are reported and left at their default, so that reading goes on."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._count = 0

    def definition(self, data: Mapping[str, Any], digest: str) -> Definition:
        self._known(data, (), TOP_KEYS)
        name = self._text(data, (), "name", required=True)
        if name and not is_name(name):
            self._mistakes.add(("name",), f"{name!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        version = data.get("version", 1)
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            self._mistakes.add(("version",), "version must be a whole number from 1")
            version = 1
        dialect = self._text(data, (), "dialect") or "skill"
        if not is_name(dialect):
            self._mistakes.add(("dialect",), f"{dialect!r} is not a dialect")
        steps = self._steps(data.get("step"), ("step",))
        if not steps:
            self._mistakes.add(("step",), "a definition needs at least one [[step]]")
        check_names(steps, ("step",), self._mistakes)
        return Definition(
            name=name or "unnamed",
            version=version,
            title=self._text(data, (), "title"),
            dialect=dialect,
            bounds=self._bounds(data.get("bounds"), ("bounds",)),
            loads=self._text(data, (), "loads"),
            advance=self._flag(data, (), "advance"),
            reading=self._reading(data),
            reminders=self._reminders(data),
            keep_going=self._flag(data, (), "keep_going"),
            require_ack=self._flag(data, (), "require_ack"),
            read_only=self._roles(data),
            steps=steps,
            digest=digest,
        )

    def _steps(self, data: object, path: tuple[str | int, ...]) -> tuple[Step, ...]:
        if data is None:
            return ()
        if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
            self._mistakes.add(path, "steps are written as [[step]] tables")
            return ()
        self._count += len(data)
        if self._count > MAX_STEPS or len(path) > 2 * DEEPEST:
            self._mistakes.add(path, f"a definition has at most {MAX_STEPS} steps, {DEEPEST} deep")
            return ()
        return tuple(self._step(item, (*path, index)) for index, item in enumerate(data))

    def _step(self, data: Mapping[str, Any], path: tuple[str | int, ...], *, is_task: bool = False) -> Step:
        self._known(data, path, TASK_KEYS if is_task else STEP_KEYS)
        step = Step(
            id="task" if is_task else self._text(data, path, "id", required=True) or f"step-{path[-1]}",
            name=self._text(data, path, "name"),
            description=self._text(data, path, "description"),
            kind=self._text(data, path, "kind"),
            agents=self._names(data, path, "agents"),
            requires=self._texts(data, path, "requires") if "requires" in data else None,
            outputs=self._names(data, path, "outputs"),
            checks=self._checks(data.get("checks"), (*path, "checks")),
            review=self._review(data.get("review"), (*path, "review")),
            approval=self._approval(data.get("approval"), (*path, "approval")),
            choice=self._choice(data.get("choice"), (*path, "choice")),
            retry=self._retry(data.get("retry"), (*path, "retry")),
            parallel=self._flag(data, path, "parallel"),
            optional=self._flag(data, path, "optional"),
            mandatory=self._flag(data, path, "mandatory"),
            action=self._word(data, path, "action", ("", *ACTIONS), ""),
            result=self._text(data, path, "result"),
            passed=self._text(data, path, "passed") or Step.passed,
            failed=self._text(data, path, "failed") or Step.failed,
            task=self._task(data.get("task"), (*path, "task")),
            deny=self._deny(data, path),
            steps=self._steps(data.get("step"), (*path, "step")),
        )
        if step.parallel and not step.steps:
            self._mistakes.add((*path, "parallel"), "parallel is for a step with children ([[step.step]])")
        if step.optional and step.mandatory:
            self._mistakes.add((*path, "mandatory"), "a step is either optional or mandatory")
        if step.result and step.result not in step.outputs:
            self._mistakes.add((*path, "result"), "result names one of the step's outputs")
        if step.passed == step.failed:
            self._mistakes.add((*path, "failed"), "passed and failed are two words")
        if step.action and (step.review or step.approval or step.choice):
            self._mistakes.add((*path, "action"), "an action needs a step of its own, after the one that people pass")
        return step

    def _task(self, data: object, path: tuple[str | int, ...]) -> Step | None:
        """The shape of the tasks below a step; what they are called and where they stand is each one's own."""
        if data is None:
            return None
        return self._step(self._table(data, path, TASK_KEYS), path, is_task=True)

    def _bounds(self, data: object, path: tuple[str | int, ...]) -> Bounds:
        table = self._table(data, path, ("max_cost", "max_time", "max_iterations"))
        cost, time, tries = table.get("max_cost"), table.get("max_time"), table.get("max_iterations")
        if cost is not None and not moment.read_money(cost):
            self._mistakes.add((*path, "max_cost"), f'{cost!r} is not an amount such as "$10"')
        if time is not None and moment.read_span(time) is None:
            self._mistakes.add((*path, "max_time"), f'{time!r} is not a span such as "2h" or "90m"')
        return Bounds(
            max_cost=None if cost is None else moment.read_money(cost),
            max_time=None if time is None else moment.read_span(time),
            max_iterations=None if tries is None else self._positive(table, path, "max_iterations"),
        )

    def _checks(self, data: object, path: tuple[str | int, ...]) -> tuple[Check, ...]:
        if data is None:
            return ()
        if not isinstance(data, list):
            self._mistakes.add(path, 'checks is a list such as [ { name = "tests", run = ["pytest"] } ]')
            return ()
        checks: list[Check] = []
        for index, item in enumerate(data):
            here = (*path, index)
            table = self._table({"name": item} if isinstance(item, str) else item, here, CHECK_KEYS)
            name = self._text(table, here, "name", required=True)
            if name and (not is_name(name) or name in {check.name for check in checks}):
                self._mistakes.add((*here, "name"), f"{name!r} is not a name of its own")
            timeout = table.get("timeout", 600)
            if moment.read_span(timeout) is None:
                self._mistakes.add((*here, "timeout"), f'{timeout!r} is not a span such as "10m"')
            run_by = self._word(table, here, "run_by", ("any", "engine"), "any")
            run = self._texts(table, here, "run") if "run" in table else ()
            if "run" in table and (not run or any("\0" in word for word in run)):
                self._mistakes.add((*here, "run"), 'run is a list of words such as ["pytest", "-q"], no shell')
            uses = self._word(table, here, "uses", ("", *USES), "")
            if run_by == "engine" and not run and not uses:
                self._mistakes.add((*here, "run_by"), "the engine can only run a check that has `run` or `uses`")
            if run and uses:
                self._mistakes.add((*here, "uses"), "a check has either `run` or `uses`")
            checks.append(
                Check(
                    name=name or "unnamed",
                    run=run,
                    run_by=run_by,
                    timeout=moment.read_span(timeout) or 600,
                    uses=uses,
                    test=self._word(table, here, "test", ("", "fails", "passes"), ""),
                    report=self._report(table, here),
                )
            )
        return tuple(checks)

    def _report(self, data: Mapping[str, Any], path: tuple[str | int, ...]) -> str:
        report = self._text(data, path, "report")
        if report.startswith("/") or ".." in report.split("/") or not report.isprintable():
            self._mistakes.add((*path, "report"), "report is the path of a file inside the project")
            return ""
        return report

    def _reading(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        """Paths of the project, with or without the `@` that makes agents read them."""
        paths = tuple(item.removeprefix("@") for item in self._texts(data, (), "reading"))
        for path in paths:
            if not path or path.startswith("/") or ".." in path.split("/") or not path.isprintable():
                self._mistakes.add(("reading",), f"{path[:60]!r} is not the path of a file inside the project")
        return tuple(f"@{path}" for path in paths)

    def _reminders(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        texts = self._texts(data, (), "reminders")
        if len(texts) > 100 or any(not text.strip() or len(text.encode()) > 2000 or "\0" in text for text in texts):
            self._mistakes.add(("reminders",), "reminders are at most 100 texts of at most 2000 bytes each")
        return texts

    def _roles(self, data: Mapping[str, Any]) -> tuple[str, ...]:
        roles = self._texts(data, (), "read_only")
        if any(not is_name(role.replace("*", "x").replace("?", "x")) for role in roles):
            self._mistakes.add(("read_only",), 'read_only is a list of roles such as ["reviewer", "*-reviewer"]')
        return roles

    def _deny(self, data: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[str, ...]:
        rules = self._texts(data, path, "deny")
        for rule in rules:
            tool, opened, inner = rule.partition("(")
            closed = inner.endswith(")") and len(inner) > 1 if opened else True
            if not tool.strip() or not closed or not rule.isprintable() or len(rule) > 500:
                said = f'{rule[:60]!r} is not a tool such as "WebFetch" or "Bash(git push*)"'
                self._mistakes.add((*path, "deny"), said)
        return rules

    def _review(self, data: object, path: tuple[str | int, ...]) -> Review | None:
        if data is None:
            return None
        table = self._table(data, path, ("by", "max", "files"))
        most, files = self._positive(table, path, "max", 4), self._flag(table, path, "files")
        return Review(by=self._names(table, path, "by"), max=most, files=files)

    def _approval(self, data: object, path: tuple[str | int, ...]) -> Approval | None:
        if data is None or data is False:
            return None
        table = self._table({} if data is True else data, path, ("by", "rejected"))
        return Approval(
            by=self._word(table, path, "by", POLICIES, "relayed"),
            rejected=self._word(table, path, "rejected", REJECTED, "fail"),
        )

    def _choice(self, data: object, path: tuple[str | int, ...]) -> Choice | None:
        if data is None:
            return None
        table = self._table(data, path, ("options", "by", "rejected"))
        options = self._names(table, path, "options")
        if len(options) == 1:
            self._mistakes.add((*path, "options"), 'a choice has two options or more, such as ["A", "B"], or none')
        return Choice(
            options=options,
            by=self._word(table, path, "by", POLICIES, "relayed"),
            rejected=self._word(table, path, "rejected", REJECTED, "fail"),
        )

    def _retry(self, data: object, path: tuple[str | int, ...]) -> Retry | None:
        if data is None:
            return None
        table = self._table(data, path, ("max", "back_to", "exhausted"))
        return Retry(
            max=self._positive(table, path, "max", 3),
            back_to=self._text(table, path, "back_to"),
            exhausted=self._word(table, path, "exhausted", ("failed", "escalated"), "failed"),
        )

    def _table(self, data: object, path: tuple[str | int, ...], known: tuple[str, ...]) -> Mapping[str, Any]:
        if data is None:
            return {}
        if not isinstance(data, Mapping):
            self._mistakes.add(path, f"a table with {', '.join(known)} is expected here")
            return {}
        self._known(data, path, known)
        return data

    def _known(self, data: Mapping[str, Any], path: tuple[str | int, ...], known: tuple[str, ...]) -> None:
        for key in data:
            if key not in known:
                close = nearest(str(key), known)
                hint = f", did you mean {close!r}?" if close else f"; known are {', '.join(known)}"
                self._mistakes.add((*path, str(key)), f"unknown key {str(key)[:60]!r}{hint}")

    def _text(self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str, *, required: bool = False) -> str:
        value = data.get(key)
        if value is None:
            if required:
                self._mistakes.add(path, f"{key!r} is missing")
            return ""
        if not isinstance(value, str) or len(value) > 2000 or "\0" in value or (required and not value):
            self._mistakes.add((*path, key), f"{key} must be text of at most 2000 characters")
            return ""
        return value

    def _texts(self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str) -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) and item for item in value):
            self._mistakes.add((*path, key), f"{key} must be a list of words")
            return ()
        return tuple(value)

    def _names(self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str) -> tuple[str, ...]:
        names = self._texts(data, path, key)
        for name in names:
            if not is_name(name):
                self._mistakes.add((*path, key), f"{name[:60]!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        return names

    def _flag(self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str) -> bool:
        value = data.get(key, False)
        if not isinstance(value, bool):
            self._mistakes.add((*path, key), f"{key} is true or false")
            return False
        return value

    def _positive(self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str, default: int = 1) -> int:
        value = data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1_000_000:
            self._mistakes.add((*path, key), f"{key} must be a whole number from 1")
            return default
        return value

    def _word(
        self, data: Mapping[str, Any], path: tuple[str | int, ...], key: str, words: tuple[str, ...], default: str
    ) -> str:
        value = data.get(key, default)
        if value not in words:
            self._mistakes.add((*path, key), f"{key} is one of {', '.join(word for word in words if word)}")
            return default
        return str(value)
