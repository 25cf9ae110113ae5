"""What holds of a feature whatever is done to it, by whomever."""

from __future__ import annotations

import random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from holdfast.core import commands as cmd
from holdfast.core import cycle, gates, lifecycle, queries
from holdfast.core.apply import replay
from holdfast.core.state import Actor, State
from holdfast.errors import HoldfastError
from holdfast.systems.gated import words
from tests.core.chance import Chance
from tests.core.feature import feature
from tests.core.play import AGENT, FILE, OTHER_AGENT, PERSON, Play
from tests.tiers import examples

PHASES = words.PHASES
ACTORS = (AGENT, AGENT, AGENT, PERSON, PERSON, PERSON, FILE, OTHER_AGENT, Actor("human", "reviewer"))
LENGTH = 80


def sensible(chance: Chance, play: Play, phase: str) -> cmd.Command:
    """What somebody who wants to get on would do."""
    if play.state.cancelled or play.state.paused:
        return cmd.Resume()
    match play.status(phase):
        case lifecycle.PENDING:
            return cmd.Begin(phase)
        case lifecycle.ACTIVE:
            return cmd.Done(phase)
        case lifecycle.IN_REVIEW:
            return cmd.Review(phase, chance.pick(("approved", "approved", "needs_revision")), "look again")
        case lifecycle.WAITING:
            return cmd.Reject(phase, "other words") if chance.one_in(3) else cmd.Approve(phase)
        case lifecycle.DONE:
            return cmd.Reopen(phase, "after all") if chance.one_in(2) else cmd.Finalize()
    ways_out: tuple[cmd.Command, ...] = (cmd.Unblock(phase, "like so"), cmd.Approve(phase), cmd.Resume(phase))
    return chance.pick(ways_out)


def any_command(chance: Chance, play: Play) -> cmd.Command:
    phase = chance.pick(PHASES)
    options: tuple[cmd.Command, ...] = (
        *(cmd.Begin(phase), cmd.Done(phase), cmd.Submit(phase), cmd.Fail(phase, "died"), cmd.Fail(phase, "died")),
        *(cmd.Block(phase, "stuck"), cmd.Unblock(phase, "so"), cmd.Skip(phase), cmd.Review(phase, "approved")),
        *(cmd.Review(phase, "needs_revision", "no"), cmd.Approve(phase), cmd.Reject(phase), cmd.Reopen(phase)),
        *(cmd.Reset(phase), cmd.Reset(), cmd.Resume(), cmd.Resume(phase), cmd.Cancel("enough"), cmd.Pause("night")),
        *(cmd.Advise(phase, "mind the gap"), cmd.TakeSnapshot(), cmd.Restore(1 + chance.below(3)), cmd.Finalize()),
        cmd.Together((cmd.Reject(phase, "all of it"), cmd.Advise(chance.pick(PHASES), "this too"))),
        cmd.Edit("f", {}, {}, (cmd.Part("f", commands=(cmd.Begin(phase), cmd.Submit(phase))),)),
    )
    return chance.pick(options)


def told(seed: int) -> Play:
    """A feature to which all sorts of people did all sorts of things."""
    chance, play = Chance(random.Random(seed).randbytes(8 * LENGTH)), feature()
    for _ in range(LENGTH):
        play.wait(1)
        at_work = queries.current(play.state) or PHASES[-1]
        command = any_command(chance, play) if chance.one_in(5) else sensible(chance, play, at_work)
        number = command.number if isinstance(command, cmd.Restore) else 0
        taken = [one.revision for one in play.state.snapshots if one.number == number]
        try:
            play.do(command, by=chance.pick(ACTORS), past=play.states[taken[0] - 1] if taken else None)
        except HoldfastError:
            continue
    return play


LIVES = st.integers(0, 2**32 - 1)


def test_these_lives_reach_every_word_and_the_end():
    """Lives in which everything is refused would prove nothing."""
    seen: set[str] = set()
    given_by: set[str] = set()

    @settings(max_examples=100)
    @given(LIVES)
    def live(seed: int) -> None:
        play = told(seed)
        for state in play.states:
            seen.update(words_in(state), {queries.status(state)})
        given_by.update(record.command for record in play.records)

    live()
    assert seen >= {"pending", "in_progress", "in_review", "user_review", "approved", "escalated"}
    assert seen >= {"completed", "finalized", "cancelled", "paused"}
    assert given_by >= {"Restore", "Reset", "Reopen", "Fail", "Block", "Unblock", "Together", "Edit", "Advise"}


def words_in(state: State) -> set[str]:
    return {words.PHASE_WORDS[state.step(phase).status] for phase in PHASES}


@settings(max_examples=examples(40))
@given(LIVES)
def test_the_state_is_the_fold_of_the_records(seed):
    play = told(seed)
    assert replay(play.records) == play.state
    half = len(play.records) // 2
    assert replay(play.records[half:], play.states[half - 1] if half else None) == play.state


@settings(max_examples=examples(40))
@given(LIVES)
def test_no_phase_is_worked_on_while_one_before_it_is_not_approved(seed):
    play = told(seed)
    for state in play.states:
        shown = [words.PHASE_WORDS[state.step(phase).status] for phase in PHASES]
        note(shown)
        begun = [word for word in shown if word != "pending"]
        assert shown == begun + ["pending"] * (len(PHASES) - len(begun))
        assert all(word == "approved" for word in begun[:-1])


@settings(max_examples=examples(40))
@given(LIVES)
def test_iterations_are_always_between_none_and_four(seed):
    play = told(seed)
    for state in play.states:
        for phase in PHASES:
            count = words.iterations(state, phase)
            assert 0 <= count <= 4
            assert (count > 0) or state.step(phase).status not in (lifecycle.IN_REVIEW, lifecycle.WAITING)


@settings(max_examples=examples(40))
@given(LIVES)
def test_what_is_approved_a_person_approved_and_no_phase_is_ever_left_out(seed):
    play = told(seed)
    for state in play.states:
        for phase in PHASES:
            progress = state.step(phase)
            assert progress.status != lifecycle.SKIPPED
            if progress.status == lifecycle.DONE:
                assert progress.grant is not None
                assert progress.grant.how == "terminal"
                assert progress.reviewed or any(act.action == cycle.OVERRIDDEN for act in progress.acts)


@settings(max_examples=examples(40))
@given(LIVES)
def test_an_open_escalation_is_listed_exactly_while_its_phase_is_escalated(seed):
    play = told(seed)
    for state, record in zip(play.states, play.records, strict=True):
        if record.command == "Restore":
            break  # the list is of what happened, and goes back with nothing
        listed = [one.step for one in state.escalations if not one.resolved_at]
        assert listed == [phase for phase in PHASES if state.step(phase).status == lifecycle.ESCALATED]


@settings(max_examples=examples(40))
@given(LIVES)
def test_what_begins_next_stands_on_approvals_that_hold(seed):
    play = told(seed)
    for before, record, after in zip(play.states, play.records[1:], play.states[1:], strict=False):
        for number, phase in enumerate(PHASES):
            began = before.step(phase).status == lifecycle.PENDING != after.step(phase).status
            if began and record.command not in ("Restore", "Reset"):
                assert all(gates.holds(before, earlier, play.facts()) for earlier in PHASES[:number])
