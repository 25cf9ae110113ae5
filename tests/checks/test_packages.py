"""Several packages: each task is tested where its tests are, and nothing that was proved is left out at the end."""

from __future__ import annotations

import json
import os
import sys

import pytest

from holdfast.checks.packages import own_tests
from holdfast.core import conditions
from holdfast.systems.seam.request import how
from tests.workbench import LOGIN, Bench

RED, GREEN = "task_execution/1/red", "task_execution/1/green"
EXIT = "test:\n\t@exit 1\n.PHONY: test\n"
PYTEST = "[tool.pytest.ini_options]\naddopts = '-p no:cacheprovider'\n"
FAILS = "def test_new():\n    assert False\n"
PASSES = "def test_new():\n    assert True\n"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    """A root whose command tells an exit code, and two packages with pytest."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.write("Makefile", EXIT)
    made.write("README.md", "read me\n")
    for name in ("a", "b"):
        made.write(f"packages/{name}/pyproject.toml", PYTEST)
        made.write(f"packages/{name}/code.py", "one = 1\n")
    made.saved_feature(LOGIN, "One", "Two")
    made.ok("start", "dev", LOGIN)
    return made


def folder(bench: Bench, step: str = RED, name: str = "test_fails") -> str:
    found = bench.open().workflow().state.plan.step(step).check(name)
    assert found is not None
    return found.folder


@pytest.mark.parametrize("beside", ["README.md", "packages/b/code.py", "packages/b/package-notes.md"])
def test_the_package_is_that_of_the_tests_and_not_of_every_file(bench, beside):
    bench.write(beside, "two = 2\n")
    bench.write("packages/a/test_new.py", FAILS)
    assert "test_fails passed: " in bench.ok("done", "--test", "test_new").out
    assert folder(bench) == "packages/a"


def test_a_test_that_was_committed_by_hand_is_still_the_tasks(bench):
    bench.write("packages/a/test_new.py", FAILS)
    bench.save("by hand")
    bench.ok("done", "--test", "test_new")
    assert folder(bench) == "packages/a"


def test_the_test_that_is_named_decides_where_tests_of_several_packages_changed(bench):
    bench.write("packages/a/test_new.py", FAILS)
    bench.write("packages/b/test_other.py", "def test_other(): ...\n")
    bench.ok("done", "--test", "test_new")
    assert folder(bench) == "packages/a"


@pytest.mark.parametrize(
    ("test", "chosen"),
    [
        ("", ["a/test_x.py", "b/x.spec.ts"]),
        ("test_x", ["a/test_x.py"]),
        ("b/x.spec.ts", ["b/x.spec.ts"]),
        ("b/old.py::test_old", ["b/old.py"]),
        ("no such test", ["a/test_x.py", "b/x.spec.ts"]),
    ],
)
def test_which_files_decide(tmp_path, test, chosen):
    for name, text in (("a/test_x.py", "def test_x(): ..."), ("b/x.spec.ts", "it('x')"), ("b/old.py", "")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    files = ["a/test_x.py", "b/x.spec.ts", "b/code.ts", "vitest.config.ts", "c/latest.md"]
    assert own_tests(str(tmp_path), files, test) == chosen
    assert own_tests(str(tmp_path), ["b/code.ts", "README.md"]) == []


@pytest.mark.parametrize("name", ["code.py", "test_new.py"])
def test_an_exit_code_is_no_red_where_a_package_near_the_work_tells_its_tests(bench, name):
    for package in ("a", "b"):
        bench.write(f"packages/{package}/{name}", FAILS)
    refused = bench.agent("done", "--json").error
    assert refused["code"] == "gate_unmet"
    assert "python3 -m pytest -v in packages/a (from packages/a/pyproject.toml)" in refused["message"]
    assert "write the test in one package, or name it with --test" in refused["message"]
    assert "holdfast done --test NAME" in json.dumps(refused["remedies"])


def test_a_command_of_an_agent_is_no_way_around_it(bench):
    other = bench.saved_feature("features/other.md")
    bench.ok("cancel")
    bench.ok("start", "dev", other, "--set", "test_command=sh -c 'exit 1'")
    bench.write("packages/a/test_new.py", FAILS)
    refused = bench.agent("done", "--json").error
    assert "an exit code alone is no red here" in refused["message"]


def test_an_exit_code_is_red_where_a_person_said_which_command_counts(bench):
    assert bench.person("set", "test_command=sh -c 'exit 1'").code == 0
    bench.write("packages/a/test_new.py", FAILS)
    assert "by exit code only" in bench.ok("done").out


def finish(bench: Bench, name: str) -> None:
    """One task in a package, from red to its commit."""
    bench.write(f"packages/{name}/test_{name}.py", "from code_ import one\ndef test_one():\n    assert one == 1\n")
    bench.ok("done", "--test", f"packages/{name}/test_{name}.py::test_one")
    bench.write(f"packages/{name}/code_.py", "one = 1\n")
    bench.ok("done")
    bench.ok("done")


def test_the_end_tests_the_packages_that_the_command_of_the_top_leaves_out(bench):
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.save()
    finish(bench, "a")
    finish(bench, "b")
    said = bench.ok("check", "test").out
    assert "passed too: python3 -m pytest -v in packages/a (from packages/a/pyproject.toml)" in said
    assert "passed too: python3 -m pytest -v in packages/b (from packages/b/pyproject.toml)" in said
    assert "passed too: python3 -m pytest -v in packages/a" in " ".join(bench.ok("status").out.split())
    assert "passed too" in bench.ok("log").out
    kept = bench.ok("log", "--check", "test").out
    assert kept.index("packages/a: python3 -m pytest -v") < kept.index("packages/b: python3 -m pytest -v")
    evidence = bench.open().workflow().state.step("verification").evidence["test"]
    assert len(evidence.data["packages"]) == 2
    bench.write("packages/b/code_.py", "one = 2\n")
    failed = bench.agent("check", "test")
    assert (failed.code, "failed too: python3 -m pytest -v in packages/b" in failed.out) == (3, True)


def test_a_command_that_appears_at_the_top_leaves_the_tasks_before_it_alone(bench):
    bench.git("rm", "-q", "Makefile")
    bench.save()
    bench.ok("start", "dev", LOGIN, "--fresh")
    finish(bench, "a")
    bench.write("Makefile", "test:\n\t@exit 1\n.PHONY: test\n")
    bench.write("a.test", "")
    bench.ok("check", "test_fails")
    assert (folder(bench), folder(bench, "task_execution/2/red")) == ("packages/a", "")


def test_a_package_that_is_gone_is_said_not_to_be_tested_and_its_task_is_not_proved(bench):
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.save()
    finish(bench, "a")
    finish(bench, "b")
    bench.git("rm", "-rq", "packages/b")
    refused = bench.agent("check", "test")
    assert refused.code == 3
    assert "not tested, as the folder is gone: packages/b" in refused.out
    gone = "was deleted: packages/b/test_b.py is not there any more"
    assert f"test_b.py::test_one, which proved task_execution/2, {gone}" in refused.out


HURT = {
    "deleted": None,
    "another of the same name": "def test_other(): ...\n",
    "skipped": "import pytest\n@pytest.mark.skip\ndef test_one(): ...\n",
}


@pytest.mark.parametrize("harm", HURT)
def test_the_proof_of_a_task_in_another_package_has_to_run_at_the_end(bench, harm):
    """Also where the other package has a test of the same name."""
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.write("packages/a/test_old.py", "def test_old(): ...\n")
    bench.save()
    finish(bench, "a")
    if HURT[harm] is None:
        (bench.root / "packages/a/test_a.py").unlink()
    else:
        bench.write("packages/a/test_a.py", str(HURT[harm]))
    finish(bench, "b")
    refused = bench.agent("check", "test")
    assert refused.code == 3
    assert "test_a.py::test_one, which proved task_execution/1, " in refused.out
    assert "test_a.py::test_one, which proved task_execution/1, " in " ".join(bench.ok("next").out.split())
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    assert "holdfast reopen task_execution/1/red" in bench.agent("done").err


def test_a_proof_that_is_the_only_test_of_its_package_is_missed_too(bench):
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.save()
    finish(bench, "a")
    (bench.root / "packages/a/test_a.py").unlink()
    finish(bench, "b")
    refused = bench.agent("check", "test")
    assert refused.code == 3
    assert "test_a.py::test_one, which proved task_execution/1, was deleted" in refused.out


def test_a_move_within_the_package_goes_on_proving(bench):
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.save()
    finish(bench, "a")
    (bench.root / "packages/a/test_a.py").rename(bench.root / "packages/a/test_moved.py")
    finish(bench, "b")
    bench.ok("check", "test")


def test_a_nearer_command_is_told_with_the_old_one(bench):
    bench.agent("check", "test_fails")
    bench.write("packages/a/test_new.py", FAILS)
    said = bench.ok("check", "test_fails", "--test", "test_new").out
    changed = "the test command changed: python3 -m pytest -v in packages/a (from packages/a/pyproject.toml)"
    assert said.startswith(f"⚠ {changed}; before: make test (from Makefile)\n")
    assert "the test command for task_execution/1: python3 -m pytest -v" in bench.ok("log").out


def test_a_refusal_tells_of_the_nearer_command_too(bench):
    bench.write("packages/a/test_new.py", PASSES)
    refused = json.loads(bench.agent("done", "--json").out)
    assert "the test command changed: " in refused["notice"][0]


def test_a_folder_that_is_gone_is_looked_for_again(bench):
    bench.write("packages/a/test_new.py", FAILS)
    bench.ok("done", "--test", "test_new")
    (bench.root / "packages/a").rename(bench.root / "packages/c")
    bench.agent("check", "test_passes")
    assert folder(bench, GREEN, "test_passes") == "packages/c"


def npm(bench: Bench, script: str) -> None:
    bench.write("web/package.json", json.dumps({"scripts": {"test": script}}))


def test_another_script_behind_the_same_command_is_told_and_kept(bench, monkeypatch, tmp_path):
    program = tmp_path / "bin" / "npm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho '✗ no'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    npm(bench, "node first.js")
    bench.save()
    bench.ok("start", "dev", LOGIN, "--fresh")
    npm(bench, "node all.js")
    bench.write("web/a.test.js", "")
    bench.ok("check", "test_fails")
    npm(bench, "node ok.js")
    said = bench.ok("check", "test_fails").out
    changed = "npm test --silent in web runs another script: node ok.js; before: node all.js"
    assert said.startswith(f"⚠ {changed}\n")
    assert changed in " ".join(bench.ok("log").out.split())
    assert "runs another script" not in bench.ok("check", "test_fails").out
    since_start = "npm test --silent runs another script than when the workflow began: node ok.js; then: node first.js"
    for said in (changed, since_start):
        assert said in " ".join(bench.ok("status").out.split())
        assert said in bench.open().workflow().briefing().proof


def test_another_interpreter_of_the_same_name_is_told(bench, monkeypatch, tmp_path):
    bench.write("packages/a/test_new.py", FAILS)
    bench.ok("check", "test_fails", "--test", "test_new")
    other = tmp_path / "other" / "python3"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{other.parent}:{os.environ['PATH']}")
    said = bench.ok("check", "test_fails", "--test", "test_new").out
    assert said.startswith(f"⚠ python3 -m pytest -v in packages/a runs another program: {other}; before: ")


def test_a_command_that_an_agent_typed_is_never_shown_as_a_persons(bench):
    other = bench.feature("features/other.md")
    bench.ok("cancel")
    bench.ok("start", "dev", other, "--set", "test_command=sh run.sh", env={"HOLDFAST_ACTOR": "helper"})
    assert "test: sh run.sh (set by agent helper, not by a person)" in " ".join(bench.ok("status").out.split())
    commands = json.loads(bench.ok("status", "--json").out)["commands"]
    assert [one["by"] for one in commands if one["uses"] == "test"] == ["agent helper"]
    assert bench.person("set", "test_command=sh walk.sh").code == 0
    said = " ".join(bench.ok("status").out.split())
    assert "test: sh walk.sh (set by human" in said
    assert "not by a person" not in said


def test_an_agent_types_its_command_again_until_a_check_has_passed_with_it(bench):
    env = {"HOLDFAST_ACTOR": "helper"}
    (bench.root / "Makefile").unlink()
    for name in ("a", "b"):
        (bench.root / f"packages/{name}/pyproject.toml").unlink()
    bench.save()
    bench.ok("start", "dev", LOGIN, "--fresh")
    bench.ok("set", "test_command=./rnu", env=env)
    bench.write("a.test", "")
    bench.write("run.sh", "exit 1\n")
    bench.agent("check", "test_fails", env=env)
    assert bench.agent("set", "test_command=sh run.sh", "--json", env={"HOLDFAST_ACTOR": "other"}).error["code"] == (
        "person_needed"
    )
    bench.ok("set", "test_command=sh run.sh", env=env)
    assert "set by agent helper, not by a person" in bench.ok("log").out
    bench.ok("check", "test_fails", env=env)
    assert bench.agent("set", "test_command=true", "--json", env=env).error["code"] == "person_needed"


def test_without_a_command_at_the_top_the_end_tests_every_package_with_tasks(bench):
    bench.git("rm", "-q", "Makefile")
    bench.save()
    bench.ok("start", "dev", LOGIN, "--fresh")
    finish(bench, "a")
    finish(bench, "b")
    said = bench.ok("check", "test").out
    assert "test passed" in said
    assert "passed too: python3 -m pytest -v in packages/" in said


def two_packages(bench: Bench, definition: str) -> str:
    """A cycle whose test is in one package, red; its work and the other package are still to come."""
    bench.write("packages/b/test_old.py", "from code_ import one\ndef test_old():\n    assert one == 1\n")
    bench.write("packages/b/code_.py", "one = 1\n")
    bench.save()
    bench.ok("cancel")
    bench.ok("start", *(("dev", LOGIN) if definition == "dev" else ("tdd", "--set", "task=Two")))
    bench.write("packages/a/test_new.py", "def test_new():\n    import new\n")
    bench.ok("done", "--test", "test_new")
    bench.write("packages/a/new.py", "")
    return bench.head


@pytest.mark.parametrize("definition", ["dev", "tdd"])
def test_a_task_that_breaks_another_package_that_it_changed_is_not_green(bench, definition):
    head = two_packages(bench, definition)
    bench.write("packages/b/code_.py", "one = 2\n")
    refused = bench.agent("done")
    assert refused.code == 3
    assert "test_old.py::test_old" in refused.err
    assert "python3 -m pytest -v in packages/b (from packages/b/pyproject.toml)" in refused.err
    bench.write("packages/b/code_.py", "one = 1  # the same\n")
    bench.write("packages/b/test_more.py", "def test_more():\n    open('left.txt', 'w').close()\n")
    bench.ok("done")
    status = " ".join(bench.ok("status").out.split())
    assert "passed too: python3 -m pytest -v in packages/b" in status
    assert "stale" not in status
    bench.write("packages/b/code_.py", "one = 2\n")
    assert bench.agent("done").code == 3
    assert bench.head == head


def test_what_failed_before_in_another_package_is_not_held_against_the_task(bench):
    bench.write("packages/b/test_old.py", "def test_old():\n    assert 0\n")
    bench.save()
    bench.ok("start", "dev", LOGIN, "--fresh")
    bench.write("packages/a/test_new.py", "def test_new():\n    import new\n")
    bench.ok("done", "--test", "test_new")
    bench.write("packages/a/new.py", "")
    bench.write("packages/b/code.py", "one = 3\n")
    bench.ok("done")
    assert "failed before, and now too: python3 -m pytest -v in packages/b" in " ".join(bench.ok("status").out.split())


def test_texts_and_settings_around_a_package_cost_no_other_run(bench):
    two_packages(bench, "dev")
    bench.write("README.md", "more\n")
    bench.write("package-lock.json", "{}\n")
    bench.write("packages/b/notes.md", "more\n")
    bench.ok("done")
    evidence = bench.open().workflow().state.step(GREEN).evidence["test_passes"]
    assert "packages" not in evidence.data


def test_evidence_says_which_package_it_is_from_and_status_what_the_end_runs(bench):
    bench.write("Makefile", "test:\n\t@true\n.PHONY: test\n")
    bench.save()
    finish(bench, "a")
    finish(bench, "b")
    state = bench.open().workflow().state
    using = {one.uses: one for one in conditions.commands(state, "pr_creation")}
    assert (using["test"].command, using["test"].folder) == ("make test", "")
    check, seen = state.plan.step(GREEN).checks[0], state.step(GREEN).evidence["test_passes"]
    assert "run by Holdfast: `python3 -m pytest -v` in `packages/a` at " in how(check, seen)
