"""What a forge finds, opens and reads: the same by a token and by gh, from a GitHub that checks every request."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound, OutcomeUnknown, UsageError
from holdfast.forges.github.repository import Repository
from holdfast.forges.port import Comment, PullRequest, Review, Thread
from tests.forges.github.conversation import KeptThread
from tests.forges.github.server import BRANCH, Fault

PAGE = "https://github.com/octo-org/octo-repo/pull/1"
NOON = "2026-03-01T12:00:00Z"
SHA = "0123456789abcdef0123456789abcdef01234567"


def said(body, login="hubot", **other):
    shown = {"author": login and {"__typename": "User", "login": login}, "body": body, "state": "SUBMITTED"}
    return {**shown, "createdAt": NOON, **other}


def test_there_is_none_before_one_is_opened(client, github):
    assert client.find(BRANCH) is None
    assert github.operations == ["pulls/list"]


def test_a_created_one_is_there_with_its_words_and_is_found_again(client, github):
    body = "It creaked.\n\n`$HOME` {owner} :repo größer 🚪\n"
    made = client.open(BRANCH, "main", "Mend the “door” & $HOME", body)
    assert made == PullRequest(1, PAGE, "open", BRANCH, "main")
    (kept,) = github.opened
    assert (kept.title, kept.body, kept.base, kept.head) == ("Mend the “door” & $HOME", body, "main", BRANCH)
    assert client.find(BRANCH) == client.find(BRANCH, "main") == client.get(1) == made


def test_a_repetition_opens_no_second_one(client, github):
    first = client.open(BRANCH, "main", "Mend the door", "")
    assert client.open(BRANCH, "main", "In other words", "") == first
    assert github.operations == ["pulls/list", "pulls/create", "pulls/list"]


def test_one_into_another_base_does_not_stand_in_for_it(client, github):
    client.open(BRANCH, "main", "Mend the door", "")
    assert client.find(BRANCH, "release") is None
    assert client.open(BRANCH, "release", "Mend the door", "").base == "release"


def test_a_branch_that_reads_like_a_blank_of_gh_is_asked_for_by_its_name(client, github):
    github.open("branch", "A name that gh fills in")
    github.open("repo", "Another one")
    assert (client.find("branch").number, client.find("repo").number) == (1, 2)


def test_one_from_a_fork_is_not_ours(client, github):
    github.open(BRANCH, "Let me in", owner="stranger")
    assert client.find(BRANCH) is None


def test_one_from_a_fork_of_the_same_owner_is_not_ours(client, github, monkeypatch):
    """The question for the owner's branch is answered with every repository of that owner."""
    github.open(BRANCH, "From the other house", owner="stranger")
    monkeypatch.setattr(type(github), "_is_asked", lambda *_: True)
    assert client.find(BRANCH) is None


def test_closed_and_merged_ones_are_not_found_but_can_be_looked_at(client, github):
    github.open(BRANCH, "An old try").state = "CLOSED"
    github.open(BRANCH, "A good try").state = "MERGED"
    assert client.find(BRANCH) is None
    assert [client.get(number).state for number in (1, 2)] == ["closed", "merged"]


def test_the_newest_of_several_is_found(client, github):
    github.open(BRANCH, "One")
    github.open(BRANCH, "Two", base="release")
    assert client.find(BRANCH).number == 2


def test_reviews_of_every_page_come_in_their_order(client, github):
    github.open(BRANCH, "Mend the door")
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
    github.open(BRANCH, "Mend the door")
    github.reviews[1] = [
        {"id": 1, "state": "PENDING", "body": "", "user": None, "submitted_at": ..., "author_association": "NONE"}
    ]
    (only,) = client.reviews(1)
    assert (only.author, only.state, only.submitted_at, only.association) == ("ghost", "PENDING", "", "NONE")


def test_a_review_whose_commit_is_gone_names_none(client, github):
    github.open(BRANCH, "Mend the door")
    github.reviews[1] = [{"commit_id": None}]
    assert client.reviews(1)[0].commit == ""


def test_whoever_is_not_said_to_belong_to_the_repository_does_not(client, github, monkeypatch):
    github.open(BRANCH, "Mend the door")
    monkeypatch.setattr(github, "_fits", lambda *_: None)  # the word is not published yet
    github.reviews[1] = [{"author_association": "FRIEND"}, {"author_association": ...}, {"author_association": "OWNER"}]
    assert [one.association for one in client.reviews(1)] == ["NONE", "NONE", "OWNER"]


@pytest.mark.parametrize("commit", ["", "HEAD", "--all", "ABCDEF" * 7, "a" * 41, "a" * 39 + "\n", 7])
def test_a_commit_that_cannot_be_one_is_odd(client, github, commit, monkeypatch):
    github.open(BRANCH, "Mend the door")
    monkeypatch.setattr(github, "_fits", lambda *_: None)
    github.reviews[1] = [{"commit_id": commit}]
    with pytest.raises(HoldfastError) as caught:
        client.reviews(1)
    assert caught.value.code == "github_odd_answer"


def test_a_state_that_is_not_known_neither_approves_nor_objects(client, github):
    github.open(BRANCH, "Mend the door")
    github.reviews[1] = [{"state": "APPROVED_WITH_CAKE"}]
    assert client.reviews(1)[0].state == "COMMENTED"


def test_comments_of_every_page_come_in_their_order(client, github):
    github.open(BRANCH, "Mend the door")
    github.comments[1] = [
        {"id": 9_000_000_000 + n, "body": f"größer {n}\r\n🚪", "created_at": NOON} for n in range(130)
    ]
    found = client.comments(1)
    assert found[7] == Comment("9000000007", "octocat", "größer 7\r\n🚪", NOON, "COLLABORATOR")
    assert [one.body.split()[1] for one in found] == [str(n) for n in range(130)]
    assert github.operations == ["issues/list-comments"] * 2


def test_a_thread_says_where_it_is_and_whether_it_is_resolved(client, github):
    github.open(BRANCH, "Mend the door")
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
    github.open(BRANCH, "Mend the door")
    github.threads[1] = [KeptThread(f"T{n}", "a.md", [said(f"{n}")]) for n in range(120)]
    github.threads[1][60].comments = [said(f"reply {n}") for n in range(170)]
    found = client.threads(1)
    assert [one.id for one in found] == [f"T{n}" for n in range(120)]
    assert [one.body for one in found[60].comments] == [f"reply {n}" for n in range(170)]
    assert github.operations == [
        "HoldfastThreads", "HoldfastThreads", "HoldfastComments", "HoldfastComments", "HoldfastThreads",
    ]  # fmt: skip


def test_comments_that_are_not_handed_in_are_left_out(client, github):
    github.open(BRANCH, "Mend the door")
    draft = said("Not yet", state="PENDING")
    github.threads[1] = [KeptThread("T1", "a.md", [draft]), KeptThread("T2", "a.md", [said("Now"), draft])]
    (only,) = client.threads(1)
    assert [one.body for one in only.comments] == ["Now"]


def test_a_comment_that_was_a_draft_is_as_old_as_the_review_it_was_handed_in_with(client, github):
    github.open(BRANCH, "Mend the door")
    evening = "2026-03-01T20:00:00Z"
    cases = [(NOON, {"submittedAt": evening}), (evening, {"submittedAt": None}), (evening, None)]
    comments = [said("x", createdAt=at, pullRequestReview=review) for at, review in cases]
    github.threads[1] = [KeptThread("T1", "a.md", comments)]
    assert [one.created_at for one in client.threads(1)[0].comments] == [evening] * 3


@pytest.mark.parametrize("what", ["get", "reviews", "comments", "threads"])
def test_a_number_that_no_pull_request_has_is_not_found(client, what):
    with pytest.raises(NotFound) as caught:
        getattr(client, what)(99)
    assert caught.value.code == "github_not_found"
    assert "pull request 99" in caught.value.message


def test_a_repository_that_is_not_there_is_not_found(connected):
    elsewhere = connected(Repository("github.com", "octo-org", "no-such-repo"))
    for call in (lambda: elsewhere.find(BRANCH), lambda: elsewhere.threads(1)):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "github_not_found"
        assert "gh auth login" in caught.value.remedy


def test_a_repository_with_a_new_name_is_found_by_its_old_one(connected, github):
    github.moved_from = "old-repo"
    github.open(BRANCH, "Mend the door")
    before = connected(Repository("github.com", "octo-org", "old-repo"))
    assert before.find(BRANCH).number == before.get(1).number == 1


def test_nothing_is_opened_twice_under_an_old_name(connected, github, way):
    """gh cannot send its input a second time, to the new address, and says so."""
    github.moved_from = "old-repo"
    before = connected(Repository("github.com", "octo-org", "old-repo"))
    if way == "token":
        assert before.open(BRANCH, "main", "Mend the door", "It creaked.").number == 1
        assert [one.body for one in github.opened] == ["It creaked."]
    else:
        with pytest.raises(HoldfastError) as caught:
            before.open(BRANCH, "main", "Mend the door", "It creaked.")
        assert (caught.value.code, caught.value.remedy, github.opened) == ("github_odd_answer", "git remote -v", [])


def test_a_number_that_cannot_be_one_is_not_asked_for(client, github):
    for number in (0, -1, True, 1 << 31):
        with pytest.raises(UsageError) as caught:
            client.get(number)
        assert (caught.value.code, github.operations) == ("bad_number", [])


def test_a_branch_that_cannot_be_one_is_not_asked_for(client, github):
    for branch in ("", "--draft", "a..b", "a b", "a\nb", "ä", "x" * 201, "a&base=evil"):
        for call in (client.find, lambda name: client.open(name, "main", "Mend", "")):
            with pytest.raises(UsageError) as caught:
                call(branch)
            assert (caught.value.code, github.operations) == ("bad_branch", [])


def test_a_title_that_cannot_be_one_is_not_sent(client, github):
    words = [(title, "") for title in ("", " ", "two\nlines", "\x1b[31mred", "x" * 1001)]
    for title, body in [*words, ("T", "a\0b"), ("T", "\ud800"), ("T", "x" * ((1 << 18) + 1))]:
        for call in (lambda *said: client.open(BRANCH, "main", *said), client.open_issue):
            with pytest.raises(UsageError) as caught:
                call(title, body)
            assert caught.value.code == "bad_text"
    assert github.operations == []


def test_without_a_base_it_is_opened_into_the_default_branch(client, github):
    github.default_branch = "release"
    assert client.open(BRANCH, "", "Mend the door", "").base == "release"
    assert client.open(BRANCH, "", "In other words", "").number == 1
    assert github.operations == ["pulls/list", "HoldfastDefaultBranch", "pulls/create", "pulls/list"]


def test_a_largest_body_and_a_title_that_looks_like_an_option_arrive_as_they_are(client, github):
    body = "ä" * (1 << 17)
    client.open(BRANCH, "main", "--draft", body)
    client.open_issue("--web", "")
    assert (github.opened[0].title, github.opened[0].body) == ("--draft", body)
    assert (github.issues[0].title, github.issues[0].body) == ("--web", "")


def test_variables_of_a_git_hook_or_a_forced_terminal_change_nothing(github, tmp_path, monkeypatch, connected):
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setenv("GH_FORCE_TTY", "100%")
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    client = connected()
    assert client.open(BRANCH, "main", "Mend the door", "") == client.find(BRANCH)


def test_an_issue_is_opened_with_its_words_and_its_address_given_back(client, github):
    body = "- [x] 1.1 Größer `$HOME` 🚪\n"
    url = client.open_issue("Milestone: “Foundation” & $HOME", body)
    assert url == github.issues[0].url == "https://github.com/octo-org/octo-repo/issues/1"
    assert (github.issues[0].title, github.issues[0].body) == ("Milestone: “Foundation” & $HOME", body)
    assert github.operations == ["issues/create"]


def test_a_repository_without_issues_says_so(client, github):
    github.has_issues = False
    with pytest.raises(NotFound) as caught:
        client.open_issue("Milestone", "")
    assert (caught.value.code, github.issues) == ("github_not_found", [])
    assert "Issues are disabled" in str(caught.value.facts["said"])


@pytest.mark.parametrize(
    "lost",
    [Fault(happens=True, hangs_up=True), Fault(happens=True, raw=b"<html>hello</html>"), Fault(502, {}, happens=True),
     Fault(201, {"html_url": PAGE}), Fault(201, {"html_url": "javascript:1"})],
    ids=["hung up", "not JSON", "502", "another page", "no page"],
)  # fmt: skip
def test_an_issue_whose_answer_got_lost_may_be_there_and_is_not_opened_again(client, github, lost):
    github.faults.append(lost)
    with pytest.raises(OutcomeUnknown) as caught:
        client.open_issue("Milestone", "")
    assert "may or may not be open" in caught.value.message
    assert "https://github.com/octo-org/octo-repo/issues" in caught.value.remedy
    assert len(github.issues) == lost.happens
