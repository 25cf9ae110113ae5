"""Pull requests and issues through the real gh, against a GitHub on loopback that keeps to the published contract."""

from __future__ import annotations

import shlex
import subprocess

import pytest

from holdfast.errors import Refused
from holdfast.forges import none as forge

BRANCH = "fix/door"


def created(checkout, **other):
    return forge.create(checkout.top, BRANCH, **{"title": "Mend the door", "body": "It creaked.\n", **other})


def refusal(call):
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


def test_there_is_none_before_one_is_opened(pushed, github):
    assert forge.find(pushed.top, BRANCH) is None
    assert github.operations == ["PullRequestList"]


def test_a_created_one_is_there_with_its_words_and_is_found_again(pushed, github):
    body = "It creaked.\n\n--title `$HOME` \"quoted\" 'twice' größer 🚪\n"
    one = created(pushed, title="Mend the “door” & $HOME", body=body)
    assert one == forge.PullRequest(1, "https://github.com/octo-org/octo-repo/pull/1", "Mend the “door” & $HOME", False)
    (kept,) = github.opened
    assert (kept.title, kept.body, kept.base, kept.head) == ("Mend the “door” & $HOME", body, "main", BRANCH)
    assert forge.find(pushed.top, BRANCH) == one


def test_an_empty_body_is_sent_as_such(pushed, github):
    created(pushed, body="")
    assert github.opened[0].body == ""


def test_a_largest_body_arrives_whole(pushed, github):
    body = "ä" * (forge.BODY_LIMIT // 2)
    created(pushed, body=body)
    assert github.opened[0].body == body


def test_a_title_that_looks_like_an_option_is_a_title(pushed, github):
    created(pushed, title="--draft")
    assert (github.opened[0].title, github.opened[0].draft) == ("--draft", False)


def test_it_is_opened_into_the_base_that_is_named(pushed, github):
    created(pushed, base="release")
    assert github.opened[0].base == "release"


def test_one_into_another_base_does_not_stand_in_for_it(pushed, github):
    into_main = created(pushed)
    into_release = created(pushed, base="release")
    assert [one.base for one in github.opened] == ["main", "release"]
    assert forge.find(pushed.top, BRANCH, base="main") == into_main
    assert forge.find(pushed.top, BRANCH, base="release") == into_release


def test_a_repetition_opens_no_second_one(pushed, github):
    first = created(pushed)
    github.operations.clear()
    assert created(pushed, title="In other words") == first
    assert len(github.opened) == 1
    assert github.operations == ["PullRequestList"]


def test_a_repetition_after_the_connection_broke_finds_what_was_opened(pushed, github):
    github.cut_after_creating = True
    assert refusal(lambda: created(pushed)).code == "gh_failed"
    assert len(github.opened) == 1
    github.cut_after_creating = False
    assert created(pushed).number == 1
    assert len(github.opened) == 1


def test_one_that_somebody_opens_at_the_same_moment_is_taken(pushed, github):
    github.rival = "Mend it first"
    assert created(pushed) == forge.PullRequest(1, github.opened[0].url, "Mend it first")
    assert len(github.opened) == 1


def test_a_closed_one_is_not_found_and_another_can_be_opened(pushed, github):
    github.open(BRANCH, "An old try").state = "CLOSED"
    assert forge.find(pushed.top, BRANCH) is None
    assert created(pushed).number == 2


def test_one_from_a_fork_with_a_branch_of_the_same_name_is_not_ours(pushed, github):
    github.open(BRANCH, "Let me in", owner="stranger")
    assert forge.find(pushed.top, BRANCH) is None
    assert created(pushed).number == 2
    github.open(BRANCH, "Let me in again", owner="stranger")
    assert forge.find(pushed.top, BRANCH).number == 2


def test_a_draft_is_seen_as_a_draft(pushed, github):
    github.open(BRANCH, "Half a door", draft=True)
    assert forge.find(pushed.top, BRANCH) == forge.PullRequest(1, github.opened[0].url, "Half a door", True)


def test_variables_of_a_git_hook_or_a_forced_terminal_change_nothing(pushed, github, tmp_path, monkeypatch):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setenv("GH_FORCE_TTY", "100%")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert forge.find(pushed.top, BRANCH) is None
    assert created(pushed) == forge.find(pushed.top, BRANCH)


def test_an_unpushed_branch_is_refused_with_the_push_that_helps(checkout, github):
    refused = refusal(lambda: created(checkout))
    assert (refused.code, refused.remedy) == ("gh_failed", "git push -u origin fix/door")
    assert "Head ref must be a branch" in refused.message
    checkout.git(*shlex.split(refused.remedy)[1:])
    assert created(checkout).number == 1


def test_a_base_that_is_not_there_is_refused_with_the_list_of_those_that_are(pushed):
    refused = refusal(lambda: created(pushed, base="relaese"))
    assert (refused.code, refused.remedy) == ("gh_failed", "git ls-remote --heads origin")


def test_a_branch_without_a_commit_of_its_own_is_refused_in_the_words_of_github(pushed, github):
    refused = refusal(lambda: forge.create(pushed.top, "release", title="Nothing", body=""))
    assert (refused.code, refused.exit_code) == ("gh_failed", 3)
    assert "No commits between main and release" in refused.message
    assert github.opened == []


def test_a_token_that_is_not_accepted_is_answered_with_the_login(pushed, github):
    github.token = "a new one"
    for call in (lambda: forge.find(pushed.top, BRANCH), lambda: created(pushed)):
        refused = refusal(call)
        assert (refused.code, refused.remedy) == ("gh_failed", "gh auth login")
        assert "HTTP 401" in refused.message


@pytest.mark.parametrize("surroundings", [{}, {"CI": "1"}, {"GITHUB_ACTIONS": "true"}])
def test_nobody_logged_in_is_answered_with_the_login(pushed, github, monkeypatch, surroundings):
    for name in ("GH_TOKEN", "GITHUB_TOKEN", "CI", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    refused = refusal(lambda: forge.find(pushed.top, BRANCH))
    assert (refused.code, refused.remedy) == ("gh_failed", "gh auth login")
    assert github.operations == []


def test_a_github_that_never_answers_is_left_when_the_time_is_up(pushed, github, monkeypatch):
    assert forge.TIMEOUT_SECONDS == 120
    monkeypatch.setattr(forge, "TIMEOUT_SECONDS", 1)
    github.silent = True
    refused = refusal(lambda: created(pushed))
    assert (refused.code, refused.remedy) == ("gh_timeout", "gh pr list --head fix/door")


def test_an_answer_that_is_too_large_is_not_read(pushed, github):
    for number in range(60):
        github.open(BRANCH, f"{number} " + "x" * 20_000, owner=f"stranger-{number}")
    refused = refusal(lambda: forge.find(pushed.top, BRANCH))
    assert (refused.code, "more than 1 MiB" in refused.message) == ("gh_failed", True)


def test_a_folder_that_is_no_repository_is_refused(github, tmp_path):
    (tmp_path / "empty").mkdir()
    refused = refusal(lambda: forge.find(str(tmp_path / "empty"), BRANCH))
    assert (refused.code, "not a git repository" in refused.message) == ("gh_failed", True)
    refused = refusal(lambda: forge.find(str(tmp_path / "gone"), BRANCH))
    assert (refused.code, "No such file" in refused.message) == ("gh_failed", True)


def test_the_command_for_people_pushes_and_opens_the_same(checkout, github):
    typed = forge.command(BRANCH, title='Don\'t $(touch x) & "go"', base="release")
    subprocess.run(["sh", "-c", typed], cwd=checkout.top, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    (kept,) = github.opened
    assert (kept.title, kept.head, kept.base, kept.body) == ('Don\'t $(touch x) & "go"', BRANCH, "release", "")


# Issues


def test_an_issue_is_made_with_its_words_and_its_address_given_back(checkout, github):
    body = "- [x] 1.1 Größer `$HOME` 🚪\n"
    url = forge.create_issue(checkout.top, title="Milestone: “Foundation” & $HOME", body=body)
    assert url == "https://github.com/octo-org/octo-repo/issues/1"
    (kept,) = github.issues
    assert (kept.title, kept.body) == ("Milestone: “Foundation” & $HOME", body)
    assert github.opened == []


def test_a_title_of_an_issue_that_looks_like_an_option_is_a_title(checkout, github):
    forge.create_issue(checkout.top, title="--web", body="")
    assert (github.issues[0].title, github.issues[0].body) == ("--web", "")


def test_a_repository_without_issues_is_refused_in_the_words_of_gh(checkout, github):
    github.has_issues = False
    refused = refusal(lambda: forge.create_issue(checkout.top, title="Milestone", body=""))
    assert (refused.code, refused.exit_code, refused.remedy) == ("gh_failed", 3, "gh issue list")
    assert "disabled issues" in refused.message
    assert github.issues == []


def test_an_issue_with_a_token_that_is_not_accepted_is_answered_with_the_login(checkout, github):
    github.token = "a new one"
    refused = refusal(lambda: forge.create_issue(checkout.top, title="Milestone", body=""))
    assert (refused.code, refused.remedy) == ("gh_failed", "gh auth login")


def test_a_github_that_never_answers_leaves_it_open_whether_the_issue_was_made(checkout, github, monkeypatch):
    monkeypatch.setattr(forge, "TIMEOUT_SECONDS", 1)
    github.silent = True
    refused = refusal(lambda: forge.create_issue(checkout.top, title="Milestone", body=""))
    assert (refused.code, refused.remedy) == ("gh_timeout", "gh issue list")
