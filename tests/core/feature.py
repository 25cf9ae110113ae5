"""A feature in its five phases, by the definition that comes with Holdfast, brought to any point of its life."""

from __future__ import annotations

import tomllib
from pathlib import Path

import holdfast
from holdfast.core.commands import Approve, Begin, Cancel, Done, Finalize, Review, Start
from holdfast.core.reading import read
from holdfast.systems.gated import words
from tests.core.play import PERSON, Play

_SHIPPED = read(
    tomllib.loads((Path(holdfast.__file__).parent / "systems" / "gated" / "definitions" / "feature.toml").read_text())
)
FEATURE = _SHIPPED.replace(steps=tuple(step.replace(outputs=(), checks=()) for step in _SHIPPED.steps))
"""The cycle of each phase alone: what it hands in is in the files of a real repository."""
ONE, TWO, THREE, FOUR, FIVE = words.PHASES


def feature(*begun: str) -> Play:
    play = Play()
    play.do(Start.of(FEATURE, "0" * 26, "dark-mode", title="Dark mode", begun=begun))
    return play


def sent_back(play: Play, phase: str = ONE, times: int = 1) -> Play:
    """Handed in and sent back by its reviewer, as often as said."""
    for _ in range(times):
        play.do(Done(phase), Review(phase, "needs_revision", f"round {play.state.step(phase).rounds + 1}"))
    return play


def passed_on(play: Play, phase: str = ONE) -> Play:
    """Handed in, and before the people."""
    play.do(Done(phase), Review(phase, "approved"))
    return play


def approved(play: Play, *phases: str) -> Play:
    for phase in phases:
        play.do(Begin(phase))
        passed_on(play, phase).do(Approve(phase), by=PERSON)
    return play


def at(word: str, rounds: int = 0) -> Play:
    """A feature whose first phase has this word, after so many reviews that asked for a revision."""
    play = feature()
    if word != words.PENDING:
        play.do(Begin(ONE))
        sent_back(play, ONE, 4 if word == words.ESCALATED else rounds)
    if word == words.IN_REVIEW:
        play.do(Done(ONE))
    if word in (words.USER_REVIEW, words.APPROVED):
        passed_on(play)
    if word == words.APPROVED:
        play.do(Approve(ONE), by=PERSON)
    return play


def whole(word: str) -> Play:
    """A feature that has this word as a whole."""
    match word:
        case "escalated":
            return at(words.ESCALATED)
        case "cancelled":
            play = at(words.IN_PROGRESS)
            play.do(Cancel("enough"), by=PERSON)
            return play
        case "completed" | "finalized":
            play = approved(feature(), *words.PHASES)
            if word == "finalized":
                play.do(Finalize())
            return play
    return at(words.IN_PROGRESS)


def forked(play: Play) -> Play:
    """Another play with the same past, and a future of its own."""
    other = Play()
    other.records, other.states = list(play.records), list(play.states)
    return other


def word_of(play: Play, phase: str = ONE) -> str:
    return str(words.PHASE.encode(play.status(phase)))


def iterations(play: Play, phase: str = ONE) -> int:
    return words.iterations(play.state, phase)


def acts(play: Play, phase: str = ONE) -> list[tuple[str, int, str]]:
    return [(act.action, act.iteration, act.result) for act in play.state.step(phase).acts]


def advice(play: Play, phase: str = ONE) -> str:
    return play.state.step(phase).advice
