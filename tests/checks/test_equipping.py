"""Commands are bound late and near: when a check needs one, and in the package that the task's files are in."""

from __future__ import annotations

import json

import pytest

from holdfast.core import events as ev
from tests.trusted import trust_file
from tests.workbench import LOGIN, Bench

RED, CONFIG = "task_execution/1/red", ".holdfast/config.toml"
FAILS = "test:\n\t@echo 'FAILED tests/test_a.py::test_a - no'; exit 1\n.PHONY: test\n"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.saved_feature(LOGIN, "One", "Two")
    made.ok("start", "dev", LOGIN)
    return made


def check(bench: Bench, step: str = RED) -> tuple[tuple[str, ...], str, str]:
    name = "test_fails" if step.endswith("red") else "test_passes"
    found = bench.open().workflow().state.plan.step(step).check(name)
    assert found is not None
    return found.run, found.source, found.folder


def trusted(bench: Bench, text: str) -> None:
    bench.write(CONFIG, text)
    trust_file(bench.open(), str(bench.root / CONFIG))


def test_a_command_that_appears_later_is_advised_before_it_is_bound_and_then_an_event(bench):
    assert "no test command" in bench.ok("next").out.replace("\n", " ")
    bench.write("Makefile", FAILS)
    assert json.loads(bench.ok("next", "--json").out)["required_action"] == "holdfast done --test NAME"
    assert check(bench)[0] == ()
    bench.ok("check", "test_fails", "--test", "test_a")
    assert check(bench) == (("make", "test"), "Makefile", "")
    workflow = bench.open().workflow()
    (event,) = [one for record in workflow.history() for one in record.events if isinstance(one, ev.Equipped)]
    assert (event.uses, event.run, event.source, event.under) == ("test", ("make", "test"), "Makefile", "")
    assert "the test command: make test (Makefile)" in bench.ok("log").out
    assert "test: make test (from Makefile)" in bench.ok("status").out


def test_each_task_is_tested_in_the_package_of_its_files(bench):
    for name in ("a", "b"):
        bench.write(f"packages/{name}/Makefile", FAILS)
    bench.save("packages")
    bench.write("packages/a/code.txt", "")
    bench.ok("check", "test_fails", "--test", "test_a")
    assert check(bench) == (("make", "test"), "packages/a/Makefile", "packages/a")
    assert check(bench, "task_execution/2/red")[0] == ()
    assert "test: make test in packages/a (from packages/a/Makefile)" in bench.ok("status").out


def test_files_of_several_packages_are_tested_in_the_one_around_them(bench):
    for name in ("packages/a/", "packages/b/", ""):
        bench.write(f"{name}Makefile", FAILS)
    bench.save("packages")
    bench.write("packages/a/code.txt", "")
    bench.write("packages/b/x.py", "")
    bench.ok("check", "test_fails", "--test", "test_a")
    assert check(bench) == (("make", "test"), "Makefile", "")


def test_what_passed_once_for_a_task_stays(bench):
    bench.write("Makefile", "test:\n\t@exit 1\n.PHONY: test\n")
    bench.ok("check", "test_fails")
    bench.write("packages/a/Makefile", FAILS)
    bench.write("packages/a/a.test", "")
    bench.ok("done")
    assert check(bench)[2] == ""
    bench.ok("reopen", RED)
    bench.agent("check", "test_fails")
    assert check(bench)[2] == "packages/a"


def test_set_works_at_once_and_only_a_person_changes_what_is_there(bench):
    bench.ok("set", "test_command=sh -c 'echo FAILED tests/test_a.py::test_a - no; exit 1'", "colour=blue")
    assert check(bench)[0][:2] == ("sh", "-c")
    workflow = bench.open().workflow()
    assert ("test_command" in workflow.state.context, workflow.state.context["colour"]) == (False, "blue")
    bench.write("tests/a.test", "")
    bench.ok("check", "test_fails", "--test", "test_a")
    refused = bench.agent("set", "test_command=false", "--json").error
    assert refused["code"] == "person_needed"
    assert bench.person("set", "test_command=false").code == 0
    assert check(bench)[0] == ("false",)


def test_what_the_configuration_says_later_takes_the_place_of_what_was_found_once_it_is_trusted(bench):
    bench.write("Makefile", FAILS)
    bench.ok("check", "test_fails", "--test", "test_a")
    bench.write(CONFIG, '[commands]\ntest = "sh run.sh"\n')
    bench.ok("check", "test_fails", "--test", "test_a")
    assert check(bench)[0] == ("make", "test")
    trusted(bench, '[commands]\ntest = "sh run.sh"\n')
    bench.agent("check", "test_fails", "--test", "test_a")
    assert check(bench) == (("sh", "run.sh"), CONFIG, "")


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("cd app && pytest", "only a shell knows '&&': write a script and name it, or sh -c 'cd app && pytest'"),
        ("pytest | tee log", "only a shell knows '|'"),
        ("cd app", "only a shell knows 'cd'"),
        ("pytest $ARGS", "only a shell knows '$'"),
        ("FOO=1 pytest -v", "a shell would set 'FOO=1': write 'env FOO=1 pytest -v'"),
    ],
)
def test_a_command_that_needs_a_shell_is_refused_with_the_way_to_write_it(bench, command, how):
    refused = bench.agent("set", f"test_command={command}")
    assert (refused.code, "run without a shell" in refused.err, how in refused.err) == (2, True, True), refused
    assert check(bench)[0] == ()
    bench.write(CONFIG, f"[commands]\ntest = {json.dumps(command)}\n")
    said = bench.agent("check", "test_fails", "--test", "a").err
    assert ("config.toml:2: test runs without a shell" in said, how in said) == (True, True), said


@pytest.mark.parametrize("command", ["env FOO=1 pytest", "pytest -k 'a && b'", "sh -c 'cd app && pytest'", "make A=1"])
def test_what_is_quoted_needs_no_shell(bench, command):
    bench.ok("set", f"test_command={command}")


def test_a_program_that_is_not_there_is_advised_to_be_installed_or_replaced(bench):
    bench.ok("set", "test_command=no-such-tool -v")
    said = bench.agent("done", "--test", "a").err
    assert "no such program: no-such-tool" in said
    way = "→ install it, then: holdfast done --test a · or name another: holdfast set test_command='COMMAND'"
    assert way in said


def test_without_a_command_each_way_is_a_line_of_its_own(bench):
    lines = bench.agent("done", "--test", "a").err.splitlines()
    assert lines[1] == "→ holdfast set test_command='COMMAND'"
    assert [line[:34] for line in lines[2:]] == [
        "for a person: to configure it: pri",
        "for a person: to allow reports: pr",
    ]
    assert max(map(len, lines)) < 160


def test_a_configuration_that_says_there_is_no_command_is_changed_and_not_written_twice(bench):
    trusted(bench, "[commands]\ntest = []\n")
    said = bench.agent("done", "--test", "a").err
    assert "the configuration says that there is none" in said
    assert "for a person: change 'test' below [commands] to the command" in said
    assert "printf" not in said


def test_a_red_that_is_opened_again_asks_for_the_name_of_its_test(bench):
    bench.write("tests/test_a.py", "def test_a():\n    assert False\n")
    bench.ok("done", "--test", "test_a")
    bench.ok("reopen", RED)
    assert json.loads(bench.ok("next", "--json").out)["required_action"] == "holdfast done --test NAME"


def test_tests_are_reported_only_where_a_person_allows_it_and_that_is_said_everywhere(bench):
    assert bench.agent("check", "test_fails", "--passed", "--json").error["code"] == "engine_must_run"
    bench.write(CONFIG, '[commands]\ntest = "report"\n')
    refused = bench.agent("check", "test_fails", "--passed", "--json").error
    assert refused["code"] == "engine_must_run"
    assert "holdfast trust" in json.dumps(refused["remedies"])
    assert "nobody on this machine has trusted" in bench.ok("next").out.replace("\n", " ")
    trusted(bench, '[commands]\ntest = "report"\n')
    action = json.loads(bench.ok("next", "--json").out)["required_action"]
    assert action == "holdfast check test_fails --PASSED-OR-FAILED"
    assert "passed, as reported" in bench.ok("check", "test_fails", "--passed").out
    assert "reported by agent" in bench.ok("status").out
    assert "as .holdfast/config.toml allows: self-reported" in " ".join(bench.ok("status").out.split())
    assert "passed (reported)" in bench.ok("log").out
    steps = json.loads(bench.ok("status", "--json").out)["steps"]
    assert [one["reported"] for one in steps if one["path"] == RED] == [["test_fails"]]
    bench.write(CONFIG, "")
    bench.ok("done", RED)
    assert bench.agent("check", "test_passes", "--passed", "--json").error["code"] == "engine_must_run"


def test_a_project_without_a_linter_reports_it(bench):
    workflow = bench.open().workflow()
    lint = workflow.state.plan.step("verification").check("lint")
    assert lint is not None
    assert (lint.run, lint.run_by) == ((), "any")


def test_a_broken_configuration_stops_no_reader(bench):
    bench.write(CONFIG, "[commands]\ntest = 3\n")
    bench.ok("next")
    bench.ok("status")
    assert bench.agent("check", "test_fails", "--json").error["code"] == "bad_config"
