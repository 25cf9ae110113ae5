"""Criteria on three levels, what passed before the work, the supervisor's checks, and what the pull request says."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import Refused, UsageError
from holdfast.plain.terminal import Style
from holdfast.surfaces.render import next_step, status
from holdfast.systems.orchestrator.pull_request import body
from holdfast.systems.orchestrator.rules import supervision
from tests.orchestrated import Run
from tests.trusted import trust_file

LEVELS = """# Task: Levels
**Plan approval**: relayed

## Goal
Know what holds.

## Success Criteria
- [ ] The whole is right: `test -e whole`
- [ ] Somebody read all of it

## Safety Bounds
**Maximum iterations per task**: 2
**Maximum cost**: $5

## Phase 1: Only
**Success Criteria**:
- [ ] The phase is right: `test -e phase`

### Task 1.1: First
- [ ] It was there from the beginning, which is a long sentence that no key can hold in full: `true`
- [ ] It is new: `test -e new`
- [ ] Somebody looked

### Task 1.2: Second
- [ ] Done

## Outer Ralph Loop
**Maximum Iterations**: 2
- [ ] The loop is content: `test -e outer`
"""


@pytest.fixture
def levels(bench):
    run = Run(bench, LEVELS)
    trust_file(bench.open("human"), str(run.task))
    return run.planned()


def shown(run: Run, what) -> str:
    return what(run.look().briefing(), Style(False))


def test_what_held_before_the_work_is_marked_wherever_it_is_shown(levels):
    begun = levels.look().begin("1.1")
    held = levels.state.plan.step("phase-1/1.1").checks[0]
    remark = f"{held.name} already passed before the work, so it proves nothing yet"
    assert remark in begun.said
    assert levels.state.step("phase-1/1.1").data["held_before"] == [held.name]
    assert levels.state.step("phase-1/1.1").evidence == {}
    assert "has not run, already passed before the work" in shown(levels, next_step)
    for name in ("phase", "new", "whole", "outer"):
        levels.bench.write(name, "")
    levels.look().check("somebody_looked", passed=True)
    assert remark in levels.look().done("1.1").said
    (done,) = levels.look().document()["completed_tasks"]
    assert done["held_before"] == [held.name]
    text = body(levels.state)
    assert f"- {held.text} (run, already passed before the work)" in text
    assert "- It is new (run)" in text
    assert "- Somebody looked (reported)" in text


def test_nobody_says_for_himself_that_a_try_is_free_or_what_held(levels):
    for key in ("held_before", "free_tries", "supervised"):
        with pytest.raises(Exception, match="set by Holdfast itself"):
            levels.look().record({key: 9}, "1.1")


def test_the_text_of_a_criterion_is_in_next_status_and_packet(levels):
    levels.look().begin("1.1")
    for text in (shown(levels, next_step), shown(levels, status)):
        assert "a long sentence that no key can hold in full" in " ".join(text.split())
    assert "a long sentence that no key can hold in full" in levels.look().packet()


def finish_tasks(run: Run) -> None:
    run.bench.write("new", "")
    run.look().begin("1.1").check("somebody_looked", passed=True)
    run.look().done("1.1")
    run.finish("1.2")


def test_a_phase_a_review_and_the_outer_loop_are_done_only_when_their_criteria_hold(levels):
    finish_tasks(levels)
    with pytest.raises(Refused, match="the_phase_is_right"):
        levels.look().done("phase-1")
    with pytest.raises(Refused, match="phase-1"):
        levels.look().begin("review")
    levels.bench.write("phase", "")
    levels.look().done("phase-1")
    levels.look().begin("review").check("somebody_read_all_of_it", passed=True)
    with pytest.raises(Refused, match=r"the_whole_is_right.*the_loop_is_content"):
        levels.look().done("review")
    levels.bench.write("whole", "")
    levels.bench.write("outer", "")
    levels.look().done("review")
    assert levels.state.step("review").status == "done"


def test_criteria_of_the_whole_make_a_review_where_there_is_no_outer_loop(bench):
    run = Run(bench, "# Task: T\n**Plan approval**: relayed\n## Success Criteria\n- [ ] No: `false`\n"
              "## Phase 1: P\n### Task 1.1: A\n- [ ] a\n")  # fmt: skip
    trust_file(bench.open("human"), str(run.task))
    run.planned().finish("1.1")
    run.look().begin("review")
    with pytest.raises(Refused, match="'no' failed"):
        run.look().done("review")
    assert run.document["orchestrator"]["status"] == "reviewing"


def test_the_plan_is_approved_by_a_person_unless_the_document_says_otherwise(bench):
    run = Run(bench, LEVELS.replace("**Plan approval**: relayed\n", ""))
    run.look().done("plan")
    with pytest.raises(Refused, match="only a person"):
        run.look().approve("plan")
    run.look("human").approve("plan")
    assert run.state.step("plan").status == "done"


def test_what_holds_for_the_whole_is_no_gate_of_the_plan(bench):
    run = Run(bench, LEVELS)
    gates, _, at_end = shown(run, next_step).partition("What has to hold at the end")
    for text in ("The whole is right", "Somebody read all of it", "The loop is content"):
        assert text in at_end.partition("\n\n")[0]
        assert text not in gates


# The supervisor


SUPERVISED = """# Task: Supervised
**Plan approval**: relayed
## Safety Bounds
**Maximum iterations per task**: 1
## Supervisor
Required: Yes
Mind the names.
## Phase 1: P
### Task 1.1: A
- [ ] The text of a
### Task 1.2: B
- [ ] b
"""


def test_a_required_check_of_the_supervisor_comes_before_its_task(bench):
    run = Run(bench, SUPERVISED).planned()
    assert "orchestrator supervise pre_task phase-1/1.1" in shown(run, next_step)
    with pytest.raises(Refused, match="the supervisor has not made its check"):
        run.look().begin("1.1")
    run.look().supervise("pre_task", "1.1", "PASS")
    run.look().begin("1.1")
    assert "orchestrator supervise pre_task" not in shown(run, next_step)


def test_a_required_check_of_the_supervisor_after_a_task_is_a_gate_of_its_work(bench):
    run = Run(bench, SUPERVISED.replace("task**: 1", "task**: 3")).planned()
    run.look().supervise("pre_task", "1.1", "PASS")
    for check in ("PASS", "AUTO_FIX"):
        found = {} if check == "PASS" else {"conflict_type": "pattern", "resolution": "renamed it"}
        with pytest.raises(Refused, match="has not begun"):
            run.look().supervise("post_task", "1.1", check, **found)
    run.look().begin("1.1").check("the_text_of_a", passed=True, step="1.1")
    now = shown(run, next_step)
    assert "post_task" in now.partition("It is done when these hold")[2].partition("\n\n")[0]
    assert "no gate" not in now
    assert "holdfast orchestrator supervise post_task phase-1/1.1" in now.partition("\nNow\n")[2]
    with pytest.raises(Refused, match="the supervisor has not made its check 'post_task'") as refusal:
        run.look().done("1.1")
    assert "holdfast orchestrator supervise post_task phase-1/1.1" in refusal.value.remedy
    run.edit(lambda said: said["completed_tasks"].append({"task": "1.1"}))
    assert run.state.step("phase-1/1.1").status == "active"
    run.look().supervise("post_task", "1.1", "PASS")
    run.look().iterate("1.1", "not yet right")
    run.look().check("the_text_of_a", passed=True, step="1.1")
    with pytest.raises(Refused, match="the supervisor has not made its check 'post_task'"):
        run.look().done("1.1")
    run.look().supervise("post_task", "1.1", "PASS")
    run.look().done("1.1")
    assert run.state.step("phase-1/1.1").status == "done"
    assert "was asked for and not made" not in body(run.state)


@pytest.mark.parametrize(("when", "gate"), [("Before each task", "begin"), ("After each task", "done")])
def test_what_is_required_of_the_supervisor_is_what_its_frequency_names(bench, when, gate):
    run = Run(bench, SUPERVISED.replace("Required: Yes", f"Required: Yes\nFrequency: {when}")).planned()
    if gate == "begin":
        with pytest.raises(Refused, match="its check 'pre_task'"):
            run.look().begin("1.1")
        run.look().supervise("pre_task", "1.1", "PASS")
    run.look().begin("1.1").check("the_text_of_a", passed=True, step="1.1")
    if gate == "done":
        with pytest.raises(Refused, match="its check 'post_task'"):
            run.look().done("1.1")
        run.look().supervise("post_task", "1.1", "PASS")
    run.look().done("1.1")


def test_a_check_that_is_only_made_on_demand_cannot_be_required(bench):
    with pytest.raises(UsageError, match="could be required"):
        Run(bench, SUPERVISED.replace("Required: Yes", "Required: Yes\nFrequency: On demand"))


def test_the_pull_request_names_the_checks_of_the_supervisor_that_were_not_made(bench):
    run = Run(bench, SUPERVISED.replace("Required: Yes\n", "")).planned()
    run.look().supervise("pre_task", "1.1", "PASS")
    run.finish("1.1", "1.2")
    text = body(run.state)
    assert "- pre_task was asked for and not made of 1.2\n" in text
    assert "- post_task was asked for and not made of 1.1, 1.2\n" in text


def test_a_new_plan_costs_no_try_and_asks_for_the_check_again(bench):
    run = Run(bench, SUPERVISED).planned()
    for _ in range(3):
        run.look().supervise("pre_task", "1.1", "PASS")
        run.look().begin("1.1")
        run.look().supervise("post_task", "1.1", "RE_PLAN", conflict_type="api", resolution="use v2")
        run.planned()
        with pytest.raises(Refused, match="the supervisor has not made its check"):
            run.look().begin("1.1")
    run.look().supervise("pre_task", "1.1", "PASS")
    run.look().begin("1.1")
    run.look().iterate("1.1", "still wrong")
    assert run.state.step("phase-1/1.1").status == "failed"


def test_a_supervisor_is_given_the_task_its_criteria_agents_and_changes(bench):
    run = Run(bench, SUPERVISED).planned()
    run.look().supervise("pre_task", "1.1", "PASS")
    run.look().begin("1.1")
    run.look().start_agent("task-executor", "1.1")
    bench.write("README.md", "A changed project.\n")
    asked = bench.agent("orchestrator", "supervise", "post_task", "1.1").json
    assert asked["criteria"] == [
        {
            "name": "the_text_of_a",
            "text": "The text of a",
            "how": "reported",
            "verdict": "missing",
            "held_before": False,
        }
    ]
    assert [one["type"] for one in asked["agents"]] == ["task-executor"]
    assert asked["changes"]["files"] == ["README.md"]
    assert "+A changed project." in asked["changes"]["diff"]
    assert asked["instructions"] == "Mind the names."


def test_a_new_plan_costs_no_try_is_not_counted_and_warns_of_nothing(bench):
    run = Run(bench, SUPERVISED.replace("task**: 1", "task**: 2").replace("Required: Yes\n", "")).planned()
    for _ in range(3):
        run.look().begin("1.1")
        run.look().supervise("on_demand", "1.1", "RE_PLAN", conflict_type="api", resolution="another way")
        run.look("human").done("plan").approve("plan")
    run.look().begin("1.1")
    assert "try" not in shown(run, next_step).splitlines()[0]
    assert run.document["safety_bounds"]["warnings"] == []


def test_a_change_that_is_said_in_one_text_is_read_and_so_is_the_severity(bench):
    run = Run(bench, SUPERVISED).planned()
    plan = {"affected_tasks": "1.2", "recommended_changes": "use v2"}
    conflict = {"type": "api", "description": "v1 ends", "severity": "critical"}
    said = {"verdict": "RE_PLAN", "conflict": conflict, "re_plan_required": plan}
    file = bench.write("answer.json", json.dumps(said))
    assert bench.agent("orchestrator", "supervise", "pre_task", "1.2", "--file", str(file)).code == 0
    (found,) = supervision(run.state).interventions
    assert (found["severity"], found["resolution"]) == ("critical", "v1 ends; use v2")
    bad = bench.write("bad.json", json.dumps({**said, "re_plan_required": {"recommended_changes": 3}}))
    assert '"verdict": "RE_PLAN"' in str(
        bench.agent("orchestrator", "supervise", "pre_task", "1.2", "--file", str(bad))
    )


def test_the_severity_of_a_conflict_is_as_it_is_given_and_an_unknown_one_is_refused(bench):
    run = Run(bench, SUPERVISED).planned()
    words = (
        "orchestrator",
        "supervise",
        "on_demand",
        "1.1",
        "--verdict",
        "AUTO_FIX",
        "--conflict",
        "pattern",
        "--resolution",
        "so",
    )
    assert bench.agent(*words, "--severity", "high").code == 0
    assert bench.agent(*words, "--severity", "medium").code == 2
    said = {"verdict": "AUTO_FIX", "conflict": {"type": "pattern", "resolution": "so", "severity": "medium"}}
    file = bench.write("answer.json", json.dumps(said))
    refused = bench.agent("orchestrator", "supervise", "on_demand", "1.1", "--file", str(file))
    assert "a severity is one of critical, high, low, not 'medium'" in str(refused)
    assert (
        bench.agent("orchestrator", "supervise", "on_demand", "1.1", "--verdict", "PASS", "--severity", "high").code
        == 2
    )
    assert [one["severity"] for one in supervision(run.state).interventions] == ["high"]


def test_the_check_of_the_supervisor_is_asked_for_and_is_not_listed_among_the_gates(bench):
    run = Run(bench, SUPERVISED.replace("Required: Yes\n", "")).planned()
    run.look().begin("1.1")
    gates, _, asked = shown(run, next_step).partition("Asked for now, and no gate")
    assert "orchestrator supervise post_task 1.1" in " ".join(asked.split())
    assert "orchestrator supervise post_task" not in gates


def test_a_supervisor_s_answer_is_kept_whole(bench):
    run = Run(bench, SUPERVISED).planned()
    answer = {
        "verdict": "RE_PLAN",
        "conflict": {"type": "api", "description": "v1 ends"},
        "auto_fixes": [{"file": "a.py", "line": 3}, {"description": "rename it"}],
        "re_plan_required": {"affected_tasks": ["1.2"], "recommended_changes": ["use v2", {"change": "drop v1"}]},
    }
    file = bench.write("answer.json", json.dumps(answer))
    assert bench.agent("orchestrator", "supervise", "pre_task", "1.2", "--file", str(file)).code == 0
    (found,) = supervision(run.state).interventions
    assert found["resolution"] == 'v1 ends; use v2; drop v1; {"file": "a.py", "line": 3}; rename it'
    assert next(one for one in run.state.history if one["event"] == "supervised")["answer"] == answer


# The end


def test_the_pull_request_tells_of_a_skipped_phase_and_review_and_of_bounds_that_were_extended(levels):
    levels.look("human").skip("phase-1", "another team does it").skip("review", "no time")
    levels.look("human").extend(iterations=2)
    text = body(levels.state)
    assert "– **skipped**: another team does it" in text
    assert "### As a whole – **skipped**: no time" in text
    assert "Bounds were extended 1 time; they are now" in text
    assert levels.look().document()["milestones"] == []
    told = levels.look().briefing().skipped
    assert list(told) == ["phase-1", "review"]


def test_the_pull_request_ticks_what_is_done_and_names_the_rest(levels):
    finish_tasks(levels)
    levels.look("human").reset("1.2")
    levels.look("human").skip("1.2", "not needed any more")
    levels.look().supervise("on_demand", "1.1", "AUTO_FIX", conflict_type="pattern", resolution="renamed it")
    levels.look().record({"issue_url": "https://example.com/1"}, "phase-1")
    text = body(levels.state)
    assert text.startswith("Know what holds.\n")
    assert "- [x] 1.1 First" in text
    assert "- [ ] 1.2 Second – **skipped**: not needed any more" in text
    assert "- The whole is right (not seen to hold)" in text
    assert "1.1: pattern → auto_fix: renamed it" in text
    assert "Only: https://example.com/1" in text
    assert str(levels.bench.root) not in text


def test_a_run_that_a_person_may_retry_has_not_failed(bench):
    run = Run(bench, SUPERVISED).planned()
    run.look().supervise("pre_task", "1.1", "PASS")
    run.look().begin("1.1").iterate("1.1", "no way")
    assert run.document["orchestrator"]["status"] == "executing"
    assert run.document["orchestrator"]["pause"]["status"] == "failed"
    run.look("human").cancel("enough")
    assert run.document["orchestrator"]["status"] == "failed"


def test_progress_counts_what_is_done_and_cost_that_nobody_tells_is_not_measured(levels):
    first = shown(levels, status)
    assert "20% done" in first
    assert "$0.00 of $5.00" in first
    levels.look().begin("1.2")
    assert "cost not measured here of $5.00" in shown(levels, status)
    levels.look().spend(1_000_000)
    assert "$1.00 of $5.00" in shown(levels, status)


def test_a_command_that_could_not_start_says_so(bench):
    run = Run(
        bench, "# Task: T\n**Plan approval**: relayed\n## Phase 1: P\n### Task 1.1: A\n- [ ] c: `no-such-tool -q`\n"
    )
    trust_file(bench.open("human"), str(run.task))
    run.planned().look().begin("1.1")
    seen = run.look().check("c")
    assert (seen.passed, seen.detail) == (False, "no such program: no-such-tool")


REQUIRED = """# Task: Looked at
**Plan approval**: relayed
## Phase 1: P
### Task 1.1: A
- [ ] a
### Task 1.2: B
- [ ] b
## Supervisor
**Required**: Yes
"""


def test_where_the_supervisors_check_is_missing_the_command_that_records_it_is_told(bench):
    run = Run(bench, REQUIRED).planned()
    with pytest.raises(Refused) as refusal:
        run.look().begin("1.1")
    asked = "holdfast orchestrator supervise pre_task phase-1/1.1"
    assert refusal.value.remedy == f"{asked} · then: {asked} --verdict PASS_OR_AUTO_FIX_OR_RE_PLAN"
    said = json.loads(bench.agent("orchestrator", "supervise", "pre_task", "1.1").out)
    assert said["record"] == "holdfast orchestrator supervise pre_task 1.1 --verdict PASS_OR_AUTO_FIX_OR_RE_PLAN"
    assert bench.agent(*said["record"].split()[1:]).code == 2


def test_a_person_skips_a_task_that_the_supervisor_has_not_checked(bench):
    run = Run(bench, REQUIRED).planned()
    run.look("human").skip("1.2", "not needed")
    assert run.state.step("phase-1/1.2").status == "skipped"
