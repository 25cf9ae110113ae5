"""What the pull request of a feature says and where it goes: real git, bare remotes, a GitHub that checks requests."""

from __future__ import annotations

import shutil

import pytest

from holdfast.errors import Refused
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.parts import Order
from tests.forges.github.server import GitHub
from tests.forges.loopback import Fault
from tests.trusted import trust_file
from tests.workbench import LOGIN, Bench

FEATURE = """\
# Feature: User login

> People log in by name.

## Tasks

- [ ] Add a form (no tests)
  - with a `name`
- [ ] Add a List<String> (no tests)
- [x] Ask Ada
- [ ] Add a link

## Acceptance criteria

- Wrong names are refused
"""


@pytest.fixture
def bench(tmp_path, monkeypatch, github) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write(LOGIN, FEATURE)
    config = made.write(".holdfast/config.toml", '[commands]\ntest = "report"\n')
    made.save("the feature")
    trust_file(made.open(), str(config))
    monkeypatch.chdir(made.root)
    return made


@pytest.fixture
def hosted(bench, github) -> Bench:
    """`origin` is the GitHub."""
    github.adopt(bench.root)
    bench.git("push", "-q", "-f", "origin", "main")
    return bench


def verified(bench: Bench, **how: object) -> Workflow:
    """Two tasks are committed, one is skipped by a person, and all checks are reported."""
    workflow = bench.start(**how)
    for number, name in (("1", "form.py"), ("2", "page.py")):
        bench.write(name, "1\n")
        workflow.done(f"task_execution/{number}")
    bench.open("human").workflow().skip("task_execution/4", "not needed")
    for check in ("lint", "test", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    return workflow.done("verification")


def test_it_tells_the_feature_its_tasks_with_their_commits_and_how_each_check_came_about(hosted, github):
    workflow = verified(hosted)
    first, second = (workflow.state.step(f"task_execution/{n}").data["commit_sha"][:7] for n in (1, 2))
    workflow.done("pr_creation")
    (opened,) = github.opened
    assert (opened.title, opened.head, opened.base, opened.owner) == (
        "User login", "feat/user-login", "main", "octo-org"
    )  # fmt: skip
    assert opened.body == (
        "> People log in by name.\n\n"
        f"From `{LOGIN}`.\n\n"
        "**Acceptance criteria**\n\n"
        "- Wrong names are refused\n\n"
        "## Tasks\n\n"
        f"- [x] Add a form (no tests) ({first} Add a form)\n"
        "  - with a `name`\n"
        f"- [x] Add a List&lt;String> (no tests) ({second} Add a List&lt;String>)\n"
        "- [ ] Ask Ada – skipped by agent: ticked in the feature file\n"
        "- [ ] Add a link – skipped by human: not needed\n\n"
        "## Checks\n\n"
        "- `lint`: passed, reported by agent, not run by Holdfast\n"
        "- `test`: passed, reported by agent, not run by Holdfast\n"
        "- `security_review`: passed, reported by agent, not run by Holdfast\n"
        "- `code_simplifier`: passed, reported by agent, not run by Holdfast\n"
    )


def test_what_holdfast_ran_is_told_with_its_command_time_and_exit_code(hosted, github):
    hosted.write(".holdfast/config.toml", '[commands]\ntest = "report"\nlint = ["true", "a`b"]\n')
    trust_file(hosted.open(), str(hosted.root / ".holdfast/config.toml"))
    hosted.write(LOGIN, "# F\n- [x] All\n")
    workflow = hosted.start()
    hosted.save("All of it")
    evidence = workflow.check("lint")
    for check in ("test", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification").done("pr_creation")
    (opened,) = github.opened
    assert f"- `lint`: passed, run by Holdfast: `true 'a'b'` at {evidence.at}, exit code 0\n" in opened.body


def test_a_task_that_was_taken_out_of_the_file_is_named(hosted, github):
    workflow = hosted.start()
    hosted.write(LOGIN, FEATURE.replace("- [ ] Add a link\n", ""))
    project = hosted.open("human")
    person = project.workflow()
    project.loosen(person, project.reread(person))
    for number, name in (("1", "form.py"), ("2", "page.py")):
        hosted.write(name, "1\n")
        workflow.done(f"task_execution/{number}")
    for check in ("lint", "test", "security_review", "code_simplifier"):
        workflow.check(check, passed=True)
    workflow.done("verification").done("pr_creation")
    assert f"- [ ] removed: task 4, 'Add a link', is not in {LOGIN} any more\n" in github.opened[0].body


@pytest.mark.parametrize("told", ["by the name", "by gh", "by gh, without a remote"])
def test_from_a_fork_the_branch_is_pushed_there_and_the_request_goes_upstream(bench, github: GitHub, told):
    github.adopt(bench.root)
    bench.git("push", "-q", "-f", "origin", "main")
    bench.git("remote", "rename", "origin", "upstream" if told == "by the name" else "theirs")
    github.fork(bench.root, "ada", "origin")
    if told == "by gh":
        bench.git("config", "remote.theirs.gh-resolved", "base")
    elif told != "by the name":
        bench.git("remote", "remove", "theirs")
        bench.git("config", "remote.origin.gh-resolved", "octo-org/octo-repo")
    verified(bench).done("pr_creation")
    (opened,) = github.opened
    assert (opened.owner, opened.head, opened.base) == ("ada", "feat/user-login", "main")
    assert not github.tip("feat/user-login")
    assert bench.git("--git-dir", str(github.forks["ada/octo-repo"]), "rev-parse", "feat/user-login") == bench.head
    assert bench.git("config", "branch.feat/user-login.remote") == "origin"


@pytest.mark.parametrize("key", ["remote.pushDefault", "branch.feat/user-login.pushRemote"])
def test_the_fork_may_be_any_remote_that_git_is_told_to_push_to(hosted, github: GitHub, key):
    github.fork(hosted.root, "ada", "mine")
    hosted.git("remote", "rename", "origin", "upstream")
    hosted.git("config", key, "mine")
    verified(hosted).done("pr_creation")
    assert [(one.owner, one.head) for one in github.opened] == [("ada", "feat/user-login")]


def test_a_branch_that_came_from_upstream_is_not_pushed_there(hosted, github: GitHub):
    hosted.git("remote", "rename", "origin", "upstream")
    github.fork(hosted.root, "ada", "origin")
    hosted.git("update-ref", "refs/remotes/upstream/main", "HEAD")
    hosted.git("switch", "-q", "-c", "feat/user-login", "--track", "upstream/main")
    verified(hosted).done("pr_creation")
    assert [one.owner for one in github.opened] == ["ada"]
    assert not github.tip("feat/user-login")


def test_a_fork_of_the_same_owner_is_named_with_its_repository(hosted, github: GitHub):
    hosted.git("remote", "rename", "origin", "upstream")
    github.fork(hosted.root, "octo-org", "origin", "octo-fork")
    workflow = verified(hosted)
    workflow.done("pr_creation")
    assert [(one.owner, one.fork) for one in github.opened] == [("octo-org", "octo-fork")]


def test_a_request_from_a_fork_is_found_again(hosted, github: GitHub):
    hosted.git("remote", "rename", "origin", "upstream")
    github.fork(hosted.root, "ada", "origin")
    workflow = verified(hosted)
    github.open("feat/user-login", "Opened by hand", owner="ada").fork = "octo-repo"
    github.open("feat/user-login", "Of somebody else", owner="grace")
    workflow.done("pr_creation")
    assert workflow.state.step("pr_creation").data["pr_number"] == 1
    assert len(github.opened) == 2


def test_without_a_login_the_command_names_fork_and_upstream(hosted, github: GitHub, monkeypatch, tmp_path):
    hosted.git("remote", "rename", "origin", "upstream")
    github.fork(hosted.root, "ada", "origin")
    workflow = verified(hosted)
    monkeypatch.delenv("GH_TOKEN")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").symlink_to(str(shutil.which("git")))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (typed, *_) = workflow.briefing().now
    assert typed.text == (
        "git push -u origin feat/user-login && gh pr create --repo octo-org/octo-repo --head ada:feat/user-login"
        f" --title 'User login' --body-file {(file := f'.holdfast/checks/{workflow.ulid}/pull-request.md')}"
    )
    assert "Add a form" in hosted.read(file)


ASK = {"name": "ask", "step": [{"id": "pr", "action": "pull_request"}]}


@pytest.mark.parametrize("known", ["here", "by the forge"])
def test_the_branch_that_pull_requests_go_into_is_never_pushed(hosted, github: GitHub, known):
    workflow = hosted.open().start(ASK, title="All there").begin("pr")
    if known == "by the forge":
        hosted.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/elsewhere")
    hosted.save("not yet pushed")
    before = github.tip("main")
    with pytest.raises(Refused) as refusal:
        workflow.done("pr")
    assert refusal.value.code == "head_is_base"
    assert github.tip("main") == before != hosted.head
    assert refusal.value.remedy.startswith(
        "git branch NAME · then: git push origin NAME · then: gh pr create --head NAME"
    )
    assert refusal.value.remedy.endswith("then: holdfast done pr --url URL")
    hosted.git("branch", "all-there")
    hosted.git("push", "-q", "origin", "all-there")
    workflow.done("pr", order=Order(url="https://github.com/octo-org/octo-repo/pull/9"))


def test_nothing_is_pushed_before_the_forge_accepts_the_login(hosted, github: GitHub):
    hosted.git("switch", "-q", "-c", "all-there")
    hosted.save("not yet pushed")
    workflow = hosted.open().start(ASK, title="All there").begin("pr")
    github.faults.append(Fault(status=401))
    with pytest.raises(Refused) as refusal:
        workflow.done("pr")
    assert refusal.value.code == "forge_unauthorized"
    assert not github.tip("all-there")
    workflow.done("pr")
    assert [(one.head, one.base) for one in github.opened] == [("all-there", "main")]
