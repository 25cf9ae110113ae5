"""Amending the tree of a running workflow: adding is free, loosening needs a person, and what is past is past."""

from __future__ import annotations

import contextlib

import pytest

from holdfast.core import queries
from holdfast.core.commands import AddStep, Approve, Begin, Block, ChangeStep, Done, Reopen, RetireStep
from holdfast.core.definition import Approval, Check, Choice, Retry, Review, Step
from holdfast.core.events import Amended
from holdfast.errors import HoldfastError
from tests.core.play import AGENT, PERSON, Play, given, step

HUMAN = Approval("human")

# Add


def test_a_step_is_added_last_or_after_a_sibling_or_inside_a_branch():
    play = given(step("a"), step("p", step("x")))
    play.do(AddStep("", Step("z")), AddStep("", Step("b"), after="a"), AddStep("p", Step("y")))
    assert play.state.plan.paths == ("a", "b", "p", "p/x", "p/y", "z")
    assert play.status("b") == "pending"


def test_an_added_step_holds_up_what_comes_after_it():
    play = given(step("a"), step("c")).finish("a")
    play.do(AddStep("", Step("b"), after="a"))
    assert play.refuses(Begin("c"), "step_blocked").facts["missing"] == ["b"]


def test_a_step_added_at_the_end_opens_a_finished_workflow_again():
    play = given(step("a")).finish("a")
    play.do(AddStep("", Step("b")))
    assert play.state.finished_at == ""
    assert queries.status(play.state) == "in_progress"


def test_a_step_is_not_added_before_one_that_has_begun():
    play = given(step("a"), step("c")).finish("a")
    play.do(Begin("c"))
    refusal = play.refuses(AddStep("", Step("b"), after="a"), "too_late")
    assert (refusal.facts["later"], refusal.remedy) == (["c"], "holdfast reopen a")


@pytest.mark.parametrize("finished", [False, True])
def test_what_is_too_late_can_be_done_after_its_remedy(finished):
    play = given(step("a"), step("c"), step("d")).finish("a")
    play.do(Begin("c"))
    if finished:
        play.do(Done("c"))
    add = AddStep("", Step("b"), after="a")
    assert play.refuses(add, "too_late").remedy == "holdfast reopen a"
    play.do(Reopen("a"))
    play.do(add)
    assert play.state.plan.paths == ("a", "b", "c", "d")


def test_before_the_first_step_nothing_is_added_once_it_began():
    play = given(step("p", step("x"), step("y")))
    play.do(Begin("p/x"))
    refusal = play.refuses(AddStep("p", Step("w"), after=""), "too_late")
    assert refusal.remedy == "holdfast amend --add w --under p --after x"
    play.do(AddStep("p", Step("w"), after="x"))


def test_a_step_is_not_added_inside_a_branch_that_is_done():
    play = given(step("p", step("x"))).finish("p/x")
    add = AddStep("p", Step("y"))
    assert play.refuses(add, "too_late").remedy == "holdfast reopen p"
    play.do(Reopen("p"))
    play.do(add)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (AddStep("nowhere", Step("b")), "no_step"),
        (AddStep("", Step("b"), after="nowhere"), "no_step"),
        (AddStep("", Step("b", requires=("nowhere",))), "bad_definition"),
        (AddStep("", Step("b", requires=("b",))), "bad_definition"),
        (AddStep("", Step("a", requires=())), "bad_definition"),
        (AddStep("", Step("p/x", requires=())), "bad_definition"),
        (AddStep("", Step("../up", requires=())), "bad_definition"),
        (AddStep("p", Step("x", requires=())), "bad_definition"),
        (ChangeStep("p", Step("p", steps=(Step("x"), Step("x", requires=())))), "bad_definition"),
    ],
)
def test_an_amended_tree_is_held_to_what_a_definition_may_be(command, code):
    given(step("a"), step("p", step("x"))).refuses(command, code, by=PERSON)


def test_an_amended_tree_is_no_larger_and_no_deeper_than_a_definition_may_be():
    deep = Step("s")
    for _ in range(8):
        deep = Step("s", steps=(deep,))
    wide = Step("s", steps=tuple(Step(f"s{number}") for number in range(2000)))
    for step_too_many in (deep, wide):
        given(step("a")).refuses(AddStep("", step_too_many), "bad_definition", by=PERSON)


def test_an_agent_does_not_open_a_way_round_a_gate_by_adding_a_step():
    """The new step waits for nothing, and what came after the gate would now wait for the new step alone."""
    play = given(step("gate", approval={"by": "human"}), step("after"))
    _stays_behind_the_gate(play, AddStep("", Step("new", requires=()), after="gate"), Begin("new"), Done("new"))


def test_an_agent_does_not_shadow_a_gate_by_adding_a_step_of_the_same_name():
    play = given(step("gate", approval={"by": "human"}), step("after"))
    _stays_behind_the_gate(play, AddStep("", Step("gate", requires=())), Begin("gate"), Done("gate"))


# Retire


def test_a_pending_step_without_gates_may_be_retired_by_an_agent():
    play = given(step("a"), step("b"), step("c")).finish("a")
    assert play.do(RetireStep("b")) == (Amended("retire", "b"),)
    play.do(Begin("c"))
    assert play.statuses() == {"a": "done", "c": "active"}


@pytest.mark.parametrize(
    "keys",
    [{"checks": ["t"]}, {"review": {}}, {"approval": True}, {"outputs": ["o"]}, {"choice": {"options": ["A", "B"]}}],
)
def test_a_step_with_any_gate_is_retired_only_by_a_person(keys):
    play = given(step("a"), step("b", **keys))
    play.refuses(RetireStep("b"), "person_needed")
    play.do(RetireStep("b"), by=PERSON)
    assert play.state.plan.paths == ("a",)


def test_a_branch_with_a_gate_inside_is_retired_only_by_a_person():
    given(step("a"), step("p", step("x", approval=True))).refuses(RetireStep("p"), "person_needed")


def test_a_step_that_has_begun_is_retired_only_by_a_person():
    play = given(step("a"), step("b"))
    play.do(Begin("a"))
    play.refuses(RetireStep("a"), "person_needed")


def test_a_step_that_others_require_by_name_is_not_retired():
    play = given(step("a"), step("b"), step("c", requires=["a"]))
    play.refuses(RetireStep("a"), "bad_definition", by=PERSON)


def test_retiring_the_last_open_child_finishes_the_branch():
    play = given(step("p", step("x"), step("y"))).finish("p/x")
    play.do(RetireStep("p/y"))
    assert play.statuses() == {"p": "done", "p/x": "done"}


def test_a_retired_step_that_comes_back_begins_anew():
    play = given(step("a"), step("b")).finish("a")
    play.do(RetireStep("a"), by=PERSON)
    play.do(AddStep("", Step("a")))
    assert play.status("a") == "pending"


def test_the_last_step_of_a_workflow_is_not_retired():
    given(step("a")).refuses(RetireStep("a"), "bad_definition", by=PERSON)


def test_an_agent_does_not_open_a_way_round_a_gate_by_retiring_a_step():
    """Only the retired step waited for the gate; the step before it in the file waits for nothing."""
    play = given(
        step("gate", approval={"by": "human"}), step("free", requires=[]), step("x", requires=["gate"]), step("after")
    )
    _stays_behind_the_gate(play, RetireStep("x"), Begin("free"), Done("free"))


def test_a_step_is_not_retired_when_one_that_has_begun_would_wait_for_an_undone_one():
    play = given(step("a"), step("b", requires=[]), step("c")).finish("b")
    play.do(Begin("c"))
    play.refuses(RetireStep("b"), "too_late", by=PERSON)


# Change


def test_a_name_may_be_changed_by_anybody():
    play = given(step("a", name="Old"))
    play.do(ChangeStep("a", Step("a", name="New")))
    assert play.state.plan.step("a").label == "New"


def test_a_change_that_changes_nothing_is_none():
    given(step("a")).unchanged_by(ChangeStep("a", Step("a")))


def test_a_change_keeps_the_id():
    play = given(step("a"), step("b"))
    play.do(ChangeStep("a", Step("other", name="New")))
    assert play.state.plan.paths == ("a", "b")


CHECK = Check("tests", ("pytest",), "engine")

LOOSER = {
    "a check less": (Step("s", checks=(CHECK,)), Step("s")),
    "a check that runs something else": (
        Step("s", checks=(CHECK,)),
        Step("s", checks=(Check("tests", ("true",), "engine"),)),
    ),
    "a check that anybody may report": (Step("s", checks=(CHECK,)), Step("s", checks=(Check("tests", ("pytest",)),))),
    "an output less": (Step("s", outputs=("log",)), Step("s")),
    "no review": (Step("s", review=Review()), Step("s")),
    "more rounds": (Step("s", review=Review(max=2)), Step("s", review=Review(max=3))),
    "other reviewers": (Step("s", review=Review(("lead",))), Step("s", review=Review(("coder",)))),
    "any reviewer": (Step("s", review=Review(("lead",))), Step("s", review=Review())),
    "no approval": (Step("s", approval=Approval("relayed")), Step("s")),
    "a weaker word": (Step("s", approval=HUMAN), Step("s", approval=Approval("relayed"))),
    "no signature": (Step("s", approval=Approval("signed")), Step("s", approval=HUMAN)),
    "no passkey": (Step("s", approval=Approval("passkey")), Step("s", approval=HUMAN)),
    "a signature too": (Step("s", approval=Approval("passkey")), Step("s", approval=Approval("signed or passkey"))),
    "a signature instead": (Step("s", approval=Approval("passkey")), Step("s", approval=Approval("signed"))),
    "a weaker word for a choice": (Step("s", choice=Choice(("A", "B"), "human")), Step("s", choice=Choice(("A", "B")))),
    "an option": (Step("s"), Step("s", optional=True)),
    "no prerequisites": (Step("s"), Step("s", requires=())),
    "more tries": (Step("s", retry=Retry(2)), Step("s", retry=Retry(3))),
    "tries without end": (Step("s", retry=Retry(2)), Step("s")),
    "a gated child less": (Step("s", steps=(Step("x", approval=HUMAN), Step("y"))), Step("s", steps=(Step("y"),))),
    "a child with a weaker gate": (
        Step("s", steps=(Step("x", approval=HUMAN),)),
        Step("s", steps=(Step("x", approval=Approval()),)),
    ),
    "children at once instead of one after the other": (
        Step("s", steps=(Step("x", approval=HUMAN), Step("y"))),
        Step("s", steps=(Step("x", approval=HUMAN), Step("y")), parallel=True),
    ),
    "children in another order": (
        Step("s", steps=(Step("x", approval=HUMAN), Step("y"))),
        Step("s", steps=(Step("y"), Step("x", approval=HUMAN))),
    ),
    "a child between that waits for nothing": (
        Step("s", steps=(Step("x", approval=HUMAN), Step("y"))),
        Step("s", steps=(Step("x", approval=HUMAN), Step("new", requires=()), Step("y"))),
    ),
}


def running(one: Step) -> Play:
    play = given(step("first"))
    play.do(AddStep("", one), by=PERSON)
    return play


@pytest.mark.parametrize("what", LOOSER)
def test_an_agent_does_not_loosen(what):
    old, new = LOOSER[what]
    running(old).refuses(ChangeStep("s", new), "person_needed")


@pytest.mark.parametrize("what", LOOSER)
def test_a_person_may_loosen(what):
    old, new = LOOSER[what]
    play = running(old)
    play.do(ChangeStep("s", new), by=PERSON)
    assert play.state.plan.step("s") == new


def test_an_agent_does_not_weaken_an_approval_by_adding_a_choice():
    play = given(step("a", approval={"by": "human"}))
    _try(play, ChangeStep("a", Step("a", approval=HUMAN, choice=Choice(("A", "B"), "relayed"))))
    play.do(Begin("a"), Done("a"))
    _try(play, Approve("a", variant="A"), Approve("a"))
    assert play.status("a") == "waiting"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Step("s"), Step("s", checks=(CHECK,))),
        (Step("s", checks=(Check("tests", ("pytest",)),)), Step("s", checks=(CHECK,))),
        (Step("s"), Step("s", outputs=("log",), review=Review(), approval=HUMAN)),
        (Step("s", approval=Approval("relayed")), Step("s", approval=Approval("signed"))),
        (Step("s", approval=HUMAN), Step("s", approval=Approval("passkey"))),
        (Step("s", approval=Approval("signed or passkey")), Step("s", approval=Approval("signed"))),
        (Step("s", optional=True), Step("s")),
        (Step("s", retry=Retry(3)), Step("s", retry=Retry(2))),
        (Step("s", review=Review(max=3)), Step("s", review=Review(max=2))),
        (Step("s", steps=(Step("x"),)), Step("s", steps=(Step("x", approval=HUMAN), Step("y")))),
    ],
)
def test_tightening_is_free(old, new):
    play = running(old)
    play.do(ChangeStep("s", new))
    assert play.state.plan.step("s") == new


def test_a_gate_added_to_a_done_step_holds_up_what_follows_until_it_is_passed():
    play = given(step("a"), step("b")).finish("a")
    play.do(ChangeStep("a", Step("a", approval=HUMAN)))
    assert play.typed(play.refuses(Begin("b"), "step_blocked")) == "holdfast approve a"
    play.do(Approve("a"), by=PERSON)
    play.do(Begin("b"))
    assert play.status("b") == "active"


def test_a_step_is_not_made_to_wait_for_something_undone_once_it_has_begun():
    play = given(step("a"), step("b", requires=[]), step("c", requires=["b"])).finish("b")
    play.do(Begin("c"))
    change = ChangeStep("c", Step("c", requires=("a", "b")))
    assert play.refuses(change, "too_late", by=PERSON).remedy == "holdfast begin a"


def test_no_new_child_is_put_into_a_branch_that_is_done():
    play = given(step("p", step("x")), step("q")).finish("p/x")
    play.refuses(ChangeStep("p", Step("p", steps=(Step("x"), Step("y")))), "too_late", by=PERSON)


def test_a_child_that_was_dropped_and_comes_back_begins_anew():
    play = given(step("p", step("x"), step("y"))).finish("p/x")
    play.do(ChangeStep("p", Step("p", steps=(Step("y"),))), by=PERSON)
    play.do(AddStep("p", Step("x", approval=HUMAN)), by=PERSON)
    assert play.status("p/x") == "pending"


def test_an_agent_does_not_drop_a_child_that_has_begun():
    """Retiring it would need a person, and so does a change of its branch that leaves it out."""
    play = given(step("p", step("x"), step("y")))
    play.do(Begin("p/x"), Block("p/x", "no key"))
    play.refuses(ChangeStep("p", Step("p", steps=(Step("y"),))), "person_needed")


def _stays_behind_the_gate(play: Play, *commands) -> None:
    """Whatever of these commands an agent is allowed, the step after the gate does not begin."""
    _try(play, *commands)
    play.refuses(Begin("after"), "step_blocked")


def _try(play: Play, *commands) -> None:
    """An agent does what it is allowed to do of this, and puts up with the rest."""
    for command in commands:
        with contextlib.suppress(HoldfastError):
            play.do(command, by=AGENT)
