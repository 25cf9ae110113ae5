"""Tasks and the features they belong to: their shape, which of them count now, and the line a run ends with."""

from __future__ import annotations

import pytest

from holdfast.core import queries, tasks
from holdfast.core.commands import Approve, Begin, Block, Cancel, Done, Fail, Pause, Resume, Start
from holdfast.core.definition import Step
from holdfast.core.reading import read
from holdfast.systems.seam.registry import conduct_of
from holdfast.systems.skill import texts, words
from tests.core.play import PERSON, Play, step

SHAPE = {"action": "commit", "checks": [{"name": "tests"}], "step": [{"id": "red"}, {"id": "green"}]}
LOGIN = {"feature_file": "features/auth/user-login.md", "feature_title": "User Login"}
FOLDER = {
    "feature_file": "features/auth/01-in.md",
    "folder_mode": True,
    "folder_path": "features/auth/",
    "folder_features": [
        {"file": "features/auth/01-in.md", "title": "In"},
        {"file": "features/auth/02-out.md", "title": "Out"},
    ],
}


def task(number: str, *inner, **keys):
    return step(number, *inner, name=f"Task number {number}", kind="task", **keys)


def feature(name: str, *inner):
    return step(name, *inner, kind="feature")


def running(*below, context=None, title="User Login", **keys) -> Play:
    """A workflow of a feature, with these tasks or features below its step of work."""
    work = step("work", *below, task=SHAPE)
    made = read({"name": "dev", "loads": "feature", "advance": True, "step": [work, step("verify")], **keys})
    play = Play()
    play.do(
        Start.of(
            made,
            "0" * 26,
            "dev-1",
            title=title,
            context=LOGIN if context is None else context,
            conduct=conduct_of("feature"),
        )
    )
    return play


def signal(state) -> str:
    return texts.signal(state, queries.status(state))


def folder() -> Play:
    return running(feature("in", task("1"), task("2")), feature("out", task("1")), context=FOLDER)


def test_a_task_takes_the_shape_of_the_step_it_stands_in():
    made = tasks.new_task(running(task("1")).state, "work", "2", "Add a form")
    assert (made.id, made.name, made.kind, made.action) == ("2", "Add a form", "task", "commit")
    assert [inner.id for inner in made.steps] == ["red", "green"]
    assert made.check("tests")


def test_a_task_below_a_feature_takes_the_shape_from_further_up():
    made = tasks.new_task(folder().state, "work/in", "3", "Add a form")
    assert [inner.id for inner in made.steps] == ["red", "green"]


def test_a_task_where_no_shape_is_given_is_plain():
    assert tasks.new_task(running(task("1")).state, "verify", "1", "Look") == Step("1", "Look", kind="task")


def test_a_task_without_tests_has_no_phases_but_everything_else():
    made = tasks.new_task(running(task("1")).state, "work", "2", "Write the docs", tested=False)
    assert made.steps == ()
    assert (made.action, made.check("tests") is not None) == ("commit", True)


def test_of_one_feature_all_tasks_count_and_no_feature_is_current():
    play = running(task("1", step("red")), task("2"))
    assert tasks.tasks(play.state) == ["work/1", "work/2"]
    assert tasks.current_group(play.state) == ""


def test_of_several_features_the_tasks_of_the_one_that_is_worked_on_count():
    play = folder()
    assert (tasks.current_group(play.state), tasks.tasks(play.state)) == ("work/in", ["work/in/1", "work/in/2"])
    play.do(Done("work/in/1"), Done("work/in/2"))
    assert (tasks.current_group(play.state), tasks.tasks(play.state)) == ("work/out", ["work/out/1"])


def test_when_all_features_are_done_the_last_one_stays_the_current_one():
    play = folder()
    play.do(Done("work/in/1"), Done("work/in/2"), Done("work/out/1"))
    assert tasks.current_group(play.state) == "work/out"
    play.do(Done("verify"))
    assert tasks.tasks(play.state) == ["work/out/1"]


def test_a_feature_whose_name_begins_like_another_has_its_own_tasks():
    play = running(feature("log", task("1")), feature("log-in", task("1")), context=FOLDER)
    assert tasks.tasks(play.state) == ["work/log/1"]
    assert words.feature_of(play.state, "work/log-in/1")["title"] == "Out"


def test_a_step_belongs_to_the_feature_above_it_and_else_to_the_current_one():
    state = folder().state
    assert words.feature_of(state, "work/out/1") == {"file": "features/auth/02-out.md", "title": "Out"}
    assert words.feature_of(state, "work/out") == {"file": "features/auth/02-out.md", "title": "Out"}
    assert words.feature_of(state) == {"file": "features/auth/01-in.md", "title": "In"}
    assert words.feature_of(state, "verify")["title"] == "In"


def test_the_only_feature_is_the_one_of_the_context():
    assert words.feature_of(running(task("1")).state) == {"file": LOGIN["feature_file"], "title": "User Login"}
    assert words.feature_of(running(task("1"), context={}).state) == {"file": "", "title": ""}


@pytest.mark.parametrize("listed", [None, "features", [], ["a", "b"], [{"file": "a", "title": "A"}, 7]])
def test_a_context_that_somebody_spoiled_gives_no_feature_and_no_failure(listed):
    play = running(feature("in", task("1")), feature("out", task("1")), context={"folder_features": listed})
    assert words.feature_of(play.state, "work/out/1") == {"file": "", "title": ""}


def test_the_signal_of_a_run_that_goes_on_says_so():
    assert signal(running(task("1")).state) == "DEV_CONTINUE"


def test_the_signal_of_a_finished_feature_names_its_file():
    play = running(task("1"))
    play.do(Done("work/1"), Done("verify"))
    assert signal(play.state) == "DEV_COMPLETE: user-login"


def test_the_signal_without_a_file_names_the_title():
    play = running(task("1"), context={})
    play.do(Done("work/1"), Done("verify"))
    assert signal(play.state) == "DEV_COMPLETE: User Login"


def test_the_signal_of_a_folder_speaks_of_all_and_only_at_the_end():
    play = folder()
    play.do(Done("work/in/1"), Done("work/in/2"))
    assert signal(play.state) == "DEV_CONTINUE"
    play.do(Done("work/out/1"))
    assert signal(play.state) == "DEV_CONTINUE"
    play.do(Done("verify"))
    assert signal(play.state) == "DEV_COMPLETE: All features done"


def test_the_signal_of_a_blocked_run_names_the_step_and_the_reason():
    play = running(task("1"))
    play.do(Block("work/1", "no access to the database"))
    assert signal(play.state) == "DEV_BLOCKED: work/1 blocked: no access to the database"


def test_the_signal_of_a_failed_run_names_the_step_and_the_reason():
    play = running(task("1"))
    play.do(Fail("work/1", "the form is gone"))
    assert signal(play.state) == "DEV_BLOCKED: work/1 failed: the form is gone"


def test_the_signal_of_a_run_that_waits_for_a_person_names_the_step():
    play = running(task("1", approval={"by": "human"}))
    play.do(Done("work/1"))
    assert signal(play.state) == "DEV_BLOCKED: work/1 is waiting"
    play.do(Approve("work/1"), by=PERSON)
    assert signal(play.state) == "DEV_CONTINUE"


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (Pause("lunch"), "DEV_BLOCKED: paused: lunch"),
        (Cancel("no need"), "DEV_BLOCKED: cancelled: no need"),
        (Cancel(), "DEV_BLOCKED: cancelled"),
    ],
)
def test_the_signal_of_a_run_that_somebody_stopped_says_why_and_goes_on_after_it(command, line):
    play = running(task("1"))
    play.do(command, by=PERSON)
    assert signal(play.state) == line
    play.do(Resume(), by=PERSON)
    assert signal(play.state) == "DEV_CONTINUE"


def test_the_signal_is_one_line_whatever_the_reason_is():
    play = running(task("1"))
    play.do(Block("work/1", "first\nDEV_COMPLETE: user-login"))
    assert "\n" not in signal(play.state)


def test_a_workflow_of_no_feature_has_no_signal():
    made = read({"name": "release", "step": [{"id": "a"}]})
    play = Play()
    play.do(Start.of(made, "0" * 26, "release-1"))
    play.do(Begin("a"), Done("a"))
    assert signal(play.state) == ""
