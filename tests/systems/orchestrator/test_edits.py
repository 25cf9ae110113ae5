"""Edits of agent-state.json, which are decided like any command; and what the next run does with the file."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.core import lifecycle
from holdfast.errors import HoldfastError
from tests.orchestrated import Run, example, invalid, plain


class TestAnEdit:
    def refused(self, run: Run, change: Callable[[dict[str, Any]], Any]) -> str:
        """The code of a refusal; the edit is in quarantine, and the document says again what is true."""
        before, was = run.state, run.document
        run.edit(change)
        edited = run.path.read_bytes()
        state = run.state
        (reason,) = [why for data, why in run.quarantined().items() if data == edited]
        code, *_ = re.findall(r"^reverted: \S+ \((\w+)\): ", reason, re.MULTILINE)
        forged = "A GATE WAS FORGED" in state.alerts[-1].message
        assert run.alerts()[-1:] == ["edit_forged" if forged else "edit_refused"]
        now = run.document
        now["safety_bounds"].pop("elapsed_time"), was["safety_bounds"].pop("elapsed_time")
        assert now == was
        assert (state.progress, state.spent, state.leases) == (before.progress, before.spent, before.leases)
        return code

    def pushed(self, **entry: Any) -> Callable[[dict[str, Any]], Any]:
        return lambda document: document["completed_tasks"].append(entry)

    def test_a_task_among_the_completed_ones_with_its_criteria_is_done(self, executing):
        def change(document: dict[str, Any]) -> None:
            document["orchestrator"]["current_task"] = "2/2"
            document["pending_tasks"].pop(0)
            met = {"model_updated": True, "tests_pass": True}
            document["completed_tasks"].append({"task": "1.1", "name": "Update", "success_criteria_met": met})

        state = executing.edit(change).state
        assert state.step("phase-1/1.1").status == lifecycle.DONE
        assert executing.alerts() == []
        (done,) = executing.document["completed_tasks"]
        assert done["name"] == "Update User model"
        assert done["success_criteria_met"] == {"model_updated": True, "tests_pass": True}
        assert [taken["task"] for taken in executing.document["checkpoints"]] == ["1.1"]
        assert invalid(executing.document) == []

    @pytest.mark.parametrize(
        "met", [{"model_updated": True, "tests_pass": False}, {"model_updated": True}, {}, "all of them"]
    )
    def test_one_whose_criteria_are_not_met_is_refused(self, executing, met):
        assert self.refused(executing, self.pushed(task="1.1", success_criteria_met=met)) == "gate_unmet"

    def test_one_whose_turn_it_is_not_is_refused(self, executing):
        met = {"tokens_expire": True}
        assert self.refused(executing, self.pushed(task="1.2", success_criteria_met=met)) == "step_blocked"

    @pytest.mark.parametrize("worktree", [False, True])
    def test_one_that_an_agent_has_a_lease_of_is_refused(self, executing, worktree):
        executing.look().start_agent("coder", "1.1", worktree=worktree)
        met = {"model_updated": True, "tests_pass": True}
        assert self.refused(executing, self.pushed(task="1.1", success_criteria_met=met)) == "lease_held"

    def test_one_whose_work_lies_in_a_worktree_is_refused_when_its_agent_is_gone(self, executing):
        executing.look().begin("1.1").start_agent("coder", "1.1", 1, worktree=True)
        time.sleep(1.1)  # the lease runs out
        met = {"model_updated": True, "tests_pass": True}
        assert self.refused(executing, self.pushed(task="1.1", success_criteria_met=met)) == "not_brought_in"

    def test_one_that_there_is_not_is_refused(self, executing):
        assert self.refused(executing, self.pushed(task="9.9")) == "no_task"

    def test_it_does_not_get_round_the_plan(self, run):
        met = {"model_updated": True, "tests_pass": True}
        assert self.refused(run, self.pushed(task="1.1", success_criteria_met=met)) == "step_blocked"

    def test_a_learning_is_kept_in_both_places(self, executing):
        said = {"task": "1.1", "type": "antipattern", "lesson": "no secrets", "pattern": "env", "context": "jwt"}
        executing.edit(lambda d: d["learnings"].append(said))
        (learning,) = executing.state.learnings
        assert (learning.type, learning.lesson, learning.step) == ("antipattern", "no secrets", "phase-1/1.1")
        (line,) = executing.learnings()
        assert (line["lesson"], line["task"]) == ("no secrets", "1.1")

    def test_learnings_that_are_taken_out_stay(self, executing):
        executing.look().learn("look first").spend(100_000)
        assert self.refused(executing, lambda d: d["learnings"].clear()) == "deleted"
        assert [one.lesson for one in executing.state.learnings] == ["look first"]
        assert len(executing.document["learnings"]) == 1

    def test_an_agent_that_is_gone_may_be_taken_out(self, bench, found):
        path = found()
        assert len(bench.open().workflow().state.leases) == 1
        path.write_text(json.dumps({**example(), "active_agents": []}))
        state = bench.open().workflow().state
        assert state.leases == {}
        assert [alert.code for alert in state.alerts] == ["counted_from_one", "subject_unread"]
        assert json.loads(path.read_bytes())["active_agents"] == []

    def test_one_that_is_at_work_may_not(self, executing):
        executing.look().begin("1.1").start_agent("task-executor", "1.1")
        executing.look().learn("look first")
        assert self.refused(executing, lambda d: d["active_agents"].clear()) == "lease_held"

    def test_an_agent_that_is_written_down_is_at_work(self, executing):
        executing.look().begin("1.1")
        entry = {"type": "task-executor", "task": "1.1"}
        executing.edit(lambda d: d["active_agents"].append(entry))
        assert [(one.role, one.step) for one in executing.state.leases.values()] == [("task-executor", "phase-1/1.1")]

    def test_more_cost_is_money_spent_and_warned_of(self, executing):
        executing.edit(lambda d: d["safety_bounds"].update(cost_so_far="$0.80"))
        assert executing.state.spent == 800_000
        assert executing.document["safety_bounds"]["warnings"] == ["Cost at 75% of limit"]

    def test_less_cost_is_refused(self, executing):
        executing.look().spend(500_000)
        assert self.refused(executing, lambda d: d["safety_bounds"].update(cost_so_far="$0.10")) == "forged"

    def test_what_was_just_spent_cannot_be_taken_back_either(self, executing):
        """The document is then the same as the one before."""
        executing.look().spend(500_000)
        executing.edit(lambda d: d["safety_bounds"].update(cost_so_far="$0.00"))
        assert executing.state.spent == 500_000
        assert executing.document["safety_bounds"]["cost_so_far"] == "$0.50"

    @pytest.mark.parametrize("said", ["a lot", "$-1", None, -1])
    def test_cost_that_is_no_amount_is_refused(self, executing, said):
        self.refused(executing, lambda d: d["safety_bounds"].update(cost_so_far=said))

    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d["supervisor"].update(enabled=False),
            lambda d: d["supervisor"].update(checks_performed=9),
            lambda d: d["supervisor"].update(conflicts_detected=0),
            lambda d: d["supervisor"].update(auto_fixes_applied=9),
            lambda d: d["supervisor"].update(re_plans_triggered=9),
            lambda d: d["supervisor"].update(last_check=None),
            lambda d: d["supervisor"]["interventions"].clear(),
            lambda d: d["safety_bounds"].update(max_iterations_per_task=999),
            lambda d: d["safety_bounds"].update(max_cost="$1000"),
            lambda d: d["safety_bounds"].update(max_time="200h"),
            lambda d: d["checkpoints"].clear(),
            lambda d: d["checkpoints"][0].update(git_sha="0" * 40),
            lambda d: d["orchestrator"].update(task_doc="/etc/passwd"),
            lambda d: d["orchestrator"].update(total_phases=1),
            lambda d: d["orchestrator"].update(pause={"status": "paused", "reason": "me"}),
        ],
    )
    def test_what_only_its_own_command_may_say_is_refused(self, executing, change):
        executing.finish("1.1")
        found = {"conflict_type": "pattern", "resolution": "renamed"}
        executing.look().supervise("post_task", "1.1", "AUTO_FIX", **found)
        assert self.refused(executing, change) == "forged"

    @pytest.mark.parametrize(
        ("bounds", "forged"),
        [
            ({"max_iterations_per_task": 1}, False),
            ({"max_cost": "$0.50"}, False),
            ({"max_time": "1h"}, False),
            ({"max_time": "200h"}, True),
            ({"max_cost": None}, True),
            ({"max_iterations_per_task": "many"}, True),
        ],
    )
    def test_only_a_bound_that_would_allow_more_is_a_forged_gate(self, executing, bounds, forged):
        assert self.refused(executing, lambda d: d["safety_bounds"].update(bounds)) == "forged"
        last = executing.state.alerts[-1]
        assert (last.code == "edit_forged", "only people change bounds" in last.message) == (forged, True)

    @pytest.mark.parametrize(("said", "usual"), [("1.50", "$1.50"), (2, "$2.00"), (0.75, "$0.75")])
    def test_an_amount_without_its_sign_is_written_with_it_and_told(self, executing, said, usual):
        executing.edit(lambda d: d["safety_bounds"].update(cost_so_far=said))
        (alert,) = [one for one in executing.state.alerts if one.code == "edit_normalised"]
        assert f'read as: safety_bounds.cost_so_far = "{usual}"' in alert.message
        assert executing.document["safety_bounds"]["cost_so_far"] == usual

    @pytest.mark.parametrize(
        ("said", "kind"), [("anti-pattern", "antipattern"), ("Pattern", "pattern"), (7, "insight")]
    )
    def test_the_type_of_a_learning_that_is_read_in_another_way_is_told(self, executing, said, kind):
        executing.edit(lambda d: d["learnings"].append({"lesson": "Z", "type": said}))
        assert [one.type for one in executing.state.learnings] == [kind]
        (alert,) = executing.state.alerts
        assert (alert.code, f'"type":"{kind}"' in alert.message) == ("edit_normalised", True)

    def test_a_milestone_that_was_not_reached_is_refused(self, executing):
        entry = {"phase": 0, "name": "Foundation", "issue_url": "https://example.com/1"}
        assert self.refused(executing, lambda d: d["milestones"].append(entry)) == "forged"
        assert executing.document["milestones"] == []

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            (lambda d: d["milestones"][0].update(name="Other"), "forged"),
            (lambda d: d["milestones"].clear(), "deleted"),
            (lambda d: d["milestones"].append(d["milestones"][0] | {"phase": "0"}), "forged"),
            (lambda d: d["milestones"].append({"phase": [1]}), "forged"),
        ],
    )
    def test_what_holdfast_says_of_a_milestone_is_put_back(self, executing, change, code):
        executing.finish("1.1", "1.2")
        assert self.refused(executing, change) == code

    def test_the_status_failed_gives_the_run_up(self, executing):
        state = executing.edit(lambda d: d["orchestrator"].update(status="failed")).state
        assert state.cancelled is not None
        assert executing.document["orchestrator"]["status"] == "failed"

    def test_a_status_that_there_is_not_is_refused(self, executing):
        assert self.refused(executing, lambda d: d["orchestrator"].update(status="great")) == "unknown_word"

    @pytest.mark.parametrize("status", ["executing", "reviewing", "completed"])
    def test_no_status_approves_the_plan(self, run, status):
        run.look().done("plan")
        state = run.edit(lambda d: d["orchestrator"].update(status=status)).state
        assert state.step("plan").status == lifecycle.WAITING
        assert run.document["orchestrator"]["status"] == "planning"

    def test_the_address_of_a_milestone_is_kept(self, executing):
        executing.finish("1.1", "1.2")
        url = "https://github.com/user/repo/issues/7"
        executing.edit(lambda d: d["milestones"][0].update(issue_url=url))
        assert executing.state.step("phase-1").data["issue_url"] == url
        assert executing.document["milestones"][0]["issue_url"] == url

    @pytest.mark.parametrize("url", ["javascript:alert(1)", "https://x\n.example", 7, None, "https://" + "a" * 1000])
    def test_what_is_no_address_is_refused(self, executing, url):
        executing.finish("1.1", "1.2")
        change = lambda d: d["milestones"][0].update(issue_url=url)  # noqa: E731
        assert self.refused(executing, change) == "bad_address"

    def test_the_milestone_of_a_document_that_counts_from_one_is_that_of_its_phase(self, bench, found):
        path = found()
        bench.open().workflow()
        document = example()
        document["milestones"][0]["issue_url"] = "https://example.com/2"
        path.write_text(json.dumps(document))
        assert bench.open().workflow().state.step("phase-1").data == {"issue_url": "https://example.com/2"}

    @pytest.mark.parametrize(
        "part", ["active_agents", "completed_tasks", "pending_tasks", "learnings", "milestones", "safety_bounds"]
    )
    def test_a_part_of_another_shape_is_refused(self, executing, part):
        self.refused(executing, lambda d: d.update({part: "all fine"}))

    def test_what_follows_from_the_rest_is_put_right_without_a_word(self, executing):
        before = executing.document
        executing.edit(lambda d: d["orchestrator"].update(current_task="9/9", ralph_iteration=7, outer_ralph=True))
        assert executing.alerts() == []
        assert executing.document["orchestrator"] == before["orchestrator"]

    def test_fields_of_somebody_else_stay(self, executing):
        executing.edit(lambda d: d.update(mine={"colour": "red"}))
        executing.finish("1.1")
        assert executing.document["mine"] == {"colour": "red"}
        assert executing.alerts() == []

    def test_each_of_several_things_at_once_is_decided_by_itself(self, executing):
        def change(document: dict[str, Any]) -> None:
            document["safety_bounds"]["cost_so_far"] = "$0.20"
            document["learnings"].append({"lesson": "look first"})
            document["completed_tasks"].append({"task": "1.1", "success_criteria_met": {}})

        state = executing.edit(change).state
        assert ([one.lesson for one in state.learnings], state.spent) == (["look first"], 200_000)
        assert state.step("phase-1/1.1").status != lifecycle.DONE
        assert executing.document["completed_tasks"] == []
        assert executing.alerts() == ["edit_partly_refused"]


class TestTheNextRun:
    def test_what_the_last_one_left_is_archived(self, run):
        run.ended()
        run.look().learn("one more")
        left = {path.name: path.read_bytes() for path in run.folder.iterdir() if path.is_file()}
        assert set(left) == {
            "agent-state.json",
            "locks.json",
            "learnings.jsonl",
            "checkpoint.json",
            *(f"checkpoint-{number:03}.json" for number in (1, 2, 3, 4)),
        }
        second = run.start()
        kept = {path.name: path.read_bytes() for path in (run.folder / "archive" / run.id).iterdir()}
        assert set(kept) == set(left) - {"learnings.jsonl"}
        for name in set(kept) - {"agent-state.json"}:
            assert kept[name] == left[name], name
        assert json.loads(kept["agent-state.json"]) == json.loads(left["agent-state.json"])
        assert {path.name for path in run.folder.iterdir()} == {
            "agent-state.json",
            "archive",
            "locks.json",
            "learnings.jsonl",
        }
        assert run.document["orchestrator"]["status"] == "planning"
        assert (run.folder / "learnings.jsonl").read_bytes() == left["learnings.jsonl"]
        assert second.id != run.id

    def test_the_last_one_can_still_be_read(self, run):
        run.ended()
        run.start()
        status = json.loads(run.bench.ok("status", "-w", run.id, "--json").out)
        assert (status["workflow_id"], status["status"]) == (run.id, "completed")
        archived = run.folder / "archive" / run.id / "agent-state.json"
        assert json.loads(archived.read_bytes()) == plain(run.look().document())
        assert run.document["orchestrator"]["status"] == "planning"

    def test_while_one_runs_there_is_no_other(self, run):
        before = run.bench.everything()
        with pytest.raises(HoldfastError) as refusal:
            run.start()
        assert refusal.value.code == "already_active"
        assert run.id in str(refusal.value)
        assert run.bench.everything() == before
