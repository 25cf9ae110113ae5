"""Where a test-driven workflow could be stuck: each refusal has a way on, and none is a way around a person."""

from __future__ import annotations

import json
import os
import sys

import pytest

from tests.workbench import LOGIN, Bench

RED = "task_execution/1/red"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    made.saved_feature(LOGIN, "One", "Two", "Three")
    return made


@pytest.fixture
def started(bench) -> Bench:
    bench.ok("start", "dev", LOGIN)
    return bench


def tasks(bench: Bench) -> list[tuple[str, bool, str]]:
    """The text of each task, whether it has test phases, and its status."""
    state = bench.open().workflow().state
    found = [(state.plan.step(path), state.step(path)) for path in state.plan.of_kind("task")]
    return [(step.name, bool(step.steps), progress.status) for step, progress in found]


def test_the_test_of_red_that_is_gone_leads_back_to_red_and_its_failure_is_over_then(started):
    started.write("test_a.py", "def test_a():\n    assert False\n")
    started.ok("done", "--test", "test_a")
    started.write("test_a.py", "def test_b():\n    assert True\n")
    refused = started.agent("done", "--json").error
    assert "was deleted" in refused["message"]
    assert f"holdfast reopen {RED}" in [one["command"] for one in refused["remedies"]]
    started.ok("reopen", RED)
    started.write("test_a.py", "def test_b():\n    assert False\n")
    assert "was deleted" not in started.ok("done", "--test", "test_b").out
    said = " ".join(started.ok("next").out.split())
    assert "was deleted" not in said
    assert "has not run in this try" in said


def test_a_test_that_was_changed_after_red_leads_back_to_red(started):
    started.write("test_a.py", "def test_a():\n    assert False\n")
    started.ok("done", "--test", "test_a")
    started.write("test_a.py", "def test_a():\n    assert True\n")
    refused = started.agent("done", "--json").error
    assert "it was changed after it was red" in refused["message"]
    assert f"holdfast reopen {RED}" in [one["command"] for one in refused["remedies"]]


def test_the_way_by_the_settings_says_that_a_person_has_to_trust_them(bench):
    bench.git("rm", "-q", "pyproject.toml")
    bench.save()
    bench.ok("start", "dev", LOGIN)
    refused = bench.agent("done", "--json").error
    by_config = [one for one in refused["remedies"] if ">> .holdfast/config.toml" in one["command"]]
    assert [(one["who"], one["text"]) for one in by_config] == [
        ("person", "to configure it"),
        ("person", "to allow reports"),
    ]
    assert all(one["command"].endswith(" && holdfast trust .holdfast/config.toml") for one in by_config)


def test_a_command_in_another_worktree_says_first_where_it_acts(started, tmp_path):
    other = tmp_path / "other"
    started.git("worktree", "add", "-q", "-b", "side", str(other))
    id = json.loads(started.agent("next", "--json").out)["workflow_id"]
    said = f"is of another worktree: this acts in {started.root}"
    for words in (("status",), ("next",), ("note", "hello")):
        assert started.ok(*words, cwd=other).out.splitlines()[0].endswith(said), words
        assert said not in started.ok(*words).out
        assert started.ok(*words, "-w", id, cwd=other).out.splitlines()[0].endswith(said), words
    refused = started.agent("done", cwd=other)
    assert said in refused.err
    assert said in json.loads(started.agent("next", "--json", cwd=other).out)["notice"][0]


@pytest.mark.parametrize("fresh_start", [("start", "dev", LOGIN, "--fresh"), ("cancel", "start", "dev", LOGIN)])
def test_what_waits_for_a_person_goes_along_into_a_fresh_start(started, fresh_start):
    started.write(LOGIN, "# Feature: User Login\n\n## Tasks\n\n- [ ] One (no tests)\n- [x] Two\n")
    if fresh_start[0] == "cancel":
        started.ok("cancel")
    said = started.ok(*(word for word in fresh_start if word != "cancel")).out
    assert [(name, tested) for name, tested, _ in tasks(started)] == [("One", True), ("Two", True), ("Three", True)]
    assert all(status in ("active", "pending") for *_, status in tasks(started))
    assert "'One', is marked '(no tests)'" in said
    assert "'Three', is not in features/auth/user-login.md any more: not applied, a person decides" in said
    assert "task 2 is ticked" in said
    alerts = json.loads(started.ok("status", "--json").out)["alerts"]
    assert [one["code"] for one in alerts] == ["loosening", "loosening"]


def test_a_fresh_start_of_a_folder_keeps_what_waits_for_a_person(bench):
    bench.feature("features/more/a.md", "One", "Two", title="A")
    bench.saved_feature("features/more/b.md", "x Three", title="B")
    bench.ok("start", "dev", "features/more")
    bench.feature("features/more/a.md", "x One", title="A")
    bench.ok("start", "dev", "features/more", "--fresh")
    assert [(name, tested) for name, tested, _ in tasks(bench)] == [("One", True), ("Two", True), ("Three", False)]
    assert [status for *_, status in tasks(bench)][-1] == "skipped"


def test_a_person_decides_by_a_fresh_start(started):
    started.write(LOGIN, "# Feature: User Login\n\n## Tasks\n\n- [ ] One (no tests)\n")
    assert started.person("start", "dev", LOGIN, "--fresh").code == 0
    assert [(name, tested) for name, tested, _ in tasks(started)] == [("One", False)]


def test_a_task_that_was_done_stays_done_in_a_fresh_start(started):
    started.write("test_a.py", "from code_ import one\ndef test_a():\n    assert one\n")
    started.ok("done", "--test", "test_a")
    started.write("code_.py", "one = 1\n")
    started.ok("done")
    started.ok("done")
    started.ok("start", "dev", LOGIN, "--fresh")
    assert [status for *_, status in tasks(started)] == ["skipped", "active", "pending"]


def test_a_fresh_start_by_an_agent_keeps_the_test_command_of_a_person(started):
    assert started.person("set", "test_command=sh run.sh").code == 0
    said = started.ok("start", "dev", LOGIN, "--fresh").out
    assert "test: sh run.sh (set by human" in said
    said = started.ok("start", "dev", LOGIN, "--fresh", "--set", "test_command=true").out
    assert "the test command stays as it was in the run before: a person changes it" in said
    assert "test: sh run.sh (set by human" in said


def test_a_fresh_start_by_an_agent_does_not_replace_a_command_that_was_found(started):
    said = started.ok("start", "dev", LOGIN, "--fresh", "--set", "test_command=true").out
    assert "the test command stays as it was in the run before" in said
    assert "test: python3 -m pytest -v (from pyproject.toml)" in said


def test_a_definition_that_shadows_a_shipped_one_is_said(bench):
    own = 'name = "dev"\n[[step]]\nid = "a"\n'
    bench.write(".holdfast/workflows/dev.toml", own)
    said = "dev is from .holdfast/workflows/dev.toml, not the shipped definition"
    assert said in bench.ok("start", "dev", "x").out
    assert said in bench.ok("status").out
    assert json.loads(bench.ok("status", "--json").out)["shadowing"] == said


def test_the_pull_request_says_that_a_definition_shadows_a_shipped_one(bench):
    bench.write(".holdfast/workflows/dev.toml", 'name = "dev"\n[[step]]\nid = "pr"\naction = "pull_request"\n')
    bench.save("a definition")
    bench.git("switch", "-q", "-c", "feat/x")
    bench.ok("start", "dev", "x")
    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    bench.ok("begin", "pr")
    bench.agent("done", "pr")
    said = next(bench.root.glob(".holdfast/checks/*/pull-request.md")).read_text()
    assert "- dev is from .holdfast/workflows/dev.toml, not the shipped definition" in said


def test_a_task_document_is_no_definition_that_shadows_another(bench):
    bench.write("plan.md", "# Task: Work\n\n## Phase 1: Build\n\n### Task 1.1: Do it\n")
    bench.ok("start", "orchestrate", "plan.md")
    assert "shipped" not in bench.ok("status").out


def test_a_definition_of_ones_own_shadows_nothing(bench):
    bench.write(".holdfast/workflows/mine.toml", 'name = "mine"\n[[step]]\nid = "a"\n')
    assert "shipped" not in bench.ok("start", "mine", "x").out + bench.ok("status").out


@pytest.mark.parametrize(("typed", "way"), [
    (("dev", LOGIN), f"holdfast start dev {LOGIN}"),
    (("/tdd", "Add", "a form"), "holdfast start tdd 'Add a form'"),
    (("tdd",), "holdfast start tdd SUBJECT"),
])  # fmt: skip
def test_a_workflow_that_is_typed_like_a_command_is_started_by_start(bench, typed, way):
    refused = bench.agent(*typed)
    assert (refused.code, refused.err) == (2, f"{typed[0]!r} is a workflow and no command: start it\n→ {way}\n")


def test_after_a_task_is_gone_status_has_the_numbers_of_the_list_of_tasks(started):
    started.feature(LOGIN, "One", "Three")
    started.person("resume", says="y")
    listed = [line.split()[1] for line in started.ok("task", "list").out.splitlines()]
    assert listed == ["task_execution/1", "task_execution/3"]
    lines = started.ok("status").out.splitlines()
    assert [line.split()[1] for line in lines if line.endswith(("One", "Three")) or " One " in line] == ["1.", "3."]


def test_what_git_cleaned_away_is_told_by_every_command_that_finds_no_workflow(started):
    started.git("clean", "-fdxq")
    for words in (("status",), ("next",), ("resume",)):
        refused = started.agent(*words)
        assert "no workflow is active here, and a journal is gone: .holdfast/journal/" in refused.err, refused
        assert "\n→ holdfast doctor · or " in refused.err
    for option in ((), ("--all",)):
        assert "⚠ a journal is gone: .holdfast/journal/" in started.ok("list", *option).out


def test_a_check_says_once_why_it_failed(started):
    started.write("tests/test_a.py", "def test_a():\n    assert True\n")
    said = started.agent("check", "test_fails", "--test", "test_a").out
    assert said.startswith("✗ test_fails failed: "), said
    assert said.count("a test that passes at once shows nothing") == 1, said


@pytest.mark.parametrize("way", ["tries", "cost", "pause"])
@pytest.mark.parametrize("cancelled", [False, True])
def test_an_agent_does_not_start_over_what_waits_for_a_persons_decision(bench, way, cancelled):
    bench.write(
        ".holdfast/workflows/c.toml",
        'name = "c"\n[bounds]\nmax_cost = "$2"\n[[step]]\nid = "one"\nretry = { max = 1 }\n',
    )
    bench.ok("start", "c", "A")
    bench.ok("begin", "one")
    if way == "tries":
        bench.ok("fail", "one", "--reason", "bad")
    elif way == "cost":
        bench.ok("agent", "spend", "3")
    else:
        assert bench.person("pause", "--reason", "stop").code == 0
    if cancelled:
        bench.ok("cancel", "--reason", "too hard")
    assert bench.agent("start", "c", "A", "--fresh", "--json").error["code"] == "person_needed"
    if cancelled:
        assert bench.agent("start", "c", "A", "--json").error["code"] == "person_needed"
    assert bench.person("start", "c", "A", "--fresh").code == 0


@pytest.fixture
def crowd(bench) -> tuple[Bench, dict[str, str]]:
    """On the branch two that know no phases and no task documents; on another branch, one of each of those."""
    ids = {}
    bench.write("Makefile", "test:\n\t@true\n")
    bench.write("plan.md", "# Task: Work\n\n## Phase 1: Build\n\n### Task 1.1: Do it\n")
    bench.ok("feature", "init")
    bench.save("workflow")

    def start(*words: str) -> None:
        ids[words[0]] = bench.ok("start", *words, "--json").json["workflow_id"]

    start("feature", "Sign in")
    start("orchestrate", "plan.md")
    bench.save("started")
    bench.git("switch", "-q", "main")
    start("dev", LOGIN)
    start("tdd", "Add a form")
    return bench, ids


@pytest.mark.parametrize(("words", "of"), [
    ("feature continue", "feature"),
    ("feature reset", "feature"),
    ("feature reset 2", "feature"),
    ("feature finalize", "feature"),
    ("review 1 --verdict approved", "feature"),
    ("orchestrator supervise on_demand", "orchestrate"),
    ("orchestrator milestone 1 --create", "orchestrate"),
    ("orchestrator iterate 1.1 --reason x", "orchestrate"),
    ("task done 1.1", "orchestrate"),
    ("task start 1.1", "orchestrate"),
    ("commit 1.1 -m x", "orchestrate"),
])  # fmt: skip
def test_only_workflows_that_can_take_a_command_are_offered(crowd, words, of):
    bench, ids = crowd
    refused = bench.agent(*words.split(), "--json").error
    offered = {name for name, id in ids.items() if any(id in one.get("command", "") for one in refused["remedies"])}
    assert offered == {of}, refused
    assert f"{ids[of]} " in refused["message"]
    bench.ok("cancel", "-w", ids["tdd"])  # now one is picked, and cannot take it either
    if words not in ("feature finalize", "review 1 --verdict approved"):
        refused = bench.agent(*words.split(), "--json").error
        assert {name for name, id in ids.items() if f" {id}" in str(refused["remedies"])} == {of}, refused


def test_a_command_of_a_system_that_no_workflow_is_of_says_so(bench):
    bench.ok("start", "dev", LOGIN)
    bench.ok("start", "tdd", "Add a form")
    refused = bench.agent("feature", "continue", "--json").error
    assert (refused["code"], refused["message"]) == ("no_workflow", "no feature workflow is active here")
    assert refused["remedy"].startswith("holdfast start feature SUBJECT")
