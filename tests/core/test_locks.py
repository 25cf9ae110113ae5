"""Files that one agent works on: who may claim them, for how long, and who may give them back."""

from __future__ import annotations

import shlex

import pytest

from holdfast.core import events as ev
from holdfast.core.commands import BeatAgent, Begin, Cancel, Done, EndAgent, Lock, Note, Pause, StartAgent, Unlock
from holdfast.core.rules.locks import MOST
from holdfast.core.state import Actor, Hold
from holdfast.plain.digest import digest
from tests.core.play import AGENT, HOUR, MINUTE, OTHER_AGENT, PERSON, SECRET, Play, given, step

SIBLING = AGENT.replace(name="writer")
"""Another agent of the same session."""
NOBODY = Actor("agent")
"""An agent of a host that gives no session a name."""


def at_work() -> Play:
    play = given(step("a"), step("b"))
    play.do(Begin("a"))
    return play


def locked(*paths: str, **how) -> Play:
    play = at_work()
    play.do(Lock(paths), **how)
    return play


def foreign(path: str, play: Play, **more) -> tuple[tuple[str, Hold], ...]:
    """A lock of an agent of another workflow."""
    hold = Hold(1, play.now, "boot-1", play.mono + 600, 600, "session-9", agent="writer")
    return ((path, hold.replace(**more)),)


# Claiming


def test_files_are_locked_for_an_agent_with_a_token_and_a_time():
    play = at_work()
    (event,) = play.do(Lock(("src/a.py", "docs/*.md"), ttl=60))
    hold = Hold(1, play.now, "boot-1", play.mono + 60, 60, "session-1", agent="coder")
    assert event == ev.Locked({"src/a.py": hold, "docs/*.md": hold})
    assert play.state.locks == {"src/a.py": hold, "docs/*.md": hold}
    assert play.state.history[-1] == {
        "at": play.now,
        "event": "locked",
        "by": "agent coder",
        "paths": ["src/a.py", "docs/*.md"],
        "agent": "coder",
    }


def test_the_agent_is_the_one_that_is_named_else_the_role_else_what_it_is():
    play = at_work()
    play.do(Lock(("a",), "tester"), by=AGENT)
    play.do(Lock(("b",)), by=AGENT)
    play.do(Lock(("c",)), by=Actor("agent", session="session-5"))
    assert [hold.agent for hold in play.state.locks.values()] == ["tester", "coder", "agent"]
    assert play.refuses(Lock(("d",), "two words"), "bad_name").facts["what"] == "agent"


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ("src/a.py", "src/a.py"),
        ("src", "src/a.py"),
        ("src/a.py", "src"),
        ("src/*.py", "src/a.py"),
        ("src/a.py", "src/*.py"),
        ("src", "src/*.py"),
        ("*", "anything"),
    ],
)
def test_what_another_agent_holds_is_not_given_away(held, wanted):
    play = locked(held)
    refusal = play.refuses(Lock((wanted,)), "locked", by=OTHER_AGENT)
    assert refusal.exit_code == 5
    assert refusal.facts == {
        "path": wanted,
        "lock": held,
        "agent": "coder",
        "since": play.now,
        "session": "session-1",
    }
    assert play.typed(refusal).endswith(f"holdfast unlock {shlex.quote(held)}")
    assert (f"through the lock of {held}" in refusal.message) == (held != wanted)


def test_another_agent_of_the_same_session_is_another_agent():
    locked("src").refuses(Lock(("src/a.py",)), "locked", by=SIBLING)


def test_all_of_the_files_are_locked_or_none():
    play = locked("b.py")
    play.refuses(Lock(("a.py", "b.py", "c.py")), "locked", by=OTHER_AGENT)
    assert list(play.state.locks) == ["b.py"]


def test_the_same_agent_renews_its_hold_with_a_new_token():
    play = locked("src")
    taken = play.now
    play.wait(5 * MINUTE).do(Lock(("src",)))
    hold = play.state.locks["src"]
    assert (hold.token, hold.deadline, hold.at) == (2, play.mono + 600, taken)
    play.do(Lock(("src/a.py",)))
    assert list(play.state.locks) == ["src", "src/a.py"]


def test_a_hold_that_ran_out_is_taken_over():
    play = locked("src")
    play.wait(600)
    play.refuses(Lock(("src",)), "locked", by=OTHER_AGENT)
    play.wait(1).do(Lock(("src",)), by=OTHER_AGENT)
    assert play.state.locks["src"].session == "session-2"
    play.refuses(Lock(("src",)), "locked", by=AGENT)


def test_a_hold_does_not_outlive_the_boot_of_the_machine():
    play = locked("src")
    play.world["boot"] = "boot-2"
    play.do(Lock(("src",)), by=OTHER_AGENT)
    assert play.state.locks["src"].session == "session-2"


def test_a_clock_that_jumps_frees_nothing():
    play = locked("src")
    play.seconds += 10 * HOUR
    play.refuses(Lock(("src",)), "locked", by=OTHER_AGENT)


def test_tokens_of_locks_and_leases_are_never_the_same():
    play = locked("src")
    play.do(StartAgent("coder", "a"))
    play.do(Lock(("docs",)))
    assert (play.state.locks["src"].token, play.state.leases["coder@a"].token) == (1, 2)
    assert (play.state.locks["docs"].token, play.state.fence) == (3, 3)


def test_a_lock_lasts_between_a_second_and_a_day():
    play = at_work()
    for ttl in (0, -1, 86_401):
        assert play.refuses(Lock(("a",), ttl=ttl), "bad_number").remedy == "--ttl 10m"
    play.do(Lock(("a",), ttl=1), Lock(("b",), ttl=86_400))


def test_a_lock_names_a_file_that_can_be_one():
    play = at_work()
    play.refuses(Lock(()), "bad_usage")
    for path in ("", " ", "x" * 1001, "a\0b", "\udc80"):
        play.refuses(Lock((path,)), "bad_text")


def test_a_workflow_keeps_so_many_files_locked_and_no_more():
    play = locked(*(f"f{number}" for number in range(MOST)))
    assert play.refuses(Lock(("one-more",)), "too_many").remedy == "lock a folder instead"
    play.do(Lock(("f1",)))


# Other workflows


def test_what_an_agent_of_another_workflow_holds_is_not_given_away():
    play = at_work()
    refusal = play.refuses(Lock(("src/a.py",)), "locked", locks=foreign("src", play))
    assert (refusal.facts["agent"], refusal.facts["session"]) == ("writer", "session-9")
    play.do(Lock(("docs",)), locks=foreign("src", play))


def test_a_hold_of_another_workflow_that_ran_out_is_in_nobodys_way():
    play = at_work()
    play.do(Lock(("src",)), locks=foreign("src", play, deadline=play.mono - 1))
    assert list(play.state.locks) == ["src"]


def test_an_own_hold_that_ran_out_hides_no_live_one_of_another_workflow():
    """Ours ran out, an agent of another workflow took the file, and now we want it again."""
    play = locked("src")
    play.wait(HOUR)
    play.refuses(Lock(("src",)), "locked", locks=foreign("src", play))


def test_the_same_agent_may_hold_a_file_for_two_workflows():
    play = at_work()
    play.do(Lock(("src",)), locks=foreign("src", play, agent="coder", session="session-1"))
    assert list(play.state.locks) == ["src"]


# Giving back


def test_whoever_holds_a_file_gives_it_back():
    play = locked("a", "b", "c")
    assert play.do(Unlock(("a", "b"))) == (ev.Unlocked(("a", "b")),)
    assert list(play.state.locks) == ["c"]
    assert play.state.history[-1]["paths"] == ["a", "b"]


def test_an_agent_without_a_role_gives_back_what_its_session_holds():
    play = locked("a")
    play.do(Unlock(("a",)), by=AGENT.replace(name=""))
    assert play.state.locks == {}


@pytest.mark.parametrize("by", [OTHER_AGENT, SIBLING, Actor("agent")], ids=["session", "role", "nobody"])
def test_nobody_else_gives_back_a_live_hold(by):
    play = locked("a", "b")
    refusal = play.refuses(Unlock(("b",)), "locked", by=by)
    assert " · or holdfast unlock b" in play.typed(refusal)
    assert list(play.state.locks) == ["a", "b"]


def test_a_person_may_unlock_anything():
    play = locked("a")
    play.do(Unlock(("a",)), by=PERSON)
    assert play.state.locks == {}


def test_anybody_may_put_away_a_hold_that_ran_out():
    play = locked("a")
    play.wait(HOUR).do(Unlock(("a",)), by=OTHER_AGENT)
    assert play.state.locks == {}


def test_giving_back_what_nobody_holds_changes_nothing():
    play = locked("a")
    play.unchanged_by(Unlock(("b", "a/b", "*")), by=OTHER_AGENT)


def test_one_live_hold_of_another_agent_keeps_all_of_them():
    play = locked("a")
    play.do(Lock(("b",)), by=OTHER_AGENT)
    play.refuses(Unlock(("a", "b")), "locked")
    assert list(play.state.locks) == ["a", "b"]


# The whole workflow


def test_a_workflow_that_is_given_up_holds_nothing():
    play = locked("a")
    play.do(Cancel("enough"))
    assert play.state.locks == {}
    play.refuses(Lock(("a",)), "cancelled")
    play.unchanged_by(Unlock(("a",)))


def test_files_can_be_locked_and_given_back_during_a_pause():
    play = locked("a")
    play.do(Pause("over night"), Lock(("b",)), Unlock(("a", "b")))
    assert play.state.locks == {}


def test_a_session_that_holds_the_whole_workflow_keeps_nobody_from_locking_files():
    play = at_work()
    play.do(StartAgent("release"))
    play.do(Lock(("a",)), by=OTHER_AGENT)
    play.do(Unlock(("a",)), by=OTHER_AGENT)
    assert play.state.locks == {}


# Under a lease


def leased(*paths: str, step: str = "a", ttl: int = 600) -> Play:
    """An agent at work under a lease, token 1, with files of its own."""
    play = at_work()
    play.do(StartAgent("executor", step, ttl), by=NOBODY)
    play.do(Lock(paths or ("src",)), by=NOBODY, token=1)
    return play


def test_a_lock_under_a_lease_is_the_roles_and_belongs_to_the_lease():
    hold = leased().state.locks["src"]
    assert (hold.agent, hold.lease, hold.token) == ("executor", 1, 2)


def test_a_heartbeat_renews_what_is_held_under_its_lease_and_nothing_else():
    play = leased("src", "docs")
    play.do(Lock(("other",)), by=OTHER_AGENT)
    play.wait(500).do(BeatAgent(1), by=NOBODY, token=1)
    play.wait(500)
    for path in ("src/a.py", "docs"):
        play.refuses(Lock((path,)), "locked", by=OTHER_AGENT)
    assert play.state.locks["src"].token == 2
    play.do(Lock(("other/a.py",)), by=AGENT)


def test_a_heartbeat_of_one_that_holds_nothing_is_a_heartbeat():
    play = at_work()
    play.do(StartAgent("executor", "a"), by=NOBODY)
    assert [type(event) for event in play.do(BeatAgent(), by=NOBODY, token=1)] == [ev.Beat]


def test_a_heartbeat_brings_nothing_back_that_ran_out():
    """Another agent may have taken it meanwhile, or a part of it."""
    play = leased("docs")
    play.do(Lock(("src",), ttl=60), by=NOBODY, token=1)
    play.wait(61).do(Lock(("src/a.py",)), by=OTHER_AGENT)
    play.do(BeatAgent(1), by=NOBODY, token=1)
    play.do(Lock(("src/b.py",)), by=AGENT)
    play.refuses(Lock(("docs",)), "locked", by=AGENT)


def test_what_a_session_does_renews_what_its_lease_holds():
    play = at_work()
    play.do(StartAgent("executor", "a"))
    play.do(Lock(("src",)), token=1)
    play.wait(500).do(Note("still there"))
    play.wait(500).refuses(Lock(("src",)), "locked", by=OTHER_AGENT)
    play.do(StartAgent("executor", "a"))
    play.wait(500).refuses(Lock(("src",)), "locked", by=OTHER_AGENT)


def test_an_agent_that_ends_frees_what_it_held_and_nothing_else():
    play = leased("src", "docs")
    play.do(Lock(("other",)), by=OTHER_AGENT)
    events = play.do(EndAgent(1, "done"), by=NOBODY, token=1)
    assert events == (ev.Unlocked(("src", "docs")), ev.Released(1, "done"))
    assert list(play.state.locks) == ["other"]


def test_an_agent_that_its_host_saw_end_frees_what_it_held():
    play = at_work()
    play.do(StartAgent("executor", "a", agent="a1", key=digest(SECRET.encode())))
    play.do(Lock(("src",)), token=1)
    play.do(EndAgent(agent="a1"))
    assert (play.state.locks, play.state.leases) == ({}, {})


def test_a_lock_is_held_since_it_was_taken_however_often_it_is_renewed():
    play = leased("src")
    taken = play.state.locks["src"].at
    play.wait(100).do(BeatAgent(1), by=NOBODY, token=1)
    play.wait(100).do(Lock(("src", "docs")), by=NOBODY, token=1)
    assert play.state.locks["src"].at == taken < play.state.locks["docs"].at


def test_a_lock_lasts_no_longer_than_the_lease_of_its_agent():
    play = leased("src", ttl=60)
    play.do(Lock(("docs",), ttl=86_400), by=NOBODY, token=1)
    play.wait(50).refuses(Lock(("docs",)), "locked", by=OTHER_AGENT)
    play.do(BeatAgent(1), by=NOBODY, token=1)
    play.wait(50).refuses(Lock(("docs",)), "locked", by=OTHER_AGENT)
    play.wait(11).do(Lock(("docs", "src")), by=OTHER_AGENT)


def test_a_takeover_frees_what_the_old_holder_held():
    play = leased("src", ttl=60)
    play.do(Lock(("docs",), ttl=86_400), by=NOBODY, token=1)
    play.wait(61).do(StartAgent("executor", "a"), by=OTHER_AGENT)
    assert play.state.locks == {}
    token = play.state.leases["executor@a"].token
    play.do(Lock(("src", "docs")), by=OTHER_AGENT, token=token)
    assert {hold.lease for hold in play.state.locks.values()} == {token}


@pytest.mark.parametrize("command", [Lock(("src",)), Unlock(("src",)), Done("a"), Note("late"), EndAgent(1)])
def test_the_late_write_of_one_whose_lease_was_taken_over_is_refused(command):
    play = leased("src", ttl=60)
    play.wait(61).do(StartAgent("executor", "a"), by=OTHER_AGENT)
    play.do(Lock(("src",)), by=OTHER_AGENT, token=3)
    refusal = play.refuses(command, "fenced", by=NOBODY, token=1)
    assert refusal.exit_code == 5
    assert play.state.locks["src"].lease == 3


def test_two_agents_of_one_role_are_two():
    """Neither has a session: their leases tell them apart."""
    play = leased("src")
    play.do(StartAgent("executor", "b"), by=NOBODY)
    play.refuses(Lock(("src/a.py",)), "locked", by=NOBODY, token=3)
    play.refuses(Unlock(("src",)), "locked", by=NOBODY, token=3)
    play.do(Lock(("docs",)), by=NOBODY, token=3)
    play.do(EndAgent(3), by=NOBODY, token=3)
    assert list(play.state.locks) == ["src"]


def test_a_lock_under_a_lease_is_given_back_by_its_holder_or_a_person():
    play = leased("src", "docs")
    play.refuses(Unlock(("src",)), "locked", by=NOBODY)
    play.do(Unlock(("src",)), by=NOBODY, token=1)
    play.do(Unlock(("docs",)), by=PERSON)
    assert play.state.locks == {}


def test_somebody_who_cannot_speak_for_an_agent_ends_only_one_that_ran_out():
    play = leased("src", ttl=60)
    play.refuses(EndAgent(1, stale=True), "lease_held", by=OTHER_AGENT)
    play.wait(61).do(EndAgent(1, stale=True), by=OTHER_AGENT)
    assert (play.state.leases, play.state.locks) == ({}, {})
