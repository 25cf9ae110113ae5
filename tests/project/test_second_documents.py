"""State files that are beside the one of their workflow, have its name, or are no JSON: taken, and told at once."""

from __future__ import annotations

import json
import os
import time

import pytest

from holdfast.core import queries
from holdfast.systems.seam.adoption import adopt_at_once
from tests.project.test_found_notes import running

FIRST = "untracked/workflow-state/case-studies/state-case-studies-20261101_090000.json"
SECOND = "untracked/workflow-state/case-studies/state-case-studies-20261102_100000.json"


def looked(house):
    """What is wrong, and what is told, when somebody looks."""
    wired = house.open("human").wired
    return [*adopt_at_once(wired), *(alert.message for alert in wired.take_news(raised_here=True))]


@pytest.fixture
def known(house):
    """The path of a state file, and what it says."""
    path = house.account()
    looked(house)
    return path, json.loads(house.read(path))


def put(house, path, document, age=0.0):
    house.write(path, document if isinstance(document, str) else json.dumps(document))
    then = time.time() - age
    os.utime(house.root / path, (then, then))


def test_a_newer_file_of_the_same_beginning_is_an_edit_of_the_workflow(house, known):
    path, document = known
    phase = {"current": 3, "total": 3, "name": "Review", "status": "in_progress"}
    put(house, SECOND, {**document, "phase": phase, "key_reminders": ["new"]}, age=-5)
    (told,) = [one for one in looked(house) if "second document" in one]
    assert told.startswith(f"{SECOND} is a second document of ")
    (state,) = running(house)
    assert (queries.top_number(state), state.reminders) == (3, ("new",))
    assert ((house.root / path).exists(), (house.root / SECOND).exists()) == (True, False)
    assert json.loads((house.root / state.alerts[-1].kept).read_text())["key_reminders"] == ["new"]
    assert looked(house) == []


def test_an_older_file_of_the_same_beginning_changes_nothing_and_that_is_told_once(house, known):
    _, document = known
    put(house, SECOND, {**document, "key_reminders": ["old"]}, age=3600)
    assert [one.endswith("and older: it changes nothing") for one in looked(house)] == [True]
    assert looked(house) == []
    assert (running(house)[0].reminders, (house.root / SECOND).exists()) == ((), True)


def test_a_copy_of_what_the_state_file_said_is_left_alone(house, known):
    path, _ = known
    put(house, SECOND, house.read(path))
    house.open("human").workflow(running(house)[0].id).remind("later")
    os.utime(house.root / SECOND)
    assert looked(house) == []
    assert running(house)[0].reminders == ("later",)


def test_a_state_file_whose_folder_was_renamed_is_put_back(house, known):
    path, _ = known
    (house.root / path).parent.rename(house.root / "untracked/workflow-state/renamed")
    assert [one.endswith(": it was restored there") for one in looked(house)] == [True]
    assert ((house.root / path).exists(), len(running(house))) == (True, 1)


def test_a_second_workflow_of_the_same_name_is_told(house, known):
    _, document = known
    put(house, SECOND, {**document, "created_at": "2026-11-02T10:00:00Z"})
    (told,) = looked(house)
    first = min(running(house), key=lambda state: state.created_at)
    assert told.startswith(f"{first.id} is active too and has the same name")
    assert told.endswith(f": holdfast cancel {first.id}")


def test_a_file_that_is_no_json_says_where_it_goes_wrong_and_what_to_write(house):
    put(house, SECOND, '{\n  "workflow": "A"\n  "phase": {}\n}')
    (told,) = looked(house)
    assert "(line 3, column 3: expecting ',' delimiter)" in told
    assert told.endswith("write it again as JSON; its form: holdfast schema compaction")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ('{"workflow": "A"}'.encode("utf-16"), "it is UTF-16: write it in UTF-8"),
        (b'{"workflow": NaN}', "NaN is no JSON: write null, or leave it out"),
        (b'{"workflow": "\xff"}', "byte 15 is no UTF-8"),
        (b"[]", "it is no object in braces"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(house, data, said):
    put(house, SECOND, "x")
    (house.root / SECOND).write_bytes(data)
    assert f"is not a JSON object ({said})" in looked(house)[0]


def test_what_is_found_while_notes_of_hooks_are_taken_over_is_told_by_the_same_process(house, known):
    _, document = known
    put(house, SECOND, {**document, "key_reminders": ["new"]}, age=-5)
    house.note("PostToolUse", paths=[SECOND])
    project = house.open("human")
    project.heal()
    told = [alert.message for alert in project.wired.take_news(raised_here=True)]
    assert any("second document" in one for one in told)
