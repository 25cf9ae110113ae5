"""The project's commands in the checks of a definition: found when a workflow starts, or when a check needs one."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping, Sequence

from holdfast.checks import results, tooling
from holdfast.checks.shell_words import needs_shell
from holdfast.core import commands as cmd
from holdfast.core import provenance
from holdfast.core.definition import Check, Definition
from holdfast.core.plan import Plan
from holdfast.core.remedy import Remedy
from holdfast.core.state import State
from holdfast.core.tasks import task_of
from holdfast.errors import UsageError
from holdfast.machine.place import Place


def equipped(definition: Definition, tools: Mapping[str, tooling.Tool]) -> Definition:
    """The definition with the project's commands in its checks. Where there is none, one may be found later."""

    def check(one: Check) -> Check:
        tool = tools.get(one.uses)
        if tool is None:
            return one.replace(report=one.report or results.report_path(one.run))
        own = {"run": tool.run, "run_by": "engine", "source": tool.source, "folder": tool.folder, "by": tool.by}
        return one.replace(**own, report=one.report or _report(tool))

    return definition.replace(steps=Plan(definition.steps).with_checks("", check).steps)


def _report(tool: tooling.Tool) -> str:
    found = results.report_path(tool.run)
    return tool.report or (os.path.join(tool.folder, found) if found else "")


def equipped_like(definition: Definition, state: State, place: Place) -> Definition:
    """A definition with the commands that a running workflow has, and those found now for checks it does not have."""
    return equipped(definition, {**tools(definition, place), **tools_of(state)})


def tools_of(state: State) -> dict[str, tooling.Tool]:
    """The commands that a workflow has; of those in several folders, that of the top."""
    checks = [check for path in state.plan.paths for check in state.plan.step(path).checks if check.uses and check.run]
    checks.sort(key=lambda check: check.folder, reverse=True)
    return {
        check.uses: tooling.Tool(check.run, check.source, check.report, check.folder, by=check.by) for check in checks
    }


def tools(definition: Definition, place: Place) -> dict[str, tooling.Tool]:
    """Looked for only when a check asks for one."""
    wanted: list[str] = []

    def note(check: Check) -> Check:
        wanted.append(check.uses)
        return check

    Plan(definition.steps).with_checks("", note)
    return tooling.commands(place.root, place.worktree) if any(wanted) else {}


def binding(
    state: State,
    path: str,
    check: Check,
    place: Place,
    files: Callable[[], Sequence[str]],
    is_trusted: Callable[[], bool],
) -> cmd.Equip | None:
    """What gives a check of a step the command that the project has for it now; None where it stays as it is.

    What somebody typed stays. What the configuration says comes first, in the place of another one only when a person
    trusted it. What was found stays once a check has passed with it, while its folder is there; a task may have one of
    its own, by the `files` that it changes.
    """
    if not check.uses or (check.run and not check.source):
        return None
    base = place.base(state.worktree)
    told, under = tooling.configured(place.root).get(check.uses), ""
    if told is not None and (not check.run or check.source == tooling.CONFIG or is_trusted()):
        tool: tooling.Tool | None = told
    elif check.run and check.source != tooling.CONFIG and _is_bound(state, path, check, base):
        return None
    else:
        tool = tooling.nearest(base, files()).get(check.uses)
        if tool is None and not task_of(state, path):
            tool = tools_of(state).get(check.uses)  # of a package in which tasks were proved; the run adds the others
        under = _under(state, path, check.uses, tool) if tool is not None else ""
    if tool is None or not tool.run:
        return _reporting(check, tool, is_trusted)
    if (check.run, check.source, check.folder) == (tool.run, tool.source, tool.folder):
        return None
    return cmd.Equip(check.uses, tool.run, tool.source, _report(tool), tool.folder, under=under)


def _under(state: State, path: str, uses: str, tool: tooling.Tool) -> str:
    """Where a command that was found goes: to the whole tree, unless steps of other tasks have one of their own.

    That of a package goes to the task.
    """
    task = task_of(state, path)
    if tool.folder and task:
        return task
    others = [one for one in state.plan.paths if task_of(state, one) not in ("", task)]
    used = (check for one in others for check in state.plan.step(one).checks if check.uses == uses and check.run)
    return (task or path) if any((one.run, one.folder) != (tool.run, tool.folder) for one in used) else ""


def _reporting(check: Check, told: tooling.Tool | None, is_trusted: Callable[[], bool]) -> cmd.Equip | None:
    """Whether reports count, where nothing is run: as the definition says, else as a configuration that is trusted."""
    by_config = check.source == tooling.CONFIG and not check.run
    if told is not None and told.reported and (by_config or check.run_by == "engine"):
        return cmd.Equip(check.uses, (), tooling.CONFIG, run_by="any" if is_trusted() else "engine")
    if by_config:
        return cmd.Equip(check.uses, (), run_by="engine" if check.uses == "test" else "any")
    return None


def _is_bound(state: State, path: str, check: Check, base: str) -> bool:
    """Whether the command has passed for the task of a step, or outside of tasks for any step, and can still be run."""
    if not os.path.isdir(os.path.join(base, check.folder)):
        return False
    task = task_of(state, path)
    inside = (task, *state.plan.below(task)) if task else [one for one in state.plan.paths if not task_of(state, one)]
    own = (check.uses, check.run, check.folder)
    checks = ((one, other) for one in inside for other in state.plan.step(one).checks)
    used = ((one, other) for one, other in checks if (other.uses, other.run, other.folder) == own)
    seen = ((state.step(one).attempt, state.step(one).evidence.get(other.name)) for one, other in used)
    return any(one is not None and one.passed and one.attempt == attempt for attempt, one in seen)


def rebound(before: Check, now: Check) -> str:
    """What is said where a check that had a command has another one; empty where it has none or the same."""
    if not before.run or (before.run, before.folder) == (now.run, now.folder):
        return ""
    said = provenance.command(now) if now.run else "none, and reports count" if now.run_by != "engine" else "none"
    return f"the {now.uses} command changed: {said}; before: {provenance.command(before)}"


def typed(name: str) -> str:
    """The command of the project that a value of this name gives: `test_command` gives that of `test`."""
    uses = name.removesuffix("_command")
    return uses if uses != name and uses in tooling.NAMES else ""


def words(command: object, name: str, way: Remedy) -> tuple[str, ...]:
    """The program and its arguments that somebody typed; `way` is how it is typed."""
    import shlex

    said = str(command).lower() if isinstance(command, bool) else command  # `true` and `false` are programs too
    try:
        words = tuple(shlex.split(said)) if isinstance(said, str) else ()
    except ValueError:
        words = ()
    why = needs_shell(said) if isinstance(said, str) else ""
    if why or not words or any("\0" in word for word in words):
        message = f"{name} is a program and its arguments, run without a shell"
        raise UsageError("bad_command", f"{message}; {why}" if why else message, remedy=way)
    return words
