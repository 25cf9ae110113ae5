"""Two journals of one feature that went different ways, here and in another clone: a person says which one holds."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.apply import Record
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.engine.ports import Copy, Standing
from holdfast.errors import Conflict
from holdfast.plain.digest import digest
from holdfast.systems.gated import journal_copy
from holdfast.systems.seam.wired import Wired

GIT, HERE = "git", "here"


def decided(wired: Wired, slug: str, standing: Standing, take: str, ours: State) -> tuple[State, str]:
    """The state of the journal that is taken, and what became of the other one; without `take`, both are shown.

    `ours` is the feature as it is known here. Where somebody began the journal again, the two share no line.
    """
    name = journal_copy.name(slug)
    data = journal_copy.read(wired, slug, wired.place.key())
    assert data is not None
    copy = wired.store.examine_copy(data, name)
    if not take:
        raise _both(wired, slug, standing.replace(ours=ours.revision), copy, ours)
    one = "that is here" if take == HERE else "that came with git"
    wired.settings.require_person(f"take the journal of {slug} {one}", remedies.recover(slug, take=take))
    if take == HERE:
        return ours, "the journal here holds"
    journal_copy.require_sound(wired, slug, wired.place.key(), copy.state)
    if copy.ulid != ours.ulid:
        return _replaced(wired, slug, copy, ours)
    kept = f"here-{digest(wired.store.export(ours.ulid))[:12]}"
    state = wired.store.supersede(data, kept, name)
    said = f".holdfast/archive/{ours.ulid}-{kept}.jsonl"
    return state, f"the journal that came with git holds; the one that was here is kept in {said}"


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
