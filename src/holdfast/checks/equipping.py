"""The project's commands in the checks of a definition: found, or typed, when a workflow starts."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.checks import results, tooling
from holdfast.core import remedies
from holdfast.core.definition import Check, Definition, Step
from holdfast.core.remedy import Blank, Remedy
from holdfast.core.state import State
from holdfast.errors import UsageError
from holdfast.machine.place import Place


def equipped(
    definition: Definition, tools: Mapping[str, tooling.Tool], subject: str = "", *, lacking: bool = False
) -> Definition:
    """The definition with the project's commands in its checks. Where there is none, somebody has to report.

    A check that only the engine runs needs one, unless it may be `lacking` until somebody gives one.
    """
    unmet: list[Check] = []

    def check(one: Check) -> Check:
        tool = tools.get(one.uses)
        if tool is None:
            if one.uses and one.run_by == "engine":
                unmet.append(one)
            return one.replace(report=one.report or results.report_path(one.run))
        report = one.report or tool.report or results.report_path(tool.run)
        return one.replace(run=tool.run, run_by="engine", source=tool.source, report=report)

    steps = _mapped(definition.steps, check)
    if unmet and not lacking:
        uses = unmet[0].uses
        said = f"{definition.name} runs the project's {uses} command, and none was found"
        typed = (_with_command(definition, subject),) if uses == "test" and definition.loads else ()
        ways = (*typed, f'{uses} = ["COMMAND"] below [commands] in {tooling.CONFIG}')
        raise UsageError("no_command", said, remedy=ways, facts={"uses": uses, "check": unmet[0].name})
    return definition.replace(steps=steps)


def equipped_like(definition: Definition, state: State, place: Place) -> Definition:
    """A definition with the commands that a running workflow has, and those found now for checks it does not have."""
    return equipped(definition, {**tools(definition, place), **tools_of(state)})


def tools_of(state: State) -> dict[str, tooling.Tool]:
    """The commands that a workflow has."""
    checks = (check for path in state.plan.paths for check in state.plan.step(path).checks if check.uses and check.run)
    return {check.uses: tooling.Tool(check.run, check.source, check.report) for check in checks}


def _mapped(steps: tuple[Step, ...], check: Callable[[Check], Check]) -> tuple[Step, ...]:
    return tuple(
        step.replace(
            checks=tuple(check(one) for one in step.checks),
            steps=_mapped(step.steps, check),
            task=_mapped((step.task,), check)[0] if step.task else None,
        )
        for step in steps
    )


def tools(definition: Definition, place: Place) -> dict[str, tooling.Tool]:
    """Looked for only when a check asks for one."""
    wanted: list[str] = []

    def note(check: Check) -> Check:
        wanted.append(check.uses)
        return check

    _mapped(definition.steps, note)
    return tooling.commands(place.root, place.worktree) if any(wanted) else {}


def _with_command(definition: Definition, subject: str) -> Remedy:
    about = subject or Blank("SUBJECT")
    return remedies.start(definition.name, about, values={"test_command": Blank("'COMMAND'")})


def words(command: object, definition: Definition, subject: str) -> tuple[str, ...]:
    """The program and its arguments that somebody typed for a start."""
    import shlex

    try:
        said = str(command).lower() if isinstance(command, bool) else command  # `true` and `false` are programs too
        words = tuple(shlex.split(said)) if isinstance(said, str) else ()
    except ValueError:
        words = ()
    if not words or any("\0" in word for word in words):
        message = "test_command is a program and its arguments; it is run without a shell"
        raise UsageError("bad_command", message, remedy=_with_command(definition, subject))
    return words
