"""Which word of a phase, and of the whole, may follow which; and what nobody does to a feature, or only a person."""

from __future__ import annotations

import functools

import pytest

from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.state import Actor, Alert, Snapshot
from holdfast.errors import HoldfastError
from holdfast.systems.gated import words
from tests.core.feature import (
    FEATURE,
    FIVE,
    FOUR,
    ONE,
    THREE,
    TWO,
    approved,
    at,
    feature,
    forked,
    iterations,
    passed_on,
    sent_back,
    whole,
    word_of,
)
from tests.core.play import AGENT, FILE, PERSON, Play, edit, failed, moves

PENDING, IN_PROGRESS, IN_REVIEW = words.PENDING, words.IN_PROGRESS, words.IN_REVIEW
USER_REVIEW, APPROVED, ESCALATED = words.USER_REVIEW, words.APPROVED, words.ESCALATED
WORDS = (PENDING, IN_PROGRESS, IN_REVIEW, USER_REVIEW, APPROVED, ESCALATED)

DIRECT: dict[tuple[str, str], tuple[cmd.Command, Actor]] = {
    (PENDING, IN_PROGRESS): (cmd.Begin(ONE), AGENT),
    (IN_PROGRESS, IN_REVIEW): (cmd.Done(ONE), AGENT),
    (IN_REVIEW, IN_PROGRESS): (cmd.Review(ONE, "needs_revision", "shorter"), AGENT),
    (IN_REVIEW, USER_REVIEW): (cmd.Review(ONE, "approved"), AGENT),
    (IN_REVIEW, ESCALATED): (cmd.Review(ONE, "needs_revision", "still too long"), AGENT),
    (USER_REVIEW, APPROVED): (cmd.Approve(ONE), PERSON),
    (USER_REVIEW, IN_PROGRESS): (cmd.Reject(ONE, "with numbers"), PERSON),
    (APPROVED, IN_PROGRESS): (cmd.Reopen(ONE, "one more case"), PERSON),
    (ESCALATED, IN_PROGRESS): (cmd.Unblock(ONE, "leave the appendix out"), PERSON),
    (ESCALATED, APPROVED): (cmd.Approve(ONE), PERSON),
}
"""Each move of the convention, with the command that stands for it and who gives it."""

ON_A_PHASE: tuple[cmd.Command, ...] = (
    cmd.Begin(ONE),
    cmd.Done(ONE),
    cmd.Submit(ONE),
    cmd.Attach(ONE, {}),
    cmd.Review(ONE, "approved"),
    cmd.Review(ONE, "needs_revision", "shorter"),
    cmd.Approve(ONE),
    cmd.Reject(ONE),
    cmd.Reject(ONE, "with numbers"),
    cmd.Reopen(ONE),
    cmd.Unblock(ONE),
    cmd.Unblock(ONE, "like so"),
    cmd.Resume(),
    cmd.Resume(ONE),
    cmd.Skip(ONE, "not needed"),
    cmd.Iterate(ONE, "once more"),
    cmd.RecordCheck(ONE, "tests", failed()),
    cmd.Advise(ONE, "mind the gap"),
    cmd.Record({"status": "approved"}, ONE),
    cmd.Note("approved", ONE),
    cmd.Extend(iterations=1),
    cmd.Finalize(),
    cmd.TakeSnapshot(),
    cmd.ChangeStep(ONE, FEATURE.steps[1]),
    cmd.StartAgent("lead", ONE),
    cmd.Spend(1, step=ONE),
)
"""Everything that is said of a phase, apart from the moves that have a test of their own."""

ACTORS = (AGENT, PERSON, FILE, Actor("engine"), Actor("hook"))


def accepted(play: Play, command: cmd.Command, by: Actor) -> bool:
    return refused(play, command, by) == ""


def refused(play: Play, command: cmd.Command, by: Actor) -> str:
    """The code of the refusal; empty when the command was carried out."""
    try:
        play.do(command, by=by)
    except HoldfastError as refusal:
        return refusal.code
    return ""


# The phases, word by word


@pytest.mark.parametrize("pair", DIRECT, ids="→".join)
def test_a_move_of_the_convention_is_made_by_its_command(pair):
    command, by = DIRECT[pair]
    play = at(pair[0], rounds=3 if pair == (IN_REVIEW, ESCALATED) else 0)
    assert word_of(play) == pair[0]
    play.do(command, by=by)
    assert word_of(play) == pair[1]


@functools.cache
def led_to() -> dict[tuple[str, str], set[str]]:
    """Every pair of words that any command of anybody led to, with the names of the commands."""
    found: dict[tuple[str, str], set[str]] = {}
    starts = [(word, rounds) for word in WORDS for rounds in ((0, 3) if word in (IN_PROGRESS, IN_REVIEW) else (0,))]
    for word, rounds in starts:
        begun_from = at(word, rounds)
        for command in ON_A_PHASE:
            for by in ACTORS:
                play = forked(begun_from)
                if accepted(play, command, by) and word_of(play) != word:
                    found.setdefault((word, word_of(play)), set()).add(type(command).__name__)
    return found


def test_every_other_pair_is_refused_to_everybody_by_every_command():
    assert set(led_to()) == set(DIRECT)


def test_no_command_stands_for_a_move_that_is_not_its_own():
    assert led_to() == {
        (PENDING, IN_PROGRESS): {"Begin"},
        (IN_PROGRESS, IN_REVIEW): {"Done", "Submit"},
        (IN_REVIEW, IN_PROGRESS): {"Review"},
        (IN_REVIEW, USER_REVIEW): {"Review"},
        (IN_REVIEW, ESCALATED): {"Review"},
        (USER_REVIEW, APPROVED): {"Approve"},
        (USER_REVIEW, IN_PROGRESS): {"Reject"},
        (APPROVED, IN_PROGRESS): {"Reopen"},
        (ESCALATED, IN_PROGRESS): {"Unblock", "Resume"},
        (ESCALATED, APPROVED): {"Approve"},
    }


@pytest.mark.parametrize("by", [one for one in ACTORS if one is not PERSON], ids=lambda by: by.kind)
@pytest.mark.parametrize(
    ("word", "command"),
    [
        (USER_REVIEW, cmd.Approve(ONE)),
        (ESCALATED, cmd.Approve(ONE)),
        (ESCALATED, cmd.Unblock(ONE, "like so")),
        (ESCALATED, cmd.Resume()),
        (ESCALATED, cmd.Resume(ONE)),
    ],
)
def test_only_a_person_approves_guides_and_overrides(word, command, by):
    at(word).refuses(command, "person_needed", by=by)


def test_the_commands_are_refused_inside_an_edit_too_and_all_of_the_edit_with_them():
    play = at(IN_REVIEW)
    play.refuses(edit(cmd.Record({"k": 1}), cmd.Done(ONE)), "gate_unmet", by=FILE)
    assert play.state.context == {}


@pytest.mark.parametrize("word", [word for word in WORDS if word != APPROVED])
@pytest.mark.parametrize("by", ACTORS, ids=lambda by: by.kind)
def test_no_phase_begins_before_the_one_before_it_is_approved(word, by):
    play = at(word)
    for phase in (TWO, THREE, FOUR, FIVE):
        for command in (cmd.Begin(phase), cmd.Resume(phase)):
            play.refuses(command, "step_blocked", by=by)
        assert not accepted(play, cmd.Done(phase), by)
        assert word_of(play, phase) == PENDING


# The whole

WHOLE = ("in_progress", "completed", "finalized", "escalated", "cancelled")
OF_THE_WHOLE = {
    ("in_progress", "escalated"),
    ("escalated", "in_progress"),
    ("in_progress", "completed"),
    ("completed", "finalized"),
    ("in_progress", "cancelled"),
}


def the_word(play: Play) -> str:
    return words.WORKFLOW_WORDS[queries.status(play.state)]


@pytest.mark.parametrize("word", WHOLE)
def test_the_whole_can_be_brought_to_each_of_its_words(word):
    assert the_word(whole(word)) == word


def test_the_last_approval_completes_the_whole_and_a_review_at_its_limit_escalates_it():
    play = approved(feature(), ONE, TWO, THREE, FOUR)
    passed_on(begun(play, FIVE), FIVE)
    assert the_word(play) == "in_progress"
    play.do(cmd.Approve(FIVE), by=PERSON)
    assert the_word(play) == "completed"
    play = sent_back(feature(ONE), ONE, 3)
    assert the_word(play) == "in_progress"
    assert the_word(sent_back(play)) == "escalated"


def begun(play: Play, phase: str) -> Play:
    play.do(cmd.Begin(phase))
    return play


def test_the_whole_changes_its_word_only_as_the_convention_says():
    """Apart from what a person takes back: a completed feature reopened, a cancelled one resumed, an escalated one
    cancelled."""
    found = set()
    for word in WHOLE:
        begun_from = whole(word)
        for command in (*ON_A_PHASE, cmd.Cancel("enough"), cmd.Pause("over night"), cmd.Reset(), cmd.Reset(ONE)):
            for by in ACTORS:
                play = forked(begun_from)
                if accepted(play, command, by) and the_word(play) != word:
                    found.add((word, the_word(play), type(command).__name__))
    moved = {(before, after) for before, after, _ in found}
    own = {("completed", "in_progress"), ("cancelled", "in_progress"), ("escalated", "cancelled")}
    assert moved <= OF_THE_WHOLE | own
    assert {one for one in found if one[:2] in own} == {
        ("completed", "in_progress", "Reopen"),
        ("completed", "in_progress", "Resume"),
        ("completed", "in_progress", "Reset"),
        ("cancelled", "in_progress", "Resume"),
        ("escalated", "cancelled", "Cancel"),
    }


# Moves of their own


def test_a_regression_opens_the_phase_and_sends_all_after_it_back():
    play = begun(approved(feature(), ONE, TWO), THREE)
    sent_back(play, THREE, 2)
    events = play.do(cmd.Reopen(ONE, "another case"), by=PERSON)
    assert moves(events) == [("reopened", ONE), ("reset", THREE), ("reset", TWO)]
    assert [word_of(play, phase) for phase in words.PHASES] == [IN_PROGRESS, *[PENDING] * 4]
    assert [iterations(play, phase) for phase in words.PHASES] == [0] * 5
    assert words.current_phase(play.state) == ONE
    for phase in (TWO, THREE):
        progress = play.state.step(phase)
        assert (progress.started_at, progress.finished_at, progress.reviewed) == ("", "", False)


def test_after_a_regression_every_phase_is_reviewed_and_approved_again():
    play = approved(feature(), ONE, TWO)
    play.do(cmd.Reopen(ONE), by=PERSON)
    play.refuses(cmd.Approve(ONE), "gate_unmet", by=PERSON)
    play.refuses(cmd.Begin(TWO), "step_blocked")
    passed_on(play).do(cmd.Approve(ONE), by=PERSON)
    play.do(cmd.Begin(TWO))
    play.refuses(cmd.Approve(TWO), "gate_unmet", by=PERSON)


@pytest.mark.parametrize("by", [one for one in ACTORS if one is not PERSON], ids=lambda by: by.kind)
def test_only_a_person_resets(by):
    for command in (cmd.Reset(), cmd.Reset(ONE)):
        at(IN_REVIEW).refuses(command, "person_needed", by=by)


@pytest.mark.parametrize("word", [word for word in WORDS if word != PENDING])
def test_a_phase_is_reset_wherever_it_stands(word):
    play = at(word)
    play.do(cmd.Reset(ONE), by=PERSON)
    assert (word_of(play), iterations(play), play.state.step(ONE).advice) == (IN_PROGRESS, 0, "")
    assert sent_back(play, ONE, 3).status(ONE) == "active"


def test_resetting_one_phase_leaves_those_before_it():
    play = begun(approved(feature(), ONE, TWO), THREE)
    play.do(cmd.Reset(TWO), by=PERSON)
    assert [word_of(play, phase) for phase in words.PHASES] == [APPROVED, IN_PROGRESS, PENDING, PENDING, PENDING]


def test_resetting_all_begins_with_the_first_phase():
    play = whole("completed")
    play.do(cmd.Reset(), by=PERSON)
    assert [word_of(play, phase) for phase in words.PHASES] == [IN_PROGRESS, *[PENDING] * 4]
    assert play.state.finished_at == ""


def test_what_has_not_begun_is_not_reset():
    play = at(IN_PROGRESS)
    play.refuses(cmd.Reset(TWO), "not_begun", by=PERSON)
    feature().refuses(cmd.Reset(), "not_begun", by=PERSON)
    play.refuses(cmd.Reset("06-more"), "no_step", by=PERSON)


def test_cancelled_work_stands_where_it_is_until_somebody_resumes_it():
    play = at(IN_REVIEW)
    play.do(cmd.Cancel("another way"))
    for command in (cmd.Review(ONE, "approved"), cmd.Reject(ONE, "x"), cmd.Reset(ONE), cmd.Advise(ONE, "x")):
        play.refuses(command, "cancelled", by=PERSON)
    play.refuses(cmd.Finalize(), "cancelled")
    assert word_of(play) == IN_REVIEW
    play.do(cmd.Resume())
    assert (the_word(play), word_of(play)) == ("in_progress", IN_REVIEW)


def test_a_completed_feature_is_not_cancelled():
    whole("completed").refuses(cmd.Cancel("after all"), "already_finished", by=PERSON)


def test_a_blocked_phase_says_escalated_and_needs_no_person_to_go_on():
    play = at(IN_PROGRESS)
    play.do(cmd.Block(ONE, "no access"))
    assert (word_of(play), the_word(play), play.state.escalations) == (ESCALATED, "escalated", ())
    play.do(cmd.Unblock(ONE))
    assert (word_of(play), play.state.step(ONE).attempt) == (IN_PROGRESS, 1)


@pytest.mark.parametrize("word", [word for word in WORDS if word != IN_PROGRESS])
def test_only_a_phase_that_is_worked_on_is_blocked(word):
    at(word).refuses(cmd.Block(ONE, "no access"), "wrong_status", by=PERSON)


@pytest.mark.parametrize("word", [PENDING, USER_REVIEW, APPROVED, ESCALATED])
def test_nobody_crashes_where_no_agent_is_at_work(word):
    at(word).refuses(cmd.Fail(ONE, "died"), "wrong_status")


# What nobody does


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("by", ACTORS, ids=lambda by: by.kind)
def test_nobody_leaves_a_phase_out(word, by):
    play = at(word)
    refusal = play.refuses(cmd.Skip(ONE, "not needed"), "never_skipped", by=by)
    assert "nobody leaves it out" in refusal.message
    play.refuses(cmd.Skip(FIVE), "never_skipped", by=by)


@pytest.mark.parametrize("by", [one for one in ACTORS if one is not PERSON], ids=lambda by: by.kind)
def test_only_a_person_could_take_a_gate_away(by):
    play, step = at(IN_PROGRESS), FEATURE.steps[1]
    for loosened in (step.replace(review=None), step.replace(approval=None), step.replace(retry=None)):
        play.refuses(cmd.ChangeStep(TWO, loosened), "person_needed", by=by)


@pytest.mark.parametrize("by", ACTORS, ids=lambda by: by.kind)
def test_nobody_takes_a_phase_out_of_the_tree(by):
    play, step = at(IN_PROGRESS), FEATURE.steps[1]
    play.refuses(cmd.RetireStep(TWO), "never_skipped", by=by)
    play.refuses(cmd.ChangeStep(TWO, step.replace(mandatory=False)), "never_skipped", by=by)
    play.refuses(cmd.ChangeStep(TWO, step.replace(optional=True, mandatory=False)), "never_skipped", by=by)


@pytest.mark.parametrize("word", [word for word in WHOLE if word not in ("completed", "finalized")])
@pytest.mark.parametrize("by", [AGENT, PERSON], ids=lambda by: by.kind)
def test_only_a_completed_feature_is_finalized(word, by):
    code = "cancelled" if word == "cancelled" else "not_completed"
    whole(word).refuses(cmd.Finalize(), code, by=by)


def test_it_is_finalized_once():
    play = whole("completed")
    play.do(cmd.Finalize())
    assert play.state.finalized is not None
    play.unchanged_by(cmd.Finalize())


@pytest.mark.parametrize("by", [AGENT, PERSON], ids=lambda by: by.kind)
@pytest.mark.parametrize(
    "command",
    [
        *(cmd.Reopen(ONE), cmd.Reset(), cmd.Reset(FIVE), cmd.Resume(), cmd.Resume(ONE), cmd.Cancel("x")),
        *(cmd.Pause("x"), cmd.Approve(FIVE), cmd.Advise(ONE, "x"), cmd.Begin(ONE), cmd.Extend(iterations=1)),
        *(cmd.AddStep("", FEATURE.steps[0].replace(id="06-more")), cmd.RetireStep(FIVE), cmd.Restore(1)),
        *(cmd.Together((cmd.Reopen(ONE),)), edit(cmd.Reopen(ONE)), cmd.StartAgent("lead"), cmd.TakeSnapshot()),
    ],
    ids=lambda command: type(command).__name__,
)
def test_nothing_moves_a_finalized_feature(command, by):
    whole("finalized").refuses(command, "finalized", by=by)


# Roles that only look

CHANGES: tuple[cmd.Command, ...] = (
    *ON_A_PHASE,
    cmd.Reset(ONE),
    cmd.Fail(ONE, "died"),
    cmd.Block(ONE, "stuck"),
    cmd.Cancel("enough"),
    cmd.Pause("over night"),
    cmd.Record({"k": 1}),
    cmd.Outdate(),
    cmd.Revalidate(),
    cmd.Rehome("a", "b"),
    cmd.BeatAgent(1),
    cmd.EndAgent(1),
    cmd.Lock(("a.py",), "coder"),
    cmd.Unlock(("a.py",)),
    cmd.AddStep("", FEATURE.steps[0].replace(id="06-more")),
    cmd.RetireStep(TWO),
    cmd.Equip("test", ("make",)),
    cmd.Restore(1),
    cmd.TakeOver("f", {}, {}),
    cmd.Brief("reminders", ("x",)),
    cmd.Learn("x"),
    cmd.Own("orchestrator", "supervise", {"check_type": "on_demand", "verdict": "PASS"}),
    cmd.Refile("f"),
    cmd.Rename("n"),
    cmd.Reinstate(),
    cmd.Confirm(ONE),
    cmd.Own("compaction", "sight", {"source": "f", "account": {}}),
    cmd.Together((cmd.Note("x"),)),
    edit(cmd.Note("x")),
)
LOOKS: tuple[cmd.Command, ...] = (
    cmd.Acknowledge("x"),
    cmd.Compacted(),
    cmd.Sit(),
    cmd.Leave(),
    cmd.Urge(),
    cmd.Touch(("a.py",)),
    cmd.Remember("seen"),
    cmd.Alarm(Alert("t", "code", "message")),
)


def test_every_command_that_a_workflow_takes_is_tried_here():
    known = {type(command) for command in (*CHANGES, *LOOKS)}
    assert known | {cmd.Start, cmd.Adopt} == set(cmd.Command.__subclasses__())


@pytest.mark.parametrize("role", ["creator", "reviewer", "requirements-creator", "code-reviewer"])
@pytest.mark.parametrize("kind", ["agent", "human"])
@pytest.mark.parametrize("command", CHANGES, ids=lambda command: type(command).__name__)
def test_a_role_that_may_only_look_changes_nothing_even_where_a_person_takes_it(command, kind, role):
    play = at(IN_PROGRESS)
    refusal = play.refuses(command, "read_only_role", by=Actor(kind, role, "command line"))
    assert refusal.facts["role"] == role
    assert "the lead agent" in refusal.remedy


@pytest.mark.parametrize("command", LOOKS, ids=lambda command: type(command).__name__)
def test_what_is_noted_of_somebody_who_looks_is_noted_of_every_role(command):
    assert refused(at(IN_PROGRESS), command, Actor("agent", "reviewer", "command line", "S1")) in ("", "wrong_packet")


@pytest.mark.parametrize("name", ["", "lead", "reviewers", "pre-viewer", "ada"])
def test_other_roles_lead_the_work(name):
    play = at(IN_PROGRESS)
    play.do(cmd.Done(ONE), by=Actor("agent", name))
    assert word_of(play) == IN_REVIEW


def test_where_a_definition_keeps_nobody_from_writing_a_reviewer_reviews():
    play = Play()
    play.do(cmd.Start.of(FEATURE.replace(read_only=()), "0" * 26, "dark-mode", begun=(ONE,)))
    play.do(cmd.Done(ONE), cmd.Review(ONE, "approved"), by=Actor("agent", "reviewer"))
    assert word_of(play) == USER_REVIEW


# Going back to a snapshot


def test_a_snapshot_brings_no_approval_back_that_a_person_took_away():
    play = approved(feature(), ONE)
    play.do(cmd.TakeSnapshot())
    kept = play.state
    assert isinstance(play.state.snapshots[0], Snapshot)
    play.do(cmd.Reopen(ONE, "one more case"), by=PERSON)
    play.refuses(cmd.Restore(1), "person_needed", past=kept)
    play.do(cmd.Restore(1), by=PERSON, past=kept)
    play.refuses(cmd.Begin(TWO), "step_blocked")


def test_a_snapshot_gives_no_reviews_back():
    play = feature(ONE)
    play.do(cmd.TakeSnapshot())
    kept = play.state
    for _ in range(3):
        play.do(cmd.Submit(ONE))
        play.do(cmd.Review(ONE, "needs_revision", "again"))
    play.do(cmd.Restore(1), past=kept)
    assert (play.state.step(ONE).rounds, len(play.state.step(ONE).acts), play.state.step(ONE).advice) == (3, 3, "again")


def test_a_failure_and_a_pause_give_no_reviews_back():
    play = feature(ONE)
    for _ in range(3):
        play.do(cmd.Submit(ONE))
        play.do(cmd.Review(ONE, "needs_revision", "again"))
    play.do(cmd.Pause("lunch"))
    play.do(cmd.Fail(ONE, "crashed"))
    play.do(cmd.Resume())
    assert play.state.step(ONE).rounds == 3


def test_an_agent_opens_no_earlier_phase_that_a_person_approved_and_so_gets_no_reviews_back():
    play = approved(feature(), ONE)
    play.do(cmd.Begin(TWO))
    for _ in range(3):
        play.do(cmd.Submit(TWO))
        play.do(cmd.Review(TWO, "needs_revision", "again"))
    play.refuses(cmd.Reopen(ONE, "back"), "person_needed")
    assert play.state.step(TWO).rounds == 3


def test_only_a_person_rejects_what_a_person_approves():
    play = feature(ONE)
    play.do(cmd.Submit(ONE))
    play.do(cmd.Review(ONE, "approved"))
    play.refuses(cmd.Reject(ONE, "no"), "person_needed")
    play.do(cmd.Reject(ONE, "no"), by=PERSON)
    assert play.state.step(ONE).status == "active"
