"""A task document is worked through by agents in parallel: contested files, a death, money that runs out, the end."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.checkout import TASKS
from tests.acceptance.orchestra import (
    DOCUMENT,
    HOW_LONG,
    STATE,
    WHEN,
    Orchestra,
    checkpoint,
    completed,
    intervention,
    learning,
    wait_until_stale,
)

USER, PASSWORD = TASKS[0], TASKS[1]
ROLE = "task-executor"
PULL_REQUEST = "https://github.com/house/door/pull/7"
MILESTONE = "https://github.com/house/door/issues/3"


@pytest.fixture
def run(tmp_path):
    made = Orchestra(tmp_path / "house").start().planned()
    yield made
    made.dismiss()


def test_of_two_agents_that_want_overlapping_files_at_the_same_moment_one_gets_them(run):
    ada, bob = run.agent_process(), run.agent_process()
    ada.does("agent", "start", ROLE, "--step", "1.1")
    bob.does("agent", "start", "supervisor", "--step", "1.2")
    wanted = {ada: "auth/user.py", bob: "auth/*.py"}
    names = {ada: ROLE, bob: "supervisor"}
    for agent, path in wanted.items():
        agent.tell("lock", path)
    answers = {agent: agent.heard() for agent in wanted}
    (winner,) = (agent for agent, (code, _) in answers.items() if code == 0)
    (loser,) = (agent for agent in wanted if agent is not winner)

    code, said = answers[loser]
    assert (code, said["error"]["code"]) == (5, "locked")
    facts = said["error"]["facts"]
    assert (facts["path"], facts["lock"], facts["agent"]) == (wanted[loser], wanted[winner], names[winner])
    assert {path: hold["agent"] for path, hold in run.locks().items()} == {wanted[winner]: names[winner]}

    winner.does("unlock", wanted[winner])
    loser.does("lock", wanted[loser])
    assert {path: hold["agent"] for path, hold in run.locks().items()} == {wanted[loser]: names[loser]}
    loser.does("agent", "end")
    assert run.locks() == {}


def test_what_a_killed_agent_held_is_taken_over_when_its_lease_ran_out_and_its_late_words_are_refused(run):
    ada, bob, eve = run.agent_process(), run.agent_process(), run.agent_process()
    ada.does("agent", "start", ROLE, "--step", "1.1")
    bob.does("agent", "start", ROLE, "--step", "1.2")
    assert eve.refused("agent", "start", ROLE, "--step", "1.2", code=5)["facts"]["role"] == ROLE
    bob.does("agent", "end")
    given = bob.does("agent", "start", ROLE, "--step", "1.2", "--ttl", "1s")
    dead = given["lease"]["token"]
    bob.does("task", "start", "1.2")
    bob.does("lock", PASSWORD.code_file, "--ttl", "1h")
    bob.kill()

    assert ada.refused("lock", "auth/*.py", code=5)["facts"]["lock"] == PASSWORD.code_file
    wait_until_stale(run, dead)
    assert [one["task"] for one in run.state["active_agents"]] == ["1.1", "1.2"]
    token = eve.does("agent", "start", ROLE, "--step", "1.2")["lease"]["token"]
    assert token > dead
    assert run.locks() == {}
    eve.does("lock", PASSWORD.code_file)

    before = run.read(STATE), run.log()
    for late in (
        ("check", "nothing_stored_in_clear", "--passed", "--step", "1.2"),
        ("task", "done", "1.2"),
        ("orchestrator", "iterate", "1.2", "--reason", "not dead after all"),
        ("learn", "never die"),
        ("agent", "spend", "0.50", "--step", "1.2"),
        ("lock", "auth/door.py"),
        ("unlock", PASSWORD.code_file),
        ("agent", "beat"),
        ("agent", "end"),
    ):
        assert run.refused(*late, env={"HOLDFAST_TOKEN": given["token"]}, code=5)["code"] == "fenced", late
    assert (run.read(STATE), run.log()) == before
    assert [(one["type"], one["task"], one["status"]) for one in run.state["active_agents"]] == [
        (ROLE, "1.1", "in_progress"),
        (ROLE, "1.2", "in_progress"),
    ]
    assert run.locks()[PASSWORD.code_file]["agent"] == ROLE
    eve.does("check", "nothing_stored_in_clear", "--passed", "--step", "1.2")
    eve.does("task", "done", "1.2")


def test_a_whole_run_and_every_word_of_its_file(run):
    first, second = _foundation(run)
    at_start_of_endpoints = run.head()
    _endpoints(run)
    third, endpoints = run.head(), run.work_since(at_start_of_endpoints)
    _roles(run)
    fourth = run.head()
    run.ok("orchestrator", "milestone", "1", "--url", MILESTONE)
    _end(run)

    assert run.timeless(run.state) == {
        "orchestrator": {
            "status": "completed",
            "task_doc": str(run.root / DOCUMENT),
            "current_phase": 1,
            "total_phases": 2,
            "current_task": "2/2",
            "ralph_iteration": 0,
            "outer_ralph": False,
            "start_time": WHEN,
            "end_time": WHEN,
        },
        "supervisor": {
            "enabled": True,
            "checks_performed": 3,
            "conflicts_detected": 2,
            "auto_fixes_applied": 2,
            "re_plans_triggered": 1,
            "last_check": WHEN,
            "interventions": [
                intervention("post_task", "1.1", "pattern", "low", "auto_fix", "two names were put right"),
                intervention("post_task", "2.1", "api", "high", "re_plan", "roles come from the second version"),
            ],
        },
        "active_agents": [],
        "completed_tasks": [
            completed("1.1", "Update User model", 2, "$0.20", run, model_updated=True, tests_pass=True),
            completed("1.2", "Hash passwords", 1, "$0.30", run, nothing_stored_in_clear=True),
            completed("2.1", "Create endpoints", 1, "$0.55", run, endpoints_there=True) | endpoints,
            completed("2.2", "Add roles", 3, "$0.10", run, roles_there=True),
        ],
        "pending_tasks": [],
        "safety_bounds": {
            "max_iterations_per_task": 4,
            "max_cost": "$2",
            "max_time": "2h",
            "cost_so_far": "$1.15",
            "elapsed_time": HOW_LONG,
            "warnings": [],
        },
        "learnings": [
            learning("1.1", 2, "antipattern", "a name that is None is no name", "test the value", "the model"),
            learning("2.2", 1, "insight", "roles are few"),
        ],
        "milestones": [
            {"phase": 0, "name": "Foundation", "completed": WHEN, "issue_url": MILESTONE},
            {"phase": 1, "name": "Endpoints", "completed": WHEN, "issue_url": ""},
        ],
        "checkpoints": [
            checkpoint(0, "1.1", first, 1),
            checkpoint(0, "1.2", second, 2),
            checkpoint(1, "2.1", third, 3),
            checkpoint(1, "2.2", fourth, 4),
        ],
    }
    assert run.work_of("1.1") == {"files_modified": [USER.code_file, USER.test_file], "lines_added": 9}
    assert run.state["completed_tasks"][2]["files_modified"] == ["auth/endpoints.py", "notes.txt"]
    assert run.copies() == [*(f"checkpoint-{number:03}.json" for number in range(1, 5)), "checkpoint.json"]
    assert [(one["task"], one["lesson"]) for one in run.learned()] == [
        (one["task"], one["lesson"]) for one in run.state["learnings"]
    ]
    assert run.locks() == {}


def _foundation(run: Orchestra) -> tuple[str, str]:
    """Two agents side by side; what the one commits is not counted for the other."""
    ada, bob = run.agent_process(), run.agent_process()
    run.ok("orchestrator", "supervise", "pre_task", "1.1", "--verdict", "PASS")
    for agent, task in ((ada, "1.1"), (bob, "1.2")):
        agent.does("agent", "start", ROLE, "--step", task)
        agent.does("task", "start", task)
    assert run.state["orchestrator"]["status"] == "executing"
    assert [one["task"] for one in run.state["active_agents"]] == ["1.1", "1.2"]
    run.write(USER.test_file, USER.test)
    run.write(USER.code_file, USER.wrong)
    run.write(PASSWORD.code_file, PASSWORD.right)
    ada.does("commit", "1.1", "-m", "the model", "--path", USER.test_file, "--path", USER.code_file)
    ada.does("check", "model_updated", "--passed", "--step", "1.1")
    ada.refused("task", "done", "1.1", code=3)
    ada.does("orchestrator", "iterate", "1.1", "--reason", "the name is lost")
    ada.does(
        *("learn", "a name that is None is no name", "--type", "antipattern", "--step", "1.1"),
        *("--pattern", "test the value", "--context", "the model"),
    )
    run.write(USER.code_file, USER.right)
    ada.does("commit", "1.1", "-m", "the name is kept", "--path", USER.code_file)
    ada.does("check", "model_updated", "--passed", "--step", "1.1")
    ada.does("agent", "spend", "0.20", "--step", "1.1")
    bob.tell("commit", "1.2", "-m", "passwords", "--path", PASSWORD.code_file)
    assert bob.heard()[0] == 0
    ada.does("task", "done", "1.1")
    first = run.head()
    run.ok(
        *("orchestrator", "supervise", "post_task", "1.1", "--verdict", "AUTO_FIX", "--conflict", "pattern"),
        *("--fixes", "2", "--resolution", "two names were put right"),
    )
    bob.does("check", "nothing_stored_in_clear", "--passed", "--step", "1.2")
    bob.does("agent", "spend", "0.30", "--step", "1.2")
    bob.does("task", "done", "1.2")
    ada.does("agent", "end")
    bob.does("agent", "end", "--outcome", "done")
    return first, run.head()


def _endpoints(run: Orchestra) -> None:
    """Committed by hand, without the words of a task: then all counts that changed since it began.

    Meanwhile the money is used up, and nothing continues until a person gives more.
    """
    run.ok("task", "start", "2.1")
    run.write("auth/endpoints.py", "def enter():\n    return True\n")
    run.write("notes.txt", "A note.\nAnother one.\n")
    run.git("add", "auth/endpoints.py", "notes.txt")
    run.git("commit", "-q", "-m", "Endpoints")
    run.ok("agent", "spend", "0.30", "--step", "2.1")
    run.ok("agent", "spend", "0.15", "--step", "2.1")
    run.ok("check", "endpoints_there", "--passed", "--step", "2.1")
    run.ok("agent", "spend", "0.10", "--step", "2.1")
    before = run.read(STATE)
    for stopped in (("task", "done", "2.1"), ("begin", "review")):
        refusal = run.refused(*stopped)
        assert refusal["code"] == "bound_reached", refusal
        assert refusal["facts"] == {"bound": "cost", "used": "$1.05", "limit": "$1.00"}
    assert run.refused("extend", "--cost", "1")["code"] == "person_needed"
    assert run.read(STATE) == before
    assert run.state["orchestrator"]["status"] == "executing"
    assert run.state["safety_bounds"]["warnings"] == [f"Cost at {percent}% of limit" for percent in (75, 90, 100)]
    assert run.person("extend", "--cost", "1").code == 0
    run.ok("task", "done", "2.1")


def _roles(run: Orchestra) -> None:
    """A supervisor has the task planned again when it has begun."""
    run.ok("task", "start", "2.2")
    run.ok("learn", "roles are few", "--step", "2.2")
    run.ok(
        *(
            "orchestrator",
            "supervise",
            "post_task",
            "2.1",
            "--verdict",
            "RE_PLAN",
            "--conflict",
            "api",
            "--affects",
            "2.2",
        ),
        *("--resolution", "roles come from the second version"),
    )
    assert run.state["orchestrator"]["status"] == "planning"
    assert run.refused("task", "start", "2.2")["code"] == "step_blocked"
    run.planned()
    run.ok("task", "start", "2.2")
    run.ok("orchestrator", "iterate", "2.2", "--reason", "a role is missing")
    run.write("auth/roles.py", "ROLES = ('guest', 'host')\n")
    run.ok("commit", "2.2", "-m", "roles")
    run.finish("2.2", "roles_there", cost="0.10")


def _end(run: Orchestra) -> None:
    run.ok("begin", "review")
    assert (run.state["orchestrator"]["status"], run.state["orchestrator"]["outer_ralph"]) == ("reviewing", True)
    run.write("auth/roles.py", "ROLES = ('guest', 'host', 'owner')\n")
    run.ok("commit", "--outer", "-m", "the owner was forgotten")
    run.ok("done", "review")
    run.ok("begin", "pull_request")
    assert run.state["orchestrator"]["status"] == "reviewing"
    run.git("remote", "add", "origin", "https://github.com/ada/shop.git")
    run.git("update-ref", "refs/remotes/origin/work", "HEAD")
    run.ok("done", "pull_request", "--url", PULL_REQUEST)
    assert PULL_REQUEST in json.dumps(run.log()[-1])
    assert run.git("log", "--format=%s", "-5").splitlines() == [
        "chore(outer-ralph): the owner was forgotten",
        "feat(task-2.2): roles",
        "Endpoints",
        "feat(task-1.2): passwords",
        "feat(task-1.1): the name is kept",
    ]
