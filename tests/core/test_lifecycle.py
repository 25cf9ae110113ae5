"""The transition table: every status with every move, and every status with every command."""

from __future__ import annotations

import pytest

from holdfast.core import commands as cmd
from holdfast.core import lifecycle
from holdfast.core.apply import apply
from holdfast.core.draft import Draft
from holdfast.core.events import Moved
from holdfast.core.lifecycle import MOVES, STATUSES
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State
from holdfast.errors import Refused
from tests.core.play import AGENT, PERSON, Play, definition, given, step

# Written out once more, by hand, so that a slip in the table of the code does not agree with itself.
TABLE = """
             pending  active    in_review  waiting  done     failed     blocked  escalated  skipped
began        active   -         -          -        -        -          -        -          -
submitted    -        in_review -          -        -        -          -        -          -
awaited      -        waiting   waiting    -        -        -          -        -          -
revised      -        -         active     active   -        -          -        -          -
withdrawn    -        -         active     active   -        -          -        -          -
completed    -        done      done       done     -        -          -        -          -
overridden   -        -         -          -        -        -          -        done       -
failed       -        failed    failed     -        -        -          -        -          -
rejected     -        -         -          failed   -        -          -        -          -
blocked      -        blocked   -          -        -        -          -        -          -
escalated    -        -         escalated  -        -        escalated  -        -          -
retried      -        -         -          -        -        active     -        -          -
review_retried -      -         -          -        -        in_review  -        -          -
resumed      -        -         -          -        -        active     active   active     -
reopened     -        -         -          -        active   -          -        -          active
skipped      skipped  skipped   -          -        -        skipped    -        -          -
reset        -        pending   pending    pending  pending  pending    pending  pending    pending
"""


def rows(text: str) -> dict[tuple[str, str], str]:
    """(row, column) → cell, of a table whose first line names the columns."""
    head, *lines = [line.split() for line in text.strip().splitlines()]
    return {(row, column): cell for row, *cells in lines for column, cell in zip(head, cells, strict=True)}


EXPECTED = rows(TABLE)


def at(status: str) -> State:
    plan = Plan(definition(step("s")).steps)
    return State(ulid="0" * 26, id="w", type="release", plan=plan, progress={"s": Progress(status, attempt=1)})


def test_the_table_knows_exactly_the_moves_and_statuses_listed_here():
    assert {move for move, _ in EXPECTED} == set(MOVES)
    assert {status for _, status in EXPECTED} == set(STATUSES)


@pytest.mark.parametrize(("move", "status"), EXPECTED)
def test_a_move_leads_where_the_table_says_and_is_refused_everywhere_else(move, status):
    wanted = EXPECTED[move, status]
    draft = Draft(at(status), AGENT, given(step("s")).facts())
    if wanted == "-":
        with pytest.raises(Refused) as caught:
            draft.move(move, "s")
        assert caught.value.code == "wrong_status"
        assert draft.events == []
    else:
        draft.move(move, "s")
        assert draft.state.step("s").status == wanted


@pytest.mark.parametrize(("move", "status"), EXPECTED)
def test_folding_a_move_that_does_not_apply_leaves_the_status(move, status):
    wanted = EXPECTED[move, status]
    after = apply(at(status), Moved(move, "s"), "2026-01-01T00:00:00Z", AGENT)
    assert after.step("s").status == (status if wanted == "-" else wanted)
    assert lifecycle.allows(status, move) == (wanted != "-")


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_is_finished_open_stuck_or_pending(status):
    groups = (lifecycle.FINISHED, lifecycle.OPEN, lifecycle.STUCK, {"pending"})
    assert sum(status in group for group in groups) == 1


REVISION = cmd.Review("s", "needs_revision", "again")

REACH: dict[str, tuple[cmd.Command, ...]] = {
    "pending": (),
    "active": (cmd.Begin("s"),),
    "in_review": (cmd.Begin("s"), cmd.Submit("s")),
    "waiting": (cmd.Begin("s"), cmd.Submit("s"), cmd.Review("s", "approved")),
    "done": (cmd.Begin("s"), cmd.Submit("s"), cmd.Review("s", "approved"), cmd.Approve("s")),
    "failed": (cmd.Begin("s"), cmd.Fail("s", "broke")),
    "blocked": (cmd.Begin("s"), cmd.Block("s", "no key")),
    "escalated": (cmd.Begin("s"), cmd.Submit("s"), REVISION, cmd.Submit("s"), REVISION),
    "skipped": (cmd.Skip("s"),),
}

COMMANDS: dict[str, cmd.Command] = {
    "begin": cmd.Begin("s"),
    "done": cmd.Done("s"),
    "submit": cmd.Submit("s"),
    "fail": cmd.Fail("s", "broke"),
    "block": cmd.Block("s", "no key"),
    "unblock": cmd.Unblock("s"),
    "skip": cmd.Skip("s"),
    "pass": cmd.Review("s", "approved"),
    "revise": REVISION,
    "approve": cmd.Approve("s"),
    "reject": cmd.Reject("s"),
    "change": cmd.Reject("s", "other words"),
    "reopen": cmd.Reopen("s"),
    "resume": cmd.Resume("s"),
}

# A person acts on a step with a review (two rounds at most) and an approval. `=` changes nothing, `-` is refused.
ACTS = """
         pending  active    in_review  waiting  done    failed   blocked  escalated  skipped
begin    active   =         -          -        -       -        -        -          -
done     -        in_review unmet      unmet    =       -        -        -          -
submit   -        in_review unmet      unmet    =       -        -        -          -
fail     -        failed    -          -        -       -        -        -          -
block    -        blocked   -          -        -       -        -        -          -
unblock  -        -         -          -        -       -        active   active     -
skip     skipped  skipped   -          -        -       skipped  -        -          -
pass     -        -         waiting    -        -       -        -        -          -
revise   -        -         active     -        -       -        -        -          -
approve  -        unmet     -          done     =       -        -        done       -
reject   -        -         -          failed   -       -        -        -          -
change   -        -         -          active   -       -        -        -          -
reopen   -        -         -          -        active  -        -        -          active
resume   running  =         running    running  active  active   active   active     active
"""


def reviewed_and_approved(status: str) -> Play:
    play = given(step("s", review={"max": 2}, approval={"by": "human"}))
    play.do(*REACH[status], by=PERSON)
    assert play.status("s") == status
    return play


@pytest.mark.parametrize(("act", "status"), rows(ACTS))
def test_a_command_leads_where_a_steps_life_says_and_is_refused_everywhere_else(act, status):
    play = reviewed_and_approved(status)
    wanted = rows(ACTS)[act, status]
    if wanted == "-":
        play.refuses(COMMANDS[act], "wrong_status", by=PERSON)
    elif wanted in ("unmet", "running"):
        code = {"unmet": "gate_unmet", "running": "nothing_to_resume"}[wanted]
        play.refuses(COMMANDS[act], code, by=PERSON)
    elif wanted == "=":
        play.unchanged_by(COMMANDS[act], by=PERSON)
    else:
        play.do(COMMANDS[act], by=PERSON)
        assert play.status("s") == wanted


@pytest.mark.parametrize(("act", "status"), [key for key, cell in rows(ACTS).items() if cell == "-"])
def test_a_refused_status_is_not_listed_among_those_that_would_do(act, status):
    refusal = reviewed_and_approved(status).refuses(COMMANDS[act], "wrong_status", by=PERSON)
    would_do = refusal.message.partition("; only one that is ")[2].partition(" can be ")[0]
    assert status not in would_do.split(" or ")
