"""What a forge finds, opens and reads: the same on every one, from a server that checks every request."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, NotFound, OutcomeUnknown, UsageError
from holdfast.forges.port import PullRequest
from tests.forges.contract.stages import asked
from tests.forges.loopback import BRANCH, Fault

PAGE = "https://github.com/octo-org/octo-repo/pull/1"
URLS = ("html_url", "web_url")
NOON, EVENING = "2026-03-01T12:00:00Z", "2026-03-01T20:00:00Z"
SHA = "0123456789abcdef0123456789abcdef01234567"


def test_there_is_none_before_one_is_opened(stage, client, server):
    assert client.find(BRANCH) is None
    assert asked(stage) == ["find"]


def test_a_created_one_is_there_with_its_words_and_is_found_again(stage, client, server):
    body = "It creaked.\n\n`$HOME` {owner} :repo größer 🚪\n"
    made = client.open(BRANCH, "main", "Fix the “door” & $HOME", body)
    assert made == PullRequest(1, stage.page, "open", BRANCH, "main", body)
    (kept,) = server.opened
    assert (kept.title, kept.body, kept.base, kept.head) == ("Fix the “door” & $HOME", body, "main", BRANCH)
    assert client.find(BRANCH) == client.find(BRANCH, "main") == client.get(1) == made


def test_a_repetition_opens_no_second_one(stage, client, server):
    first = client.open(BRANCH, "main", "Fix the door", "")
    assert client.open(BRANCH, "main", "In other words", "") == first
    assert asked(stage) == ["find", "create", "find"]


def test_a_description_is_replaced_and_nothing_else(stage, client, server):
    client.open(BRANCH, "main", "Fix the door", "It creaked.")
    client.describe(1, "It is fixed: größer 🚪\n")
    (kept,) = server.opened
    assert (kept.title, kept.body, kept.state) == ("Fix the door", "It is fixed: größer 🚪\n", "OPEN")
    assert client.get(1).body == "It is fixed: größer 🚪\n"
    assert asked(stage) == ["find", "create", "describe", "get"]


def test_a_fault_of_the_forge_is_no_reason_to_leave_a_description_old(client, server):
    client.open(BRANCH, "main", "Fix the door", "It creaked.")
    server.faults.append(Fault(status=502))
    client.describe(1, "It is fixed.")
    assert [one.body for one in server.opened] == ["It is fixed."]


def test_one_into_another_base_does_not_stand_in_for_it(client, server):
    client.open(BRANCH, "main", "Fix the door", "")
    assert client.find(BRANCH, "release") is None
    assert client.open(BRANCH, "release", "Fix the door", "").base == "release"


def test_one_from_a_fork_is_not_ours(client, server):
    server.open(BRANCH, "Let me in", owner="stranger")
    assert client.find(BRANCH) is None


def test_closed_and_merged_ones_are_not_found_but_can_be_looked_at(client, server):
    server.open(BRANCH, "An old try").state = "CLOSED"
    server.open(BRANCH, "A good try").state = "MERGED"
    assert client.find(BRANCH) is None
    assert [client.get(number).state for number in (1, 2)] == ["closed", "merged"]


def test_the_newest_of_several_is_found(client, server):
    server.open(BRANCH, "One")
    server.open(BRANCH, "Two", base="release")
    assert client.find(BRANCH).number == 2


@pytest.mark.parametrize("what", ["get", "describe", "reviews", "comments", "threads"])
def test_a_number_that_no_pull_request_has_is_not_found(client, what):
    more = ("It is fixed.",) if what == "describe" else ()
    with pytest.raises(NotFound) as caught:
        getattr(client, what)(99, *more)
    assert caught.value.code == "forge_not_found"
    assert "pull request 99" in caught.value.message


def test_a_repository_that_is_not_there_is_not_found(stage):
    elsewhere = stage.client("no-such-repo")
    for call in (lambda: elsewhere.find(BRANCH), lambda: elsewhere.threads(1)):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "forge_not_found"
        assert stage.login in caught.value.remedy


def test_a_repository_with_a_new_name_is_found_by_its_old_one(stage, server):
    server.moved_from = "old-repo"
    server.open(BRANCH, "Fix the door")
    before = stage.client("old-repo")
    assert before.find(BRANCH).number == before.get(1).number == 1


def test_nothing_is_opened_twice_under_an_old_name(stage, server):
    """A program cannot send its input a second time, to the new address, and says so."""
    server.moved_from = "old-repo"
    before = stage.client("old-repo")
    if not stage.by_program:
        assert before.open(BRANCH, "main", "Fix the door", "It creaked.").number == 1
        assert [one.body for one in server.opened] == ["It creaked."]
    else:
        with pytest.raises(HoldfastError) as caught:
            before.open(BRANCH, "main", "Fix the door", "It creaked.")
        assert (caught.value.code, caught.value.remedy, server.opened) == ("forge_odd_answer", "git remote -v", [])


def test_a_number_that_cannot_be_one_is_not_asked_for(client, server):
    for number in (0, -1, True, 1 << 31):
        with pytest.raises(UsageError) as caught:
            client.get(number)
        assert (caught.value.code, server.operations) == ("bad_number", [])


def test_a_branch_that_cannot_be_one_is_not_asked_for(client, server):
    for branch in ("", "--draft", "a..b", "a b", "a\nb", "ä", "x" * 201, "a&base=evil"):
        for call in (client.find, lambda name: client.open(name, "main", "Fix", "")):
            with pytest.raises(UsageError) as caught:
                call(branch)
            assert (caught.value.code, server.operations) == ("bad_branch", [])


def test_a_title_that_cannot_be_one_is_not_sent(client, server):
    words = [(title, "") for title in ("", " ", "two\nlines", "\x1b[31mred", "x" * 1001)]
    for title, body in [*words, ("T", "a\0b"), ("T", "\ud800"), ("T", "x" * ((1 << 18) + 1))]:
        for call in (lambda *said: client.open(BRANCH, "main", *said), client.open_issue):
            with pytest.raises(UsageError) as caught:
                call(title, body)
            assert caught.value.code == "bad_text"
    assert server.operations == []


def test_without_a_base_it_is_opened_into_the_default_branch(stage, client, server):
    server.default_branch = "release"
    assert client.open(BRANCH, "", "Fix the door", "").base == "release"
    assert client.open(BRANCH, "", "In other words", "").number == 1
    assert asked(stage) == ["find", "default branch", "create", "find"]


def test_a_largest_body_and_a_title_that_looks_like_an_option_arrive_as_they_are(client, server):
    body = "ä" * (1 << 17)
    client.open(BRANCH, "main", "--draft", body)
    client.open_issue("--web", "")
    assert (server.opened[0].title, server.opened[0].body) == ("--draft", body)
    assert (server.issues[0].title, server.issues[0].body) == ("--web", "")


def test_an_issue_is_opened_with_its_words_and_its_address_given_back(stage, client, server):
    body = "- [x] 1.1 Größer `$HOME` 🚪\n"
    url = client.open_issue("Milestone: “Foundation” & $HOME", body)
    assert url == server.issues[0].url == stage.issue
    assert (server.issues[0].title, server.issues[0].body) == ("Milestone: “Foundation” & $HOME", body)
    assert asked(stage) == ["issue"]


@pytest.mark.parametrize(
    "lost",
    [Fault(happens=True, hangs_up=True), Fault(happens=True, raw=b"<html>hello</html>"), Fault(502, {}, happens=True),
     Fault(201, dict.fromkeys(URLS, PAGE)), Fault(201, dict.fromkeys(URLS, "javascript:1"))],
    ids=["hung up", "not JSON", "502", "another page", "no page"],
)  # fmt: skip
def test_an_issue_whose_answer_got_lost_may_be_there_and_is_not_opened_again(stage, client, server, lost):
    server.faults.append(lost)
    with pytest.raises(OutcomeUnknown) as caught:
        client.open_issue("Milestone", "")
    assert "may or may not be open" in caught.value.message
    assert stage.issue.removesuffix("/1") in caught.value.remedy
    assert len(server.issues) == lost.happens


def test_an_approval_says_who_when_of_which_commit_and_whether_they_belong(client, stage, server):
    server.open(BRANCH, "Fix the door")
    stage.approves("mona", NOON, SHA)
    stage.approves("stranger", EVENING, SHA, belongs=False)
    first, second = client.reviews(1)
    assert (first.author, first.state, first.submitted_at, first.commit) == ("mona", "APPROVED", NOON, SHA)
    assert [one.association for one in (first, second)] == ["MEMBER", "NONE"]


def test_comments_of_every_page_come_in_their_order(client, stage, server):
    server.open(BRANCH, "Fix the door")
    for n in range(130):
        stage.says("mona" if n % 2 else "stranger", f"größer {n}\r\n🚪", NOON, belongs=bool(n % 2))
    found = client.comments(1)
    assert [one.body for one in found] == [f"größer {n}\r\n🚪" for n in range(130)]
    assert len({one.id for one in found}) == 130
    assert (found[7].author, found[7].created_at, found[7].association) == ("mona", NOON, "MEMBER")
    assert (found[8].author, found[8].association) == ("stranger", "NONE")
    assert client.threads(1) == ()


def test_a_thread_says_where_it_is_and_whether_it_is_resolved(client, stage, server):
    server.open(BRANCH, "Fix the door")
    stage.points("workflow/door/größe.md", 7, [("mona", "Why?", NOON), ("hubot", "Because.", EVENING)])
    stage.points("src/door.py", None, [("mona", "All of it", NOON)], resolved=True)
    first, second = client.threads(1)
    assert (first.path, first.line, first.resolved) == ("workflow/door/größe.md", 7, False)
    said = [(one.author, one.body, one.created_at, one.association) for one in first.comments]
    assert said == [("mona", "Why?", NOON, "MEMBER"), ("hubot", "Because.", EVENING, "MEMBER")]
    assert (second.path, second.line, second.resolved) == ("src/door.py", None, True)
    assert client.comments(1) == ()


def test_threads_are_read_to_the_last_page(client, stage, server):
    server.open(BRANCH, "Fix the door")
    for n in range(120):
        stage.points("a.md", 7, [("mona", f"{n}", NOON)])
    found = client.threads(1)
    assert [one.comments[0].body for one in found] == [f"{n}" for n in range(120)]
    assert len({one.id for one in found}) == 120


def test_a_repository_without_issues_says_so(client, server):
    server.has_issues = False
    with pytest.raises(HoldfastError) as caught:
        client.open_issue("Milestone", "")
    assert caught.value.code in ("forge_not_found", "forge_forbidden")
    assert server.issues == []
