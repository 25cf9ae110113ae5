"""What a client says when GitHub says no, breaks off or is not there, the same by a token and by gh."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import HoldfastError, NotFound, OutcomeUnknown, Refused
from tests.forges.github.server import BRANCH, Fault

SLOW = 2.0
"""Seconds that a client waits in tests of GitHubs which never finish."""


def failure(call, kind=HoldfastError):
    with pytest.raises(kind) as caught:
        call()
    shown = (caught.value.message, caught.value.remedy, repr(caught.value.facts))
    assert all(text.isprintable() and "a-token-of-the-test" not in text for text in shown)
    assert caught.value.remedy
    return caught.value


def created(client):
    return client.open(BRANCH, "main", "Mend the door", "It creaked.")


def test_a_login_that_is_not_accepted_is_refused_with_the_way_to_another(client, github):
    github.token = "another"
    for call in (lambda: client.find(BRANCH), lambda: client.threads(1)):
        refusal = failure(call, Refused)
        assert refusal.code == "github_unauthorized"
        assert "gh auth login --hostname github.com" in refusal.remedy


@pytest.mark.parametrize(
    ("status", "headers", "when", "facts"),
    [
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772359200"}, "at 2026-03-01T10:00:00Z",
         {"resets_at": "2026-03-01T10:00:00Z"}),
        (429, {"Retry-After": "60", "X-RateLimit-Reset": "1772359200"}, "in 60 s", {"retry_after": 60}),
        (403, {}, "in a minute or more", {}),
        (429, {"Retry-After": "Wed, 21 Oct", "X-RateLimit-Reset": "9" * 30}, "in a minute or more", {}),
    ],
)  # fmt: skip
def test_a_limit_that_is_reached_says_when_it_ends(client, github, status, headers, when, facts):
    document = {"message": "You have exceeded a secondary rate limit. Please wait."}
    github.faults.append(Fault(status, document, headers))
    refusal = failure(lambda: client.reviews(1), Refused)
    assert refusal.code == "github_rate_limited"
    assert when in refusal.message
    assert when in refusal.remedy
    assert facts.items() <= refusal.facts.items()


def test_a_limit_of_graphql_comes_as_a_success(client, github):
    errors = [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772359200"}
    github.faults.append(Fault(200, {"errors": errors}, headers))
    refusal = failure(lambda: client.threads(1), Refused)
    assert (refusal.code, refusal.facts["resets_at"]) == ("github_rate_limited", "2026-03-01T10:00:00Z")


def test_what_the_login_may_not_do_is_refused_in_the_words_of_github(client, github):
    said = "Resource not accessible by \x1b[31mpersonal\x1b[0m access token\n\u202e"
    github.faults += [
        Fault(403, {"message": said}),
        Fault(200, {"data": {"repository": None}, "errors": [{"type": "FORBIDDEN", "message": said}]}),
    ]
    for call in (lambda: client.get(1), lambda: client.threads(1)):
        refusal = failure(call, Refused)
        assert refusal.code == "github_forbidden"
        plain = refusal.message.replace("^[[31m", "").replace("^[[0m", "")  # gh shows them by their names
        assert plain.endswith("Resource not accessible by personal access token")


def test_an_organisation_that_wants_its_own_login_is_named_with_its_page(client, github):
    headers = {"X-GitHub-SSO": "required; url=https://github.com/orgs/octo-org/sso?authorization_request=A1"}
    github.faults.append(Fault(403, {"message": "Resource protected by organization SAML enforcement."}, headers))
    assert "https://github.com/orgs/octo-org/sso?authorization_request=A1" in failure(lambda: client.get(1)).remedy


def test_comments_that_are_switched_off_are_not_found(client, github):
    github.faults.append(Fault(410, {"message": "Issues are disabled for this repo"}))
    assert failure(lambda: client.comments(1), NotFound).code == "github_not_found"


def test_a_pull_request_that_github_refuses_is_refused_in_its_sentences(client, github):
    refusal = failure(lambda: client.open("not/pushed", "main", "Mend the door", ""), Refused)
    assert refusal.code == "github_refused"
    assert "Validation Failed; Head sha can't be blank" in refusal.message
    assert "No commits between main and not/pushed" in refusal.message
    assert github.operations == ["pulls/list", "pulls/create"]


def test_objections_without_sentences_name_the_field(client, github):
    errors = [{"resource": "PullRequest", "field": "base", "code": "invalid"}, "and more", {"odd": 1}, None]
    github.faults += [Fault(passes=True), Fault(422, {"message": "Validation Failed", "errors": errors})]
    refusal = failure(lambda: created(client), Refused)
    assert refusal.facts["said"] == "Validation Failed; base invalid; and more"


def test_an_endless_objection_is_cut_short(client, github):
    github.faults.append(Fault(400, {"message": "no " * 100_000, "errors": ["x" * 10_000] * 1000}))
    assert len(failure(lambda: client.get(1), Refused).message) < 7000


def test_a_look_is_repeated_twice_when_github_has_a_fault(client, github):
    github.open(BRANCH, "Mend the door")
    github.faults += [Fault(502, {"message": "Server Error"}), Fault(503, "<html>")]
    assert client.find(BRANCH).number == 1
    github.faults += [Fault(502, "")] * 2
    assert client.threads(1) == ()
    github.faults += [Fault(500, {"message": "Oops"})] * 4
    down = failure(lambda: client.get(1))
    assert (down.code, down.facts["status"], len(github.faults)) == ("github_down", 500, 1)


def test_a_change_is_not_repeated_when_github_has_a_fault(client, github):
    github.faults += [Fault(passes=True), Fault(502, {"message": "Server Error"})]
    assert failure(lambda: created(client)).code == "github_down"
    assert github.opened == []
    assert github.operations == ["pulls/list", "pulls/list"]


@pytest.mark.parametrize(
    "lost",
    [Fault(happens=True, hangs_up=True), Fault(happens=True, cut=True), Fault(502, {}, happens=True),
     Fault(happens=True, raw=b"<html>hello</html>")],
    ids=["hung up", "cut off", "502", "not JSON"],
)  # fmt: skip
def test_a_pull_request_whose_answer_was_lost_is_found_and_not_opened_again(client, github, lost):
    github.faults += [Fault(passes=True), lost]
    assert created(client).number == 1
    assert github.operations == ["pulls/list", "pulls/create", "pulls/list"]
    assert created(client).number == 1
    assert len(github.opened) == 1


def test_a_pull_request_whose_answer_is_late_is_found_and_not_opened_again(connected, github):
    github.faults += [Fault(passes=True), Fault(happens=True, silent=True)]
    assert created(connected(timeout=2 * SLOW)).number == 1
    assert len(github.opened) == 1


def test_a_change_that_was_lost_and_did_not_happen_is_a_failure(client, github):
    github.faults += [Fault(passes=True), Fault(hangs_up=True)]
    assert failure(lambda: created(client)).code == "github_unreachable"
    assert github.opened == []


def test_a_change_after_which_nothing_can_be_seen_has_an_unknown_outcome(client, github):
    github.faults += [Fault(passes=True), Fault(happens=True, hangs_up=True), Fault(hangs_up=True)]
    unknown = failure(lambda: created(client), OutcomeUnknown)
    assert unknown.code == "github_unreachable"
    assert "may or may not" in unknown.message
    assert created(client).number == 1


def test_one_that_somebody_opens_at_the_same_moment_is_taken(client, github):
    github.rival = "Mend it first"
    assert created(client).number == 1
    assert [one.title for one in github.opened] == ["Mend it first"]


@pytest.mark.parametrize("what", ["get", "threads"])
def test_an_answer_that_ends_in_the_middle_is_none(client, github, what):
    github.open(BRANCH, "Mend the door")
    github.faults.append(Fault(cut=True))
    assert failure(lambda: getattr(client, what)(1)).code == "github_unreachable"


def test_a_github_that_does_not_answer_is_given_up_on(connected, github):
    github.faults.append(Fault(silent=True))
    gone = failure(lambda: connected(timeout=SLOW).get(1))
    assert gone.code == "github_unreachable"
    assert "within 2 s" in gone.message


def test_an_answer_that_comes_letter_by_letter_is_given_up_on(connected, github):
    github.open(BRANCH, "Mend the door")
    github.faults.append(Fault(drips=True))
    assert failure(lambda: connected(timeout=SLOW).get(1)).code == "github_unreachable"


def test_an_answer_without_end_is_not_read_to_its_end(client, github):
    github.open(BRANCH, "Mend the door")
    github.faults.append(Fault(raw=b'["' + b"x" * (17 << 20) + b'"]'))
    odd = failure(lambda: client.get(1))
    assert odd.code == "github_odd_answer"
    assert "16 MiB" in odd.message


def test_a_large_answer_is_read(client, github):
    github.open(BRANCH, "Mend the door")
    body = "größer 🚪" * 60_000
    github.comments[1] = [{"body": body, "created_at": "2026-03-01T10:00:00Z"}]
    assert client.comments(1)[0].body == body


@pytest.mark.parametrize(
    "document",
    [{}, [], None, 7, "words", {"number": 1}, {"number": 2, "html_url": "https://github.com/octo-org/octo-repo/pull/1"},
     {"number": 1, "html_url": "javascript:alert(1)", "state": "open"}],
)  # fmt: skip
def test_an_answer_of_another_form_is_odd(client, github, document):
    github.faults.append(Fault(200, document))
    assert failure(lambda: client.get(1)).code == "github_odd_answer"


def test_lists_and_data_of_another_form_are_odd(client, github):
    calls: dict[Callable[[], object], list[object]] = {
        (lambda: client.find(BRANCH)): [{}, [1], [{"head": {"repo": {"id": 1}}, "base": {}}]],
        (lambda: client.reviews(1)): [None, [{}], [{"id": "1", "state": "APPROVED"}]],
        (lambda: client.comments(1)): ["", [{"user": None, "body": 3}]],
        (lambda: client.threads(1)): [
            {}, [], {"data": None}, {"data": {"repository": None}}, {"data": {"repository": {"pullRequest": None}}},
            {"data": {"repository": {"pullRequest": {"reviewThreads": {"nodes": [{}], "pageInfo": {}}}}}},
        ],
    }  # fmt: skip
    for call, documents in calls.items():
        for document in documents:
            github.faults.append(Fault(200, document))
            assert failure(call).code == "github_odd_answer"


def test_errors_of_graphql_without_a_kind_are_refusals(client, github):
    for errors in ([{"message": "Something went wrong"}], [{"type": "NEW", "message": "Something went wrong"}]):
        github.faults.append(Fault(200, {"data": {}, "errors": errors}))
        assert failure(lambda: client.threads(1), Refused).code == "github_refused"


def test_errors_of_graphql_of_another_form_are_no_answer(client, github):
    """gh does not pass on what it cannot read."""
    for errors in (["x"], "x", 7, [{"type": ["NOT_FOUND"], "message": 1}]):
        github.faults.append(Fault(200, {"data": {}, "errors": errors}))
        assert failure(lambda: client.threads(1)).code in ("github_refused", "github_odd_answer")


def test_a_list_that_leads_in_a_circle_comes_to_an_end(client, github, monkeypatch):
    monkeypatch.setattr("holdfast.forges.github.client.PAGES", 3)
    again = {"Link": '<https://api.github.com/repositories/1/pulls/1/reviews?page=2>; rel="next"'}
    github.faults += [Fault(200, [], again)] * 3
    assert failure(lambda: client.reviews(1)).code == "github_odd_answer"
    page = {"nodes": [None], "pageInfo": {"hasNextPage": True, "endCursor": "again"}}
    github.faults += [Fault(200, {"data": {"repository": {"pullRequest": {"reviewThreads": page}}}})] * 3
    assert failure(lambda: client.threads(1)).code == "github_odd_answer"
    assert github.faults == []


def test_a_link_to_another_host_gives_no_more_than_its_question(client, github):
    github.open(BRANCH, "Mend the door")
    github.reviews[1] = [{"id": 8}]
    elsewhere = {"Link": '<https://evil.example/steal?per_page=100&page=1>; rel="next"'}
    github.faults.append(Fault(200, [], elsewhere))
    assert [one.id for one in client.reviews(1)] == [8]
    assert github.operations == ["pulls/list-reviews"]
