"""What a client says when a GitHub says no in its own way, the same by a token and by gh."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import NotFound, Refused
from tests.forges.contract.faults import created, failure
from tests.forges.loopback import BRANCH, Fault


def test_a_limit_of_graphql_comes_as_a_success(client, github):
    errors = [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772359200"}
    github.faults.append(Fault(200, {"errors": errors}, headers))
    refusal = failure(lambda: client.threads(1), Refused)
    assert (refusal.code, refusal.facts["resets_at"]) == ("forge_rate_limited", "2026-03-01T10:00:00Z")


def test_what_the_login_may_not_do_is_refused_in_the_words_of_github(client, github):
    said = "Resource not accessible by \x1b[31mpersonal\x1b[0m access token\n\u202e"
    github.faults += [
        Fault(403, {"message": said}),
        Fault(200, {"data": {"repository": None}, "errors": [{"type": "FORBIDDEN", "message": said}]}),
    ]
    for call in (lambda: client.get(1), lambda: client.threads(1)):
        refusal = failure(call, Refused)
        assert refusal.code == "forge_forbidden"
        plain = refusal.message.replace("^[[31m", "").replace("^[[0m", "")  # gh shows them by their names
        assert plain.endswith("Resource not accessible by personal access token")


def test_an_organisation_that_wants_its_own_login_is_named_with_its_page(client, github):
    headers = {"X-GitHub-SSO": "required; url=https://github.com/orgs/octo-org/sso?authorization_request=A1"}
    github.faults.append(Fault(403, {"message": "Resource protected by organization SAML enforcement."}, headers))
    assert "https://github.com/orgs/octo-org/sso?authorization_request=A1" in failure(lambda: client.get(1)).remedy


def test_comments_that_are_switched_off_are_not_found(client, github):
    github.faults.append(Fault(410, {"message": "Issues are disabled for this repo"}))
    assert failure(lambda: client.comments(1), NotFound).code == "forge_not_found"


def test_objections_without_sentences_name_the_field(client, github):
    errors = [{"resource": "PullRequest", "field": "base", "code": "invalid"}, "and more", {"odd": 1}, None]
    github.faults += [Fault(passes=True), Fault(422, {"message": "Validation Failed", "errors": errors})]
    refusal = failure(lambda: created(client), Refused)
    assert refusal.facts["said"] == "Validation Failed; base invalid; and more"


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
            assert failure(call).code == "forge_odd_answer"


def test_errors_of_graphql_without_a_kind_are_refusals(client, github):
    for errors in ([{"message": "Something went wrong"}], [{"type": "NEW", "message": "Something went wrong"}]):
        github.faults.append(Fault(200, {"data": {}, "errors": errors}))
        assert failure(lambda: client.threads(1), Refused).code == "forge_refused"


def test_errors_of_graphql_of_another_form_are_no_answer(client, github):
    """gh does not pass on what it cannot read."""
    for errors in (["x"], "x", 7, [{"type": ["NOT_FOUND"], "message": 1}]):
        github.faults.append(Fault(200, {"data": {}, "errors": errors}))
        assert failure(lambda: client.threads(1)).code in ("forge_refused", "forge_odd_answer")


def test_a_list_that_leads_in_a_circle_comes_to_an_end(client, github, monkeypatch):
    monkeypatch.setattr("holdfast.forges.rest.PAGES", 3)
    again = {"Link": '<https://api.github.com/repositories/1/pulls/1/reviews?page=2>; rel="next"'}
    github.faults += [Fault(200, [], again)] * 3
    assert failure(lambda: client.reviews(1)).code == "forge_odd_answer"
    page = {"nodes": [None], "pageInfo": {"hasNextPage": True, "endCursor": "again"}}
    github.faults += [Fault(200, {"data": {"repository": {"pullRequest": {"reviewThreads": page}}}})] * 3
    assert failure(lambda: client.threads(1)).code == "forge_odd_answer"
    assert github.faults == []


def test_a_pull_request_that_github_refuses_is_refused_in_its_sentences(client, github):
    refusal = failure(lambda: client.open("not/pushed", "main", "Fix the door", ""), Refused)
    assert refusal.code == "forge_refused"
    assert "Validation Failed; Head sha can't be blank" in refusal.message
    assert "No commits between main and not/pushed" in refusal.message
    assert github.operations == ["pulls/list", "pulls/create"]


@pytest.mark.parametrize("what", ["get", "threads"])
def test_an_answer_that_ends_in_the_middle_is_none(client, github, what):
    github.open(BRANCH, "Fix the door")
    github.faults.append(Fault(cut=True))
    assert failure(lambda: getattr(client, what)(1)).code == "forge_unreachable"


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
    assert refusal.code == "forge_rate_limited"
    assert when in refusal.message
    assert when in refusal.remedy
    assert facts.items() <= refusal.facts.items()
