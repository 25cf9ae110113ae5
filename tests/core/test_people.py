"""Gates that reviewers and people pass: reviews, approvals, choices, and what makes an approval stale."""

from __future__ import annotations

import pytest

from holdfast.core import gates, queries
from holdfast.core.commands import (
    Approve,
    Attach,
    Begin,
    Done,
    Fail,
    Reject,
    Reopen,
    Reset,
    Resume,
    RetireStep,
    Review,
    Skip,
    Submit,
    Unblock,
)
from holdfast.core.events import Granted, Produced, Reviewed
from holdfast.core.state import Actor
from tests.core.play import AGENT, FILE, PERSON, REVIEWER, Play, failed, given, moves, only, step

# Review


def in_review(**review):
    play = given(step("a", review=review))
    play.do(Begin("a"), Submit("a"))
    return play


def test_an_approving_review_finishes_a_step_that_asks_for_nothing_more():
    play = in_review()
    events = play.do(Review("a", "approved", "good"), by=REVIEWER)
    (reviewed,) = only(events, Reviewed)
    assert (reviewed.verdict.verdict, reviewed.verdict.attempt, reviewed.verdict.by) == (
        "approved",
        1,
        "agent reviewer",
    )
    assert moves(events) == [("completed", "a")]


def test_after_its_review_a_step_waits_for_its_approval():
    play = given(step("a", review={}, approval={"by": "human"}))
    play.do(Begin("a"), Submit("a"))
    assert moves(play.do(Review("a", "approved"), by=REVIEWER)) == [("awaited", "a")]
    assert play.status("a") == "waiting"


def test_a_review_that_asks_for_a_revision_sends_the_feedback_to_the_same_try():
    play = in_review()
    play.do(Review("a", "needs_revision", "shorter"), by=REVIEWER)
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.rounds, progress.feedback) == ("active", 1, 1, ("shorter",))


def test_when_the_rounds_are_used_up_the_step_is_escalated_with_the_feedback():
    play = in_review(max=2)
    play.do(Review("a", "needs_revision", "one"), Submit("a"), by=REVIEWER)
    assert moves(play.do(Review("a", "needs_revision", "two"), by=REVIEWER)) == [("escalated", "a")]
    assert play.state.step("a").feedback == ("one", "two")
    assert "2 reviews" in play.state.step("a").reason


def test_four_full_reviews_are_the_default():
    play = given(step("a", review={}))
    play.do(Begin("a"))
    assert play.send_back("a", 3).status("a") == "active"
    assert play.send_back("a", 1).status("a") == "escalated"


def test_the_verdicts_are_kept():
    play = given(step("a", review={}))
    play.do(Begin("a"))
    play.send_back("a", 2)
    assert [one.feedback for one in play.state.step("a").verdicts] == ["round 1", "round 2"]


def test_a_review_is_for_the_reviewers_the_definition_names_or_a_person():
    play = in_review(by=["reviewer"])
    refusal = play.refuses(Review("a", "approved"), "wrong_reviewer", by=AGENT)
    assert refusal.facts["reviewers"] == ["reviewer"]
    assert moves(play.decide(Review("a", "approved"), by=REVIEWER)) == [("completed", "a")]
    assert moves(play.decide(Review("a", "approved"), by=PERSON)) == [("completed", "a")]


@pytest.mark.parametrize("verdict", ["", "yes", "APPROVED", "x" * 1000])
def test_a_verdict_is_one_of_two_words(verdict):
    assert in_review().refuses(Review("a", verdict), "bad_verdict").exit_code == 2


def test_a_step_that_was_not_handed_in_is_not_reviewed():
    play = given(step("a", review={}))
    play.do(Begin("a"))
    play.refuses(Review("a", "approved"), "wrong_status", by=REVIEWER)


def test_a_review_does_not_pass_over_a_check_that_broke_meanwhile():
    play = given(step("a", review={}, checks=["tests"]))
    play.do(Begin("a"))
    play.check("a", "tests")
    play.do(Submit("a"))
    play.check("a", "tests", failed())
    play.refuses(Review("a", "approved"), "gate_unmet", by=REVIEWER)


def test_an_earlier_approving_review_counts_no_more_after_changes_were_asked():
    play = given(step("a", review={}, approval=True))
    play.do(Begin("a"), Submit("a"), Review("a", "approved"), Reject("a", "another title"), Done("a"))
    assert play.status("a") == "in_review"


def test_the_rounds_start_anew_after_a_person_asked_for_changes():
    play = given(step("a", review={"max": 2}, approval=True))
    play.do(Begin("a"))
    play.send_back("a", 1)
    play.do(Submit("a"), Review("a", "approved"))
    play.do(Reject("a", "another title"), by=PERSON)
    play.send_back("a", 1)
    assert play.status("a") == "active"


# Escalation


def escalated(**gates_of_step):
    play = given(step("a", review={"max": 1}, **gates_of_step), step("b"))
    play.do(Begin("a"))
    return play.send_back("a", 1)


def test_a_person_overrides_an_escalation():
    play = escalated()
    events = play.do(Approve("a"), by=PERSON)
    assert moves(events) == [("overridden", "a")]
    assert only(events, Granted)
    play.do(Begin("b"))


@pytest.mark.parametrize("actor", [AGENT, REVIEWER, FILE, Actor("engine"), Actor("hook")])
def test_nobody_else_overrides_or_resumes_or_guides_an_escalated_step(actor):
    play = escalated(approval={"by": "relayed"})
    for command in (Approve("a"), Unblock("a", "continue"), Resume("a"), Resume()):
        play.refuses(command, "person_needed", by=actor)


def test_guidance_gives_an_escalated_step_all_its_rounds_again():
    play = escalated()
    play.do(Unblock("a", "drop the second part"), by=PERSON)
    progress = play.state.step("a")
    assert (progress.status, progress.rounds, progress.attempt) == ("active", 0, 2)
    assert progress.feedback[-1] == "drop the second part"


def test_an_override_of_a_choice_still_needs_the_choice():
    play = escalated(choice={"options": ["A", "B"]})
    play.refuses(Approve("a"), "bad_variant", by=PERSON)
    play.do(Approve("a", variant="B"), by=PERSON)
    assert play.status("a") == "done"


# Approval


def waiting(by: str, **keys) -> Play:
    play = given(step("a", approval={"by": by}, **keys), step("b"))
    play.do(Begin("a"), Done("a"))
    assert play.status("a") == "waiting"
    return play


def grant_of(play: Play, path: str = "a"):
    grant = play.state.step(path).grant
    assert grant is not None
    return grant


def test_produced_is_not_approved():
    play = given(step("a", outputs=["log"], approval=True), step("b")).write("f", "x")
    play.do(Begin("a"), Done("a", {"log": "f"}))
    assert play.status("a") == "waiting"
    refusal = play.refuses(Begin("b"), "step_blocked")
    assert play.typed(refusal) == "holdfast approve a"


def test_an_agent_may_pass_on_a_persons_word_where_that_is_the_policy():
    play = waiting("relayed")
    play.do(Approve("a"))
    assert play.status("a") == "done"
    assert (grant_of(play).how, grant_of(play).by, grant_of(play).at) == ("relayed", "agent coder", play.now)


def test_a_persons_own_word_is_recorded_as_such():
    play = waiting("relayed")
    play.do(Approve("a"), by=PERSON)
    assert (grant_of(play).how, grant_of(play).by) == ("terminal", "human ada")


@pytest.mark.parametrize("actor", [AGENT, REVIEWER, FILE, Actor("engine"), Actor("hook")])
def test_a_human_gate_takes_only_a_persons_own_word(actor):
    play = waiting("human")
    refusal = play.refuses(Approve("a"), "person_needed", by=actor)
    assert refusal.remedy == "show this to a person and stop"
    assert [(one.who, str(one)) for one in refusal.remedies] == [("person", "holdfast approve a")]
    play.do(Approve("a"), by=PERSON)
    assert play.status("a") == "done"


SIGNED = {"signer": "ada@example.com", "signed_with": "signature"}
TOUCHED = {"signer": "ada's phone", "signed_with": "passkey", "person": "passkey"}


@pytest.mark.parametrize("by", ["passkey", "signed or passkey"])
def test_a_passkey_gate_takes_no_word_of_a_person_or_agent_without_the_key(by):
    play = waiting(by)
    for actor, how in ((AGENT, ""), (PERSON, "terminal"), (PERSON, "elicitation"), (PERSON, "forge")):
        code = "passkey_needed" if by == "passkey" else "signature_needed"
        assert "holdfast web" in str(play.refuses(Approve("a"), code, by=actor, person=how).remedies[0])
    play.do(Approve("a"), by=PERSON, **TOUCHED)
    assert (grant_of(play).how, grant_of(play).by, play.status("a")) == ("passkey", "ada's phone", "done")


def test_a_passkey_gate_takes_no_signature_unless_it_says_so():
    waiting("passkey").refuses(Approve("a"), "passkey_needed", **SIGNED)
    waiting("signed").refuses(Approve("a"), "signature_needed", by=PERSON, **TOUCHED)
    play = waiting("signed or passkey")
    play.do(Approve("a"), **SIGNED)
    assert play.status("a") == "done"


@pytest.mark.parametrize("by", ["relayed", "human"])
def test_a_passkey_passes_a_gate_that_asks_for_a_person(by):
    play = waiting(by)
    play.do(Approve("a"), by=PERSON, **TOUCHED)
    assert (grant_of(play).how, play.status("a")) == ("passkey", "done")


def test_a_no_at_a_passkey_gate_takes_the_key_too():
    play = waiting("passkey")
    play.refuses(Reject("a", "shorter"), "passkey_needed", by=PERSON)
    play.refuses(Reject("a", "shorter"), "person_needed", by=AGENT)
    (moved,) = play.do(Reject("a", "shorter"), by=PERSON, **TOUCHED)
    assert (moved.move, moved.feedback, play.status("a")) == ("revised", "shorter", "active")


def test_a_signed_gate_names_the_key_in_every_remedy():
    play = waiting("signed")
    for command, code in ((Done("a"), "gate_unmet"), (Begin("a"), "wrong_status")):
        assert play.typed(play.refuses(command, code, by=PERSON)) == "holdfast approve a --sign KEY"
    play.do(Approve("a"), by=PERSON, **SIGNED)
    play.do(Reopen("a"), by=PERSON)
    play.do(Done("a"))
    assert play.typed(queries.blockers(play.state, "a", play.facts())[0]) == "holdfast approve a --sign KEY"


def test_a_signed_gate_takes_only_a_signature_whoever_brings_it():
    play = waiting("signed")
    play.refuses(Approve("a"), "signature_needed", by=AGENT)
    play.refuses(Approve("a"), "signature_needed", by=PERSON)
    play.do(Approve("a"), by=AGENT, **SIGNED)
    assert (grant_of(play).how, grant_of(play).by) == ("signature", "ada@example.com")


def test_a_signature_counts_only_for_the_artifacts_it_was_made_over():
    play = given(step("a", outputs=["log"], approval={"by": "signed"})).write("f", "news")
    play.do(Begin("a"), Done("a", {"log": "f"}))
    signed = {"log": "hash of news"}
    for other in ({}, {"log": "hash of old news"}, {**signed, "map": "hash of news"}):
        play.refuses(Approve("a"), "signed_something_else", **{**SIGNED, "signed": other})
    play.do(Approve("a"), **{**SIGNED, "signed": signed})
    assert grant_of(play).hashes == signed


def test_a_grant_says_how_the_process_recognised_the_person_and_where():
    play = waiting("human")
    play.do(Approve("a"), by=PERSON, person="elicitation", here="laptop:harbour")
    assert (grant_of(play).how, grant_of(play).where) == ("elicitation", "laptop:harbour")


@pytest.mark.parametrize("by", ["relayed", "human"])
def test_an_actor_that_calls_itself_a_person_is_none_where_the_process_saw_none(by):
    play = waiting(by)
    if by == "human":
        play.refuses(Approve("a"), "person_needed", by=PERSON, person="")
    else:
        play.do(Approve("a"), by=PERSON, person="")
        assert (grant_of(play).how, grant_of(play).mac) == ("relayed", "")
    play.refuses(Reset("a"), "person_needed", by=PERSON, person="")


def test_an_approval_is_bound_to_the_attempt_and_to_the_hashes():
    play = given(step("a", outputs=["log"], approval=True)).write("f", "news").approved("a", log="f")
    assert (grant_of(play).attempt, grant_of(play).hashes) == (1, {"log": "hash of news"})


def two_files_and_a_decision(**gate: object) -> Play:
    """Two steps hand in files, one of which is the same; the third is a decision of a person, and a fourth follows."""
    first, second = step("a", outputs=["draft"]), step("b", outputs=["text", "list"])
    play = given(first, second, step("c", **(gate or {"approval": True})), step("d")).write("f", "old").write("g", "x")
    play.do(Begin("a"), Done("a", {"draft": "f"}))
    play.write("f", "new").do(Begin("b"), Done("b", {"text": "f", "list": "g"}))
    return play


@pytest.mark.parametrize("gate", [{"approval": True}, {"choice": {"options": ["A", "B"]}}], ids=["approval", "choice"])
def test_an_approval_of_a_step_without_files_is_for_the_files_of_the_steps_before(gate):
    play = two_files_and_a_decision(**gate)
    play.do(Approve("c", "A" if "choice" in gate else ""), by=PERSON)
    assert grant_of(play, "c").hashes == {"f": "hash of new", "g": "hash of x"}
    play.do(Begin("d"))
    play.write("g", "evil").refuses(Done("d"), "gate_unmet")
    play.remove("g").refuses(Done("d"), "gate_unmet")
    play.do(Approve("c"), by=PERSON)
    assert grant_of(play, "c").hashes == {"f": "hash of new", "g": ""}
    play.world["no_files"] = ("g",)
    play.refuses(Done("d"), "gate_unmet")
    refusal = play.refuses(Approve("c"), "gate_unmet", by=PERSON)
    assert "g is a link, a folder or something else that is no file" in refusal.message
    play.world["no_files"] = ()
    play.do(Done("d"))


def test_an_approval_of_a_branch_without_files_is_for_the_files_of_its_steps():
    play = given(step("p", step("x", outputs=["log"]), approval=True), step("z")).write("f", "news")
    play.do(Begin("p/x"), Done("p/x", {"log": "f"}), Approve("p"), by=PERSON)
    assert grant_of(play, "p").hashes == {"f": "hash of news"}
    play.write("f", "evil").refuses(Begin("z"), "step_blocked")


def test_an_answer_to_another_picture_of_the_files_before_is_refused():
    play = two_files_and_a_decision()
    play.refuses(Approve("c", shown={"f": "hash of old", "g": "hash of x"}), "changed_meanwhile", by=PERSON)
    play.do(Approve("c", shown={"f": "hash of new", "g": "hash of x"}), by=PERSON)


def test_what_an_approval_modified_is_kept():
    play = waiting("relayed")
    play.do(Approve("a", modifications={"words": 900}))
    assert grant_of(play).modifications == {"words": 900}


def test_approving_an_active_step_with_nothing_outstanding_is_done_and_approval_in_one():
    play = given(step("a", approval=True))
    play.do(Begin("a"))
    assert moves(play.do(Approve("a"))) == [("completed", "a")]


def test_approving_an_active_step_with_something_outstanding_is_refused():
    play = given(step("a", approval=True, outputs=["log"]), step("b", approval=True, checks=["tests"], requires=[]))
    play.do(Begin("a"), Begin("b"))
    play.refuses(Approve("a"), "gate_unmet")
    play.refuses(Approve("b"), "gate_unmet")


def test_an_approval_does_not_stand_in_for_a_review():
    play = given(step("a", review={}, approval=True))
    play.do(Begin("a"))
    refusal = play.refuses(Approve("a"), "gate_unmet", by=PERSON)
    assert refusal.facts["unmet"][0]["kind"] == "review"  # type: ignore[index]
    assert refusal.remedy in ("holdfast done a", "holdfast submit a")


def test_a_branch_whose_child_is_worked_on_again_is_reviewed_again():
    play = given(step("p", step("x"), review={}, approval=True)).finish("p/x")
    play.do(Submit("p"), Review("p", "approved"))
    assert play.status("p") == "waiting"
    play.do(Reopen("p/x"))
    assert play.status("p") == "active"
    play.do(Done("p/x"), Submit("p"))
    assert play.status("p") == "in_review"


def test_approving_twice_changes_nothing():
    play = waiting("relayed")
    play.do(Approve("a"))
    play.unchanged_by(Approve("a"))


def test_a_step_without_the_gate_cannot_be_approved():
    play = given(step("a"))
    play.do(Begin("a"))
    assert play.refuses(Approve("a"), "no_gate", by=PERSON).remedy == "holdfast done a"


def test_the_strictest_word_counts_where_a_step_asks_for_an_approval_and_a_choice():
    play = given(step("a", approval={"by": "human"}, choice={"options": ["A", "B"], "by": "relayed"}))
    play.do(Begin("a"), Done("a"))
    play.refuses(Approve("a", variant="A"), "person_needed", by=AGENT)


def test_a_rejection_with_feedback_sends_the_step_back_to_work_in_the_same_try():
    play = waiting("human")
    assert moves(play.do(Reject("a", "another title"), by=PERSON)) == [("revised", "a")]
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.feedback, progress.waiting_since) == (
        "active",
        1,
        ("another title",),
        "",
    )


def test_a_bare_rejection_fails_the_step_and_it_can_be_resumed():
    play = waiting("human")
    play.do(Reject("a"), by=PERSON)
    assert (play.status("a"), play.state.step("a").failures) == ("failed", 0)
    play.do(Resume("a"))
    assert (play.status("a"), play.state.step("a").attempt) == ("active", 2)


def test_only_a_waiting_step_is_rejected():
    play = given(step("a", outputs=["plan"], approval=True))
    play.refuses(Reject("a"), "wrong_status", by=PERSON)


def test_a_step_that_is_only_an_approval_needs_no_begin():
    play = given(step("a", approval=True), step("b", requires=["a"], approval=True))
    play.refuses(Approve("b"), "step_blocked", by=PERSON)
    play.do(Approve("a"), by=PERSON)
    play.do(Reject("b", "Not yet."), by=PERSON)
    assert (play.status("a"), play.status("b"), play.state.step("b").advice) == ("done", "active", "Not yet.")
    play.do(Approve("b"), by=PERSON)
    assert play.status("b") == "done"


# Choice


def choosing(by: str = "relayed") -> Play:
    play = given(step("a", choice={"options": ["A", "B"], "by": by}))
    play.do(Begin("a"), Done("a"))
    return play


def test_a_choice_records_what_was_chosen():
    play = choosing()
    play.do(Approve("a", variant="B"))
    assert play.status("a") == "done"
    assert grant_of(play).variant == "B"


@pytest.mark.parametrize("variant", ["", "C", "a", "A "])
def test_a_choice_is_one_of_the_options(variant):
    play = choosing()
    refusal = play.refuses(Approve("a", variant=variant), "bad_variant")
    assert play.typed(refusal) == "holdfast approve a --variant VARIANT"


def test_a_choice_that_is_a_persons_is_made_by_nobody_else():
    choosing("human").refuses(Approve("a", variant="A"), "person_needed")


def test_where_nothing_is_to_be_chosen_a_variant_is_refused():
    waiting("relayed").refuses(Approve("a", variant="A"), "bad_variant")


# Stale approvals


def approved_log() -> Play:
    play = given(step("a", outputs=["log"], approval={"by": "relayed"}), step("b"), step("c"))
    return play.write("f", "news").approved("a", log="f")


def test_a_changed_artifact_makes_the_approval_stale_and_holds_up_the_next_step():
    play = approved_log().write("f", "other news")
    assert gates.grant_verdict(play.state, "a", play.facts()) == "stale"
    refusal = play.refuses(Begin("b"), "step_blocked")
    assert refusal.message == "the step b cannot begin: the approval of a no longer holds: the work changed since"
    assert play.typed(refusal) == "holdfast approve a"


def test_after_a_reopen_the_approval_is_of_an_earlier_attempt():
    play = approved_log()
    play.do(Reopen("a"), Done("a"), by=PERSON)
    refusal = play.refuses(Done("a"), "gate_unmet")
    lapsed = "the approval by a person is for attempt 1; attempt 2 needs a new one; an agent may report the decision"
    assert refusal.message == f"the step a is not done: {lapsed}"


def test_a_removed_artifact_makes_the_approval_stale():
    play = approved_log().remove("f")
    play.refuses(Begin("b"), "step_blocked")


def test_a_stale_approval_holds_up_every_later_step_and_not_only_the_next():
    play = approved_log().finish("b").write("f", "other news")
    play.refuses(Begin("c"), "step_blocked")


STALE = "the approval of a no longer holds: the work changed since"


def test_a_step_is_not_handed_in_while_an_approval_before_it_is_stale():
    play = approved_log().finish("b")
    play.do(Begin("c"))
    play.write("f", "other news")
    assert [one.message for one in queries.blockers(play.state, "c", play.facts())] == [STALE]
    refusal = play.refuses(Done("c"), "gate_unmet")
    assert refusal.message == f"the step c is not done: {STALE}"
    assert play.typed(refusal) == "holdfast approve a"
    play.do(Approve("a"), Done("c"))
    assert queries.status(play.state) == "completed"


def test_a_branch_is_not_handed_in_while_an_approval_below_it_is_stale():
    play = given(step("top", step("a", outputs=["log"], approval={"by": "relayed"}), review={}), step("z"))
    play.write("f", "news").approved("top/a", log="f").write("f", "other news")
    assert play.refuses(Done("top"), "gate_unmet").message.startswith("the step top is not done: the approval of top/a")


@pytest.mark.parametrize(
    "end", [Done("b"), Skip("b"), RetireStep("b"), Approve("b")], ids=["done", "skipped", "retired", "overridden"]
)
def test_no_workflow_completes_while_an_approval_of_it_is_stale(end):
    """Also where the last step waits for nothing, and whatever its end is."""
    b = step("b", requires=[], optional=True, retry={"max": 1, "exhausted": "escalated"})
    play = given(step("a", outputs=["log"], approval={"by": "relayed"}), b)
    play.write("f", "news").approved("a", log="f").do(Begin("b"))
    if isinstance(end, Approve):
        play.do(Fail("b", "broken"))
    play.write("f", "other news")
    refusal = play.refuses(end, "gate_unmet", by=PERSON)
    assert refusal.message == f"the step b is not done: {STALE}"
    play.do(Approve("a"), end, by=PERSON)
    assert queries.status(play.state) == "completed"


def test_a_step_beside_a_stale_approval_is_handed_in_while_others_are_left():
    play = given(step("a", outputs=["log"], approval={"by": "relayed"}), step("b", requires=[]), step("c"))
    play.write("f", "news").approved("a", log="f").do(Begin("b"))
    play.write("f", "other news").do(Done("b"))
    assert play.status("b") == "done"


def test_one_command_renews_a_stale_approval():
    play = approved_log().write("f", "other news")
    events = play.do(Approve("a"))
    assert [type(event) for event in events] == [Produced, Granted]
    assert grant_of(play).hashes == {"log": "hash of other news"}
    play.do(Begin("b"))
    assert play.statuses() == {"a": "done", "b": "active", "c": "pending"}


def test_a_renewal_is_held_to_the_same_policy():
    play = given(step("a", outputs=["log"], approval={"by": "human"})).write("f", "news").approved("a", log="f")
    play.write("f", "other news").refuses(Approve("a"), "person_needed")


def test_a_renewed_choice_stays_what_it_was_unless_another_is_named():
    play = given(step("a", outputs=["log"], choice={"options": ["A", "B"]})).write("f", "news")
    play.do(Begin("a"), Attach("a", {"log": "f"}), Approve("a", variant="B"))
    play.write("f", "second").do(Approve("a"))
    assert grant_of(play).variant == "B"
    play.write("f", "third").do(Approve("a", variant="A"))
    assert grant_of(play).variant == "A"


def test_an_artifact_that_changes_back_makes_the_approval_hold_again():
    play = approved_log().write("f", "other news").write("f", "news")
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"


def test_an_approval_is_of_what_lies_there_when_it_is_given():
    play = given(step("a", outputs=["log"], approval=True)).write("f", "news")
    play.do(Begin("a"), Done("a", {"log": "f"}))
    play.write("f", "other news").do(Approve("a"))
    assert grant_of(play).hashes == {"log": "hash of other news"}
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"


def test_a_change_to_the_artifact_of_another_step_leaves_the_approval_alone():
    play = given(step("a", approval=True), step("b", outputs=["log"])).approved("a").write("f", "one")
    play.do(Begin("b"), Attach("b", {"log": "f"}))
    play.write("f", "two")
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"


def test_a_stale_approval_inside_a_branch_holds_up_what_comes_after_the_branch():
    play = given(step("p", step("x", outputs=["log"], approval=True)), step("b"))
    play.write("f", "news").approved("p/x", log="f").write("f", "other news")
    assert play.typed(play.refuses(Begin("b"), "step_blocked")) == "holdfast approve p/x"


def test_reopening_and_finishing_again_needs_a_new_approval():
    play = given(step("a", approval={"by": "human"}), step("b")).approved("a")
    play.do(Reopen("a"), Done("a"), by=PERSON)
    play.refuses(Begin("b"), "step_blocked")
    play.refuses(Approve("a"), "person_needed")


@pytest.mark.parametrize("command", [Reopen, Resume])
@pytest.mark.parametrize("path", ["a", "b", "c"])
def test_an_agent_sets_back_its_own_work_and_nothing_that_a_person_decided(command, path):
    play = given(step("a"), step("b", choice={"options": ["x", "y"]}), step("c")).finish("a")
    play.do(Begin("b"), Done("b"))
    play.do(Approve("b", "x"), by=PERSON)
    play.finish("c")
    if path == "c":
        play.do(command(path), by=AGENT)
    else:
        refusal = play.refuses(command(path), "person_needed", by=AGENT)
        assert refusal.message == "only a person may undo what a person decided about b"
        play.do(command(path), by=PERSON)
    assert play.status(path) == "active"


def test_an_approval_that_an_agent_passed_on_is_undone_by_agents_too():
    play = given(step("a", approval={"by": "relayed"}), step("b"))
    play.do(Begin("a"), Done("a"), Approve("a"), Reopen("a"), by=AGENT)
    assert play.status("a") == "active"


def test_who_begins_finished_work_is_told_what_is_next_and_not_to_throw_it_away():
    play = given(step("a"), step("b")).finish("a")
    assert play.refuses(Begin("a"), "wrong_status", by=AGENT).remedy == "holdfast next"


# Once more


def decided() -> Play:
    """A step whose choice a person made, with a change; its file is there."""
    play = given(step("a", choice={"options": ["A", "B"]}, outputs=["log"]), step("b")).write("f", "news")
    play.do(Begin("a"), Done("a", {"log": "f"}))
    play.do(Approve("a", "B", {"colour": "blue"}), by=PERSON)
    return play


@pytest.mark.parametrize(
    ("command", "by"),
    [
        (Approve("a"), PERSON),
        (Approve("a", "A"), PERSON),
        (Approve("a", "B", {"colour": "red"}), PERSON),
        (Approve("a", "B"), PERSON),
        (Approve("a", "B", {"colour": "blue"}), Actor("human", "bob")),
        (Approve("a", "B", {"colour": "blue"}), AGENT),
    ],
)
def test_a_second_approval_of_finished_work_is_refused_aloud(command, by):
    play = decided()
    refusal = play.refuses(command, "already_approved", by=by)
    assert "by human ada" in refusal.message
    assert (refusal.facts["variant"], refusal.facts["modifications"]) == ("B", {"colour": "blue"})
    assert play.typed(refusal) == "holdfast next · or to decide again: holdfast reopen a"


def test_the_same_words_of_the_same_person_are_no_second_approval():
    decided().unchanged_by(Approve("a", "B", {"colour": "blue"}), by=PERSON)


def test_an_approval_that_is_renewed_keeps_what_the_first_one_said():
    play = decided().write("f", "other news")
    assert gates.grant_verdict(play.state, "a", play.facts()) == "stale"
    play.do(Approve("a"), by=PERSON)
    assert (grant_of(play).variant, grant_of(play).modifications) == ("B", {"colour": "blue"})
    play.write("f", "more news").do(Approve("a", "A", {"size": 3}), by=PERSON)
    assert (grant_of(play).variant, grant_of(play).modifications) == ("A", {"colour": "blue", "size": 3})
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"


def test_a_code_is_of_one_clone_one_workflow_and_one_step():
    play = given(step("a", approval={"by": "human"}), step("b", approval={"by": "human"}))
    play.world["key"] = b"here"
    play.approved("a")
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"
    assert gates.grant_verdict(play.state, "a", play.facts(key=b"there")) == "claimed"
    moved = play.state.replace(progress={"b": play.state.step("a")})
    assert gates.grant_verdict(moved, "b", play.facts()) == "claimed"
    play.world["key"] = b"there"
    assert play.typed(play.refuses(Begin("b"), "step_blocked")) == "holdfast approve --claimed"
