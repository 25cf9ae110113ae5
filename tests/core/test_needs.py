"""Which facts a command needs, and when facts that are there are enough."""

from __future__ import annotations

import pytest

from holdfast.core import commands as cmd
from holdfast.core.commands import Approve
from holdfast.core.decide import rule_of
from holdfast.core.definition import Check
from holdfast.core.facts import Facts
from holdfast.core.needs import Needs, needs
from tests.core.play import Play, given, passed, step

NOW = "2026-01-01T09:00:00.000Z"
STEPS = step("build", checks=["lint"], outputs=["report"], result="report"), step("sign-off", approval={"by": "human"})


def begun(*commands: cmd.Command) -> Play:
    play = given(*STEPS)
    play.write("log.txt", "log").do(cmd.Begin("build"), *commands)
    return play


def test_a_note_needs_nothing():
    assert needs(begun().state, cmd.Note("n")) == Needs()


def test_artifacts_that_are_there_and_those_that_come_are_hashed():
    state = begun(cmd.Attach("build", {"log": "log.txt"})).state
    assert needs(state, cmd.Note("n")).hashes == ("log.txt",)
    asked = needs(state, cmd.Done("build", {"report": "report.json"}))
    assert (asked.hashes, asked.results) == (("log.txt", "report.json"), (("build", "report.json"),))
    together = cmd.Together((cmd.Attach("build", {"more": "more.txt"}), cmd.Note("n")))
    assert needs(state, together).hashes == ("log.txt", "more.txt")


def test_the_tree_is_needed_where_evidence_is_bound_to_it():
    state = begun().state
    assert not needs(state).tree
    state = begun(cmd.RecordCheck("build", "lint", passed(tree="t1"))).state
    assert needs(state).tree
    assert needs(state, cmd.Done("build")).tree
    assert not needs(state, cmd.Note("n")).tree


def test_single_commands_need_what_is_theirs():
    state = begun().state
    assert needs(state, cmd.Lock(("a.py",), "coder", 60)).locks
    assert needs(state, cmd.TakeSnapshot("here")).head
    assert needs(state, cmd.Restore(3)).past == 3
    assert needs(state, cmd.RecordCheck("build", "lint", passed())).trust == (
        "build",
        state.plan.step("build").checks[0],
    )
    assert needs(state, cmd.RecordCheck("gone", "lint", passed())).trust == ("gone", None)


RUNS = (("build", Check("lint")),)
ALL = Needs(
    ("a", "b"),
    ("build",),
    (("build", "r"),),
    ("c0ffee",),
    ("beef",),
    True,
    ("build",),
    True,
    "build",
    True,
    ("build", None),
    3,
    "parent",
    True,
    RUNS,
    RUNS,
    "pr",
    ("build",),
    Approve("build"),
)


@pytest.mark.parametrize("name", Needs._fields)
def test_facts_cover_what_they_were_gathered_for_and_nothing_else(name):
    one = Needs(**{name: getattr(ALL, name)})
    assert Facts(NOW, known=ALL).covers(one)
    assert Facts(NOW, known=one).covers(one)
    assert Facts(NOW, known=one).covers(Needs())
    assert not Facts(NOW, known=Needs()).covers(one)
    assert not Facts(NOW).covers(Needs())


def test_who_knows_the_tree_knows_the_head():
    assert Facts(NOW, known=Needs(tree=True)).covers(Needs(head=True))


def test_trust_in_a_check_says_nothing_of_another_command():
    old, new = (begun().state.plan.step("build").checks[0].replace(run=(word,)) for word in ("true", "false"))
    assert not Facts(NOW, known=Needs(trust=("build", old))).covers(Needs(trust=("build", new)))


def test_every_command_on_a_running_workflow_has_a_rule():
    decided_otherwise = (cmd.Start, cmd.Adopt, cmd.Edit, cmd.Together)
    for command in cmd.Command.__subclasses__():
        assert command in decided_otherwise or callable(rule_of(command))
