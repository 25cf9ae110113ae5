"""What a workflow may look like: steps in a tree, with gates, retries and bounds.

`read` takes the plain data of a TOML file or of a caller and reports every mistake in it at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from holdfast.core import moment
from holdfast.core.names import is_name
from holdfast.core.value import Value
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

POLICIES = ("relayed", "human", "signed")
MAX_STEPS = 2000


class Check(Value):
    """A named check. With `run`, the engine can run it; `run_by = "engine"` accepts nobody else's word."""

    name: str
    run: tuple[str, ...] = ()
    run_by: str = "any"
    timeout: int = 600


class Review(Value):
    """Reviewers look at the work; after `max` rejected rounds the step is escalated."""

    by: tuple[str, ...] = ()
    max: int = 4


class Approval(Value):
    """A person's word. The policy says through which channel it may come."""

    by: str = "relayed"


class Choice(Value):
    """A person picks one of the options."""

    options: tuple[str, ...]
    by: str = "relayed"


class Retry(Value):
    """How often a step may fail, where the next try begins, and what it is when the tries are used up."""

    max: int
    back_to: str = ""
    exhausted: str = "failed"


class Bounds(Value):
    """Limits the engine enforces: micro-dollars, seconds, attempts per step. None is no limit."""

    max_cost: int | None = None
    max_time: int | None = None
    max_iterations: int | None = None


class Step(Value):
    """A node of the tree: a leaf is work, a branch is done when its children are."""

    id: str
    name: str = ""
    description: str = ""
    kind: str = ""
    agents: tuple[str, ...] = ()
    requires: tuple[str, ...] | None = None
    outputs: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    review: Review | None = None
    approval: Approval | None = None
    choice: Choice | None = None
    retry: Retry | None = None
    parallel: bool = False
    optional: bool = False
    steps: tuple[Step, ...] = ()

    @property
    def label(self) -> str:
        return self.name or self.id

    @property
    def gated(self) -> bool:
        return bool(self.checks or self.outputs or self.review or self.approval or self.choice)

    def check(self, name: str) -> Check | None:
        return next((check for check in self.checks if check.name == name), None)


class Definition(Value):
    name: str
    steps: tuple[Step, ...]
    version: int = 1
    title: str = ""
    dialect: str = "skill"
    bounds: Bounds = Bounds()
    digest: str = ""
    source: str = ""
    """The file it was read from; empty for one that was given as Python values."""


def fill(template: str, subject: str, context: Mapping[str, object]) -> str:
    """Replaces `{subject}` and `{context.KEY}`, and nothing else: a template is never code."""
    out, rest = "", template
    while "{" in rest:
        before, _, rest = rest.partition("{")
        inside, closed, after = rest.partition("}")
        out += before
        if not closed:
            return out + "{" + inside
        if inside == "subject":
            out += subject
        elif inside.startswith("context.") and inside[8:] in context:
            out += str(context[inside[8:]])
        else:
            out += "{"
            continue
        rest = after
    return out + rest


class Mistakes:
    """Collects what is wrong, each with the place it stands at."""

    def __init__(self, locate: Callable[[tuple[str | int, ...]], str]) -> None:
        self.found: list[dict[str, str]] = []
        self._locate = locate

    def add(self, path: tuple[str | int, ...], message: str) -> None:
        self.found.append({"where": self._locate(path), "message": message})

    def report(self) -> None:
        """Raises one error that lists them all, if there are any."""
        if not self.found:
            return
        many = len(self.found)
        listed = "; ".join(f"{mistake['where']}: {mistake['message']}" for mistake in self.found)
        raise UsageError(
            "bad_definition",
            f"{many} mistake{'s' if many > 1 else ''} in the definition: {listed}",
            remedy="mend them, then: holdfast workflows check FILE",
            facts={"mistakes": self.found},
        )


def read(
    data: Mapping[str, Any],
    locate: Callable[[tuple[str | int, ...]], str] = lambda path: dotted(path),
    digest: str = "",
) -> Definition:
    """A definition from plain data; raises one error that lists every mistake."""
    mistakes = Mistakes(locate)
    definition = _Reader(mistakes).definition(data, digest)
    _references(definition.steps, mistakes)
    mistakes.report()
    return definition


def check_steps(steps: tuple[Step, ...]) -> None:
    """Whether the steps of a tree fit together; for trees that were changed or written in Python."""
    mistakes = Mistakes(dotted)
    if not steps:
        mistakes.add(("step",), "a workflow needs at least one step")
    _names(steps, ("step",), mistakes)
    mistakes.report()
    _references(steps, mistakes)
    mistakes.report()


def dotted(path: tuple[str | int, ...]) -> str:
    """`("step", 0, "id")` → `step[1].id`."""
    out = ""
    for part in path:
        out += f"[{part + 1}]" if isinstance(part, int) else (f".{part}" if out else part)
    return out or "definition"


def nearest(word: str, known: tuple[str, ...]) -> str:
    """The known word that shares most with this one, or nothing when none is close."""

    def distance(a: str, b: str) -> int:
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            previous, row[0] = row[0], i
            for j, y in enumerate(b, 1):
                previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
        return row[-1]

    best = min(known, key=lambda k: distance(word[:40], k), default="")
    return best if best and distance(word[:40], best) <= max(2, len(best) // 3) else ""


class _Reader:
    """Plain data → values. Wrong parts are reported and left at their default, so that reading goes on."""

    def __init__(self, mistakes: Mistakes) -> None:
        self._mistakes = mistakes
        self._count = 0

    def definition(self, data: Mapping[str, Any], digest: str) -> Definition:
        self._known(data, (), ("name", "version", "title", "dialect", "bounds", "step"))
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
        _names(steps, ("step",), self._mistakes)
        return Definition(
            name=name or "unnamed",
            version=version,
            title=self._text(data, (), "title"),
            dialect=dialect,
            bounds=self._bounds(data.get("bounds"), ("bounds",)),
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
        if self._count > MAX_STEPS or len(path) > 16:
            self._mistakes.add(path, f"a definition has at most {MAX_STEPS} steps, 8 deep")
            return ()
        return tuple(self._step(item, (*path, index)) for index, item in enumerate(data))

    def _step(self, data: Mapping[str, Any], path: tuple[str | int, ...]) -> Step:
        self._known(data, path, STEP_KEYS)
        step = Step(
            id=self._text(data, path, "id", required=True) or f"step-{path[-1]}",
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
            steps=self._steps(data.get("step"), (*path, "step")),
        )
        if step.parallel and not step.steps:
            self._mistakes.add((*path, "parallel"), "parallel is for a step with children ([[step.step]])")
        return step

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
            if run_by == "engine" and not run:
                self._mistakes.add((*here, "run_by"), "the engine can only run a check that has `run`")
            checks.append(Check(name or "unnamed", run, run_by, moment.read_span(timeout) or 600))
        return tuple(checks)

    def _review(self, data: object, path: tuple[str | int, ...]) -> Review | None:
        if data is None:
            return None
        table = self._table(data, path, ("by", "max"))
        return Review(by=self._names(table, path, "by"), max=self._positive(table, path, "max", 4))

    def _approval(self, data: object, path: tuple[str | int, ...]) -> Approval | None:
        if data is None or data is False:
            return None
        table = self._table({} if data is True else data, path, ("by",))
        return Approval(by=self._word(table, path, "by", POLICIES, "relayed"))

    def _choice(self, data: object, path: tuple[str | int, ...]) -> Choice | None:
        if data is None:
            return None
        table = self._table(data, path, ("options", "by"))
        options = self._names(table, path, "options")
        if len(options) < 2:
            self._mistakes.add((*path, "options"), 'a choice needs two options or more, such as ["A", "B"]')
        return Choice(options=options, by=self._word(table, path, "by", POLICIES, "relayed"))

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
            self._mistakes.add((*path, key), f"{key} is one of {', '.join(words)}")
            return default
        return str(value)


CHECK_KEYS = ("name", "run", "run_by", "timeout")
STEP_KEYS = (
    *("id", "name", "description", "kind", "agents", "requires", "outputs", "checks"),
    *("review", "approval", "choice", "retry", "parallel", "optional", "step"),
)


def _names(steps: tuple[Step, ...], at: tuple[str | int, ...], mistakes: Mistakes) -> None:
    """Every id is a name, and no two siblings share one."""
    seen: set[str] = set()
    for index, step in enumerate(steps):
        if not is_name(step.id):
            mistakes.add((*at, index, "id"), f"{step.id!r} is not a name (A-Z a-z 0-9 _ . -, at most 64)")
        if step.id in seen:
            mistakes.add((*at, index, "id"), f"the id {step.id!r} is used twice here")
        seen.add(step.id)
        _names(step.steps, (*at, index, "step"), mistakes)


def _references(steps: tuple[Step, ...], mistakes: Mistakes) -> None:
    """`requires` and `back_to` must name steps that exist, and nothing may wait for itself."""
    from holdfast.core.plan import Plan

    plan = Plan(steps)
    places = _places(steps, ("step",), "")
    for path in plan.paths:
        step, place = plan.step(path), places[path]
        for name in step.requires or ():
            if plan.beside(path, name) is None:
                mistakes.add((*place, "requires"), f"there is no step {name!r} to require")
        if step.retry and step.retry.back_to and plan.beside(path, step.retry.back_to) is None:
            mistakes.add((*place, "retry"), f"there is no step {step.retry.back_to!r} to go back to")
        if path in plan.closure(path):
            mistakes.add((*place, "requires"), f"{path!r} requires itself in the end")
        elif step.retry and step.retry.back_to:
            target = plan.beside(path, step.retry.back_to)
            if target is not None and target not in plan.closure(path):
                mistakes.add((*place, "retry"), f"back_to must be a step that comes before {path!r}")


def _places(steps: tuple[Step, ...], at: tuple[str | int, ...], above: str) -> dict[str, tuple[str | int, ...]]:
    places: dict[str, tuple[str | int, ...]] = {}
    for index, step in enumerate(steps):
        path = f"{above}/{step.id}" if above else step.id
        places[path] = (*at, index)
        places.update(_places(step.steps, (*at, index, "step"), path))
    return places
