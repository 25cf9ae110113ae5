"""agent-state.json while a run continues: every field is true at every moment, and every query finds its answer."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.core import moment
from holdfast.core.state import BEGAN
from tests.orchestrated import Run, invalid, plain


class Account:
    """What the document has to say after each command: all that it said before, but for what is named."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.expected = self.run.document
        self.rested = 0.0
        self.rests = ""

    def times(self) -> list[str]:
        return [record.at for record in self.run.look().history()]

    @property
    def now(self) -> str:
        return moment.whole(self.times()[-1])

    def after(self, act: Callable[[Any], Any], change: Callable[[dict[str, Any]], Any], by: str = "agent") -> None:
        act(self.run.look(by))
        change(self.expected)
        times = self.times()
        worked = moment.to_epoch(self.rests or times[-1]) - moment.to_epoch(times[0]) - self.rested
        hours, rest = divmod(int(worked), 3600)
        self.expected["safety_bounds"]["elapsed_time"] = f"{hours}h {rest // 60}m {rest % 60}s"
        document = self.run.document
        for part, said in self.expected.items():
            assert document[part] == said, part
        assert document == self.expected
        assert document == plain(self.run.look().document())
        assert invalid(document) == []

    def rest(self) -> None:
        self.rests = self.times()[-1]

    def work(self) -> None:
        self.rested += moment.between(self.rests, self.times()[-1])
        self.rests = ""

    def completed(self, number: str, name: str, iterations: int, cost: str, **criteria: bool) -> dict[str, Any]:
        path = self.run.look().path(number)
        progress = self.run.state.step(path)
        began = progress.data.get(BEGAN) or progress.started_at  # the first try at the task, not the last one
        took = int(moment.between(began, progress.finished_at))
        lines = {"lines_added": 0} if "lines_added" in progress.data else {}
        return {
            "task": number,
            "name": name,
            "completed": self.now,
            "iterations": iterations,
            "time_elapsed": f"{took // 60}m {took % 60}s",
            "cost": cost,
            "files_modified": [],
            **lines,
            "success_criteria_met": criteria,
        }

    def taken(self, number: int, phase: int, task: str) -> dict[str, Any]:
        return {
            "timestamp": self.now,
            "phase": phase,
            "task": task,
            "git_sha": self.run.bench.head,
            "state_snapshot": f"checkpoint-{number:03}.json",
        }


@pytest.fixture
def account(run):
    return Account(run)


def at(**said: Any) -> Callable[[dict[str, Any]], None]:
    return lambda document: document["orchestrator"].update(said)


def nothing(document: dict[str, Any]) -> None:
    pass


def test_a_run_begins_with_every_field_in_place(run):
    (start,) = [record.at for record in run.look().history()]
    assert run.document == {
        "orchestrator": {
            "status": "planning",
            "task_doc": str(run.task),
            "current_phase": 0,
            "total_phases": 2,
            "current_task": "1/2",
            "ralph_iteration": 0,
            "outer_ralph": False,
            "start_time": moment.whole(start),
            "end_time": None,
        },
        "supervisor": {
            "enabled": True,
            "checks_performed": 0,
            "conflicts_detected": 0,
            "auto_fixes_applied": 0,
            "re_plans_triggered": 0,
            "last_check": None,
            "interventions": [],
        },
        "active_agents": [],
        "completed_tasks": [],
        "pending_tasks": [
            {"phase": 0, "task": "1.1", "name": "Update User model"},
            {"phase": 0, "task": "1.2", "name": "JWT"},
            {"phase": 1, "task": "2.1", "name": "Create endpoints"},
            {"phase": 1, "task": "2.2", "name": "Roles"},
        ],
        "safety_bounds": {
            "max_iterations_per_task": 3,
            "max_cost": "$1",
            "max_time": "2h",
            "cost_so_far": "$0.00",
            "elapsed_time": "0h 0m 0s",
            "warnings": [],
        },
        "learnings": [],
        "milestones": [],
        "checkpoints": [],
    }
    assert invalid(run.document) == []


def test_every_field_is_true_after_every_command_of_a_run(account):
    bounds = account.expected["safety_bounds"]
    supervisor = account.expected["supervisor"]
    agents = account.expected["active_agents"]

    account.after(lambda w: w.done("plan"), at(pause={"status": "waiting", "reason": "plan is waiting"}))
    account.after(lambda w: w.approve("plan"), lambda d: (at(status="executing")(d), d["orchestrator"].pop("pause")))
    account.after(lambda w: w.begin("1.1"), at(ralph_iteration=1))
    account.after(lambda w: w.iterate("1.1", "tests are red"), at(ralph_iteration=2))

    def sent(document: dict[str, Any]) -> None:
        agents.append(
            {"type": "task-executor", "task": "1.1", "started": account.now, "iteration": 2, "status": "in_progress"}
        )

    given: list[str] = []
    account.after(lambda w: given.append(w.start_agent("task-executor", "1.1")), sent)
    account.after(
        lambda w: w.lock(str(account.run.bench.root / "a.py"), agent="task-executor", token=given[0]), nothing
    )
    account.after(
        lambda w: w.spend(800_000, step="1.1", token=given[0]),
        lambda d: bounds.update(cost_so_far="$0.80", warnings=["Cost at 75% of limit"]),
    )

    def seen(document: dict[str, Any]) -> None:
        supervisor.update(checks_performed=1, last_check=account.now)

    account.after(lambda w: w.supervise("pre_task", "1.1", token=given[0]), seen)

    def fixed(document: dict[str, Any]) -> None:
        supervisor.update(checks_performed=2, conflicts_detected=1, auto_fixes_applied=3, last_check=account.now)
        supervisor["interventions"].append(
            {
                "timestamp": account.now,
                "check_type": "post_task",
                "task": "1.1",
                "conflict_type": "pattern",
                "severity": "low",
                "action": "auto_fix",
                "resolution": "renamed three",
            }
        )

    found = {"conflict_type": "pattern", "resolution": "renamed three", "fixes": 3}
    account.after(lambda w: w.supervise("post_task", "1.1", "AUTO_FIX", **found, token=given[0]), fixed)

    def learned(document: dict[str, Any]) -> None:
        document["learnings"].append(
            {
                "timestamp": account.now,
                "task": "1.1",
                "iteration": 2,
                "type": "antipattern",
                "lesson": "no secrets in code",
                "pattern": "environment variables",
                "context": "tokens",
            }
        )

    words = {"pattern": "environment variables", "context": "tokens", "step": "1.1"}
    account.after(lambda w: w.learn("no secrets in code", "antipattern", **words), learned)
    account.after(lambda w: w.check("model_updated", passed=True, step="1.1", token=given[0]), nothing)
    account.after(lambda w: w.check("tests_pass", passed=True, step="1.1", token=given[0]), nothing)

    def first_done(document: dict[str, Any]) -> None:
        at(current_task="2/2", ralph_iteration=0)(document)
        done = account.completed("1.1", "Update User model", 2, "$0.80", model_updated=True, tests_pass=True)
        document["completed_tasks"].append(done)
        del document["pending_tasks"][0]
        document["checkpoints"].append(account.taken(1, 0, "1.1"))

    account.after(lambda w: w.done("1.1", token=given[0]), first_done)
    account.after(lambda w: w.end_agent(given[0]), lambda d: agents.clear())

    account.after(lambda w: w.begin("1.2"), at(ralph_iteration=1))
    account.after(lambda w: w.block("1.2", "no key"), at(pause={"status": "blocked", "reason": "no key"}), by="human")
    account.after(lambda w: w.unblock("1.2"), lambda d: d["orchestrator"].pop("pause"), by="human")

    def planning(document: dict[str, Any]) -> None:
        at(status="planning", ralph_iteration=1)(document)
        supervisor.update(checks_performed=3, conflicts_detected=2, re_plans_triggered=1, last_check=account.now)
        supervisor["interventions"].append(
            {
                "timestamp": account.now,
                "check_type": "on_demand",
                "task": "1.2",
                "conflict_type": "security",
                "severity": "critical",
                "action": "re_plan",
                "resolution": "another library",
            }
        )

    unsafe = {"conflict_type": "security", "resolution": "another library"}
    account.after(lambda w: w.supervise("on_demand", "1.2", "RE_PLAN", **unsafe), planning)
    account.after(lambda w: w.done("plan"), at(pause={"status": "waiting", "reason": "plan is waiting"}))
    account.after(lambda w: w.approve("plan"), lambda d: (at(status="executing")(d), d["orchestrator"].pop("pause")))
    account.after(lambda w: w.begin("1.2"), at(ralph_iteration=2))

    account.after(
        lambda w: w.pause("lunch"), lambda d: (account.rest(), at(pause={"status": "paused", "reason": "lunch"})(d))
    )
    account.after(lambda w: w.resume(), lambda d: (account.work(), d["orchestrator"].pop("pause")), by="human")
    account.after(lambda w: w.check("tokens_expire", passed=True, step="1.2"), nothing)

    def phase_done(document: dict[str, Any]) -> None:
        at(current_phase=1, current_task="1/2", ralph_iteration=0)(document)
        document["completed_tasks"].append(account.completed("1.2", "JWT", 2, "$0.00", tokens_expire=True))
        del document["pending_tasks"][0]
        document["milestones"].append({"phase": 0, "name": "Foundation", "completed": account.now, "issue_url": ""})
        document["checkpoints"].append(account.taken(2, 0, "1.2"))

    account.after(lambda w: w.done("1.2"), phase_done)
    url = "https://example.com/issues/1"
    account.after(lambda w: w.record({"issue_url": url}, "phase-1"), lambda d: d["milestones"][0].update(issue_url=url))

    account.after(lambda w: w.begin("2.1"), at(ralph_iteration=1))
    account.after(lambda w: w.begin("2.2"), at(current_task="2/2"))
    account.after(lambda w: w.check("roles_there", passed=True, step="2.2"), nothing)

    def second_of_two(document: dict[str, Any]) -> None:
        at(current_task="1/2")(document)
        document["completed_tasks"].append(account.completed("2.2", "Roles", 1, "$0.00", roles_there=True))
        del document["pending_tasks"][1]
        document["checkpoints"].append(account.taken(3, 1, "2.2"))

    account.after(lambda w: w.done("2.2"), second_of_two)

    def skipped(document: dict[str, Any]) -> None:
        at(status="reviewing", current_task="2/2", ralph_iteration=0)(document)
        document["completed_tasks"].append(
            account.completed("2.1", "Create endpoints", 1, "$0.00", endpoints_there=False)
        )
        document["pending_tasks"].clear()
        document["milestones"].append({"phase": 1, "name": "Endpoints", "completed": account.now, "issue_url": ""})

    account.after(lambda w: w.skip("2.1", "not needed"), skipped, by="human")
    account.after(lambda w: w.begin("review"), at(outer_ralph=True))
    account.after(lambda w: w.done("review"), at(outer_ralph=False))

    def over(document: dict[str, Any]) -> None:
        account.rest()
        at(status="completed", end_time=account.now)(document)

    account.after(lambda w: w.skip("pull_request", "not wanted"), over, by="human")
    assert account.run.alerts() == []


def test_a_run_that_is_given_up_has_failed_and_ended_and_one_that_is_resumed_has_not(account):
    account.run.planned()
    account.expected = account.run.document
    account.after(lambda w: w.begin("1.1"), at(ralph_iteration=1))

    def given_up(document: dict[str, Any]) -> None:
        account.rest()
        at(status="failed", end_time=account.now)(document)

    account.after(lambda w: w.cancel("enough"), given_up)

    def resumed(document: dict[str, Any]) -> None:
        account.work()
        at(status="executing", end_time=None)(document)

    account.after(lambda w: w.resume(), resumed, by="human")


def test_a_task_whose_tries_are_used_up_keeps_the_run_and_says_why(executing):
    workflow = executing.look().begin("1.1")
    for reason in ("red", "still red", "red for good"):
        workflow.iterate("1.1", reason)
    document = executing.document
    assert document["orchestrator"]["pause"] == {"status": "failed", "reason": "red for good"}
    assert document["orchestrator"]["ralph_iteration"] == 3
    assert all("task 1.1" in said for said in document["safety_bounds"]["warnings"])
    assert invalid(document) == []


def test_files_and_lines_of_a_task_are_those_git_knows_of(executing):
    executing.look().begin("1.1")
    executing.bench.write("src/model.py", "one\ntwo\n")
    executing.finish("1.1")
    (done,) = executing.document["completed_tasks"]
    assert (done["files_modified"], done["lines_added"]) == (["src/model.py"], 2)


def test_what_held_in_an_earlier_try_is_not_said_of_a_skipped_task(executing):
    workflow = executing.look().begin("1.1")
    workflow.check("model_updated", passed=True, step="1.1")
    workflow.iterate("1.1", "tests are red")
    executing.look("human").skip("1.1", "not now")
    (skipped,) = executing.document["completed_tasks"]
    assert skipped["success_criteria_met"] == {"model_updated": False, "tests_pass": False}


def test_the_current_task_lies_in_the_current_phase(executing):
    """A re-plan opens a task of the first phase while one of the second is under way."""
    executing.finish("1.1", "1.2").look().begin("2.2")
    found = {"conflict_type": "api", "resolution": "use v2", "affected": ("1.1",)}
    executing.look().supervise("post_task", "1.1", "RE_PLAN", **found)
    said = executing.document["orchestrator"]
    assert (said["status"], said["current_phase"], said["current_task"]) == ("planning", 0, "1/2")


def test_a_session_that_holds_the_whole_run_is_none_of_its_agents(executing):
    workflow = executing.bench.open(session="host-1").workflow(executing.id)
    workflow.join()
    assert list(workflow.state.leases) == ["orchestrate@"]
    assert executing.document["active_agents"] == []


def test_an_agent_waits_or_is_blocked_with_its_task(executing):
    executing.look().begin("1.1")
    executing.look().start_agent("task-executor", "1.1")
    executing.look("human").block("1.1", "no key")
    assert [agent["status"] for agent in executing.document["active_agents"]] == ["blocked"]


def test_a_run_without_bounds_says_so(bench):
    run = Run(
        bench, "# Task: Small\n**Plan approval**: relayed\n\n## Phase 1: Only\n\n### Task 1.1: One\n- [ ] It is there\n"
    )
    bounds = run.document["safety_bounds"]
    assert (bounds["max_cost"], bounds["max_time"], bounds["max_iterations_per_task"]) == (None, None, 30)
    assert run.document["supervisor"]["enabled"] is False
    assert invalid(run.document) == []


class TestTheQueriesOfTheConvention:
    """Read-only, with the real `jq`, against the file of a run that is under way."""

    @pytest.fixture
    def query(self, executing):
        executing.finish("1.1")
        workflow = executing.look().begin("1.2").spend(300_000, step="1.2")
        workflow.iterate("1.2", "red")
        workflow.supervise("pre_task", "1.2", "AUTO_FIX", conflict_type="pattern", resolution="renamed")
        workflow.learn("look first", "pattern", step="1.2")
        workflow.learn("ask twice", step="1.2")

        def query(program: str) -> list[Any]:
            line = f"jq -c '{program}' .claude/agent-state.json"
            done = subprocess.run(line, shell=True, cwd=executing.bench.root, capture_output=True, check=True)
            return [json.loads(one) for one in done.stdout.splitlines()]

        query.run = executing  # type: ignore[attr-defined]
        return query

    def test_status(self, query):
        assert query(".orchestrator.status") == ["executing"]

    def test_progress(self, query):
        program = "{phase: .orchestrator.current_phase, task: .orchestrator.current_task, status: .orchestrator.status}"
        assert query(program) == [{"phase": 0, "task": "2/2", "status": "executing"}]

    def test_cost_and_time(self, query):
        (said,) = query(".safety_bounds | {cost: .cost_so_far, time: .elapsed_time, max_cost, max_time}")
        assert said == {"cost": "$0.30", "time": said["time"], "max_cost": "$1", "max_time": "2h"}
        state = query.run.state
        worked = int(moment.between(state.created_at, state.updated_at))
        assert said["time"] == f"0h {worked // 60}m {worked % 60}s"

    def test_completed_tasks(self, query):
        (done,) = query(".completed_tasks[] | {task, name, iterations, time: .time_elapsed}")
        took = query.run.document["completed_tasks"][0]["time_elapsed"]
        assert done == {"task": "1.1", "name": "Update User model", "iterations": 1, "time": took}

    def test_interventions(self, query):
        (said,) = query(".supervisor.interventions[]")
        assert (said["task"], said["severity"], said["action"]) == ("1.2", "low", "auto_fix")

    def test_learnings(self, query):
        assert query(".learnings[] | {task, type, lesson}") == [
            {"task": "1.2", "type": "pattern", "lesson": "look first"},
            {"task": "1.2", "type": "insight", "lesson": "ask twice"},
        ]

    def test_looking_changes_nothing(self, query):
        before = query.run.state
        query(".")
        assert query.run.state == before
