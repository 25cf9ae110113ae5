"""Agents at work: leases, fencing tokens, heartbeats; and keys that make a repetition harmless."""

from __future__ import annotations

import pytest

from holdfast.core.commands import (
    Approve,
    Attach,
    BeatAgent,
    Begin,
    Block,
    Cancel,
    ChangeStep,
    Done,
    EndAgent,
    Fail,
    Iterate,
    Lock,
    Note,
    Record,
    RecordCheck,
    Reopen,
    Request,
    Restore,
    RetireStep,
    Skip,
    Spend,
    StartAgent,
    Submit,
    TakeOver,
    Together,
    Unblock,
)
from holdfast.core.decide import decide
from holdfast.core.definition import Step
from holdfast.core.events import Beat, Leased, Released
from holdfast.core.state import Actor, Lease
from holdfast.errors import HoldfastError
from tests.core.play import AGENT, FILE, HOUR, OTHER_AGENT, PERSON, Play, edit, given, passed, step

STEPWISE = [
    Begin("a"),
    Done("a"),
    Attach("a", {}),
    Submit("a"),
    Fail("a", "r"),
    Iterate("a", "r"),
    Block("a", "r"),
    Unblock("a"),
    Skip("a"),
    Reopen("a"),
    RecordCheck("a", "tests", passed()),
    Record({"commit": "c0ffee"}, "a"),
    Spend(5, step="a"),
    Together((Note("n"), Attach("a", {}))),
]


def leased(ttl: int = 600, on: str = "a") -> Play:
    play = given(step("a", step("x")), step("b", requires=[]))
    play.do(StartAgent("coder", on, ttl))
    return play


def the_lease(play: Play) -> Lease:
    (lease,) = play.state.leases.values()
    return lease


# Leases


def test_an_agent_that_starts_holds_a_lease_with_a_token():
    play = leased()
    lease = the_lease(play)
    assert (lease.role, lease.step, lease.token, lease.ttl, lease.session) == ("coder", "a", 1, 600, "session-1")
    assert (lease.boot, lease.deadline, lease.at) == ("boot-1", play.mono + 600, play.now)
    assert play.state.agent_calls == 1


@pytest.mark.parametrize("command", STEPWISE)
def test_an_agent_without_the_lease_may_not_touch_the_step(command):
    refusal = leased().refuses(command, "lease_held", by=OTHER_AGENT)
    assert refusal.exit_code == 5
    assert refusal.facts["role"] == "coder"


@pytest.mark.parametrize("on", ["a", ""])
def test_what_is_said_of_no_step_is_kept_from_nobody_by_the_lease_of_one(on):
    """What the whole costs may be told by everybody, whoever holds it."""
    play = leased(on=on)
    play.do(Spend(5), by=OTHER_AGENT)
    if on:
        play.do(Record({"mood": "good"}), Spend(5, step="b"), by=OTHER_AGENT)


def test_a_lease_on_a_branch_covers_what_is_below_and_nothing_beside():
    play = leased()
    play.refuses(Begin("a/x"), "lease_held", by=OTHER_AGENT)
    play.do(Begin("b"), by=OTHER_AGENT)


REACHING = [
    Reopen("a"),
    Restore(1),
    RetireStep("b"),
    ChangeStep("b", Step("b", description="of another kind")),
]


@pytest.mark.parametrize("command", REACHING)
def test_what_reaches_beyond_the_step_it_names_changes_nothing_that_another_agent_holds(command):
    play = given(step("a"), step("b"), step("c"))
    before = play.state
    play.do(Begin("a"), Done("a"))
    if isinstance(command, Reopen | Restore):
        play.do(Begin("b"))
    play.do(StartAgent("coder", "b"))
    play.refuses(command, "lease_held", by=OTHER_AGENT, past=before)
    play.wait(HOUR).do(command, by=OTHER_AGENT, past=before)


def test_what_leaves_a_held_step_as_it_is_may_be_restored():
    play = given(step("a"), step("b", requires=[]))
    before = play.state
    play.do(StartAgent("coder", "b"))
    play.do(Begin("a"), Restore(1), by=OTHER_AGENT, past=before)
    assert play.status("a") == "pending"


def test_a_lease_on_the_workflow_covers_every_step():
    play = leased(on="")
    play.refuses(Begin("b"), "lease_held", by=OTHER_AGENT)


def test_the_holder_works_by_its_token_or_from_its_own_session():
    play = leased()
    play.do(Begin("a"), by=OTHER_AGENT, token=1)
    play.do(Begin("a/x"), by=AGENT)


def test_two_agents_without_a_session_are_not_taken_for_one():
    play = given(step("a"))
    nobody = AGENT.replace(session="")
    play.do(StartAgent("coder", "a"), by=nobody)
    play.refuses(Begin("a"), "lease_held", by=nobody)


def test_a_person_is_held_up_by_no_lease():
    leased().do(Begin("a"), by=PERSON)


def test_an_unknown_token_is_refused_for_every_command():
    play = leased()
    for command in (Begin("a"), Note("n"), Approve("a")):
        assert play.refuses(command, "fenced", token=7).exit_code == 5


def test_a_lease_that_runs_is_not_taken_over():
    play = leased()
    play.wait(600).refuses(StartAgent("coder", "a"), "lease_held", by=OTHER_AGENT)


def test_expiry_fences_nobody_by_itself():
    play = leased()
    play.wait(HOUR).do(Begin("a/x"), by=OTHER_AGENT)
    play.do(Done("a/x"), token=1)
    assert play.status("a/x") == "done"


def test_what_a_session_does_keeps_its_lease():
    play = leased()
    play.wait(500).do(Begin("a"))
    play.wait(500)
    play.refuses(Begin("a/x"), "lease_held", by=OTHER_AGENT)


def test_a_session_that_takes_its_lease_again_keeps_its_token():
    play = leased()
    (event,) = play.wait(500).do(StartAgent("coder", "a"))
    assert (event.token, len(play.state.leases)) == (1, 1)


def test_after_a_takeover_the_old_holder_is_fenced():
    play = leased()
    (event,) = play.wait(601).do(StartAgent("coder", "a"), by=OTHER_AGENT)
    assert isinstance(event, Leased)
    assert (event.took_over, event.lease.token) == (1, 2)
    play.refuses(Begin("a"), "fenced", by=AGENT, token=1)
    play.refuses(Begin("a"), "lease_held", by=AGENT)
    play.refuses(BeatAgent(1), "fenced", by=AGENT)
    play.do(Begin("a"), by=OTHER_AGENT, token=2)


@pytest.mark.parametrize("on", ["a", ""])
def test_after_a_takeover_under_another_role_the_old_holder_is_fenced(on):
    play = given(step("a", kind="task"))
    play.do(StartAgent("coder", on, 600))
    play.do(Lock(("y.py",)), token=1)
    *_, event = play.wait(601).do(StartAgent("fixer", on), by=OTHER_AGENT)
    assert (event.took_over, [lease.token for lease in play.state.leases.values()]) == (1, [event.lease.token])
    assert "y.py" not in play.state.locks
    for command in (Begin("a"), BeatAgent(1), Done("a"), EndAgent(1), RecordCheck("a", "tests", passed())):
        play.refuses(command, "fenced", by=AGENT, token=1)
    play.refuses(BeatAgent(1), "fenced", by=AGENT)
    play.refuses(Begin("a"), "lease_held", by=AGENT)
    play.do(Begin("a"), by=OTHER_AGENT, token=event.lease.token)


def test_in_a_worktree_the_next_role_takes_over_from_an_agent_that_is_gone():
    """The step is no task; still, two agents in one worktree would undo each other's work."""
    place = {"worktree": ".holdfast/worktrees/x/a", "branch": "hf/x/a", "into": "main"}
    play = given(step("a"))
    play.do(StartAgent("creator", "a", 600, place=place))
    play.wait(601).do(StartAgent("validator", "a", place=place), by=OTHER_AGENT)
    play.refuses(Begin("a"), "fenced", by=AGENT, token=1)


def test_only_the_holder_ends_a_lease_or_keeps_it_alive():
    play = leased()
    for command in (EndAgent(1), BeatAgent(1)):
        assert play.refuses(command, "lease_held", by=OTHER_AGENT).exit_code == 5
    play.do(StartAgent("coder", "b"), by=OTHER_AGENT)
    play.refuses(EndAgent(1), "lease_held", by=OTHER_AGENT, token=2)
    play.do(BeatAgent(1), EndAgent(1))
    assert [lease.token for lease in play.state.leases.values()] == [2]


def test_a_lease_that_ran_out_anybody_ends_and_a_live_one_a_person():
    leased().wait(601).do(EndAgent(1), by=OTHER_AGENT)
    leased().do(EndAgent(1), by=PERSON)


def test_the_number_of_a_lease_is_no_token():
    play = leased()
    for token in ("1", "1-", f"1-{'0' * 32}"):
        with pytest.raises(HoldfastError) as refusal:
            decide(play.state, Request(Begin("a"), OTHER_AGENT, token), play.facts())
        assert refusal.value.code == "fenced"


def test_a_token_of_one_step_opens_no_other_that_somebody_holds():
    play = leased()
    play.do(StartAgent("coder", "b"), by=OTHER_AGENT)
    play.refuses(Begin("a"), "lease_held", by=OTHER_AGENT, token=2)
    play.do(Begin("b"), by=OTHER_AGENT, token=2)


def test_the_nearer_lease_counts_where_another_holds_the_whole_workflow():
    play = leased(on="")
    play.do(StartAgent("helper", "b"), by=OTHER_AGENT)
    play.do(Begin("b"), by=OTHER_AGENT, token=2)


def test_a_session_that_lost_its_token_starts_again_and_gets_another():
    play = leased()
    (event,) = play.do(StartAgent("coder", "a", key="another"))
    assert (event.token, the_lease(play).key) == (1, "another")
    play.refuses(Begin("a"), "fenced", by=AGENT.replace(session=""), token=1)


def test_a_token_is_never_given_twice():
    play = leased()
    play.do(EndAgent(1), StartAgent("coder", "a"))
    assert the_lease(play).token == 2
    play.refuses(Begin("a"), "fenced", token=1)


def test_a_heartbeat_moves_the_deadline():
    play = leased()
    play.wait(500)
    assert play.do(BeatAgent(1)) == (Beat(1, "boot-1", play.mono + 600),)
    play.wait(500).refuses(StartAgent("coder", "a"), "lease_held", by=OTHER_AGENT)


def test_a_heartbeat_after_expiry_still_counts_if_nobody_took_over():
    play = leased()
    play.wait(HOUR).do(BeatAgent(1))
    play.refuses(StartAgent("coder", "a"), "lease_held", by=OTHER_AGENT)


def test_after_a_reboot_a_lease_is_expired():
    play = leased()
    play.world["boot"] = "boot-2"
    play.mono = 3.0
    play.do(StartAgent("coder", "a"), by=OTHER_AGENT)
    assert the_lease(play).token == 2


@pytest.mark.parametrize("jump", [-100 * HOUR, 100 * HOUR])
def test_a_jump_of_the_wall_clock_expires_nothing(jump):
    play = leased()
    play.seconds += jump
    play.refuses(StartAgent("coder", "a"), "lease_held", by=OTHER_AGENT)
    play.refuses(Begin("a"), "lease_held", by=OTHER_AGENT)


def test_an_agent_that_ends_gives_its_lease_back():
    play = leased()
    assert play.do(EndAgent(1, "finished")) == (Released(1, "finished"),)
    assert play.state.leases == {}
    play.refuses(EndAgent(1), "fenced")


def test_roles_hold_leases_of_their_own_on_a_step_that_is_no_task():
    play = leased()
    play.do(StartAgent("validator", "a"), by=OTHER_AGENT)
    assert sorted(lease.token for lease in play.state.leases.values()) == [1, 2]


def test_another_role_gets_a_lease_of_a_held_task_only_with_its_holder_or_a_person():
    play = given(step("a", kind="task"))
    play.do(StartAgent("coder", "a"))
    assert play.refuses(StartAgent("validator", "a"), "lease_held", by=OTHER_AGENT).facts["role"] == "coder"
    play.do(StartAgent("validator", "a"), token=1)
    assert sorted(lease.token for lease in play.state.leases.values()) == [1, 2]
    play.do(StartAgent("reviewer", "a"), by=PERSON, person=True)
    assert sorted(lease.token for lease in play.state.leases.values()) == [1, 2, 3]


def test_cancelling_ends_every_lease():
    play = leased()
    play.do(Cancel())
    assert play.state.leases == {}


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (StartAgent("two words"), "bad_name"),
        (StartAgent("coder", ttl=0), "bad_number"),
        (StartAgent("coder", ttl=86_401), "bad_number"),
        (StartAgent("coder", "nowhere"), "no_step"),
    ],
)
def test_a_lease_has_a_role_a_span_and_a_step_that_exists(command, code):
    given(step("a")).refuses(command, code)


# Files


FINISHING = [
    Begin("a"),
    Done("a"),
    RecordCheck("a", "tests", passed()),
    Submit("a"),
    Skip("a"),
    Record({"note": "x"}, "a"),
    Reopen("a"),
    Block("a", "r"),
]


@pytest.mark.parametrize("command", FINISHING)
def test_an_edit_is_kept_from_a_held_step_like_a_command_without_the_token(command):
    play = leased()
    play.refuses(edit(command), "lease_held", by=FILE)
    play.refuses(Together((command,)), "lease_held", by=FILE)  # a document that was deleted
    assert play.status("a") == "pending"


def test_an_edit_beside_a_held_step_is_taken():
    play = leased()
    play.do(edit(Begin("b"), Done("b")), by=FILE)
    assert play.status("b") == "done"


def test_an_edit_reaches_no_held_step_by_opening_what_comes_before_it():
    play = given(step("a"), step("b"))
    play.finish("a").do(Begin("b"), StartAgent("coder", "b"))
    play.refuses(edit(Reopen("a")), "lease_held", by=FILE)
    play.refuses(Together((Note("n"), Reopen("a"))), "lease_held", by=OTHER_AGENT)


def test_a_lease_that_an_edit_wrote_down_keeps_no_edit_out():
    """Nobody has a token of it."""
    play = given(step("a", kind="task"))
    play.do(edit(Begin("a"), StartAgent("coder", "a")), by=FILE)
    play.do(edit(Done("a")), by=FILE)
    assert play.status("a") == "done"


def test_a_session_that_holds_the_whole_keeps_no_edit_out():
    play = given(step("a"))
    play.do(StartAgent("release", ""))
    play.do(edit(Begin("a"), Done("a")), by=FILE)
    assert play.status("a") == "done"


def test_no_edit_ends_a_step_whose_work_is_still_to_be_brought_in():
    """However long its agent is gone: the edit would leave the commits on a branch that nobody looks at."""
    place = {"worktree": ".holdfast/worktrees/x/a", "branch": "hf/x/a", "into": "main"}
    play = given(step("a", kind="task"))
    play.do(Begin("a"), StartAgent("coder", "a", 600, place=place))
    refusal = play.wait(601).refuses(edit(Done("a")), "not_brought_in", by=FILE)
    assert play.typed(refusal) == "holdfast done a"


def test_what_git_brings_is_kept_from_a_held_step():
    play = given(step("a"), step("b", requires=[]))
    play.do(Begin("a"), Begin("b"), StartAgent("coder", "a"))
    brought = {path: play.state.step(path).replace(status="done") for path in ("a", "b")}
    play.do(TakeOver("state.json", {}, brought), by=Actor("git"))
    assert play.statuses() == {"a": "active", "b": "done"}
    assert "a was reverted" in play.state.alerts[-1].message


# Keys


def test_the_same_key_again_changes_nothing():
    play = given(step("a"))
    play.do(Note("once"), key="k-1", payload="p")
    play.unchanged_by(Note("once"), key="k-1", payload="p")


def test_a_repetition_is_harmless_even_when_the_rule_would_refuse_by_now():
    play = given(step("a"))
    play.do(Begin("a"), key="k-1", payload="p")
    play.do(Done("a"))
    play.unchanged_by(Begin("a"), key="k-1", payload="p")


def test_the_same_key_for_something_else_is_a_conflict():
    play = given(step("a"))
    play.do(Note("once"), key="k-1", payload="p")
    refusal = play.refuses(Note("other"), "key_conflict", key="k-1", payload="q")
    assert (refusal.exit_code, refusal.facts) == (5, {"key": "k-1", "revision": 2})


def test_a_repetition_is_answered_before_the_token_is_looked_at():
    play = given(step("a"))
    play.do(StartAgent("coder", "a"))
    play.do(Note("once"), token=1, key="k-1", payload="p")
    play.do(EndAgent(1))
    play.unchanged_by(Note("once"), token=1, key="k-1", payload="p")


def test_the_newest_thousand_keys_are_kept():
    play = given(step("a"))
    for number in range(1001):
        play.keep((), AGENT, key=f"k-{number}", payload="p")
    assert len(play.state.keys) == 1000
    assert "k-0" not in play.state.keys
    play.unchanged_by(Note("n"), key="k-1", payload="p")
    assert play.decide(Note("n"), key="k-0", payload="other")


@pytest.mark.parametrize("key", ["a b", "../x", "x" * 201, "ä"])
def test_a_key_is_a_name_of_at_most_200_characters(key):
    given(step("a")).refuses(Note("n"), "bad_name", key=key)


def test_a_refused_command_leaves_its_key_free():
    play = given(step("a"), step("b"))
    play.refuses(Begin("b"), "step_blocked", key="k-1", payload="p")
    play.finish("a").do(Begin("b"), key="k-1", payload="p")
    assert play.status("b") == "active"
