"""Commands of the command line for tools: the same functions, given values instead of words, and nobody to ask."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.names import is_name
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.terminal import Style
from holdfast.project.project import Project
from holdfast.surfaces.cli.arguments import Parsed, options_of
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.grammar import Command, Option
from holdfast.surfaces.cli.lookup import load
from holdfast.surfaces.cli.readers import reader
from holdfast.surfaces.cli.table import COMMANDS


class ToolCall(Call):
    """A call of a command whose answer is kept as data. A caller of a tool never has a terminal."""

    def __init__(self, command: Command, args: Parsed, project: Project) -> None:
        self.command, self.args, self._project = command, args, project
        self.settings = project.wired.settings
        self.style, self.unicode, self.about = Style(False), True, ""
        self.made: dict[str, Any] = {}

    @property
    def is_person(self) -> bool:
        return False

    def write_json(self, data: Mapping[str, Any]) -> None:
        self.made = dict(data)

    def tell_news(self) -> None:
        """Nothing: news is before the answer of every tool."""


def run(project: Project, name: str, given: Mapping[str, Any], /, **more: Any) -> dict[str, Any]:
    """What a command answers with `--json`. `given` and `more` have its words and options under their own names.

    `workflow_id` is the workflow it is about; other fields of a tool that the command does not take are left out.
    """
    command = COMMANDS[name]
    options = options_of(command)
    values: dict[str, Any] = {
        option.dest: [] if option.many or option.nargs in ("*", "+") else option.default for option in options
    }
    said = {"workflow": given.get("workflow_id"), "json": True, **given, **more}
    for option in options:
        value = said.get(option.dest)
        if value not in (None, "") and option.dest not in ("role", "token"):
            values[option.dest] = value if option.dest == "workflow" else _read(project, option, value)
    call = ToolCall(command, Parsed(values), project)
    load(command.handler)(call)
    return call.made


def need(tool: str, given: Mapping[str, Any], *names: str) -> None:
    """Refuses a call whose action needs fields that are not there; all of them at once."""
    wrong = [f"{name} is missing" for name in names if name not in given]
    if wrong:
        action = given.get("action") or given.get("view")
        said = f"{tool}: {action} needs {' and '.join(names)}: {'; '.join(wrong)}"
        way = f"{tool} with {', '.join(names)}"
        raise UsageError("bad_arguments", said, remedy=way, facts={"tool": tool, "mistakes": wrong})


def _read(project: Project, option: Option, value: Any) -> Any:
    """A value as the command would have read it; paths are taken from the top of the worktree."""
    if isinstance(value, Mapping):
        return [_pair(name, one) for name, one in value.items()]
    if isinstance(value, list):
        return [_read(project, option, one) for one in value]
    if isinstance(value, str) and option.type:
        read = reader(option.type)(value)
        return os.path.join(project.wired.place.worktree, read) if option.type == "path" else read
    return value


def _pair(name: str, value: Any) -> tuple[str, Any]:
    if not is_name(name):
        said = f"{name[:80]!r} cannot be the name of a value"
        raise UsageError("bad_pair", said, remedy="a plain name as key")
    return name, value
