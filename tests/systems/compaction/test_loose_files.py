"""State files as agents really write them: whatever can be read is taken up, and what was assumed is told."""

from __future__ import annotations

import json

import pytest

from holdfast.core import queries
from holdfast.systems.seam.adoption import adopt_at_once
from tests.project.conftest import house  # noqa: F401 - a fixture

PHASE = {"current": 2, "total": 5, "name": "Build", "status": "in_progress"}
WHOLE = {
    "workflow": "User Auth",
    "workflow_type": "implementation",
    "phase": PHASE,
    "required_reading": ["@docs/a.md"],
    "context": {"n": 1},
    "key_reminders": ["tests first"],
    "created_at": "2025-12-09T14:30:52Z",
}
FILE = "untracked/workflow-state/user-auth/state-user-auth-20251209_143052.json"


def without(*names):
    return {name: value for name, value in WHOLE.items() if name not in names}


def taken(house, text):  # noqa: F811
    house.write(FILE, text)
    assert adopt_at_once(house.open("human").wired) == []
    store = house.open("human").wired.store
    (entry,) = store.active()
    return store.load(entry.ulid)


@pytest.mark.parametrize(
    ("document", "position", "assumed"),
    [
        ({**WHOLE, "phase": {k: v for k, v in PHASE.items() if k != "status"}}, (2, 5), "no phase.status"),
        (without("phase"), (1, 1), "no phase"),
        (without("workflow"), (2, 5), "'user-auth'"),
        (without("workflow_type"), (2, 5), ""),
        (without("required_reading", "key_reminders", "context", "created_at"), (2, 5), ""),
        ({**WHOLE, "phase": {**PHASE, "current": "2", "total": "5"}}, (2, 5), ""),
        ({**WHOLE, "phase": {**PHASE, "current": "2/5", "total": None}}, (2, 5), ""),
        ({**WHOLE, "phase": "2/5 - Build"}, (2, 5), "phase.status"),
        ({**WHOLE, "phase": 2}, (2, 2), "phase.total"),
        ({**WHOLE, "phase": {**PHASE, "current": 0}}, (1, 5), ""),
        ({**WHOLE, "phase": {**PHASE, "current": "2 - Build", "total": "5 phases"}}, (2, 5), ""),
        ({**WHOLE, "phase": {**PHASE, "current": "two", "total": "five"}}, (2, 5), ""),
        ({**WHOLE, "phase": {**PHASE, "current": "2", "total": "five"}}, (2, 5), ""),
        (
            {**WHOLE, "phase": {**PHASE, "current": "soon", "total": [5]}},
            (1, 1),
            "phase.current is 'soon': 1 is assumed",
        ),
        ({**WHOLE, "phase": {**PHASE, "status": "🔄 Working on it"}}, (2, 5), "'🔄 Working on it'"),
        ({**WHOLE, "context": ["a", "b"]}, (2, 5), "context"),
        ({**WHOLE, "required_reading": "@docs/a.md"}, (2, 5), "required_reading"),
        ({**WHOLE, "key_reminders": {"one": "tests first"}}, (2, 5), "key_reminders"),
    ],
)
def test_what_is_left_out_is_filled_in_and_told_and_the_file_stays_as_it_is(house, document, position, assumed):  # noqa: F811
    text = json.dumps(document)
    state = taken(house, text)
    assert (queries.top_number(state), len(state.plan.children(""))) == position
    told = " ".join(alert.message for alert in state.alerts)
    assert assumed in told
    assert bool(told) == bool(assumed)
    kept = json.loads(house.read(FILE))
    assert {**kept, **document} == kept
    assert set(kept) - set(document) <= {"workflow", "created_at"}
    assert house.open("human").workflow(state.id).state.alerts == state.alerts


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + json.dumps(WHOLE),
        json.dumps(WHOLE)[:-1] + ",}",
        "{ // where I am\n" + json.dumps(WHOLE)[1:],
    ],
)
def test_json_with_small_faults_is_read(house, text):  # noqa: F811
    state = taken(house, text)
    assert (state.title, queries.top_number(state), dict(state.context)) == ("User Auth", 2, {"n": 1})


def test_an_edit_of_a_file_that_leaves_things_out_moves_the_work(house):  # noqa: F811
    lacking = {**WHOLE, "phase": {"current": "2", "total": "5", "name": "Build"}}
    state = taken(house, json.dumps(lacking))
    house.write(FILE, json.dumps({**lacking, "phase": {"current": "3", "total": "5", "name": "Test"}}))
    assert queries.top_number(house.open("human").workflow(state.id).state) == 3


@pytest.mark.parametrize(
    ("document", "position", "told"),
    [
        ({**WHOLE, "status": "blocked"}, (2, 5, "active"), "phase.status"),
        ({**without("phase"), "current_phase": 3, "total_phases": 5}, (3, 5, "active"), "no phase.status"),
        ({**WHOLE, "current_phase": 3}, (2, 5, "active"), "phase.current"),
        ({**WHOLE, "phase": {"number": 3, "total": 5, "name": "Build", "status": "blocked"}}, (3, 5, "blocked"), ""),
        (
            {**WHOLE, "phase": {"current": 2, "name": "Build"}, "phases": ["A", "B", "C"]},
            (2, 3, "active"),
            "phase.total",
        ),
        ({**WHOLE, "phases": ["A", "B"]}, (2, 5, "active"), "phases"),
    ],
)
def test_a_near_miss_is_understood_where_nothing_contradicts_it_and_else_told(house, document, position, told):  # noqa: F811
    state = taken(house, json.dumps(document))
    tops = state.plan.children("")
    number = queries.top_number(state)
    assert (number, len(tops), state.step(tops[number - 1]).status) == position
    assert told in " ".join(alert.message for alert in state.alerts)


def test_the_lists_of_a_near_miss_are_taken(house):  # noqa: F811
    near = {"reminders": ["ask first"], "required_reading": "@README, @docs/x.md"}
    state = taken(house, json.dumps({**without("key_reminders"), **near}))
    assert (state.reminders, state.reading) == (("ask first",), ("@README", "@docs/x.md"))


def test_a_new_file_with_a_key_twice_loses_nothing_and_is_told(house):  # noqa: F811
    text = json.dumps(WHOLE).replace('"context": {', '"context": {"first": true}, "context": {')
    state = taken(house, text)
    assert state.context == {"first": True, "n": 1}
    assert "the key 'context' twice" in " ".join(alert.message for alert in state.alerts)
