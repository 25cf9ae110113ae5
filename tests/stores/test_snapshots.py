"""A snapshot says what the state says, whatever was written before it."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.stores.lines import Position
from holdfast.stores.snapshots import Snapshots
from tests.core.play import given, step


def lives():
    """Two workflows with the same steps, one of which loses a step and gets another plan."""
    one, other = (given(step("build"), step("test"), step("ship")) for _ in range(2))
    one.do(cmd.Begin("build"), cmd.Done("build"), cmd.Begin("test"), cmd.Fail("test", "red"), cmd.RetireStep("ship"))
    other.do(cmd.Begin("build"), cmd.Done("build"), cmd.Reopen("build"), cmd.Note("\u00fc"))
    return one.states, [state.replace(ulid="Z" * 26) for state in other.states]


def test_a_state_is_read_back_as_it_was_whichever_was_written_before(tmp_path):
    one, other = lives()
    snapshots = Snapshots(str(tmp_path))
    turns = [*one, *other, *reversed(one), *(state for pair in zip(one, other, strict=False) for state in pair)]
    for number, state in enumerate(turns, 1):
        position = Position(seq=number, start=0, end=1, sum="0" * 16)
        snapshots.write(state, position)
        assert snapshots.found(state.ulid) == (position, state)
