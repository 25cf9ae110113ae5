"""What a hook is told of a workflow: only what it judges by, and nothing where there is nothing to judge."""

from __future__ import annotations

import pytest

from holdfast.core import guarding
from holdfast.core.commands import Begin, Block, Cancel, Compacted, Done, Lock, Note, Pause, Resume, Sit, Start
from holdfast.core.state import Actor
from tests.core.play import OTHER_AGENT, PERSON, Play, definition, step

HOOK = Actor("hook", "", "hook", "session-1")


def begun(*steps, by: Actor = PERSON, worktree: str = "", **keys) -> Play:
    play = Play()
    play.do(Start.of(definition(*steps or [step("a")], **keys), "0" * 26, "release-1", worktree=worktree), by=by)
    return play


def entry(play: Play, *paths: str) -> dict:
    found = guarding.entry(play.state, paths)
    assert found is not None
    return found


def test_a_workflow_that_asks_nothing_of_hooks_is_not_named():
    assert guarding.entry(begun().state) is None


def test_an_entry_says_which_workflow_it_is_and_only_what_there_is_to_say():
    assert entry(begun(worktree="/trees/side"), "state.json") == {
        "id": "release-1",
        "ulid": "0" * 26,
        "worktree": "/trees/side",
        "paths": ["state.json"],
    }


def test_a_step_denies_what_it_denies_while_the_work_is_there():
    play = begun(step("a", deny=["WebFetch", "Bash(git push*)"]), step("b", deny=["Edit"]), step("c"))
    first = [{"tool": "WebFetch", "step": "a"}, {"tool": "Bash(git push*)", "step": "a"}]
    assert entry(play)["deny"] == first
    play.do(Begin("a"))
    assert entry(play)["deny"] == first
    play.do(Done("a"))
    assert entry(play)["deny"] == [{"tool": "Edit", "step": "b"}]
    play.finish("b")
    assert "deny" not in (guarding.entry(play.state) or {})


def test_a_step_is_also_denied_what_the_steps_around_it_deny():
    play = begun(step("build", step("code", deny=["Edit"]), step("docs"), deny=["WebFetch"]))
    assert entry(play)["deny"] == [{"tool": "WebFetch", "step": "build"}, {"tool": "Edit", "step": "build/code"}]
    play.finish("build/code")
    assert entry(play)["deny"] == [{"tool": "WebFetch", "step": "build"}]


def test_steps_that_are_worked_on_at_once_deny_together():
    play = begun(step("all", step("x", deny=["Edit"]), step("y", deny=["Write"]), parallel=True))
    play.do(Begin("all/x"), Begin("all/y"))
    assert [rule["tool"] for rule in entry(play)["deny"]] == ["Edit", "Write"]


@pytest.mark.parametrize("gate", ["human", "signed", "passkey"])
def test_gates_that_are_a_persons_are_told_with_every_name_of_their_step(gate):
    play = begun(step("a"), step("b", step("look", approval={"by": gate}), step("pick", choice={"by": gate})))
    assert [one["step"] for one in entry(play)["human"]] == ["b/look", "b/pick"]
    names = entry(play)["human"][0]["names"]
    assert names == ["b/look", "b/1", "2/look", "2/1", "look"]
    assert all(play.state.plan.find(name) == ["b/look"] for name in names)


def test_a_gate_deep_in_the_tree_has_a_name_for_every_way_down():
    play = begun(step("a"), step("b", step("c", step("look", approval={"by": "human"}))))
    (gate,) = entry(play)["human"]
    assert len(gate["names"]) == 8 + 2
    assert all(play.state.plan.find(name) == ["b/c/look"] for name in gate["names"])


def test_a_name_that_means_another_step_is_not_told():
    play = begun(step("look"), step("b", step("look", approval={"by": "human"})))
    assert entry(play)["human"] == [{"step": "b/look", "names": ["b/look", "b/1", "2/look", "2/1"]}]


def test_a_gate_that_an_agent_may_relay_is_none_of_a_hooks_business():
    assert guarding.entry(begun(step("a", approval={"by": "relayed"})).state) is None


def test_locks_are_told_with_who_holds_them_and_until_when():
    play = begun()
    play.do(Lock(("src/*",), ttl=60), by=OTHER_AGENT)
    assert entry(play)["locks"] == [
        {"path": "src/*", "agent": "coder", "session": "session-2", "deadline": play.mono + 60, "boot": "boot-1"}
    ]


def test_the_sessions_that_sit_there_are_told_in_order():
    play = begun()
    play.do(Note("x"), by=OTHER_AGENT)
    play.do(Sit(), by=HOOK)
    assert entry(play)["sessions"] == ["session-1", "session-2"]
    play.do(Sit(), by=HOOK.replace(session="session-2"))
    assert entry(play)["sessions"] == ["session-1", "session-2"]


def test_agents_without_a_session_are_no_session():
    play = begun(require_ack=True, by=Actor("agent"))
    assert guarding.entry(play.state) is None


def test_that_agents_are_kept_going_is_told_while_they_can_go_on():
    play = begun(step("a"), step("b"), keep_going=True)
    assert entry(play)["keep_going"] is True
    play.do(Begin("a"), Block("a", "no key"))
    assert guarding.entry(play.state.replace(seats={})) is None
    play.do(Resume("a"), by=PERSON)
    assert entry(play)["keep_going"] is True
    play.do(Pause("over night"))
    assert "keep_going" not in (guarding.entry(play.state) or {})


def test_a_workflow_that_is_over_is_not_named():
    play = begun(step("a", approval={"by": "human"}), keep_going=True)
    play.do(Compacted(), by=HOOK)
    play.approved("a")
    assert guarding.entry(play.state, ("state.json",)) is None
    play = begun(keep_going=True)
    play.do(Cancel("enough"))
    assert guarding.entry(play.state) is None
