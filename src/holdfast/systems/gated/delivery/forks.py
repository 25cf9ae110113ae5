"""Two journals of one feature that went different ways, here and in another clone: a person says which one holds."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.apply import Record
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.engine.ports import Copy, Standing
from holdfast.errors import Conflict
from holdfast.systems.gated import journal_copy, words
from holdfast.systems.gated.journal_trust import require_sound
from holdfast.systems.seam.wired import Wired

GIT, HERE = "git", "here"


def decided(wired: Wired, slug: str, standing: Standing, take: str, ours: State, data: bytes) -> tuple[State, str]:
    """The state of the journal that is taken, and what became of the other one; without `take`, both are shown.

    `ours` is the feature as it is known here, `data` the other journal. Where somebody began the journal again, the two
    share no line. The one that is taken keeps the sums of what the other one has alone, so that no clone asks again.
    """
    copy = wired.store.examine_copy(data, journal_copy.name(slug))
    if not take:
        raise _both(wired, slug, standing.replace(ours=ours.revision), copy, ours)
    one = "that is here" if take == HERE else "that came with git"
    wired.settings.require_person(f"take the journal of {slug} {one}", remedies.recover(slug, take=take))
    if take == HERE:
        known = journal_copy.given_up(copy.state)
        against = (*known, *copy.sums[standing.common :]) if copy.ulid == ours.ulid else ()
        return _recorded(wired, ours, against), "the journal here holds"
    require_sound(wired, slug, wired.place.key(), copy.state)
    if copy.ulid != ours.ulid:
        return _replaced(wired, slug, copy, ours)
    lines = wired.store.examine_copy(wired.store.export(ours.ulid), journal_copy.name(slug)).sums[standing.common :]
    state, kept = journal_copy.superseded(wired, slug, copy)
    state = _recorded(wired, state, (*journal_copy.given_up(ours), *lines))
    return state, f"the journal that came with git holds; the one that was here is kept in {kept}"


def _recorded(wired: Wired, state: State, against: tuple[str, ...]) -> State:
    """The state of a journal that says which lines a person decided against."""
    if not against or state.cancelled:
        return state
    listed = list(dict.fromkeys((*journal_copy.given_up(state), *against)))
    return wired.execute(state.ulid, cmd.Record({words.GIVEN_UP: listed}), wired.settings.actor)


def _replaced(wired: Wired, slug: str, copy: Copy, ours: State) -> tuple[State, str]:
    """Another journal takes the place of ours, which stays, and is given up; one whose work is done is closed."""
    given_up: cmd.Command = cmd.Cancel(f"a person decided for the journal {copy.ulid}, which came with git")
    if ours.finished_at and not ours.cancelled:
        given_up = cmd.Together((cmd.Finalize(elsewhere=True), cmd.Record({queries.WORKSPACE: queries.DELETED})))
    over = wired.execute(ours.ulid, given_up, wired.settings.actor)
    wrong = journal_copy.take(wired, slug, wired.place.key())
    if wrong is not None:
        raise wrong
    said = f"the journal that came with git holds; the one that was here, {ours.ulid}, is {queries.status(over)}"
    return wired.store.load(copy.ulid), said


def _both(wired: Wired, slug: str, standing: Standing, copy: Copy, ours: State) -> Conflict:
    """How far each goes after the last line they share, and who did the last thing in it."""
    (last,) = wired.store.history(ours.ulid, ours.revision - 1, ours.revision)
    ends = {
        HERE: _last(last, standing.ours - standing.common),
        GIT: _last(copy.last, standing.theirs - standing.common),
    }
    refusal = journal_copy.forked(slug, standing)
    spoken = "; ".join(
        f"{where}: {end['lines']} more, the last by {end['by']} at {end['at']} ({end['what']})"
        for where, end in ends.items()
    )
    said = f"{refusal.message}. {spoken}"
    return Conflict(refusal.code, said, remedy=refusal.remedies, facts={**refusal.facts, **ends})


def _last(record: Record, lines: int) -> dict[str, Any]:
    return {"lines": lines, "at": record.at, "by": record.actor.label, "what": record.command}
