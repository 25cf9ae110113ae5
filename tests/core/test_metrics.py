"""Figures are counted from what happened, and say nothing that did not."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import moment
from holdfast.core.apply import Record
from holdfast.core.definition import Step
from holdfast.core.metrics import metrics
from holdfast.core.state import Progress
from tests.story import CODER, NOON, PERSON, REVIEWER, Story


def figures(story, after=0):
    return metrics(story.records, story.facts(after).now)


def durations(story, after=0):
    return {one["name"]: one["duration_seconds"] for one in figures(story, after)["step_times"]}


def test_a_workflow_that_just_started_has_every_field_and_no_step_times():
    assert figures(Story({"id": "a"}), after=90.9) == {
        "workflow_id": "release-1",
        "total_time_seconds": 90,
        "step_times": [],
        "retry_count": 0,
        "human_approval_time_seconds": 0,
        "agent_calls": 0,
        "parallel_executions": 0,
        "checks_run": 0,
        "checks_failed": 0,
        "reviews": 0,
        "reopened": 0,
        "compactions": 0,
        "cost": "$0.00",
        "paused_seconds": 0,
        "revisions": 1,
    }


def test_the_total_ends_with_the_last_step_and_an_open_step_counts_up_to_now():
    story = Story({"id": "a", "name": "First"}, {"id": "b"}).do(cmd.Begin("a")).do(cmd.Done("a"), after=100)
    assert durations(story, after=50) == {"First": 100}
    story.do(cmd.Begin("b"))
    assert durations(story, after=50) == {"First": 100, "b": 50}
    story.do(cmd.Done("b"), after=30).do(cmd.Note("written long after the end"), after=9999)
    assert figures(story, after=5000)["total_time_seconds"] == 60 + 100 + 60 + 30
    assert figures(story)["step_times"] == [
        {"step": 1, "name": "First", "duration_seconds": 100},
        {"step": 2, "name": "b", "duration_seconds": 30},
    ]


def test_reopening_adds_to_a_steps_duration_and_the_rest_in_between_does_not():
    story = Story({"id": "a"}).do(cmd.Begin("a")).do(cmd.Done("a"), after=100)
    story.do(cmd.Reopen("a"), PERSON, after=5000).do(cmd.Done("a"), after=11)
    assert durations(story) == {"a": 111}
    assert figures(story)["total_time_seconds"] == 60 + 100 + 11
    assert figures(story)["reopened"] == 1
    assert figures(story)["retry_count"] == 0


def test_time_waiting_for_a_person_is_added_up_over_all_steps_and_rounds():
    story = Story({"id": "a", "approval": True}, {"id": "b", "approval": True})
    story.do(cmd.Begin("a")).do(cmd.Done("a"), after=10).do(cmd.Reject("a", "again"), PERSON, after=200)
    story.do(cmd.Done("a"), after=10).do(cmd.Approve("a"), PERSON, after=30)
    story.do(cmd.Begin("b")).do(cmd.Done("b"))
    assert figures(story)["human_approval_time_seconds"] == 230
    assert figures(story, after=7)["human_approval_time_seconds"] == 237
    assert durations(story) == {"a": 10 + 200 + 10 + 30, "b": 60}


def test_a_blocked_or_failed_step_is_not_open():
    story = Story({"id": "a"}).do(cmd.Begin("a")).do(cmd.Block("a", "no key"), after=10)
    story.do(cmd.Unblock("a"), after=1000).do(cmd.Fail("a", "broke"), after=5)
    assert durations(story, after=1000) == {"a": 15}
    assert figures(story, after=1000)["total_time_seconds"] == 60 + 10 + 5


def test_no_clock_runs_during_a_pause():
    story = Story({"id": "a", "approval": True}).do(cmd.Begin("a")).do(cmd.Done("a"), after=10)
    story.do(cmd.Pause("lunch"), PERSON, after=5)
    assert figures(story, after=100)["paused_seconds"] == 100
    story.do(cmd.Resume(), PERSON, after=3600).do(cmd.Approve("a"), PERSON, after=20)
    assert durations(story) == {"a": 35}
    seen = figures(story)
    assert (seen["total_time_seconds"], seen["paused_seconds"], seen["human_approval_time_seconds"]) == (95, 3600, 25)


def test_a_cancelled_workflow_takes_no_more_time_until_it_is_resumed():
    story = Story({"id": "a"}).do(cmd.Begin("a")).do(cmd.Cancel(), PERSON, after=10)
    assert figures(story, after=5000)["total_time_seconds"] == 70
    assert durations(story, after=5000) == {"a": 10}
    story.do(cmd.Resume(), PERSON, after=5000)
    assert durations(story, after=3) == {"a": 13}


def test_a_retry_is_counted_at_the_step_itself_and_where_a_failure_goes_back_to():
    story = Story(
        {"id": "draft", "step": [{"id": "write"}]},
        {"id": "test", "retry": {"max": 4, "back_to": "draft/write"}},
        {"id": "ship", "retry": {"max": 4}},
    )
    story.do(cmd.Begin("draft/write")).do(cmd.Done("draft/write"))
    story.do(cmd.Begin("test")).do(cmd.Fail("test", "red")).do(cmd.Done("draft/write"))
    story.do(cmd.Begin("test")).do(cmd.Done("test")).do(cmd.Begin("ship")).do(cmd.Fail("ship", "offline"))
    assert figures(story)["retry_count"] == 2
    assert figures(story)["reopened"] == 1, "the branch that was opened with its step is not a second reopening"


def test_a_failure_without_tries_left_and_a_reopening_by_hand_are_no_retries():
    story = Story({"id": "a"}, {"id": "b", "retry": {"max": 1}}).do(cmd.Begin("a")).do(cmd.Done("a"))
    story.do(cmd.Begin("b")).do(cmd.Fail("b", "no")).do(cmd.Reopen("a"), PERSON)
    assert (figures(story)["retry_count"], figures(story)["reopened"]) == (0, 1)


def test_checks_reviews_compactions_agents_and_cost_are_counted():
    story = Story({"id": "a", "checks": ["lint"], "review": {"by": ["reviewer"]}}).do(cmd.Begin("a"))
    story.check("a", "lint", False, run_by="reported").check("a", "lint", True, run_by="reported").do(cmd.Submit("a"))
    story.do(cmd.Review("a", "needs_revision", "shorter"), REVIEWER).do(cmd.Submit("a"))
    story.do(cmd.Review("a", "approved"), REVIEWER).do(cmd.Compacted()).do(cmd.Spend(500_000)).do(cmd.Spend(250_000))
    story.do(cmd.StartAgent("coder"))
    seen = figures(story)
    assert (seen["checks_run"], seen["checks_failed"], seen["reviews"], seen["compactions"]) == (2, 1, 2, 1)
    assert (seen["agent_calls"], seen["cost"], seen["revisions"]) == (1, "$0.75", len(story.records))


FAN = {"id": "fan", "parallel": True, "step": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}


def test_leaves_that_were_open_together_ran_in_parallel_and_one_that_ran_alone_did_not():
    story = Story(FAN).do(cmd.Begin("fan/a")).do(cmd.Begin("fan/b")).do(cmd.Done("fan/a")).do(cmd.Done("fan/b"))
    story.do(cmd.Begin("fan/c"))
    assert figures(story)["parallel_executions"] == 2


def test_a_leaf_with_a_lease_of_its_own_is_one_execution():
    story = Story(FAN).do(cmd.StartAgent("coder", "fan/a")).do(cmd.Begin("fan/a"), token=1)
    story.do(cmd.StartAgent("coder", "fan/b")).do(cmd.Begin("fan/b"), token=2).do(cmd.Begin("fan/c"))
    assert figures(story)["parallel_executions"] == 3


def test_an_agent_on_the_whole_workflow_and_the_step_it_works_on_are_the_same_work():
    story = Story({"id": "a"}).do(cmd.StartAgent("coder")).do(cmd.Begin("a"), token=1)
    assert figures(story)["parallel_executions"] == 0
    story.do(cmd.StartAgent("tester"), token=1)
    assert figures(story)["parallel_executions"] == 2


def test_a_lease_that_went_silent_runs_beside_nobody():
    story = Story({"id": "a"}, {"id": "b", "requires": []})
    story.do(cmd.StartAgent("coder", "a", ttl=60)).do(cmd.StartAgent("tester", "b"), after=61)
    assert figures(story)["parallel_executions"] == 0
    story.do(cmd.EndAgent(2), token=2).do(cmd.BeatAgent(1), token=1).do(cmd.StartAgent("tester", "b"), after=1)
    assert figures(story)["parallel_executions"] == 2


def test_work_from_before_an_adopted_document_counts_as_far_as_the_document_says():
    def at(seconds):
        return moment.from_epoch(NOON + seconds)

    adopted = ev.Adopted(
        ulid="01JZ0000000000000000000000",
        id="old-1",
        type="old",
        steps=(Step("a"), Step("b")),
        document={},
        created_at=at(0),
        progress={
            "a": Progress(status="done", attempt=1, started_at=at(0), finished_at=at(40)),
            "b": Progress(status="waiting", attempt=1, started_at=at(50), waiting_since=at(70)),
        },
    )
    seen = metrics([Record(1, at(100), CODER, "adopt", (adopted,))], at(105))
    assert [one["duration_seconds"] for one in seen["step_times"]] == [40, 55]
    assert (seen["total_time_seconds"], seen["human_approval_time_seconds"]) == (105, 35)


def test_a_restored_snapshot_stops_and_starts_watches():
    story = Story({"id": "a"}, {"id": "b"}).do(cmd.Begin("a")).do(cmd.TakeSnapshot(), after=10)
    past = story.state
    story.do(cmd.Done("a"), after=10).do(cmd.Begin("b"), after=0)
    story.world["past"] = past
    story.do(cmd.Restore(1), PERSON, after=7)
    assert durations(story, after=5) == {"a": 25, "b": 7}


def test_a_clock_that_jumps_back_makes_nothing_negative():
    story = Story({"id": "a"}).do(cmd.Begin("a"), after=60).do(cmd.Done("a"), after=-500)
    assert durations(story) == {"a": 0}
    assert figures(story)["total_time_seconds"] == 60
