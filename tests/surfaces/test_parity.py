"""Whatever an agent may type on the command line a tool does too, or there is a reason why not."""

from __future__ import annotations

import pytest

from holdfast.core import naming
from holdfast.errors import HoldfastError
from holdfast.surfaces import tools
from tests.workbench import Bench

TIDY = """name = "tidy"
[[step]]
id = "look"
checks = [{ name = "lint" }]
"""

BY_OTHER_FIELDS = {
    "approve": "approve_step",
    "reject": "approve_step",
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
    "passkey add": "a person's",
    "passkey remove": "a person's",
    "passkey list": "a person who looks at it ends an alert",
    "verify": "for people and pipelines, who believe no server of the agent's",
    "receipt": "for people and pipelines, who believe no server of the agent's",
    "orchestrator retry": "a person's",
    "orchestrator skip": "a person's",
    "orchestrator manual": "a person's",
    "uninstall": "a person's",
    "workflows check": "starting a definition tells all its mistakes at once",
    "workflows new": "a definition is a file, and docs/how-to/define-a-workflow.md has one to begin with",
    "schema": "about files of definitions and documents, for editors",
    "adopt": "a document is adopted when its workflow is first named",
    "doctor": "upkeep of the machine, not of the work",
    "clean": "upkeep of the machine, not of the work",
    "init": "sets up the project and the host that would call the tool",
    "install": "sets up the host that would call the tool",
    "hook": "what a host runs",
    "statusline": "what a host runs",
    "mcp": "is the server",
    "web": "for a person to see and decide",
    "completion": "for a shell",
    "demo": "for a person to watch",
    "run": "a person lets agents work, and an agent that starts agents spends unasked",
    "stop": "a person's",
    "notify": "tells a person, by their own settings",
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


NOT_BY_TOOL = {
    "check": {"failed": "`passed` is false"},
    "start": {
        "resume": "get_next_step continues with the one that is active",
        "reading": "brief_agents",
        "remind": "brief_agents",
    },
}
"""Options of these commands that their tool says otherwise."""
ALWAYS = ("json", "role", "debug", "help")


@pytest.mark.parametrize("command", NOT_BY_TOOL)
def test_every_option_of_starts_and_checks_has_its_field(command):
    fields = naming.TOOLS[command].split()[1:]
    sources = {field.partition("=")[0].rpartition(":")[2].removesuffix("…") for field in fields}
    options = {one.dest for one in naming.spellings(command) if one.dest not in ALWAYS}
    assert options - sources == {*NOT_BY_TOOL[command]}


def test_a_check_takes_values_and_a_start_a_branch_as_commands_do(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    bench.write(".holdfast/workflows/tidy.toml", TIDY)
    bench.save()
    seen, id = [], ""
    for made in ("by-tool", "by-command"):
        if made == "by-tool":
            begun = {"workflow": "tidy", "subject": made, "branch": "work/tidy"}
            id = tools.call(bench.open(), "start_workflow", begun)["workflow_id"]
            tools.call(bench.open(), "update_workflow_state", {"workflow_id": id, "status": "in_progress"})
            said = {"workflow_id": id, "check": "lint", "passed": True, "values": {"findings": 2}}
            tools.call(bench.open(), "run_check", said)
        else:
            id = bench.ok("start", "tidy", made, "--branch", "work/tidy", "--json").json["workflow_id"]
            bench.ok("begin", "look", "-w", id)
            bench.ok("check", "lint", "--passed", "--set", "findings=2", "-w", id)
        state = bench.open().workflow(id).state
        seen.append((state.branch, dict(state.step("look").evidence["lint"].data)))
    assert seen[0] == seen[1]
    assert seen[0] == ("work/tidy", {"findings": 2})
    wrong = {"workflow_id": id, "check": "lint", "passed": True, "values": {"no name": 1}}
    with pytest.raises(HoldfastError):
        tools.call(bench.open(), "run_check", wrong)
