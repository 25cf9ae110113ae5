"""A pull request speaks of the branch that is pushed: not of files that only are in the working tree."""

from __future__ import annotations

import pytest

from holdfast.errors import Refused
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.parts import Order
from tests.forges.github.server import GitHub
from tests.trusted import trust_file
from tests.workbench import LOGIN, Bench

REPORTED = ("lint", "security_review", "code_simplifier")
BRANCH = "feat/user-login"


@pytest.fixture
def bench(tmp_path, monkeypatch, github) -> Bench:
    """The tests of the project pass where page.py has a 1."""
    made = Bench(tmp_path / "project").begun()
    made.feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)")
    made.write("check.sh", "grep -q 1 page.py\n")
    config = made.write(".holdfast/config.toml", '[commands]\ntest = ["sh", "check.sh"]\n')
    made.save("the feature")
    trust_file(made.open(), str(config))
    monkeypatch.chdir(made.root)
    github.adopt(made.root)
    made.git("push", "-q", "-f", "origin", "main")
    return made


def worked(bench: Bench, page: str = "1\n") -> Workflow:
    workflow = bench.start()
    for number, (name, text) in enumerate((("form.py", "1\n"), ("page.py", page)), 1):
        bench.write(name, text)
        workflow.done(f"task_execution/{number}")
    return workflow


def verified(workflow: Workflow) -> Workflow:
    for check in REPORTED:
        workflow.check(check, passed=True)
    return workflow.done("verification")


def test_a_pull_request_is_not_made_of_work_that_is_not_committed(bench, github: GitHub):
    workflow = worked(bench, "0\n")
    bench.write("page.py", "1\n")
    bench.write("more.py", "1\n")
    verified(workflow)
    with pytest.raises(Refused) as caught:
        workflow.done("pr_creation")
    assert (caught.value.code, caught.value.facts["paths"]) == ("uncommitted_changes", ["more.py", "page.py"])
    assert (github.opened, github.tip(BRANCH)) == ([], "")
    add, commit, again, other = caught.value.remedy.split(" · ")
    assert again == "then: holdfast done pr_creation"
    assert other == "or remove what does not belong to it, then: holdfast done pr_creation"
    assert bench.typed(add).code == 0
    assert bench.typed(commit.removeprefix("then: ").replace("TEXT", "'The page'")).code == 0
    assert bench.typed(again.removeprefix("then: ")).code == 0
    assert github.tip(BRANCH) == bench.head
    assert bench.git("show", "HEAD:page.py") == "1"


def test_what_is_taken_out_is_tested_again_and_has_to_pass_as_the_branch_has_it(bench, github: GitHub):
    workflow = worked(bench, "0\n")
    bench.write("page.py", "1\n")
    verified(workflow)
    bench.git("checkout", "--", "page.py")
    assert "passed before the tree changed" in " ".join(bench.ok("next").out.split())
    refusal = bench.agent("done", "pr_creation")
    assert refusal.code == 3
    assert "the check 'test' of verification failed" in refusal.err
    assert (github.opened, github.tip(BRANCH)) == ([], "")


def test_what_passes_again_is_told_with_the_run_of_the_branch(bench, github: GitHub):
    workflow = verified(worked(bench))
    before = workflow.state.step("verification").evidence["test"]
    bench.write("note.txt", "more\n")
    bench.save("a note")
    workflow.done("pr_creation")
    after = workflow.state.step("verification").evidence["test"]
    assert after.at > before.at
    (opened,) = github.opened
    assert f"- `test`: passed, run by Holdfast: `sh check.sh` at {after.at}" in opened.body
    assert "- `lint`: passed, reported by agent, not run by Holdfast, before the files changed\n" in opened.body


def test_files_from_before_the_workflow_are_named(bench, github: GitHub):
    bench.write("notes.txt", "mine\n")
    bench.write("draft.txt", "mine\n")
    workflow = verified(worked(bench))
    said = "run with 2 uncommitted files from before this workflow: draft.txt, notes.txt"
    assert said in " ".join(bench.ok("status").out.split())
    assert f"the checks were {said}" in bench.ok("next", "--json").out
    workflow.done("pr_creation")
    assert f"The checks were {said}.\n" in github.opened[0].body


def test_a_file_from_before_that_changed_since_is_work(bench, github: GitHub):
    bench.write("notes.txt", "mine\n")
    workflow = worked(bench)
    bench.write("notes.txt", "of the work\n")
    verified(workflow)
    with pytest.raises(Refused) as caught:
        workflow.done("pr_creation")
    assert caught.value.facts["paths"] == ["notes.txt"]
    assert github.opened == []


def test_a_feature_file_from_before_that_holdfast_ticked_is_no_work(bench, github: GitHub):
    bench.write(LOGIN, bench.read(LOGIN) + "\nMore words.\n")
    workflow = verified(worked(bench))
    workflow.done("pr_creation")
    said = f"run with 1 uncommitted file from before this workflow: {LOGIN}"
    assert f"The checks were {said}.\n" in github.opened[0].body


def line_of(github: GitHub, task: str) -> str:
    return next(line for line in github.opened[0].body.split("\n") if line.startswith(f"- [x] {task}"))


def test_what_a_task_leaves_out_of_its_commit_is_told(bench, github: GitHub):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("other.py", "1\n")
    answer = bench.ok("done", "task_execution/1", "--path", "form.py", "--json")
    assert '"not in the commit: other.py"' in answer.out
    workflow.refresh()
    bench.write("page.py", "1\n")
    workflow.done("task_execution/2")
    assert "task_execution/1: not in the commit: other.py" in " ".join(bench.ok("status").out.split())
    verified(workflow).done("pr_creation")
    assert line_of(github, "Add a form").endswith("; not in the commit: other.py")
    assert line_of(github, "Add a page").endswith(" Add a page)")


def test_a_commit_of_ones_own_that_lacks_something_is_told(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.git("add", "form.py")
    bench.git("commit", "-q", "-m", "the form")
    bench.write("form.py", "2\n")
    workflow.done("task_execution/1", order=Order(commit="HEAD"))
    assert workflow.said == ("not in the commit: form.py",)


def test_what_a_hook_changes_in_the_commit_is_told(bench, github: GitHub):
    hook = bench.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho formatted >> form.py && git add form.py\n")
    hook.chmod(0o755)
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done("task_execution/1")
    assert workflow.said[-1] == "in the commit with other content than was tested: form.py"
    hook.unlink()
    bench.write("page.py", "1\n")
    workflow.done("task_execution/2")
    verified(workflow).done("pr_creation")
    assert "with other content than was tested: form.py" in line_of(github, "Add a form")


def test_new_sources_that_git_ignores_are_told(bench):
    bench.write(".gitignore", "local_*\n*.log\ngenerated/\ndist/\n")
    bench.save("ignored")
    workflow = bench.start()
    for name in ("form.py", "local_settings.py", "run.log", "generated/deep/made.py", "dist/form.js"):
        bench.write(name, "1\n")
    workflow.done("task_execution/1")
    said = "not in the commit, because git ignores it: generated/deep/made.py, local_settings.py"
    assert workflow.said[-1] == said
    bench.write("page.py", "1\n")
    (bench.root / "local_settings.py").touch()
    workflow.done("task_execution/2")
    assert workflow.said[-1] == "not in the commit, because git ignores it: local_settings.py"


def test_a_commit_that_was_amended_or_dropped_is_told(bench, github: GitHub):
    workflow = worked(bench)
    sha = bench.head[:7]
    assert "is not in the branch" not in bench.ok("status").out
    bench.git("commit", "-q", "--amend", "-m", "Another page")
    said = f"task_execution/2: its commit {sha} is not in the branch"
    for words in (("status",), ("next",), ("resume-packet",)):
        assert said in " ".join(bench.ok(*words).out.split())
    assert said in bench.ok("next", "--json").out
    bench.git("switch", "-q", "main")
    assert (
        said.replace(sha, workflow.state.step("task_execution/1").data["commit_sha"][:7])
        not in bench.ok("status", "-w", workflow.id).out
    )
    bench.git("switch", "-q", BRANCH)
    verified(workflow.refresh()).done("pr_creation")
    assert line_of(github, "Add a page").endswith(f"({sha} is not in the branch)")


def test_an_agent_that_hands_in_by_tool_is_told_too(bench):
    from holdfast.surfaces.tools.convention import update_workflow_state
    from holdfast.surfaces.tools.shape import Watch

    bench.write(".gitignore", "local_*\n")
    bench.save("ignored")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("local_settings.py", "1\n")
    given = {"workflow_id": workflow.id, "step": "task_execution/1", "status": "completed"}
    answer = update_workflow_state(bench.open(), given, Watch())
    assert answer["said"][-1] == "not in the commit, because git ignores it: local_settings.py"


def test_who_says_that_they_made_it_meets_the_same_gates(bench):
    workflow = verified(worked(bench))
    bench.write("page.py", "0\n")
    made = Order(url="https://github.com/octo-org/octo-repo/pull/9")
    with pytest.raises(Refused) as caught:
        workflow.done("pr_creation", order=made)
    assert caught.value.code == "uncommitted_changes"
    bench.save("broken")
    with pytest.raises(Refused) as caught:
        workflow.done("pr_creation", order=made)
    assert "the check 'test' of verification failed" in caught.value.message
    bench.write("page.py", "1\n")
    bench.save("fixed")
    bench.git("push", "-q", "origin", "HEAD")
    workflow.done("pr_creation", order=made)
    assert workflow.state.step("pr_creation").data["pr_number"] == 9
