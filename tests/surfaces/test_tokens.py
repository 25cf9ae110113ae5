"""A token that is no lease's is refused by every command that changes a workflow, and nothing changes."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.core import naming
from holdfast.errors import HoldfastError
from holdfast.project.workflow import Workflow
from holdfast.surfaces import tools
from tests.orchestrated import TASKS
from tests.tiers import is_full
from tests.workbench import Bench

WRONG = "99-00000000000000000000000000000000"
PLAIN = """\
name = "plain"

[[step]]
id = "draft"
checks = [{ name = "read" }]

[[step]]
id = "look"
review = { by = ["reviewer"], max = 2 }

[[step]]
id = "pick"
approval = { by = "relayed" }
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "plain": (
        *("begin look", "done draft", "attach draft --artifact a=README.md", "check read --passed"),
        *("fail draft --reason x", "block draft --reason x", "unblock draft", "skip draft", "submit draft"),
        *("review draft --verdict approved", "approve draft", "approve --claimed", "reject draft", "reopen draft"),
        *("reset draft", "resume", "revalidate", "cancel", "pause --reason x", "extend --time 1h", "note x"),
        *("reading add README.md", "reading remove README.md", "remind x", "learn x", "ack 0-0", "compacted"),
        *("set a=1", "snapshot", "restore 1", "agent start other", "agent beat", "agent end", "agent end 2"),
        *("agent spend 1", "lock a.py", "unlock a.py", "amend --add extra", "amend look --retire", "amend --all"),
    ),
    "orchestrate": (
        *("task add more --under phase-1", "task start 1.1", "task done 1.1", "orchestrator iterate 1.1 --reason x"),
        *(
            "orchestrator retry 1.1",
            "orchestrator skip 1.1",
            "orchestrator manual 1.1",
            "orchestrator supervise pre_task 1.1",
        ),
        *("orchestrator supervise pre_task 1.1 --verdict PASS", "commit 1.1 -m x", "commit --supervisor -m x"),
        *("orchestrator milestone 1 --url https://github.com/o/r/issues/7",),
    ),
    "feature": (
        *("feature continue", "feature finalize", "feature reset export-csv", "commit 01-requirements -m x"),
        *("review 01-requirements",),
    ),
}
"""The commands that take a token, by a workflow that they suit."""
CALLS: dict[str, dict[str, Any]] = {
    "approve_step": {"step": "draft", "approved": True},
    "update_workflow_state": {"step": "draft", "status": "completed"},
    "resume_workflow": {},
    "cancel_workflow": {},
    "run_check": {"check": "read", "passed": True},
    "record_work": {"note": "x"},
    "lock_files": {"paths": ["a.py"]},
    "review_step": {"step": "draft", "verdict": "approved"},
    "get_resume_packet": {"ack": "0-0"},
    "change_step": {"step": "draft", "action": "block", "reason": "x"},
    "change_workflow": {"action": "pause", "reason": "x"},
    "brief_agents": {"remind": ["x"]},
    "manage_agents": {"action": "beat"},
    "change_plan": {"action": "add_step", "id": "extra"},
    "commit_work": {"by": "outer", "message": "x"},
    "supervise_task": {"check_type": "pre_task", "verdict": "PASS"},
    "record_milestone": {"phase": "1"},
    "deliver_feature": {"action": "continue"},
}


class Table:
    """A workflow, and the token of an agent whose place another one has taken."""

    def __init__(self, bench: Bench, start: str) -> None:
        self.bench = bench
        self.id = self.started(start)
        workflow = bench.open().workflow(self.id)
        self.superseded = workflow.start_agent("builder")
        workflow.end_agent(self.superseded).start_agent("builder")

    def started(self, start: str) -> str:
        bench = self.bench
        if start == "plain":
            bench.write(".holdfast/workflows/plain.toml", PLAIN)
            bench.save()
            return bench.start("plain", "it").begin("draft").read_first(str(bench.root / "README.md")).id
        if start == "orchestrate":
            bench.write("docs/task.md", TASKS)
            bench.save()
            workflow = bench.start("orchestrate", str(bench.root / "docs/task.md")).done("plan").approve("plan")
            return workflow.begin("1.1").id
        bench.ok("feature", "init")
        bench.save()
        return bench.start("feature", "Export CSV").id


@pytest.fixture(params=COMMANDS)
def table(request, tmp_path) -> Table:
    return Table(Bench(tmp_path / "project").begun(), request.param)


def test_the_table_has_every_command_that_takes_a_token():
    takes = {name for name, (common, *_) in naming.NAMES.items() if "t" in common}
    typed = {line for lines in COMMANDS.values() for line in lines}
    assert {name for name in takes if not any(f"{line} ".startswith(f"{name} ") for line in typed)} == set()


def test_the_table_has_every_tool_that_changes_a_workflow():
    others = {"start_workflow", "story_session"}
    assert {name for name, tool in tools.TOOLS.items() if not tool.reads} - others == {*CALLS}


def test_every_command_refuses_it_however_it_is_given(table, request):
    before, accepted = table.bench.everything(), []
    ways: tuple[tuple[tuple[str, ...], dict[str, str]], ...]
    ways = (((), {"HOLDFAST_TOKEN": WRONG}), (("--token", table.superseded), {}))
    for number, line in enumerate(COMMANDS[request.node.callspec.params["table"]]):
        for option, environment in ways if is_full() else (ways[number % 2],):
            answer = table.bench.agent(*shlex.split(line), "-w", table.id, *option, "--json", env=environment)
            if answer.code != 5 or answer.error["code"] != "fenced":
                accepted.append((line, option, answer.code, answer.out[:200]))
    assert accepted == []
    assert table.bench.everything() == before


@pytest.fixture
def plain(tmp_path) -> Table:
    return Table(Bench(tmp_path / "project").begun(), "plain")


@pytest.mark.parametrize("name", CALLS)
def test_every_tool_refuses_it(plain, name):
    before = plain.bench.everything()
    given = {"workflow_id": plain.id, **CALLS[name]}
    for token in (WRONG, plain.superseded):
        for project, said in ((plain.bench.open(token=token), {}), (plain.bench.open(), {"token": token})):
            with pytest.raises(HoldfastError) as refusal:
                tools.call(project, name, {**given, **said})
            assert (refusal.value.code, refusal.value.exit_code) == ("fenced", 5)
    assert plain.bench.everything() == before


def test_a_start_that_would_give_up_a_workflow_refuses_it(plain):
    before = plain.bench.everything()
    for token in (WRONG, plain.superseded):
        with pytest.raises(HoldfastError) as refusal:
            plain.bench.open(token=token).start("plain", "it", fresh=True)
        assert refusal.value.code == "fenced"
    assert plain.bench.everything() == before


PYTHON: dict[str, Callable[[Workflow, str], object]] = {
    "begin": lambda workflow, token: workflow.begin("look", token=token),
    "done": lambda workflow, token: workflow.done("draft", token=token),
    "check": lambda workflow, token: workflow.check("read", passed=True, token=token),
    "review": lambda workflow, token: workflow.review("draft", "approved", token=token),
    "approve": lambda workflow, token: workflow.approve("draft", token=token),
    "resume": lambda workflow, token: workflow.resume(token=token),
    "spend": lambda workflow, token: workflow.spend(1, token=token),
    "note": lambda workflow, token: workflow.note("x", token=token),
    "start_agent": lambda workflow, token: workflow.start_agent("other", token=token),
    "beat": lambda workflow, token: workflow.beat(token),
    "end_agent": lambda workflow, token: workflow.end_agent(token),
}


@pytest.mark.parametrize("name", PYTHON)
def test_every_method_refuses_it(plain, name):
    before = plain.bench.everything()
    for token in (WRONG, plain.superseded):
        with pytest.raises(HoldfastError) as refusal:
            PYTHON[name](plain.bench.open().workflow(plain.id), token)
        assert refusal.value.code == "fenced"
    assert plain.bench.everything() == before
