"""Who approves a merge request, which commit that is of, and who does not count."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError
from holdfast.forges import gitlab as lab
from holdfast.forges.gitlab.client import Client
from holdfast.forges.port import OWN
from tests.forges.gitlab.server import HERE
from tests.forges.loopback import BRANCH, TOKEN, Fault

OLD, NEW = "1" * 40, "2" * 40


@pytest.fixture
def client(gitlab):
    gitlab.open(BRANCH, "Fix the door")
    gitlab.pushed(1, OLD, "2026-03-01T10:00:00.500Z")
    gitlab.pushed(1, NEW, "2026-03-01T11:00:00.500Z")
    return Client(lab.by_token("gitlab.com", TOKEN, base_url=gitlab.address), HERE, pauses=(0, 0))


def told(client):
    return [(one.author, one.state, one.commit, one.association) for one in client.reviews(1)]


@pytest.mark.parametrize(
    ("at", "commit"),
    [
        ("2026-03-01T09:59:59.000Z", ""),
        ("2026-03-01T10:30:00.000Z", OLD),
        ("2026-03-01T11:00:00.499Z", OLD),
        ("2026-03-01T11:00:00.500Z", ""),
        ("2026-03-01T11:00:00.501Z", NEW),
        ("2026-03-01T13:00:00.501+02:00", NEW),
    ],
)
@pytest.mark.parametrize("tells_when", [True, False])
def test_an_approval_is_of_the_commit_that_was_the_newest_then(client, gitlab, at, commit, tells_when):
    gitlab.tells_when = tells_when
    gitlab.approve(1, gitlab.person("mona"), at)
    assert told(client) == [("mona", "APPROVED", commit, "MEMBER")]


@pytest.mark.parametrize(
    ("level", "association"),
    [(0, "NONE"), (5, "NONE"), (10, "NONE"), (15, "NONE"), (20, "COLLABORATOR"), (30, "MEMBER"), (40, "MEMBER"),
     (50, "OWNER"), (60, "OWNER")],
)  # fmt: skip
def test_those_count_who_may_more_than_a_guest(client, gitlab, level, association):
    mona = gitlab.person("mona", level)
    gitlab.approve(1, mona, "2026-03-01T12:00:00.000Z")
    gitlab.comment(1, mona, "Good", "2026-03-01T12:00:00.000Z")
    assert [one[3] for one in told(client)] == [association]
    assert [one.association for one in client.comments(1)] == [association]


def test_accounts_of_tokens_and_blocked_ones_are_nobody(client, gitlab):
    for who in (gitlab.person("project_1_bot", 40, bot=True), gitlab.person("left", 40, state="blocked")):
        gitlab.approve(1, who, "2026-03-01T12:00:00.000Z")
        gitlab.comment(1, who, "Lint failed", "2026-03-01T12:00:00.000Z")
    assert [one[3] for one in told(client)] == ["NONE", "NONE"]
    assert [one.association for one in client.comments(1)] == ["NONE", "NONE"]


def test_who_opened_the_merge_request_cannot_approve_it(client, gitlab):
    """A GitLab lets them, unless the project says otherwise; an agent has the token of who opens it."""
    gitlab.approve(1, gitlab.author, "2026-03-01T12:00:00.000Z")
    assert told(client) == [("ada", OWN, NEW, "MEMBER")]


def test_what_was_taken_back_approves_nothing(client, gitlab):
    mona = gitlab.person("mona")
    gitlab.approve(1, mona, "2026-03-01T12:00:00.000Z")
    gitlab.unapprove(1, mona, "2026-03-01T12:30:00.000Z")
    assert told(client) == [("mona", "DISMISSED", NEW, "MEMBER")]


@pytest.mark.parametrize("tells_when", [True, False])
def test_earlier_approvals_of_who_still_approves_stay(client, gitlab, tells_when):
    gitlab.tells_when = tells_when
    mona = gitlab.person("mona")
    gitlab.approve(1, mona, "2026-03-01T10:30:00.000Z")
    gitlab.unapprove(1, mona, "2026-03-01T10:40:00.000Z")
    gitlab.approve(1, mona, "2026-03-01T12:00:00.000Z")
    assert [one[1:3] for one in told(client)] == [("APPROVED", OLD), ("APPROVED", NEW)]
    assert len({one.id for one in client.reviews(1)}) == 2


def test_an_approval_without_any_time_is_of_no_commit(client, gitlab):
    gitlab.tells_when = False
    gitlab.approve(1, gitlab.person("mona"), "2026-03-01T12:00:00.000Z")
    gitlab.discussions[1].clear()
    assert told(client) == [("mona", "APPROVED", "", "MEMBER")]


def test_what_somebody_only_writes_is_no_approval(client, gitlab):
    gitlab.comment(1, gitlab.person("mona"), "approved this merge request", "2026-03-01T12:00:00.000Z")
    assert client.reviews(1) == ()
    assert [one.body for one in client.comments(1)] == ["approved this merge request"]


def test_a_reviewer_who_asks_for_changes_does_so_until_they_say_otherwise(client, gitlab):
    mona = gitlab.person("mona")
    gitlab.request_changes(1, mona, "2026-03-01T12:00:00.250Z")
    (only,) = client.reviews(1)
    assert (only.state, only.submitted_at, only.body) == ("CHANGES_REQUESTED", "2026-03-01T12:00:00Z", "")
    gitlab.reviewers[1][0]["state"] = "approved"
    assert client.reviews(1) == ()


def test_a_thread_of_the_whole_merge_request_has_no_place(client, gitlab):
    mona = gitlab.person("mona")
    gitlab.thread(1, [(mona, "Why at all?", "2026-03-01T12:00:00.000Z")])
    (only,) = client.threads(1)
    assert (only.path, only.line, only.resolved) == ("", None, False)


def test_a_thread_on_a_line_that_is_gone_has_the_line_it_was_at(client, gitlab):
    mona, position = gitlab.person("mona"), {"new_line": None, "old_line": 3}
    gitlab.thread(1, [(mona, "Why?", "2026-03-01T12:00:00.000Z")], "a.md", 3, position=position)
    assert client.threads(1)[0].line == 3


def test_a_thread_is_resolved_when_all_of_it_is(client, gitlab):
    mona = gitlab.person("mona")
    made = gitlab.thread(1, [(mona, body, "2026-03-01T12:00:00.000Z") for body in ("One", "Two")], "a.md")
    made["notes"][0]["resolved"] = True
    assert not client.threads(1)[0].resolved
    gitlab.resolve(made)
    assert client.threads(1)[0].resolved


@pytest.mark.parametrize(
    "document",
    [{}, {"approved_by": None}, {"approved_by": [{}]}, {"approved_by": [{"user": {"id": "1", "username": "x"}}]},
     {"approved_by": [{"user": {"id": 1, "username": "x"}, "approved_at": "yesterday"}]}],
)  # fmt: skip
def test_approvals_of_another_form_are_odd(client, gitlab, document):
    gitlab.faults += [Fault(passes=True), Fault(200, document)]
    with pytest.raises(HoldfastError) as caught:
        client.reviews(1)
    assert caught.value.code == "forge_odd_answer"


def test_a_commit_that_cannot_be_one_is_odd(client, gitlab, monkeypatch):
    monkeypatch.setattr(gitlab, "_fits", lambda *_: None)
    gitlab.approve(1, gitlab.person("mona"), "2026-03-01T12:00:00.000Z")
    for commit in ("", "HEAD", "--all", "ABCDEF" * 7, 7):
        gitlab.versions[1][0]["head_commit_sha"] = commit
        with pytest.raises(HoldfastError) as caught:
            client.reviews(1)
        assert caught.value.code == "forge_odd_answer"


def test_a_merge_request_from_a_fork_goes_to_the_project_above(gitlab, tmp_path):
    import subprocess

    subprocess.run(["git", "init", "-q", str(tmp_path / "top")], check=True)
    gitlab.fork(tmp_path / "top", "mona", "origin")
    fork = HERE.replace(path="mona/octo-repo")
    carried = lab.by_token("gitlab.com", TOKEN, base_url=gitlab.address)
    client = Client(carried, HERE, head=fork, pauses=(0, 0))
    gitlab.open(BRANCH, "Not ours")
    assert client.find(BRANCH) is None
    made = client.open(BRANCH, "main", "Fix the door", "")
    assert made.number == 2
    assert gitlab.opened[1].owner == "mona"
    assert client.open(BRANCH, "main", "Again", "") == made
