"""What Holdfast does in git when a step is handed in: which files a commit takes, and when it makes none."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from holdfast.core.remedy import told
from holdfast.errors import Conflict, HoldfastError, Refused, UsageError
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.parts import Order
from tests.workbench import LOGIN, Bench

FIRST, SECOND = "task_execution/1", "task_execution/2"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.write("notes.txt", "one\ntwo\nthree\n")
    made.saved_feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)")
    return made


def refused(bench: Bench, workflow: Workflow, step: str = FIRST, order: Order | None = None) -> HoldfastError:
    """The refusal of a hand-in; nothing may have been done or recorded."""
    before, revision = bench.everything(), workflow.state.revision
    with pytest.raises(HoldfastError) as caught:
        workflow.done(step, order=order)
    assert bench.everything() == before
    assert (workflow.refresh().state.revision, workflow.state.step(step).status) == (revision, "active")
    assert caught.value.remedy
    return caught.value


def sha(workflow: Workflow, step: str = FIRST) -> str:
    return workflow.state.step(step).data["commit_sha"]


def status(bench: Bench) -> list[str]:
    """What git calls changed, Holdfast's own files aside."""
    words = ["git", "status", "--porcelain", "--", ":!.claude", ":!.holdfast"]
    return subprocess.run(words, cwd=bench.root, check=True, capture_output=True, text=True).stdout.splitlines()


def test_a_task_is_committed_with_everything_that_belongs_to_it(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("notes.txt", "changed\n")
    (bench.root / "README.md").unlink()
    workflow.done(FIRST)
    assert sha(workflow) == bench.head
    assert workflow.said == (f"committed {bench.head[:7]}",)
    assert sorted(bench.committed()) == ["README.md", LOGIN, "form.py", "notes.txt"]
    assert status(bench) == []


def test_the_box_is_ticked_in_the_same_commit_and_no_other_byte_changes(bench):
    before = bench.read(LOGIN)
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    assert bench.read(LOGIN) == before.replace("- [ ] Add a form", "- [x] Add a form")
    assert bench.git("show", f"HEAD:{LOGIN}") == bench.read(LOGIN).strip()


def test_holdfasts_own_files_are_in_no_commit(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    listed = bench.git("ls-files").split("\n")
    assert not [name for name in listed if name.startswith((".claude/workflow-state", ".holdfast"))]


def test_the_message_is_the_task(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    assert bench.git("log", "-1", "--format=%B") == f"Add a form\n\nTask 1 of {LOGIN}"


def test_a_message_of_ones_own_is_taken_as_it_is(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST, order=Order(message="# 1: the form\n\nWith -- marks"))
    assert bench.git("log", "-1", "--format=%B") == "# 1: the form\n\nWith -- marks"


@pytest.mark.parametrize(
    ("text", "first", "rest"),
    [
        (f"{'word ' * 20}end", ("word " * 14).strip(), f"{'word ' * 6}end"),
        ("x" * 72, "x" * 72, ""),
        ("y" * 100, "y" * 72, "y" * 28),
        (f"{'z' * 72} tail", "z" * 72, "tail"),
    ],
)
def test_a_long_task_goes_on_below_the_first_line(bench, text, first, rest):
    bench.saved_feature("features/long.md", f"{text} (no tests)", title="Long")
    workflow = bench.start("dev", "features/long.md")
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    said = bench.git("log", "-1", "--format=%B").split("\n\n")
    assert said[0] == first
    assert len(said[0]) <= 72
    assert said[1:-1] == ([rest] if rest else [])
    assert said[-1] == "Task 1 of features/long.md"


def test_what_was_changed_before_the_work_began_stays_out(bench):
    bench.write("notes.txt", "mine, from before\n")
    bench.write("draft.txt", "untracked, from before\n")
    (bench.root / "README.md").unlink()
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    assert sorted(bench.committed()) == [LOGIN, "form.py"]
    assert status(bench) == [" D README.md", " M notes.txt", "?? draft.txt"]


def test_what_is_staged_stays_staged_and_out(bench):
    bench.write("notes.txt", "mine\n")
    bench.git("add", "notes.txt")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    assert bench.git("diff", "--cached", "--name-only") == "notes.txt"


def test_old_changes_that_somebody_committed_since_do_not_stand_in_the_way(bench):
    bench.write("notes.txt", "mine, from before\n")
    workflow = bench.start()
    bench.git("commit", "-q", "-m", "mine", "notes.txt")
    bench.write("notes.txt", "mine, from before\nand the work's\n")
    workflow.done(FIRST)
    assert sorted(bench.committed()) == [LOGIN, "notes.txt"]


def test_a_feature_file_that_was_changed_before_is_ticked_and_stays_out(bench):
    bench.write(LOGIN, bench.read(LOGIN) + "\nSome more words.\n")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    assert bench.committed() == ["form.py"]
    assert "- [x] Add a form" in bench.read(LOGIN)
    bench.write("page.py", "1\n")
    workflow.done(SECOND)
    assert bench.committed() == ["page.py"]
    assert "- [x] Add a page" in bench.read(LOGIN)


def test_a_file_that_was_changed_before_and_by_the_work_has_to_be_sorted_out(bench):
    bench.write("notes.txt", "mine, from before\n")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("notes.txt", "mine, from before\nand the work's\n")
    refusal = refused(bench, workflow)
    assert (refusal.code, refusal.facts["paths"]) == ("mixed_changes", ["notes.txt"])
    assert f"holdfast done {FIRST} --path PATH" in refusal.remedy
    assert f"holdfast done {FIRST} --commit SHA" in refusal.remedy
    assert "- [ ] Add a form" in bench.read(LOGIN)


def test_naming_the_paths_settles_mixed_changes(bench):
    bench.write("notes.txt", "mine, from before\n")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("notes.txt", "mine, from before\nand the work's\n")
    workflow.done(FIRST, order=Order(paths=("form.py",)))
    assert "form.py" in bench.committed()
    assert "notes.txt" not in bench.committed()
    assert (sha(workflow), bench.git("diff", "--name-only", "--", "notes.txt")) == (bench.head, "notes.txt")
    assert "- [x] Add a form" in bench.read(LOGIN)


def test_naming_paths_takes_the_tick_along(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST, order=Order(paths=("form.py",)))
    assert sorted(bench.committed()) == [LOGIN, "form.py"]


def test_naming_the_commit_settles_mixed_changes(bench):
    bench.write("notes.txt", "mine, from before\n")
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write("notes.txt", "mine, from before\nand the work's\n")
    bench.git("add", "form.py")
    bench.git("commit", "-q", "-m", "the form")
    mine = bench.head
    workflow.done(FIRST, order=Order(commit="HEAD"))
    assert (sha(workflow), bench.head) == (mine, mine)
    assert "- [x] Add a form" in bench.read(LOGIN)


def test_a_path_is_named_as_it_is_typed_where_one_stands(bench, monkeypatch):
    workflow = bench.start()
    bench.write("deep/er/form.py", "1\n")
    bench.write("deep/other.py", "1\n")
    monkeypatch.chdir(bench.root / "deep")
    workflow.done(FIRST, order=Order(paths=("er/form.py",)))
    assert "deep/er/form.py" in bench.committed()
    assert "deep/other.py" not in bench.committed()


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", ".", ""])
def test_a_path_that_is_no_file_of_the_project_is_refused(bench, path):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    assert isinstance(refused(bench, workflow, order=Order(paths=(path,))), UsageError)


def test_a_path_that_did_not_change_is_refused(bench):
    """A slip of the pen must not become a commit of the tick alone."""
    workflow = bench.start()
    bench.write("form.py", "1\n")
    for path in ("from.py", "notes.txt"):
        assert refused(bench, workflow, order=Order(paths=(path,))).code == "nothing_to_commit"


@pytest.mark.parametrize("word", ["no-such-branch", "0" * 40])
def test_a_commit_that_is_not_there_is_refused(bench, word):
    workflow = bench.start()
    assert refused(bench, workflow, order=Order(commit=word)).code == "no_commit"


def test_a_commit_of_another_branch_is_refused(bench):
    bench.git("switch", "-q", "-c", "elsewhere")
    bench.write("x.py", "1\n")
    bench.save("elsewhere")
    bench.git("switch", "-q", "main")
    workflow = bench.start()
    assert refused(bench, workflow, order=Order(commit="elsewhere")).code == "foreign_commit"


def hook(bench: Bench, name: str, text: str) -> None:
    path = bench.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_hook_that_refuses_the_commit_is_heard_and_the_tick_is_taken_back(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    hook(bench, "pre-commit", "echo 'no forms on Friday' >&2; exit 1")
    refusal = refused(bench, workflow)
    assert refusal.code == "commit_failed"
    assert "no forms on Friday" in refusal.message
    assert "- [ ] Add a form" in bench.read(LOGIN)
    hook(bench, "pre-commit", "exit 0")
    workflow.done(FIRST)
    assert sorted(bench.committed()) == [LOGIN, "form.py"]


def test_a_hook_runs_as_for_a_commit_by_hand(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    hook(bench, "commit-msg", 'echo "Signed-off-by: A hook" >> "$1"')
    workflow.done(FIRST)
    assert bench.git("log", "-1", "--format=%B").endswith("Signed-off-by: A hook")


def test_a_box_that_somebody_ticked_before_stays_ticked_when_the_commit_fails(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write(LOGIN, bench.read(LOGIN).replace("- [ ] Add a form", "- [x] Add a form"))
    hook(bench, "pre-commit", "exit 1")
    refused(bench, workflow)
    assert "- [x] Add a form" in bench.read(LOGIN)


def test_the_commit_that_an_agent_made_itself_is_the_tasks(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    mine = bench.save("the form, by hand")
    workflow.done(FIRST)
    assert sha(workflow) == mine
    assert "- [x] Add a form" in bench.read(LOGIN)


def test_the_commit_that_an_agent_made_with_the_tick_is_the_tasks(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write(LOGIN, bench.read(LOGIN).replace("- [ ] Add a form", "- [x] Add a form"))
    mine = bench.save("the form, by hand")
    workflow.done(FIRST)
    assert (sha(workflow), bench.head) == (mine, mine)


def test_one_commit_is_not_that_of_two_tasks(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write(LOGIN, bench.read(LOGIN).replace("- [ ]", "- [x]"))
    bench.save("everything, by hand")
    workflow.done(FIRST)
    refusal = refused(bench, workflow, SECOND)
    assert refusal.code == "nothing_to_commit"
    refusal = refused(bench, workflow, SECOND, order=Order(commit="HEAD"))
    assert (refusal.code, refusal.facts["of"]) == ("not_its_commit", FIRST)
    assert refusal.remedies[0].blanks == ["SHA"]


@pytest.mark.parametrize("word", ["HEAD", "HEAD~1"])
def test_a_commit_from_before_the_workflow_is_not_that_of_a_task(bench, word):
    bench.write("early.py", "1\n")
    bench.save("before")
    workflow = bench.start()
    refusal = refused(bench, workflow, order=Order(commit=word))
    assert (refusal.code, refusal.facts["step"]) == ("not_its_commit", FIRST)
    assert "before the workflow started" in refusal.message
    assert "- [ ] Add a form" in bench.read(LOGIN)


def test_where_nothing_changed_nothing_is_committed(bench):
    workflow = bench.start()
    refusal = refused(bench, workflow)
    assert refusal.code == "nothing_to_commit"
    assert refusal.remedy.endswith(f"holdfast done {FIRST} --commit SHA")
    assert "- [ ] Add a form" in bench.read(LOGIN)


def test_where_only_old_changes_lie_nothing_is_committed(bench):
    bench.write("notes.txt", "mine, from before\n")
    bench.write(LOGIN, bench.read(LOGIN) + "\nSome more words.\n")
    workflow = bench.start()
    assert refused(bench, workflow).code == "nothing_to_commit"


def test_on_another_branch_nothing_is_done(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.git("switch", "-q", "main")
    refusal = refused(bench, workflow)
    assert refusal.code == "branch_mismatch"
    options: Any = refusal.facts["options"]
    assert [one["do"] for one in options] == ["switch"]
    assert (refusal.facts["branch"], refusal.facts["current_branch"]) == ("feat/user-login", "main")
    (way,) = options[0]["command"]
    bench.git(*way.shell[1:])
    workflow.done(FIRST)


def test_without_a_branch_nothing_is_done(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.git("checkout", "-q", "--detach")
    with pytest.raises(Refused) as caught:
        workflow.done(FIRST)
    assert caught.value.code == "branch_mismatch"
    assert caught.value.facts["current_branch"] is None


def test_while_another_session_holds_the_work_no_commit_is_made(bench):
    held = bench.open(session="one").start("dev", LOGIN)
    assert held.join() is None
    bench.write("form.py", "1\n")
    other = bench.open(session="two").workflow(held.id)
    assert other.join().session == "one"
    head = bench.head
    with pytest.raises(Conflict) as caught:
        other.done(FIRST)
    assert caught.value.code == "lease_held"
    assert (bench.head, "- [ ] Add a form" in bench.read(LOGIN)) == (head, True)
    held.refresh().done(FIRST)
    assert bench.head != head


def test_what_the_rules_would_refuse_is_not_committed(bench):
    bench.saved_feature("features/tested.md", "Add a form", title="Tested")
    workflow = bench.start("dev", "features/tested.md")
    bench.write("form.py", "1\n")
    head = bench.head
    with pytest.raises(Refused) as caught:
        workflow.done(FIRST)
    assert caught.value.code == "gate_unmet"
    assert bench.head == head
    assert "- [ ] Add a form" in bench.read("features/tested.md")


def test_a_box_that_is_gone_is_said_and_stops_nothing(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    bench.write(LOGIN, bench.read(LOGIN).replace("Add a form", "Add another form"))
    workflow.done(FIRST)
    assert workflow.said[0] == f"{LOGIN} has no box for this task any more: nothing was ticked"
    assert sha(workflow) == bench.head


def test_a_feature_file_that_is_gone_is_said_and_stops_nothing(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    (bench.root / LOGIN).unlink()
    workflow.done(FIRST)
    assert "nothing was ticked" in workflow.said[0]
    assert sha(workflow) == bench.head


def test_a_second_hand_in_commits_nothing_more(bench):
    workflow = bench.start()
    bench.write("form.py", "1\n")
    workflow.done(FIRST)
    bench.write("page.py", "1\n")
    head = bench.head
    workflow.done(FIRST)
    assert bench.head == head


def test_the_next_task_has_its_own_commit(bench):
    workflow = bench.start()
    for step, name in ((FIRST, "form.py"), (SECOND, "page.py")):
        bench.write(name, "1\n")
        workflow.done(step)
        assert sorted(bench.committed()) == [LOGIN, name]
    assert sha(workflow, SECOND) == bench.head
    assert bench.git("rev-parse", "HEAD~1") == sha(workflow)
    assert workflow.state.step("task_execution").status == "done"


def test_a_linked_worktree_has_its_own_branch_and_commits(bench, tmp_path, monkeypatch):
    linked = tmp_path / "linked"
    bench.git("worktree", "add", "-q", "--detach", str(linked))
    monkeypatch.chdir(linked)
    workflow = bench.open(at=linked).start("dev", LOGIN)
    assert bench.git("branch", "--show-current", cwd=linked) == "feat/user-login"
    assert bench.branch == "main"
    (linked / "form.py").write_text("1\n")
    bench.write("form.py", "not this one\n")
    workflow.done(FIRST)
    assert sha(workflow) == bench.git("rev-parse", "HEAD", cwd=linked)
    assert bench.git("show", "HEAD:form.py", cwd=linked) == "1"
    assert "- [x] Add a form" in (linked / LOGIN).read_text()
    assert "- [ ] Add a form" in bench.read(LOGIN)


def test_a_project_in_a_subfolder_of_the_repository(bench, monkeypatch):
    bench.write("app/.holdfast/config.toml", "")
    bench.saved_feature("app/features/app.md", "Add a form (no tests)", title="App")
    app = bench.root / "app"
    monkeypatch.chdir(app)
    workflow = bench.open(at=app).start("dev", "features/app.md")
    assert (workflow.state.subject, bench.branch) == ("features/app.md", "feat/app")
    bench.write("app/form.py", "1\n")
    workflow.done(FIRST)
    assert sorted(bench.committed()) == ["app/features/app.md", "app/form.py"]
    assert "- [x] Add a form" in bench.read("app/features/app.md")


def test_paths_in_a_subfolder_of_the_repository_are_those_of_the_project(bench, monkeypatch):
    bench.write("app/.holdfast/config.toml", "")
    bench.saved_feature("app/features/app.md", "Add a form (no tests)", title="App")
    app = bench.root / "app"
    monkeypatch.chdir(app)
    workflow = bench.open(at=app).start("dev", "features/app.md")
    bench.write("app/form.py", "1\n")
    bench.write("app/other.py", "1\n")
    workflow.done(FIRST, order=Order(paths=("form.py",)))
    assert "app/form.py" in bench.committed()
    assert "app/other.py" not in bench.committed()


def cycled(bench: Bench, **context) -> Workflow:
    """A cycle up to its commit."""
    bench.write("run.sh", "grep -q 1 form.py && exit 0; echo 'not ok - test_form'; exit 1\n")
    bench.save()
    workflow = bench.start("tdd", "", context={"test_command": "sh run.sh", **context})
    bench.write("form.py", "0\n")
    assert workflow.check("test_fails", data={"test": "test_form"}).passed
    workflow.done("red")
    bench.write("form.py", "1\n")
    workflow.check("test_passes", step="green")
    workflow.done("green")
    workflow.check("test_passes", step="refactor")
    return workflow.done("refactor")


def test_the_commit_of_a_cycle_ticks_its_task_in_the_feature_file(bench):
    cycled(bench, feature_file=LOGIN, task_index=2).done("commit")
    assert sorted(bench.committed()) == [LOGIN, "form.py"]
    assert bench.git("log", "-1", "--format=%s") == "Add a page"
    assert ("- [ ] Add a form" in bench.read(LOGIN), "- [x] Add a page" in bench.read(LOGIN)) == (True, True)


def test_the_commit_of_a_cycle_is_named_after_its_task(bench):
    workflow = cycled(bench, task="Add a form").done("commit")
    assert (sha(workflow, "commit"), bench.git("log", "-1", "--format=%B")) == (bench.head, "Add a form")
    assert bench.committed() == ["form.py"]


def test_in_the_middle_of_a_merge_nothing_is_committed(bench):
    workflow = bench.start()
    bench.git("switch", "-q", "-c", "other")
    bench.write("notes.txt", "theirs\n")
    bench.save("theirs")
    bench.git("switch", "-q", "feat/user-login")
    bench.write("notes.txt", "ours\n")
    bench.git("commit", "-q", "-am", "ours")
    subprocess.run(["git", "merge", "-q", "other"], cwd=bench.root, capture_output=True)
    assert refused(bench, workflow).code == "git_busy"


def test_a_pull_request_that_was_made_elsewhere_is_recorded(bench):
    workflow = bench.start()
    for step, name in ((FIRST, "form.py"), (SECOND, "page.py")):
        bench.write(name, "1\n")
        workflow.done(step)
    workflow.record({"test_command": "true"})
    for check in ("lint", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification")
    assert isinstance(refused(bench, workflow, "pr_creation", Order(url="https://example.com/1")), UsageError)
    url = "https://github.com/ada/engine/pull/12"
    bench.publish()
    workflow.done("pr_creation", order=Order(url=url))
    assert workflow.state.step("pr_creation").data == {"pr_number": 12, "pr_url": url}
    assert workflow.state.step("pr_creation").evidence["pr_created"].run_by == "reported"
    assert workflow.said == (f"pull request {url}",)


def test_without_a_forge_the_pull_request_is_somebody_elses_to_make(bench):
    bench.saved_feature("features/done.md", "x Everything", title="All there")
    workflow = bench.start("dev", "features/done.md")
    workflow.record({"test_command": "true"})
    for check in ("lint", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification")
    refusal = refused(bench, workflow, "pr_creation")
    assert (refusal.code, refusal.message[:29]) == ("no_forge", "this repository has no remote")
    text = f".holdfast/checks/{workflow.ulid}/pull-request.md"
    assert refusal.remedy == (
        f"the text of the pull request is in {text}; give the repository its remote: git remote add origin URL"
        " · then: holdfast done pr_creation"
    )
    assert refusal.remedies[-1].who == "person"
    assert "- `test`: passed, run by Holdfast: `true`" in bench.read(text)
    assert told(workflow.briefing().now) == refusal.remedy

    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    refusal = refused(bench, workflow, "pr_creation")
    text = f".holdfast/checks/{workflow.ulid}/pull-request.md"
    assert (
        told(bench.open().workflow().briefing().now)
        == refusal.remedy
        == (
            "git push -u origin feat/done && gh pr create --head feat/done --base main --title 'All there'"
            f" --body-file {text}, then: holdfast done pr_creation --url URL"
        )
    )
    bench.git("remote", "set-url", "origin", "https://gitlab.com/ada/engine.git")
    assert refused(bench, workflow, "pr_creation").remedy == (
        "git push -u origin feat/done && glab mr create --source-branch feat/done --target-branch main"
        f""" --title 'All there' --yes --description "$(cat {text})", then: holdfast done pr_creation --url URL"""
    )
    said = bench.read(text)
    assert "## Tasks" in said
    assert "- `test`: passed, run by Holdfast: `true` (set by agent, not by a person)" in said


def test_the_address_of_a_pull_request_is_refused_where_the_branch_was_not_pushed(bench, tmp_path):
    bench.saved_feature("features/done.md", "x Everything", title="All there")
    workflow = bench.start("dev", "features/done.md")
    workflow.record({"test_command": "true"})
    for check in ("lint", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification")
    bench.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    bench.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    bench.git("push", "-q", "origin", "main")
    bench.save("not pushed")
    url = "https://example.com/ada/engine/pull/12"
    refusal = refused(bench, workflow, "pr_creation", Order(url=url))
    assert refusal.code == "not_pushed"
    assert refusal.remedy == f"git push -u origin feat/done, then: holdfast done pr_creation --url {url}"
    bench.git("push", "-q", "-u", "origin", "feat/done")
    workflow.done("pr_creation", order=Order(url=url))
    assert workflow.state.step("pr_creation").data["pr_url"] == url


def test_without_a_remote_no_address_is_believed_and_a_person_may_do_without(bench, tmp_path):
    bench.saved_feature("features/done.md", "x Everything", title="All there")
    workflow = bench.start("dev", "features/done.md")
    workflow.record({"test_command": "true"})
    for check in ("lint", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification")
    url = "https://example.com/ada/engine/pull/12"
    refusal = refused(bench, workflow, "pr_creation", Order(url=url))
    assert refusal.code == "not_pushed"
    assert "the repository has no remote" in refusal.message
    bench.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    bench.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    bench.git("push", "-q", "origin", "main")
    bench.save("not pushed")
    bench.git("remote", "remove", "origin")
    assert bench.agent("done", "pr_creation", "--url", url, "--json").error["code"] == "not_pushed"
    assert bench.agent("check", "pr_created", "--passed", "--set", f"pr_url={url}", "--set", "pr_number=12").code == 0
    assert bench.agent("done", "pr_creation", "--json").error["code"] == "not_pushed"
    assert bench.agent("skip", "pr_creation").code == 3
    assert bench.person("skip", "pr_creation", says="yes").code == 0


def test_of_a_remote_that_is_a_folder_no_command_for_a_host_is_advised(bench, tmp_path):
    bench.saved_feature("features/done.md", "x Everything", title="All there")
    workflow = bench.start("dev", "features/done.md")
    workflow.record({"test_command": "true"})
    for check in ("lint", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.check("security_review", passed=True, data={"findings": 7})
    workflow.done("verification")
    bench.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    bench.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    text = f".holdfast/checks/{workflow.ulid}/pull-request.md"
    assert refused(bench, workflow, "pr_creation").remedy == (
        "git push -u origin feat/done, then open the pull request where the repository is served"
        f" and take the text of {text}, then: holdfast done pr_creation --url URL"
    )
    assert "- `security_review`: passed with 7 findings, reported by" in bench.read(text)
    found = "verification: security_review passed with 7 findings, reported"
    assert found in " ".join(bench.ok("status").out.split())
    assert found in " ".join(bench.ok("next").out.split())


def test_a_pull_request_of_the_branch_that_it_goes_into_is_made_of_another(bench):
    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    ask = {"name": "ask", "step": [{"id": "pr", "action": "pull_request"}]}
    workflow = bench.open().start(ask, title="All there").begin("pr")
    refusal = refused(bench, workflow, "pr")
    text = f".holdfast/checks/{workflow.ulid}/pull-request.md"
    assert refusal.remedy == (
        "git branch NAME · then: git push origin NAME"
        f" · then: gh pr create --head NAME --base main --title 'All there' --body-file {text}"
        " · then: holdfast done pr --url URL"
    )
    assert told(workflow.briefing().now) == refusal.remedy


def test_the_box_of_a_feature_file_that_was_renamed_in_the_task_is_ticked_in_its_commit(bench):
    bench.saved_feature(LOGIN, "One (no tests)", "Two (no tests)")
    bench.ok("start", "dev", LOGIN)
    bench.git("mv", LOGIN, "features/renamed.md")
    bench.write("a.txt", "more\n")
    said = bench.ok("done").out
    assert "nothing was ticked" not in said
    assert "other content" not in said
    assert "- [x] One" in bench.git("show", "HEAD:features/renamed.md")
    assert bench.git("status", "--porcelain") == ""
