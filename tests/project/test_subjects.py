"""From what somebody names to a workflow that runs: ids, paths, tasks, branches and the project's commands."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from holdfast.core import queries
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.plain import plainjson
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.parts import Taken
from tests.trusted import trust_file
from tests.workbench import LOGIN, Bench

MINE = """\
name = "mine"
loads = "feature"
title = "{context.feature_title}"

[[step]]
id = "work"
[step.task]
checks = [{ name = "tests", uses = "test" }]
[[step.task.step]]
id = "draft"

[[step]]
id = "ship"
"""


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    return made


def shell_id(subject: str, skill: str = "dev") -> str:
    """The id as the convention's own shell makes it."""
    line = 'echo "$FEATURE_FILE" | md5sum | cut -c1-8'
    run = subprocess.run(
        ["bash", "-c", line], env={"FEATURE_FILE": subject}, capture_output=True, text=True, check=True
    )
    return f"{skill}-{run.stdout.strip()}"


def tasks(workflow: Workflow) -> dict[str, str]:
    """Name and status of every task."""
    plan = workflow.state.plan
    return {plan.step(path).name: workflow.state.step(path).status for path in plan.of_kind("task")}


def checks(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    plan = workflow.state.plan
    return {f"{path}:{one.name}": one.run for path in plan.paths for one in plan.step(path).checks}


def refused(bench: Bench, definition: str = "dev", subject: str = LOGIN, **how) -> HoldfastError:
    """The refusal of a start, which must have left everything as it was."""
    before = bench.everything()
    with pytest.raises(HoldfastError) as caught:
        bench.start(definition, subject, **how)
    assert bench.everything() == before
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize("subject", [LOGIN, "features/foundation/event-infrastructure.md", "Füße & Co (v2).md"])
def test_the_id_is_the_one_that_the_shell_computes(bench, subject):
    bench.saved_feature(subject)
    workflow = bench.start("dev", subject)
    assert workflow.id == shell_id(subject)
    assert (bench.root / f".claude/workflow-state/active/{workflow.id}.json").is_file()


def test_the_id_of_a_cycle_is_made_of_the_tasks_text(bench):
    text = "Add login method to AuthService"
    made = bench.start("tdd", "", context={"task": text, "test_command": "true"})
    assert made.id == shell_id(text, "tdd")


@pytest.mark.parametrize("typed", ["features/auth/", "features/auth"])
def test_a_folder_is_hashed_as_it_was_typed(bench, typed):
    bench.saved_feature()
    assert bench.start("dev", typed).id == shell_id(typed)


def test_a_folder_with_and_without_the_last_stroke_is_one_and_the_same_work(bench):
    bench.saved_feature()
    workflow = bench.start("dev", "features/auth/")
    assert bench.open().find("dev", "features/auth").ulid == workflow.ulid
    assert bench.open().find("dev", "features/auth/").ulid == workflow.ulid


def test_a_path_means_the_same_from_wherever_and_however_it_is_typed(bench, monkeypatch):
    bench.saved_feature()
    expected = shell_id(LOGIN)
    typed = [
        (bench.root, f"./{LOGIN}"),
        (bench.root, str(bench.root / LOGIN)),
        (bench.root, "features/../features/auth/user-login.md"),
        (bench.root / "features", "auth/user-login.md"),
        (bench.root / "features" / "auth", "user-login.md"),
        (bench.root / "features" / "auth", "./user-login.md"),
        (bench.root / "features" / "auth", "../auth/user-login.md"),
        (bench.root / "features", LOGIN),
    ]
    workflow = bench.start()
    assert workflow.id == expected
    for folder, path in typed:
        monkeypatch.chdir(folder)
        project = bench.open(at=folder)
        found = project.find("dev", path)
        assert found is not None, path
        assert (found.id, found.ulid) == (expected, workflow.ulid), path


def test_a_path_out_of_the_project_is_refused(bench, tmp_path):
    bench.saved_feature()
    (tmp_path / "outside.md").write_text(bench.read(LOGIN))
    assert refused(bench, subject="../outside.md").code == "outside_root"
    (bench.root / "link.md").symlink_to(tmp_path / "outside.md")
    assert refused(bench, subject="link.md").code == "outside_root"


def test_what_the_workflow_knows_of_its_feature(bench):
    bench.saved_feature(LOGIN, "Add User model", "Add the page (no tests)")
    state = bench.start().state
    assert state.context == {
        "feature_file": LOGIN,
        "feature_title": "User Login",
        "folder_mode": False,
        "folder_path": None,
        "folder_features": [],
    }
    assert (state.title, state.subject, state.branch) == ("User Login", LOGIN, "feat/user-login")
    assert (state.head, bench.branch) == (bench.head, "feat/user-login")


def test_a_task_without_tests_has_no_phases(bench):
    bench.saved_feature(LOGIN, "Add User model", "Add the page (no tests)")
    workflow = bench.start()
    plan = workflow.state.plan
    assert [path.rpartition("/")[2] for path in plan.children("task_execution/1")] == ["red", "green", "refactor"]
    assert plan.children("task_execution/2") == ()
    assert plan.step("task_execution/2").name == "Add the page"


def test_ticked_tasks_are_skipped_and_the_first_open_one_is_begun(bench):
    bench.saved_feature(LOGIN, "x Add User model", "Add hashing", "x Add a page", "Add logout")
    workflow = bench.start()
    assert tasks(workflow) == {
        "Add User model": "skipped",
        "Add hashing": "active",
        "Add a page": "skipped",
        "Add logout": "pending",
    }
    assert workflow.state.step("task_execution/1").reason == "ticked in the feature file"
    assert queries.current(workflow.state) == "task_execution/2/red"


def test_a_folder_is_one_workflow_with_its_files_in_order(bench):
    for name, title in (("10-last", "Last"), ("2-second", "Second"), ("01-first", "First"), ("zebra", "Zebra")):
        bench.feature(f"features/auth/{name}.md", f"Task of {title} (no tests)", title=title)
    bench.write("features/auth/README.md", "About these features.\n")
    bench.write("features/auth/deeper/other.md", "not looked at\n")
    bench.save()
    state = bench.start("dev", "features/auth/").state
    below = state.plan.children("task_execution")
    assert [state.plan.step(path).name for path in below] == ["First", "Second", "Last", "Zebra"]
    files = ["01-first.md", "2-second.md", "10-last.md", "zebra.md"]
    listed = [one["file"] for one in state.context["folder_features"]]
    assert listed == [f"features/auth/{name}" for name in files]
    assert (state.context["folder_mode"], state.context["folder_path"]) == (True, "features/auth/")
    assert (bench.branch, state.title) == ("feat/auth", "Auth")


def test_a_feature_of_a_folder_that_is_ticked_all_through_is_over(bench):
    bench.feature("features/auth/1-in.md", "x Add a form", "x Add a page", title="In")
    bench.feature("features/auth/2-out.md", "Add a link (no tests)", title="Out")
    bench.save()
    workflow = bench.start("dev", "features/auth/")
    assert workflow.state.step("task_execution/1-in").status == "skipped"
    assert queries.current(workflow.state) == "task_execution/2-out/1"
    shown = plainjson.parse((bench.root / f".claude/workflow-state/active/{workflow.id}.json").read_bytes())
    assert [one["status"] for one in shown["context"]["folder_features"]] == ["completed", "in_progress"]
    assert shown["context"]["feature_file"] == "features/auth/2-out.md"
    assert [task["description"] for task in shown["tasks"]] == ["Add a link"]


def test_two_files_whose_names_give_the_same_id_are_two_features(bench):
    bench.feature("features/a/log in.md", "One (no tests)", title="First")
    bench.feature("features/a/log+in.md", "Two (no tests)", title="Second")
    bench.save()
    workflow = bench.start("dev", "features/a/")
    assert workflow.state.plan.children("task_execution") == ("task_execution/log-in", "task_execution/log-in-2")
    bench.write("one.py", "1\n")
    workflow.done("task_execution/log-in/1")
    assert "- [x] One" in bench.read("features/a/log in.md")
    assert "- [ ] Two" in bench.read("features/a/log+in.md")


def test_a_folder_without_feature_files_is_not_found(bench):
    bench.write("features/empty/README.md", "nothing here\n")
    bench.save()
    assert refused(bench, subject="features/empty").code == "no_feature"


def test_what_is_not_there_is_not_found(bench):
    assert refused(bench, subject="features/none.md").code == "no_feature"


def test_a_feature_is_needed(bench):
    assert refused(bench, subject="").code == "no_subject"
    assert refused(bench, "tdd", "").code == "no_task"


def test_what_is_not_a_feature_file_is_refused_with_all_its_mistakes(bench):
    bench.write("notes.md", "Just some notes.\n")
    bench.save()
    refusal = refused(bench, subject="notes.md")
    assert refusal.code == "bad_feature"
    mistakes: Any = refusal.facts["mistakes"]
    assert [one["where"] for one in mistakes] == ["notes.md:1"]


def test_outside_of_git_nothing_starts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("# Feature: A\n\n## Tasks\n- [ ] One\n")
    for definition, subject in (("dev", "a.md"), ("tdd", "Add a form")):
        with pytest.raises(UsageError) as caught:
            Bench(tmp_path).start(definition, subject)
        assert (caught.value.code, caught.value.remedy) == ("no_repository", "git init")
    assert [path.name for path in tmp_path.iterdir()] == ["a.md"]


def test_the_branch_can_be_named(bench):
    bench.saved_feature()
    state = bench.start(branch="work/login-2").state
    assert (bench.branch, state.branch) == ("work/login-2", "work/login-2")


@pytest.mark.parametrize("name", ["-f", "a..b", "a b", "x.lock", "HEAD", "ü", "a" * 201])
def test_a_name_that_cannot_be_a_branch_is_refused(bench, name):
    bench.saved_feature()
    assert refused(bench, branch=name).code == "bad_branch_name"


def test_an_existing_branch_that_differs_is_refused_and_nothing_is_changed(bench):
    bench.saved_feature()
    bench.git("switch", "-q", "-c", "feat/user-login")
    bench.write("other.py", "1\n")
    bench.save("something else")
    bench.git("switch", "-q", "main")
    refusal = refused(bench)
    assert refusal.code == "branch_exists"
    assert isinstance(refusal, Refused)
    assert not (bench.root / ".holdfast").exists()
    assert not (bench.root / ".claude").exists()
    bench.git(*str(refusal.remedies[0]).split()[1:])
    assert bench.start().state.branch == "feat/user-login"


def test_an_existing_branch_at_the_same_commit_is_used(bench):
    bench.saved_feature()
    bench.git("branch", "feat/user-login")
    workflow = bench.start()
    assert bench.branch == "feat/user-login"
    assert workflow.state.step("create_branch").status == "done"


def test_on_the_branch_itself_nothing_is_switched(bench):
    bench.saved_feature()
    bench.git("switch", "-q", "-c", "feat/user-login")
    bench.write("mine.py", "1\n")
    bench.save("begun before")
    assert bench.start().said == ()
    assert bench.branch == "feat/user-login"


def test_a_dirty_tree_comes_along_as_it_is(bench):
    bench.saved_feature()
    bench.write("README.md", "Changed.\n")
    bench.write("new.txt", "new\n")
    bench.git("add", "new.txt")
    before = bench.git("status", "--porcelain", "README.md", "new.txt")
    state = bench.start().state
    assert bench.git("status", "--porcelain", "README.md", "new.txt") == before
    assert set(state.dirt) == {"README.md", "new.txt"}


def test_before_the_first_commit_there_is_a_branch_too(tmp_path, monkeypatch):
    young = Bench(tmp_path / "young")
    young.git("init", "-q", "-b", "main")
    monkeypatch.chdir(young.root)
    young.feature(LOGIN, "Add a form (no tests)")
    workflow = young.start()
    assert (young.git("symbolic-ref", "--short", "HEAD"), workflow.state.head) == ("feat/user-login", None)
    young.write("form.py", "1\n")
    workflow.done("task_execution/1")
    assert workflow.state.step("task_execution/1").data["commit_sha"] == young.head
    assert young.git("ls-files") == "form.py"


def cycle(bench: Bench, subject: str = "", **context) -> Workflow:
    return bench.start("tdd", subject, context={"test_command": "true", **context})


def test_a_cycle_is_started_by_the_text_of_a_task(bench):
    state = cycle(bench, task="Add login").state
    assert (state.title, state.subject) == ("Add login", "Add login")
    assert state.context == {"task_description": "Add login", "feature_file": None, "task_index": None}
    assert queries.current(state) == "red"
    assert (state.branch, bench.branch) == ("main", "main")


def test_a_cycle_is_started_by_its_subject(bench):
    assert cycle(bench, "Add login").state.context["task_description"] == "Add login"
    assert cycle(bench, "Add logout").id == shell_id("Add logout", "tdd")


def test_a_cycle_is_started_by_a_feature_file_and_the_number_of_a_task(bench):
    bench.saved_feature(LOGIN, "x Add User model", "Add login", "Add logout")
    state = cycle(bench, feature_file=LOGIN, task_index=3).state
    assert state.context == {"task_description": "Add logout", "feature_file": LOGIN, "task_index": 3}
    assert (state.id, state.title) == (shell_id(LOGIN, "tdd"), "Add logout")


def test_a_cycle_of_a_feature_file_takes_the_first_open_task(bench):
    bench.saved_feature(LOGIN, "x Add User model", "Add login", "Add logout")
    state = cycle(bench, LOGIN).state
    assert (state.context["task_description"], state.context["task_index"]) == ("Add login", 2)


def test_a_cycle_knows_what_the_file_says_below_its_task(bench):
    bench.write(LOGIN, "# F\n## Tasks\n- [ ] Add login\n  - by name\n- [ ] Add logout\n")
    bench.save()
    workflow = cycle(bench, feature_file=LOGIN)
    assert workflow.briefing().task.text.endswith("\n\n- by name")
    assert "task_details" not in cycle(bench, feature_file=LOGIN, task_index=2, task="Add logout").state.context


def test_a_cycle_with_text_remembers_the_feature_it_is_part_of(bench):
    bench.saved_feature(LOGIN, "Add User model", "Add login")
    state = cycle(bench, task="Only the token", feature_file=f"./{LOGIN}", task_index=2).state
    assert state.context == {"task_description": "Only the token", "feature_file": LOGIN, "task_index": 2}


@pytest.mark.parametrize("number", [0, -1, 9, "2", True, 1.5])
def test_a_number_of_no_task_is_refused(bench, number):
    bench.saved_feature(LOGIN, "Add User model", "Add login")
    context = {"feature_file": LOGIN, "task_index": number, "test_command": "true"}
    assert refused(bench, "tdd", "", context=context).code == "bad_number"


@pytest.mark.parametrize("command", ["", "'unclosed", "a\0b", ["true"], {"run": "true"}, "   "])
def test_a_test_command_that_is_none_is_refused(bench, command):
    assert refused(bench, "tdd", "Add login", context={"test_command": command}).code == "bad_command"


def test_a_test_command_is_split_like_a_shell_would_and_not_kept_as_context(bench):
    bench.saved_feature()
    workflow = bench.start(context={"test_command": "python -m pytest -k 'a b' -v", "colour": "blue"})
    found = checks(workflow)
    assert found["task_execution/1/red:test_fails"] == ("python", "-m", "pytest", "-k", "a b", "-v")
    assert found["verification:test"] == found["task_execution/1/red:test_fails"]
    assert "test_command" not in workflow.state.context
    assert workflow.state.context["colour"] == "blue"


def test_a_cycle_starts_without_a_command_and_goes_on_when_there_is_one(bench):
    workflow = bench.start("tdd", "Add login")
    with pytest.raises(Refused) as caught:
        workflow.done(test="test_login")
    assert "Holdfast has no test command" in caught.value.message
    bench.write("pytest.ini", "")
    with pytest.raises(Refused) as caught:
        workflow.done(test="test_login")
    assert "'test_fails' failed" in caught.value.message
    assert workflow.state.plan.step("red").check("test_fails").source == "pytest.ini"


def test_commands_are_found_in_the_project(bench):
    bench.write("pytest.ini", "")
    bench.saved_feature()
    workflow = bench.start()
    test = workflow.state.plan.step("task_execution/1/red").check("test_fails")
    assert (test.run, test.source, test.run_by) == (("python3", "-m", "pytest", "-v"), "pytest.ini", "engine")
    lint = workflow.state.plan.step("verification").check("lint")
    assert (lint.run, lint.run_by) == ((), "any")


def test_a_mistake_in_the_projects_configuration_is_an_error(bench):
    bench.write(".holdfast/config.toml", "[commands]\ntest = 3\n")
    bench.saved_feature()
    refusal = refused(bench)
    assert (refusal.code, "list of words" in refusal.message) == ("bad_config", True)


def test_a_definition_of_ones_own_uses_the_projects_commands(bench):
    bench.write(".holdfast/config.toml", '[commands]\nlint = ["make", "lint"]\n')
    asked = '[{ name = "clean", uses = "lint" }, { name = "test", uses = "test" }]'
    bench.write(".holdfast/workflows/own.toml", f'name = "own"\n[[step]]\nid = "a"\nchecks = {asked}\n')
    bench.save()
    step = bench.start("own", "x").state.plan.step("a")
    assert (step.check("clean").run, step.check("clean").source) == (("make", "lint"), ".holdfast/config.toml")
    assert (step.check("clean").run_by, step.check("test").run_by) == ("engine", "engine")


def test_a_definition_may_say_that_reports_of_tests_count(bench):
    asked = '[{ name = "test", uses = "test", run_by = "any" }]'
    bench.write(".holdfast/workflows/own.toml", f'name = "own"\nadvance = true\n[[step]]\nid = "a"\nchecks = {asked}\n')
    bench.save()
    assert bench.start("own", "x").check("test", passed=True).run_by == "reported"


def test_a_check_that_only_the_engine_may_run_says_what_is_missing(bench):
    bench.write(
        ".holdfast/workflows/own.toml",
        'name = "own"\n[[step]]\nid = "a"\nchecks = [{ name = "clean", uses = "lint", run_by = "engine" }]\n',
    )
    bench.save()
    workflow = bench.start("own", "x").begin("a")
    with pytest.raises(Refused) as caught:
        workflow.done("a")
    ways = [str(one) for one in caught.value.remedies]
    assert ways[0] == "holdfast set lint_command='COMMAND'"
    assert "[commands.lint]" in ways[1]
    assert caught.value.remedies[2].who == "person"
    trust_file(bench.open(), str(bench.root / ".holdfast/workflows/own.toml"))
    workflow.record({"lint_command": "true"})
    assert workflow.done("a").state.step("a").evidence["clean"].run_by == "engine"


def test_a_definition_of_ones_own_loads_a_feature(bench):
    bench.write(".holdfast/workflows/mine.toml", MINE)
    bench.write("pytest.ini", "")
    bench.saved_feature(LOGIN, "x Old", "Add login", "Write docs (no tests)")
    workflow = bench.start("mine")
    state = workflow.state
    assert (state.id, state.title, state.loads) == (shell_id(LOGIN, "mine"), "User Login", "feature")
    assert state.plan.children("work") == ("work/1", "work/2", "work/3")
    assert state.plan.children("work/2") == ("work/2/draft",)
    assert state.plan.step("work/2").check("tests").run == ("python3", "-m", "pytest", "-v")
    assert tasks(workflow)["Old"] == "skipped"
    assert bench.branch == "main"


def test_tasks_that_were_written_into_the_file_since_are_taken_up(bench):
    bench.saved_feature(LOGIN, "Add login", "Write docs (no tests)")
    workflow = bench.start()
    bench.feature(LOGIN, "Add login", "x Was done elsewhere", "Write docs (no tests)", "Add logout", "Tidy (no tests)")
    project = bench.open()
    again = project.workflow()
    project.reread(again)
    plan = again.state.plan
    assert [plan.step(path).name for path in plan.children("task_execution")] == [
        "Add login",
        "Write docs",
        "Add logout",
        "Tidy",
    ]
    assert plan.children("task_execution/3") == tuple(f"task_execution/3/{p}" for p in ("red", "green", "refactor"))
    assert plan.children("task_execution/4") == ()
    assert plan.step("task_execution/3/red").check("test_fails")
    revision = again.state.revision
    project.reread(again)
    assert again.state.revision == revision
    assert again.ulid == workflow.ulid


def test_a_task_that_was_taken_up_later_has_the_projects_command(bench):
    bench.write("pytest.ini", "")
    bench.saved_feature(LOGIN, "Add login")
    bench.start()
    bench.feature(LOGIN, "Add login", "Add logout")
    project = bench.open()
    workflow = project.workflow()
    project.reread(workflow)
    assert checks(workflow)["task_execution/2/red:test_fails"] == ("python3", "-m", "pytest", "-v")


def test_new_tasks_of_a_folder_go_to_their_features(bench):
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", title="In")
    bench.feature("features/auth/2-out.md", "Add a link (no tests)", title="Out")
    bench.save()
    bench.start("dev", "features/auth/")
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", "Add a page", title="In")
    bench.feature("features/auth/2-out.md", "Add a link (no tests)", "Add more", title="Out")
    project = bench.open()
    workflow = project.workflow()
    project.reread(workflow)
    expected = {"Add a form": "active", "Add a page": "pending", "Add a link": "pending", "Add more": "pending"}
    assert tasks(workflow) == expected
    assert workflow.state.plan.step("task_execution/1-in/2").name == "Add a page"


def test_a_task_that_was_reworded_keeps_its_place(bench):
    bench.saved_feature(LOGIN, "Add login (no tests)", "Add logout (no tests)")
    bench.start()
    bench.feature(LOGIN, "Add a login form (no tests)", "Add logout (no tests)")
    project = bench.open()
    workflow = project.workflow()
    project.reread(workflow)
    assert tasks(workflow) == {"Add a login form": "active", "Add logout": "pending"}
    bench.write("form.py", "1\n")
    workflow.done("task_execution/1")
    assert "- [x] Add a login form" in bench.read(LOGIN)


def test_a_file_that_came_into_the_folder_since_is_one_more_feature(bench):
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", title="In")
    bench.save()
    bench.start("dev", "features/auth/")
    bench.feature("features/auth/2-out.md", "x Was there", "Add a link (no tests)", title="Out")
    project = bench.open()
    workflow = project.workflow()
    project.reread(workflow)
    plan = workflow.state.plan
    assert plan.children("task_execution") == ("task_execution/1-in", "task_execution/2-out")
    listed = [one["file"] for one in workflow.state.context["folder_features"]]
    assert listed == ["features/auth/1-in.md", "features/auth/2-out.md"]
    bench.write("form.py", "1\n")
    workflow.done("task_execution/1-in/1")
    assert queries.current(workflow.state) == "task_execution/2-out/2"


@pytest.mark.parametrize("broken", ["no feature any more\n", None])
def test_a_feature_file_that_became_unreadable_does_not_stop_the_work(bench, broken):
    bench.saved_feature(LOGIN, "Add login")
    bench.start()
    if broken is None:
        (bench.root / LOGIN).unlink()
    else:
        bench.write(LOGIN, broken)
    project = bench.open()
    project.reread(project.workflow())
    assert tasks(project.workflow()) == {"Add login": "active"}


def reread(bench: Bench, kind: str = "agent") -> tuple[Workflow, Taken]:
    project = bench.open(kind)
    workflow = project.workflow()
    return workflow, project.reread(workflow)


def test_what_changed_in_the_file_is_listed(bench):
    bench.saved_feature(LOGIN, "Add the login form", "Write docs (no tests)", "Add logout")
    bench.start()
    text = bench.read(LOGIN).replace("Add the login form", "Add a login form\n  - with a name")
    text = text.replace("docs (no tests)", "docs").replace("- [ ] Add logout", "- [x] Add logout")
    bench.write(LOGIN, f"{text}- [ ] Remember me\n- [x] Old\n")
    workflow, taken = reread(bench)
    assert taken.said == (
        "task 1 is reworded: 'Add the login form' is 'Add a login form' now",
        "the description of task 1 is changed",
        "task 2 needs tests now",
        f"task 3 is ticked in {LOGIN}, and is not done: its gates still hold",
        "task 4 is new: Remember me",
        f"'Old' is new in {LOGIN} and ticked: nothing is left to do",
    )
    assert taken.loosened == ()
    plan = workflow.state.plan
    assert plan.step("task_execution/1").description == "- with a name"
    assert plan.children("task_execution/2")[0] == "task_execution/2/red"
    assert workflow.state.step("task_execution/3").status == "pending"


def test_a_task_that_gets_tests_while_it_is_worked_on_begins_with_its_test(bench):
    bench.saved_feature(LOGIN, "Add login (no tests)")
    bench.start()
    bench.feature(LOGIN, "Add login")
    workflow, _ = reread(bench)
    assert queries.current(workflow.state) == "task_execution/1/red"
    bench.write("form.py", "1\n")
    with pytest.raises(Refused):
        workflow.done("task_execution/1")


def test_an_agent_that_marks_a_task_as_untested_or_deletes_it_passes_no_gate(bench):
    bench.saved_feature(LOGIN, "Add login", "Add logout", "Write docs (no tests)")
    bench.start()
    bench.feature(LOGIN, "Add login (no tests)", "Write docs (no tests)")
    workflow, taken = reread(bench)
    assert [(path, step is None) for path, step, _ in taken.loosened] == [
        ("task_execution/1", False),
        ("task_execution/2", True),
    ]
    assert tasks(workflow) == {"Add login": "active", "Add logout": "pending", "Write docs": "pending"}
    assert workflow.state.plan.children("task_execution/1")
    with pytest.raises(Refused) as refusal:
        bench.open().loosen(workflow, taken)
    assert refusal.value.code == "person_needed"


def test_what_a_person_takes_out_stays_known(bench):
    bench.saved_feature(LOGIN, "Add login", "Add logout", "Write docs (no tests)")
    bench.start()
    bench.feature(LOGIN, "Add login (no tests)", "Write docs (no tests)")
    project = bench.open("human")
    workflow = project.workflow()
    project.loosen(workflow, project.reread(workflow))
    assert tasks(workflow) == {"Add login": "active", "Write docs": "pending"}
    assert workflow.state.plan.children("task_execution/1") == ()
    said = f"removed: task 2, 'Add logout', is not in {LOGIN} any more"
    assert workflow.status()["skipped"] == {"task_execution/2": said}
    assert reread(bench)[1] == Taken()
    with pytest.raises(UsageError):
        workflow.record({"removed_tasks": []}, "task_execution")
    bench.feature(LOGIN, "Add login (no tests)", "Add logout", "Write docs (no tests)")
    assert tasks(reread(bench)[0])["Add logout"] == "pending"


@pytest.mark.parametrize("how", ["committed", "staged", "on the disk"])
def test_a_feature_file_that_was_moved_is_followed(bench, how):
    bench.saved_feature(LOGIN, "Add login (no tests)", "Add logout (no tests)")
    started = bench.start()
    new = "features/sign-in.md"
    text = bench.read(LOGIN)
    bench.git("mv", LOGIN, new) if how != "on the disk" else (bench.root / LOGIN).rename(bench.root / new)
    bench.write(new, f"{text}- [ ] Remember me (no tests)\n")
    if how == "committed":
        bench.git("add", "-A")
        bench.git("commit", "-q", "-m", "Rename", "--", "features")
    assert bench.open().find("dev", new).ulid == started.ulid
    before = bench.git("status", "--porcelain")
    workflow, taken = reread(bench)
    assert taken.said == (f"{LOGIN} is {new} now", "task 3 is new: Remember me")
    assert bench.git("status", "--porcelain") == before
    bench.write("form.py", "1\n")
    workflow.done("task_execution/1")
    assert "- [x] Add login" in bench.read(new)


def test_a_moved_file_of_a_folder_is_no_new_feature(bench):
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", title="In")
    bench.feature("features/auth/2-out.md", "Add a link (no tests)", "Add more (no tests)", title="Out")
    bench.save()
    bench.start("dev", "features/auth/")
    bench.git("mv", "features/auth/2-out.md", "features/auth/2-leave.md")
    workflow, taken = reread(bench)
    assert taken.said == ("features/auth/2-out.md is features/auth/2-leave.md now",)
    assert [one["file"] for one in workflow.state.context["folder_features"]][1] == "features/auth/2-leave.md"
    assert len(workflow.state.plan.children("task_execution")) == 2


REWRITTEN = (
    "# Sign in\n\n> Nothing of the text is as it was before.\n\n## Context\n\nMany lines\nthat git\nnever saw.\n\n"
    "## Tasks\n\n- [ ] Add a form (no tests)\n- [ ] Add a link to it (no tests)\n- [ ] Add a page (no tests)\n"
)


@pytest.mark.parametrize("how", ["committed", "staged", "on the disk", "untracked"])
@pytest.mark.parametrize("subject", ["features/auth/1-in.md", "features/auth/"])
def test_a_file_that_was_moved_and_rewritten_is_known_by_its_tasks(bench, how, subject):
    old, new = "features/auth/1-in.md", "features/auth/3-sign-in.md"
    bench.feature(old, "Add a form (no tests)", "Add a link (no tests)", "Add a page (no tests)", title="In")
    bench.feature("features/other.md", "Add a form (no tests)", "Add a page (no tests)", title="Other")
    bench.git("add", "-A") if how != "untracked" else bench.git("add", "features/other.md")
    bench.git("commit", "-q", "-m", "Features")
    bench.start("dev", subject)
    (bench.root / old).unlink()
    bench.write(new, REWRITTEN)
    bench.git("add", "-A", "features") if how in ("committed", "staged") else None
    if how == "committed":
        bench.git("commit", "-q", "-m", "Rename", "--", "features")
    workflow, taken = reread(bench)
    assert taken.said == (
        f"{old} is {new} now",
        "task 2 is reworded: 'Add a link' is 'Add a link to it' now",
    )
    assert list(tasks(workflow)) == ["Add a form", "Add a link to it", "Add a page"]
    assert reread(bench)[1] == Taken()


def test_a_new_file_with_other_tasks_does_not_take_the_place_of_one_that_is_gone(bench):
    bench.saved_feature(LOGIN, "Add login (no tests)", "Add logout (no tests)", "Write docs (no tests)")
    bench.start()
    (bench.root / LOGIN).unlink()
    bench.feature("features/profile.md", "Add a picture (no tests)", "Write docs (no tests)", title="Profile")
    _, taken = reread(bench)
    assert taken.said == (f"the tasks stay as they are: there is no {LOGIN}",)


def test_a_new_file_of_a_folder_with_a_mistake_is_said(bench):
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", title="In")
    bench.save()
    bench.start("dev", "features/auth/")
    bench.write("features/auth/2-out.md", "# Out\n\n## Tasks\n\n- [ ] Leave\n- [] Stay\n")
    bench.write("features/auth/glossary.md", "# Words\n")
    _, taken = reread(bench)
    assert len(taken.said) == 1
    assert taken.said[0].startswith("features/auth/2-out.md is new and cannot be read: 1 mistake")


def test_a_file_that_cannot_be_read_any_more_is_said(bench):
    bench.saved_feature(LOGIN, "Add login")
    bench.start()
    bench.write(LOGIN, "# Login\n\nNothing left.\n")
    _, taken = reread(bench)
    assert taken.loosened == ()
    assert taken.said[0].startswith("the tasks stay as they are: 1 mistake in the feature file")


def test_a_task_that_an_edit_of_the_document_finishes_ticks_its_box(bench):
    bench.saved_feature(LOGIN, "Add login (no tests)", "Add logout")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.git("add", "form.py")
    bench.git("commit", "-q", "-m", "A form")
    path = f".claude/workflow-state/active/{workflow.id}.json"
    document = plainjson.parse(bench.read(path).encode())
    for number in (0, 1):
        document["tasks"][number].update(status="completed", commit_sha=bench.head)
    bench.write(path, json.dumps(document))
    again = bench.open().workflow()
    assert tasks(again) == {"Add login": "done", "Add logout": "active"}
    assert "- [x] Add login (no tests)\n- [ ] Add logout" in bench.read(LOGIN)


def concerning(project: Project, subject: str) -> str | None:
    found = project.find("dev", subject)
    return found.id if found else None


def test_work_on_a_feature_is_found_by_its_folder_and_the_other_way_round(bench):
    bench.feature("features/auth/1-in.md", title="In")
    bench.feature("features/auth/2-out.md", title="Out")
    bench.feature("features/authors/1-in.md", title="Other")
    bench.save()
    single = bench.start("dev", "features/auth/1-in.md").id
    assert concerning(bench.open(), "features/auth/") == single
    assert concerning(bench.open(), "features/auth/2-out.md") is None
    assert concerning(bench.open(), "features/authors/") is None
    bench.open("human").workflow().cancel()
    bench.git("switch", "-q", "main")
    folder = bench.start("dev", "features/auth/").id
    assert concerning(bench.open(), "features/auth/2-out.md") == folder
    assert concerning(bench.open(), "features/authors/1-in.md") is None


def test_a_fresh_start_gives_up_the_work_that_was_in_its_way(bench):
    """Also when that is the work on the folder which the feature is part of."""
    bench.feature("features/auth/1-in.md", "Add a form (no tests)", title="In")
    bench.save()
    folder = bench.start("dev", "features/auth/")
    assert bench.open().find("dev", "features/auth/1-in.md").ulid == folder.ulid
    made = bench.open().start("dev", "features/auth/1-in.md", fresh=True)
    assert [workflow.ulid for workflow in bench.open().list(status="active")] == [made.ulid]


def test_a_subject_that_is_no_text_for_a_path_is_refused(bench):
    with pytest.raises(UsageError):
        bench.start("dev", "a\0b.md")
    with pytest.raises((UsageError, NotFound)):
        bench.start("dev", "x" * 1001)


def test_a_task_that_became_another_one_is_not_taken_for_reworded(bench):
    """Else an agent could take a task away by writing a smaller one in its place."""
    bench.feature(LOGIN, "Log in", "Rate-limit logins")
    workflow = bench.start()
    bench.write(LOGIN, bench.read(LOGIN).replace("Rate-limit logins", "Correct a typo"))
    taken = bench.open().reread(workflow)
    assert any("Rate-limit logins" in why for *_, why in taken.loosened)
    assert not any("reworded" in said for said in taken.said)


def test_a_longer_text_for_the_same_task_is_reworded_wherever_others_stand(bench):
    bench.feature(LOGIN, "Shout", "Readme")
    workflow = bench.start()
    text = bench.read(LOGIN).replace("- [ ] Readme", "- [ ] Whisper\n- [ ] Docs").replace("Shout", "Shout very loudly")
    bench.write(LOGIN, text)
    taken = bench.open().reread(workflow)
    assert any("Shout very loudly" in said for said in taken.said)
    assert [("Readme" in why, "Shout" in why) for *_, why in taken.loosened] == [(True, False)]
