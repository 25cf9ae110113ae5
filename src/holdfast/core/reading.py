"""Definitions from plain data: a TOML file's, or what a caller wrote in Python."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import definition as defined
from holdfast.core import moment, policies
from holdfast.core.definition import Approval, Bounds, Check, Choice, Conduct, Definition, Retry, Review, Step, Words
from holdfast.core.mistakes import Mistakes, check_names, check_references, dotted
from holdfast.core.names import is_name, unknown_key
from holdfast.core.value import Any

Path = tuple[str | int, ...]
CHECK_KEYS = ("name", "run", "run_by", "timeout", "uses", "test", "report")
STEP_KEYS = (
    *("id", "name", "description", "kind", "agents", "requires", "outputs", "code", "checks", "review", "approval"),
    *("choice", "retry", "parallel", "optional", "mandatory", "action", "result", "passed", "failed", "task", "deny"),
    "step",
)
TASK_KEYS = tuple(key for key in STEP_KEYS if key not in ("id", "name", "requires", "task"))
TOP_KEYS = (
    *("name", "description", "version", "title", "dialect", "bounds", "loads", "advance"),
    *("reading", "reminders", "keep_going", "require_ack", "read_only", "step"),
)
BOUND_KEYS = ("max_cost", "max_time", "max_iterations")
REJECTED = ("fail", "revise")
"""What a bare no of a person leads to."""
USES = ("lint", "test", "security_review", "code_simplifier")
"""The commands of a project that a check can be for."""


def read(
    data: Mapping[str, Any], locate: Callable[[Path], str] = dotted, digest: str = "", words: Words | None = None
) -> Definition:
    """A definition from plain data; raises one error that lists every mistake.

    `words` are those of the systems; without them, `loads` may be any word.
    """
    mistakes = Mistakes(locate)
    definition = _Reader(mistakes, words or Words()).definition(data, digest)
    if words is not None and definition.loads:
        _check_loads(definition, words.loads, mistakes)
    check_references(definition.steps, mistakes)
    mistakes.report()
    return definition


def _check_loads(definition: Definition, loads: Mapping[str, Conduct], mistakes: Mistakes) -> None:
    word = definition.loads
    if word not in loads:
        mistakes.add(("loads",), f"loads is one of {', '.join(loads)}")
    elif loads[word].groups and not any(step.task for step in definition.steps):
        mistakes.add(("loads",), f"a step has to say what the {word}'s tasks look like ([step.task])")


class _Table:
    """One table of the data. What is wrong in it is reported and left at its default, so that reading continues."""

    def __init__(self, data: object, at: Path, known: tuple[str, ...], mistakes: Mistakes) -> None:
        self.data: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        self.at = at
        self._mistakes = mistakes
        if data is not None and not isinstance(data, Mapping):
            mistakes.add(at, f"a table with {', '.join(known)} is expected here")
        for key in self.data:
            if key not in known:
                self.wrong(str(key), unknown_key(str(key), known))

    def wrong(self, key: str, message: str) -> None:
        self._mistakes.add((*self.at, key), message)

    def text(self, key: str, *, required: bool = False) -> str:
        value = self.data.get(key)
        if value is None:
            if required:
                self._mistakes.add(self.at, f"{key!r} is missing")
            return ""
        if not isinstance(value, str) or len(value) > 2000 or "\0" in value or (required and not value):
            self.wrong(key, f"{key} must be text of at most 2000 characters")
            return ""
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key, [])
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) and item for item in value):
            self.wrong(key, f"{key} must be a list of words")
            return ()
        return tuple(value)

    def names(self, key: str) -> tuple[str, ...]:
        names = self.texts(key)
        for name in names:
            if not is_name(name):
                self.wrong(key, f"{name[:60]!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        return names

    def flag(self, key: str) -> bool:
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            self.wrong(key, f"{key} is true or false")
            return False
        return value

    def positive(self, key: str, default: int = 1) -> int:
        value = self.data.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1_000_000:
            self.wrong(key, f"{key} must be a whole number from 1")
            return default
        return value

    def word(self, key: str, words: tuple[str, ...], default: str = "") -> str:
        value = self.data.get(key, default)
        if value not in words:
            self.wrong(key, f"{key} is one of {', '.join(word for word in words if word)}")
            return default
        return str(value)

    def measure(self, key: str, read: Callable[[object], int | None], example: str) -> int | None:
        """An amount or a span that is written as text; None where there is none."""
        value = self.data.get(key)
        found = None if value is None else read(value)
        if value is not None and not found:
            self.wrong(key, f"{value!r} is not {example}")
        return found

    def below(self, key: str, known: tuple[str, ...]) -> _Table | None:
        """The table below this one; None where there is none."""
        data = self.data.get(key)
        return None if data is None else _Table(data, (*self.at, key), known, self._mistakes)


class _Reader:
    """Tables → values."""

    def __init__(self, mistakes: Mistakes, words: Words) -> None:
        self._mistakes = mistakes
        self._words = words
        self._actions: Mapping[str, str] = {}
        self._count = 0

    def definition(self, data: Mapping[str, Any], digest: str) -> Definition:
        top = _Table(data, (), TOP_KEYS, self._mistakes)
        name = top.text("name", required=True)
        if name and not is_name(name):
            top.wrong("name", f"{name!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        version = data.get("version", 1)
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            top.wrong("version", "version must be a whole number from 1")
            version = 1
        dialect = top.text("dialect") or "skill"
        if not is_name(dialect):
            top.wrong("dialect", f"{dialect!r} is not a dialect")
        self._actions = self._words.actions.get(dialect, {})
        steps = self._steps(top)
        if not steps:
            top.wrong("step", "a definition needs at least one [[step]]")
        check_names(steps, ("step",), self._mistakes)
        return Definition(
            name=name or "unnamed",
            version=version,
            description=top.text("description"),
            title=top.text("title"),
            dialect=dialect,
            bounds=_bounds(top.below("bounds", BOUND_KEYS)),
            loads=top.text("loads"),
            advance=top.flag("advance"),
            reading=_reading(top),
            reminders=_reminders(top),
            keep_going=top.flag("keep_going"),
            require_ack=top.flag("require_ack"),
            read_only=_roles(top),
            steps=steps,
            digest=digest,
        )

    def _steps(self, above: _Table) -> tuple[Step, ...]:
        data, at = above.data.get("step"), (*above.at, "step")
        if data is None:
            return ()
        if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
            above.wrong("step", "steps are written as [[step]] tables")
            return ()
        self._count += len(data)
        if self._count > defined.MAX_STEPS or len(at) > 2 * defined.DEEPEST:
            above.wrong("step", f"a definition has at most {defined.MAX_STEPS} steps, {defined.DEEPEST} deep")
            return ()
        tables = (_Table(item, (*at, index), STEP_KEYS, self._mistakes) for index, item in enumerate(data))
        return tuple(self._step(table) for table in tables)

    def _step(self, table: _Table, *, is_task: bool = False) -> Step:
        action = table.word("action", ("", *defined.ACTIONS, *self._actions))
        task = table.below("task", TASK_KEYS)  # what tasks are called and where they are is each one's own
        step = Step(
            id="task" if is_task else table.text("id", required=True) or f"step-{table.at[-1]}",
            name=table.text("name"),
            description=table.text("description"),
            kind=table.text("kind"),
            agents=table.names("agents"),
            requires=table.texts("requires") if "requires" in table.data else None,
            outputs=table.names("outputs"),
            code=table.flag("code"),
            checks=self._checks(table),
            review=_review(table.below("review", ("by", "max", "files"))),
            approval=_approval(table),
            choice=_choice(table.below("choice", ("options", "by", "rejected"))),
            retry=_retry(table.below("retry", ("max", "back_to", "exhausted"))),
            parallel=table.flag("parallel"),
            optional=table.flag("optional"),
            mandatory=table.flag("mandatory"),
            action=action,
            own_fact=self._actions.get(action, ""),
            result=table.text("result"),
            passed=table.text("passed") or Step.passed,
            failed=table.text("failed") or Step.failed,
            task=None if task is None else self._step(task, is_task=True),
            deny=_deny(table),
            steps=self._steps(table),
        )
        if step.parallel and not step.steps:
            table.wrong("parallel", "parallel is for a step with children ([[step.step]])")
        if step.optional and step.mandatory:
            table.wrong("mandatory", "a step is either optional or mandatory")
        if {gate.by for gate in (step.approval, step.choice) if gate} >= {"signed", "passkey"}:
            table.wrong("approval", "one answer is both approval and choice: they ask for the same proof")
        if step.result and step.result not in step.outputs:
            table.wrong("result", "result names one of the step's outputs")
        if step.approval and step.approval.of and step.approval.of not in step.outputs:
            table.wrong("approval", "of names one of the step's outputs")
        if step.passed == step.failed:
            table.wrong("failed", "passed and failed are two words")
        if step.action and (step.review or step.approval or step.choice):
            table.wrong("action", "an action needs a step of its own, after the one that people pass")
        return step

    def _checks(self, step: _Table) -> tuple[Check, ...]:
        data = step.data.get("checks")
        if data is not None and not isinstance(data, list):
            step.wrong("checks", 'checks is a list such as [ { name = "tests", run = ["pytest"] } ]')
        checks: list[Check] = []
        for index, item in enumerate(data if isinstance(data, list) else ()):
            said = {"name": item} if isinstance(item, str) else item
            table = _Table(said, (*step.at, "checks", index), CHECK_KEYS, self._mistakes)
            name = table.text("name", required=True)
            if name and (not is_name(name) or name in {check.name for check in checks}):
                table.wrong("name", f"{name!r} is not a name of its own")
            timeout = table.measure("timeout", moment.read_span, 'a span such as "10m"')
            uses = table.word("uses", ("", *USES))
            # Tests prove something only where Holdfast runs them, unless the definition says that reports count too.
            run_by = table.word("run_by", ("any", "engine"), "engine" if uses == "test" else "any")
            run = table.texts("run")
            if "run" in table.data and (not run or any("\0" in word for word in run)):
                table.wrong("run", 'run is a list of words such as ["pytest", "-q"], no shell')
            if run_by == "engine" and not run and not uses:
                table.wrong("run_by", "the engine can only run a check that has `run` or `uses`")
            if run and uses:
                table.wrong("uses", "a check has either `run` or `uses`")
            test, report = table.word("test", ("", "fails", "passes")), _report(table)
            checks.append(Check(name or "unnamed", run, run_by, timeout or Check.timeout, uses, test, report))
        return tuple(checks)


def _bounds(table: _Table | None) -> Bounds:
    if table is None:
        return Bounds()
    return Bounds(
        max_cost=table.measure("max_cost", moment.read_money, 'an amount such as "$10"'),
        max_time=table.measure("max_time", moment.read_span, 'a span such as "2h" or "90m"'),
        max_iterations=table.positive("max_iterations") if table.data.get("max_iterations") is not None else None,
    )


def _is_outside(path: str) -> bool:
    return path.startswith("/") or ".." in path.split("/") or not path.isprintable()


def _report(check: _Table) -> str:
    report = check.text("report")
    if not _is_outside(report):
        return report
    check.wrong("report", "report is the path of a file inside the project")
    return ""


def _reading(top: _Table) -> tuple[str, ...]:
    """Paths of the project, with or without the `@` that makes agents read them."""
    paths = tuple(item.removeprefix("@") for item in top.texts("reading"))
    for path in paths:
        if not path or _is_outside(path):
            top.wrong("reading", f"{path[:60]!r} is not the path of a file inside the project")
    return tuple(f"@{path}" for path in paths)


def _reminders(top: _Table) -> tuple[str, ...]:
    texts = top.texts("reminders")
    if len(texts) > 100 or any(not text.strip() or len(text.encode()) > 2000 or "\0" in text for text in texts):
        top.wrong("reminders", "reminders are at most 100 texts of at most 2000 bytes each")
    return texts


def _roles(top: _Table) -> tuple[str, ...]:
    roles = top.texts("read_only")
    if any(not is_name(role.replace("*", "x").replace("?", "x")) for role in roles):
        top.wrong("read_only", 'read_only is a list of roles such as ["reviewer", "*-reviewer"]')
    return roles


def _deny(step: _Table) -> tuple[str, ...]:
    rules = step.texts("deny")
    for rule in rules:
        tool, opened, inner = rule.partition("(")
        closed = inner.endswith(")") and len(inner) > 1 if opened else True
        if not tool.strip() or not closed or not rule.isprintable() or len(rule) > 500:
            step.wrong("deny", f'{rule[:60]!r} is not a tool such as "WebFetch" or "Bash(git push*)"')
    return rules


def _review(table: _Table | None) -> Review | None:
    if table is None:
        return None
    most, files = table.positive("max", Review.max), table.flag("files")
    return Review(by=table.names("by"), max=most, files=files)


def _approval(step: _Table) -> Approval | None:
    if isinstance(step.data.get("approval"), bool):
        return Approval() if step.data["approval"] else None
    table = step.below("approval", ("by", "rejected", "of"))
    return Approval(**_answer(table), of=table.text("of")) if table else None


def _choice(table: _Table | None) -> Choice | None:
    if table is None:
        return None
    options = table.names("options")
    if len(options) == 1:
        table.wrong("options", 'a choice has two options or more, such as ["A", "B"], or none')
    return Choice(options, **_answer(table))


def _answer(table: _Table) -> dict[str, str]:
    """Through which channel a person's word may come, and what a bare no means."""
    by, rejected = _policy(table), table.word("rejected", REJECTED, "fail")
    return {"by": by, "rejected": rejected}


def _policy(table: _Table) -> str:
    """One policy, or a list of which any is enough."""
    if not isinstance(table.data.get("by"), list):
        return table.word("by", defined.POLICIES, "relayed")
    listed = table.texts("by")
    if not listed or any(one not in defined.POLICIES for one in listed):
        table.wrong("by", f"by is one of {', '.join(defined.POLICIES)}, or a list of them")
        return "relayed"
    return policies.any_of(listed)


def _retry(table: _Table | None) -> Retry | None:
    if table is None:
        return None
    most, exhausted = table.positive("max", 3), table.word("exhausted", ("failed", "escalated"), "failed")
    return Retry(max=most, back_to=table.text("back_to"), exhausted=exhausted)
