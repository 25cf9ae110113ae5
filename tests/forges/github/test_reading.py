"""What is read from a GitHub's own documents, the same by a token and by gh."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound
from holdfast.forges.port import Comment, Review, Thread
from tests.forges.github.conversation import KeptThread
from tests.forges.loopback import BRANCH

NOON = "2026-03-01T12:00:00Z"
SHA = "0123456789abcdef0123456789abcdef01234567"


def said(body, login="hubot", **other):
    shown = {"author": login and {"__typename": "User", "login": login}, "body": body, "state": "SUBMITTED"}
    return {**shown, "createdAt": NOON, **other}


def test_one_from_a_fork_of_the_same_owner_is_not_ours(client, github, monkeypatch):
    """The question for the owner's branch is answered with every repository of that owner."""
    github.open(BRANCH, "From the other house", owner="stranger")
    monkeypatch.setattr(type(github), "_is_asked", lambda *_: True)
    assert client.find(BRANCH) is None


def test_reviews_of_every_page_come_in_their_order(client, github):
    github.open(BRANCH, "Fix the door")
    states = ["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "DISMISSED"]
    github.reviews[1] = [
        {"id": n, "state": states[n % 4], "body": f"Nr. {n} 🚪", "submitted_at": NOON, "commit_id": SHA}
        for n in range(230)
    ]
    found = client.reviews(1)
    assert [one.id for one in found] == list(range(230))
    assert found[1] == Review(1, "octocat", "CHANGES_REQUESTED", "Nr. 1 🚪", NOON, "COLLABORATOR", SHA)
    assert github.operations == ["pulls/list-reviews"] * 3


def test_a_pending_review_has_no_time_and_a_gone_reviewer_is_a_ghost(client, github):
    github.open(BRANCH, "Fix the door")
    github.reviews[1] = [
        {"id": 1, "state": "PENDING", "body": "", "user": None, "submitted_at": ..., "author_association": "NONE"}
    ]
    (only,) = client.reviews(1)
    assert (only.author, only.state, only.submitted_at, only.association) == ("ghost", "PENDING", "", "NONE")


def test_a_review_whose_commit_is_gone_names_none(client, github):
    github.open(BRANCH, "Fix the door")
    github.reviews[1] = [{"commit_id": None}]
    assert client.reviews(1)[0].commit == ""


def test_whoever_is_not_said_to_belong_to_the_repository_does_not(client, github, monkeypatch):
    github.open(BRANCH, "Fix the door")
    monkeypatch.setattr(github, "_fits", lambda *_: None)  # the word is not published yet
    github.reviews[1] = [{"author_association": "FRIEND"}, {"author_association": ...}, {"author_association": "OWNER"}]
    assert [one.association for one in client.reviews(1)] == ["NONE", "NONE", "OWNER"]


@pytest.mark.parametrize("commit", ["", "HEAD", "--all", "ABCDEF" * 7, "a" * 41, "a" * 39 + "\n", 7])
def test_a_commit_that_cannot_be_one_is_odd(client, github, commit, monkeypatch):
    github.open(BRANCH, "Fix the door")
    monkeypatch.setattr(github, "_fits", lambda *_: None)
    github.reviews[1] = [{"commit_id": commit}]
    with pytest.raises(HoldfastError) as caught:
        client.reviews(1)
    assert caught.value.code == "forge_odd_answer"


def test_a_state_that_is_not_known_neither_approves_nor_objects(client, github):
    github.open(BRANCH, "Fix the door")
    github.reviews[1] = [{"state": "APPROVED_WITH_CAKE"}]
    assert client.reviews(1)[0].state == "COMMENTED"


def test_comments_of_every_page_come_in_their_order(client, github):
    github.open(BRANCH, "Fix the door")
    github.comments[1] = [
        {"id": 9_000_000_000 + n, "body": f"größer {n}\r\n🚪", "created_at": NOON} for n in range(130)
    ]
    found = client.comments(1)
    assert found[7] == Comment("9000000007", "octocat", "größer 7\r\n🚪", NOON, "COLLABORATOR")
    assert [one.body.split()[1] for one in found] == [str(n) for n in range(130)]
    assert github.operations == ["issues/list-comments"] * 2


def test_a_thread_says_where_it_is_and_whether_it_is_resolved(client, github):
    github.open(BRANCH, "Fix the door")
    github.threads[1] = [
        KeptThread("T1", "workflow/door/01-requirements/größe.md", [said("Why?"), said("Because.", login=None)]),
        KeptThread("T2", "src/door.py", [said("Typo")], line=None, original=3, resolved=True),
        KeptThread("T3", "src/door.py", [said("All of it")], line=None, original=None),
    ]
    first, second, third = client.threads(1)
    place = ("workflow/door/01-requirements/größe.md", 7)
    rest = (NOON, "MEMBER")
    comments = (Comment("T1.0", "hubot", "Why?", *rest), Comment("T1.1", "ghost", "Because.", *rest))
    assert first == Thread("T1", *place, False, comments)
    assert (second.line, second.resolved, third.line) == (3, True, None)


def test_threads_and_their_comments_are_read_to_the_last_page(client, github):
    github.open(BRANCH, "Fix the door")
    github.threads[1] = [KeptThread(f"T{n}", "a.md", [said(f"{n}")]) for n in range(120)]
    github.threads[1][60].comments = [said(f"reply {n}") for n in range(170)]
    found = client.threads(1)
    assert [one.id for one in found] == [f"T{n}" for n in range(120)]
    assert [one.body for one in found[60].comments] == [f"reply {n}" for n in range(170)]
    assert github.operations == [
        "HoldfastThreads", "HoldfastThreads", "HoldfastComments", "HoldfastComments", "HoldfastThreads",
    ]  # fmt: skip


def test_comments_that_are_not_handed_in_are_left_out(client, github):
    github.open(BRANCH, "Fix the door")
    draft = said("Not yet", state="PENDING")
    github.threads[1] = [KeptThread("T1", "a.md", [draft]), KeptThread("T2", "a.md", [said("Now"), draft])]
    (only,) = client.threads(1)
    assert [one.body for one in only.comments] == ["Now"]


def test_a_comment_that_was_a_draft_is_as_old_as_the_review_it_was_handed_in_with(client, github):
    github.open(BRANCH, "Fix the door")
    evening = "2026-03-01T20:00:00Z"
    cases = [(NOON, {"submittedAt": evening}), (evening, {"submittedAt": None}), (evening, None)]
    comments = [said("x", createdAt=at, pullRequestReview=review) for at, review in cases]
    github.threads[1] = [KeptThread("T1", "a.md", comments)]
    assert [one.created_at for one in client.threads(1)[0].comments] == [evening] * 3


def test_variables_of_a_git_hook_or_a_forced_terminal_change_nothing(github, tmp_path, monkeypatch, connected):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setenv("GH_FORCE_TTY", "100%")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    client = connected()
    assert client.open(BRANCH, "main", "Fix the door", "") == client.find(BRANCH)


def test_a_branch_that_reads_like_a_blank_of_gh_is_asked_for_by_its_name(client, github):
    github.open("branch", "A name that gh fills in")
    github.open("repo", "Another one")
    assert (client.find("branch").number, client.find("repo").number) == (1, 2)


def test_a_repository_without_issues_says_so(client, github):
    github.has_issues = False
    with pytest.raises(NotFound) as caught:
        client.open_issue("Milestone", "")
    assert (caught.value.code, github.issues) == ("forge_not_found", [])
    assert "Issues are disabled" in str(caught.value.facts["said"])
