"""One test-driven cycle after the other: what counts as red, green and tidied is what the engine saw itself."""

from __future__ import annotations

import pytest

from tests.acceptance.checkout import FEATURE, TASKS, Checkout
from tests.acceptance.shape import example, keys, shape

LOGIN = TASKS[2]
START = ("start", "tdd", "--set", "task=Add login method")
JUNIT = ("--set", "test_command=python -m pytest -q --junitxml=report.xml")
PASSING = "def test_house():\n    assert True\n"
BESIDES = {
    "checkpoints",
    "state_machine.phases[red].started_at",
    "state_machine.phases[red].completed_at",
    "state_machine.phases[green].started_at",
    *keys("history[checkpoint]", "at", "event", "phase", "check", "passed", "run_by", "detail"),
}
"""What a document has at the same place in the work that the convention's example does not show."""


@pytest.fixture
def begun(checkout: Checkout) -> Checkout:
    checkout.ok(*START)
    return checkout


@pytest.fixture
def refactored(begun: Checkout) -> Checkout:
    """A whole cycle but for its commit."""
    begun.red(LOGIN)
    begun.green(LOGIN)
    begun.refactor(LOGIN)
    return begun


def test_nothing_but_a_test_that_was_seen_failing_ends_red(begun):
    assert begun.refused("begin", "green")["code"] == "step_blocked"
    assert begun.refused("done", "green")["code"] == "wrong_status"
    assert begun.refused("check", "test_passes")["code"] == "wrong_status"
    assert begun.refused("check", "test_fails", "--passed")["code"] == "engine_must_run"
    assert begun.refused("done", "red")["remedy"] == "fix the test, then: holdfast done --test NAME"

    assert begun.failing("test_fails") == "no test ran"
    begun.write("tests/test_house.py", PASSING)
    assert begun.failing("test_fails") == "no test failed: a test that passes at once shows nothing"
    begun.write(LOGIN.test_file, LOGIN.test)
    begun.write(LOGIN.code_file, LOGIN.wrong)
    assert begun.failing("test_fails", "--set", "test=test_logout").startswith("test_logout was not collected: ")
    named = begun.failing("test_fails", "--set", "test=test_house")
    assert named == "tests/test_house.py::test_house passes already: a test that passes at once shows nothing"
    assert begun.refused("done", "red", "--test", "test_house")["code"] == "gate_unmet"

    assert begun.ok("check", "test_fails", "--json").json["evidence"]["test"] == "tests/test_login.py::test_login"
    begun.ok("done", "red")


def test_where_it_is_not_clear_which_test_must_fail_the_way_on_names_it(begun):
    """Several that fail, or a tool whose output nobody reads: the refused call once more would lead nowhere."""
    for name in ("door", "key"):
        begun.write(f"tests/test_{name}.py", f"def test_{name}():\n    assert False\n")
    said = begun.failing("test_fails")
    assert "tests/test_door.py::test_door, tests/test_key.py::test_key" in said
    named = "holdfast done --test NAME"
    refusal = begun.refused("done", "red")
    assert refusal["remedy"] == named
    assert "tests/test_door.py::test_door, tests/test_key.py::test_key" in refusal["message"]
    assert begun.ok("next", "--json").json["required_action"] == named
    assert begun.failing("test_fails", "--set", "test=test_other").startswith("test_other was not collected")
    assert begun.refused("done", "red")["remedy"] == named
    begun.ok("done", "--test", "test_key")


def test_no_test_is_named_as_proved_where_the_output_is_of_no_known_tool(checkout):
    checkout.git("rm", "-q", "pyproject.toml", "conftest.py")
    checkout.git("commit", "-qm", "No test tool")
    checkout.ok(*START, "--set", "test_command=python own_tests.py")
    checkout.write("own_tests.py", "raise SystemExit('FAIL: test_door (tests.Door)')\n")
    answer = checkout.ok("check", "test_fails", "--run", "--set", "test=test_door")
    assert "test_fails passed, by exit code only ·" in answer.out
    checkout.ok("done", "red")


def test_green_and_refactor_end_only_with_the_test_passing_on_what_lies_there(begun):
    begun.red(LOGIN)
    assert begun.refused("done", "green")["remedy"] == "fix the work, then: holdfast done"
    begun.write(LOGIN.code_file, LOGIN.wrong)
    assert begun.failing("test_passes").endswith("assert False")
    assert begun.refused("done", "green")["code"] == "gate_unmet"
    begun.green(LOGIN)

    begun.ok("check", "test_passes")
    begun.write(LOGIN.code_file, LOGIN.wrong)
    assert "'test_passes' failed" in begun.refused("done", "refactor")["message"]
    assert begun.failing("test_passes").endswith("assert False")
    assert begun.refused("done", "refactor")["code"] == "gate_unmet"
    begun.refactor(LOGIN)


def test_a_test_that_is_thrown_away_is_not_green(begun):
    begun.red(LOGIN)
    (begun.root / LOGIN.test_file).unlink()
    begun.write("tests/test_house.py", PASSING)
    assert begun.failing("test_passes") == "test_login was deleted: tests/test_login.py is not there any more"


def test_the_commit_closes_the_cycle_with_exactly_what_it_wrote(refactored):
    refactored.write("notes.txt", "A note about the login.\n")
    made = refactored.ok("done", "commit", "--json").json
    (sha,) = refactored.git("rev-list", "HEAD^..HEAD").split()
    assert refactored.files_of(sha) == [LOGIN.code_file, "notes.txt", LOGIN.test_file]
    assert refactored.git("show", "-s", "--format=%s", sha) == "Add login method\n"
    assert made["status"] == "completed"
    assert refactored.status() == []
    assert refactored.documents("active") == []
    document = refactored.stored("completed")
    assert document["workflow"]["status"] == "completed"
    assert [phase["status"] for phase in document["state_machine"]["phases"]] == ["completed"] * 4
    assert document["history"][-1].items() >= {"event": "phase_completed", "phase": "commit", "commit": sha}.items()


def test_what_is_left_uncommitted_by_somebody_else_stays_so(checkout):
    checkout.write("notes.txt", "A note, half changed.\n")
    checkout.write("scratch.txt", "Try this.\n")
    checkout.ok(*START)
    checkout.red(LOGIN)
    checkout.green(LOGIN)
    checkout.refactor(LOGIN)
    checkout.ok("done", "commit")
    assert checkout.files_of("HEAD") == [LOGIN.code_file, LOGIN.test_file]
    assert checkout.status() == [" M notes.txt", "?? scratch.txt"]


def test_in_the_middle_of_green_the_document_has_the_keys_of_the_convention(checkout):
    checkout.ok(*START, "--set", f"feature_file={FEATURE}", "--set", "task_index=3")
    checkout.write(LOGIN.test_file, LOGIN.test)
    checkout.ok("check", "test_fails", "--set", f"test={LOGIN.test_name}")
    checkout.ok("done", "red")
    checkout.write(LOGIN.code_file, LOGIN.wrong)
    checkout.failing("test_passes")
    document = checkout.stored("active")
    found, expected = shape(document), example("tdd")
    assert expected - found == set()
    assert found - expected == BESIDES

    assert document["context"] == {
        "task_description": "Add login method",
        "feature_file": FEATURE,
        "task_index": 3,
    }
    red, green, *_ = document["state_machine"]["phases"]
    assert (red["test_file"], red["test_name"], red["failure_confirmed"]) == (LOGIN.test_file, LOGIN.test_name, True)
    assert red["failure_reason"] == "ModuleNotFoundError: No module named 'auth.login'"
    assert (green["implementation_file"], green["tests_passing"]) == (LOGIN.code_file, False)
    assert green["last_error"].endswith("assert False")
    runs = document["test_state"]
    assert (runs["test_command"], runs["last_result"]) == ("python3 -m pytest -v", "failed")
    assert (runs["failing_tests"], runs["passing_tests"]) == (["tests/test_login.py::test_login"], [])
    assert document["files_modified"] == [
        {"path": LOGIN.test_file, "phase": "red", "lines_added": 5},
        {"path": LOGIN.code_file, "phase": "green", "lines_added": 2},
    ]


def test_reopening_red_begins_a_second_cycle(refactored):
    refactored.ok("done", "commit")
    name = refactored.stored("completed")["workflow"]["id"]
    refactored.ok("reopen", "red", "-w", name)
    document = refactored.stored("active")
    assert document["state_machine"]["cycle_count"] == 2
    assert [phase["status"] for phase in document["state_machine"]["phases"]] == ["in_progress", *["pending"] * 3]
    assert refactored.refused("done", "red")["code"] == "gate_unmet"

    task = TASKS[0]
    refactored.red(task)
    refactored.green(task)
    refactored.refactor(task)
    refactored.ok("done", "commit")
    assert refactored.files_of("HEAD") == [task.code_file, task.test_file]
    assert refactored.stored("completed")["state_machine"]["cycle_count"] == 2


def test_every_phase_is_resumed_where_it_was_by_a_new_process(begun):
    def resumed() -> str:
        shown, again = (
            begun.ok(*words).out.partition("🔄 Resuming: ")[2].partition("\n━")[0]
            for words in ((*START, "--resume"), ("resume",))
        )
        assert shown == again
        return shown

    assert resumed() == "Add login method\n   Phase: RED (write a failing test)"
    begun.red(LOGIN)
    assert resumed() == "Add login method\n   Phase: GREEN (make tests pass)"
    begun.green(LOGIN)
    assert resumed() == "Add login method\n   Phase: REFACTOR (tidy up, tests still passing)"
    begun.refactor(LOGIN)
    assert resumed() == "Commit\n   Phase: commit"
    assert begun.document()["state_machine"]["current_phase"] == "commit"


def test_a_start_that_does_not_say_whether_to_go_on_is_refused_and_changes_nothing(begun):
    before = begun.document()
    refusal = begun.refused(*START)
    assert refusal["code"] == "already_active"
    assert "--set 'task=Add login method' --resume" in refusal["remedy"]
    assert begun.document() == before


def test_a_cycle_is_judged_by_the_report_that_the_test_command_writes(checkout):
    checkout.ok(*START, *JUNIT)
    checkout.write(LOGIN.test_file, LOGIN.test)
    checkout.write(LOGIN.code_file, LOGIN.wrong)
    assert checkout.failing("test_fails", "--set", "test=test_logout").startswith("test_logout was not collected: ")
    assert checkout.ok("check", "test_fails", "--json").json["evidence"]["failing"] != []
    checkout.ok("done", "red")
    assert checkout.failing("test_passes").endswith("assert False")
    checkout.green(LOGIN)
    checkout.refactor(LOGIN)
    checkout.ok("done", "commit")
    assert checkout.stored("completed")["test_state"]["test_command"] == JUNIT[1].partition("=")[2]
    assert checkout.files_of("HEAD") == [LOGIN.code_file, LOGIN.test_file]
    assert checkout.status() == ["?? report.xml"]
