"""Whatever an agent may type on the command line a tool does too, or there is a reason why not."""

from __future__ import annotations

from holdfast.core import naming
from holdfast.surfaces import tools

BY_OTHER_FIELDS = {
    "approve": "approve_step",
    "reject": "approve_step",
    "abort": "cancel_workflow",
    "agent spend": "record_work",
    "task start": "update_workflow_state",
    "task done": "update_workflow_state",
    "signal": "get_workflow_status",
}
"""Commands whose tool says the same in another way, so that no remedy is printed as a call of it."""
WITHOUT = {
    "wait": "a server tells of changes by resources/updated, and get_next_step may be asked again",
    "reset": "a person's",
    "feature reset": "a person's",
    "extend": "a person's",
    "trust": "a person's",
    "task retry": "a person's",
    "task skip": "a person's",
    "task manual": "a person's",
    "uninstall": "a person's",
    "workflows check": "starting a definition tells all its mistakes at once",
    "workflows new": "a definition is a file, and docs/how-to/define-a-workflow.md has one to begin with",
    "schema": "about files of definitions and documents, for editors",
    "adopt": "a document is adopted when its workflow is first named",
    "doctor": "upkeep of the machine, not of the work",
    "clean": "upkeep of the machine, not of the work",
    "install": "sets up the host that would call the tool",
    "hook": "what a host runs",
    "statusline": "what a host runs",
    "mcp": "is the server",
    "completion": "for a shell",
    "demo": "for a person to watch",
}
"""Commands without a tool, and why."""


def test_every_command_has_a_tool_or_a_reason():
    covered = {**naming.TOOLS, **BY_OTHER_FIELDS, **WITHOUT}
    assert set(covered) == set(naming.NAMES)
    assert not {*naming.TOOLS} & {*BY_OTHER_FIELDS, *WITHOUT}
    assert not {*BY_OTHER_FIELDS} & {*WITHOUT}


def test_what_is_a_persons_has_no_tool():
    assert not {*naming.PEOPLES} & {*naming.TOOLS, *BY_OTHER_FIELDS}


def test_the_tools_that_stand_for_commands_take_the_fields_that_are_named():
    wrong = []
    for command, row in naming.TOOLS.items():
        tool, *fields = row.split()
        known = {field.name: field for field in tools.TOOLS[tool].inputs}
        for field in fields:
            name, _, constant = field.partition("=")
            name = name.partition(":")[0].removesuffix("…")
            among = known[name].among if name in known else ()
            if name and (name not in known or (constant and among and constant not in among)):
                wrong.append((command, field))
    assert wrong == []
    assert {*BY_OTHER_FIELDS.values()} <= {*tools.TOOLS}


def test_every_tool_is_in_the_default_set_or_in_a_toolset():
    known = {tool.name for tool in tools.DEFAULT} | {tool.name for some in tools.TOOLSETS.values() for tool in some}
    assert known == {*tools.TOOLS}


def test_every_tool_that_changes_a_workflow_takes_a_token():
    changing = [tool for tool in tools.TOOLS.values() if not tool.reads and tool.name != "story_session"]
    assert [tool.name for tool in changing if all(field.name != "token" for field in tool.inputs)] == []
