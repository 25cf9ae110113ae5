"""What a client says when a forge says no, breaks off or is not there: the same on every one."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFound, OutcomeUnknown, Refused
from tests.forges.contract.faults import created, failure
from tests.forges.contract.stages import asked
from tests.forges.loopback import BRANCH, Fault

SLOW = 2.0
"""Seconds that a client waits in tests of forges which never finish."""
PAGE = "https://forge.example.com/octo-org/octo-repo/pull/1"
NUMBERED = {"number": 1, "iid": 1}


def test_a_login_that_is_not_accepted_is_refused_with_the_way_to_another(stage, client, server):
    server.token = "another"
    for call in (lambda: client.find(BRANCH), lambda: client.threads(1)):
        refusal = failure(call, Refused)
        assert refusal.code == "forge_unauthorized"
        assert stage.login in refusal.remedy


def test_an_endless_objection_is_cut_short(client, server):
    server.faults.append(Fault(400, {"message": "no " * 100_000, "errors": ["x" * 10_000] * 1000}))
    assert len(failure(lambda: client.get(1), Refused).message) < 7000


def test_a_look_is_repeated_twice_when_the_forge_has_a_fault(client, server):
    server.open(BRANCH, "Fix the door")
    server.faults += [Fault(502, {"message": "Server Error"}), Fault(503, "<html>")]
    assert client.find(BRANCH).number == 1
    server.faults += [Fault(502, "")] * 2
    assert client.threads(1) == ()
    server.faults += [Fault(500, {"message": "Oops"})] * 4
    down = failure(lambda: client.get(1))
    assert (down.code, down.facts["status"], len(server.faults)) == ("forge_down", 500, 1)


def test_a_change_is_not_repeated_when_the_forge_has_a_fault(stage, client, server):
    server.faults += [Fault(passes=True), Fault(502, {"message": "Server Error"})]
    assert failure(lambda: created(client)).code == "forge_down"
    assert server.opened == []
    assert asked(stage) == ["find", "find"]


@pytest.mark.parametrize(
    "lost",
    [Fault(happens=True, hangs_up=True), Fault(happens=True, cut=True), Fault(502, {}, happens=True),
     Fault(happens=True, raw=b"<html>hello</html>")],
    ids=["hung up", "cut off", "502", "not JSON"],
)  # fmt: skip
def test_a_pull_request_whose_answer_was_lost_is_found_and_not_opened_again(stage, client, server, lost):
    server.faults += [Fault(passes=True), lost]
    assert created(client).number == 1
    assert asked(stage) == ["find", "create", "find"]
    assert created(client).number == 1
    assert len(server.opened) == 1


def test_a_pull_request_whose_answer_is_late_is_found_and_not_opened_again(stage, server):
    server.faults += [Fault(passes=True), Fault(happens=True, silent=True)]
    assert created(stage.client(timeout=2 * SLOW)).number == 1
    assert len(server.opened) == 1


def test_a_change_that_was_lost_and_did_not_happen_is_a_failure(client, server):
    server.faults += [Fault(passes=True), Fault(hangs_up=True)]
    assert failure(lambda: created(client)).code == "forge_unreachable"
    assert server.opened == []


def test_a_change_after_which_nothing_can_be_seen_has_an_unknown_outcome(client, server):
    server.faults += [Fault(passes=True), Fault(happens=True, hangs_up=True), Fault(hangs_up=True)]
    unknown = failure(lambda: created(client), OutcomeUnknown)
    assert unknown.code == "forge_unreachable"
    assert "may or may not" in unknown.message
    assert created(client).number == 1


def test_one_that_somebody_opens_at_the_same_moment_is_taken(client, server):
    server.rival = "Fix it first"
    assert created(client).number == 1
    assert [one.title for one in server.opened] == ["Fix it first"]


def test_a_forge_that_does_not_answer_is_given_up_on(stage, server):
    server.faults.append(Fault(silent=True))
    gone = failure(lambda: stage.client(timeout=SLOW).get(1))
    assert gone.code == "forge_unreachable"
    assert "within 2 s" in gone.message


def test_an_answer_that_comes_letter_by_letter_is_given_up_on(stage, server):
    server.open(BRANCH, "Fix the door")
    server.faults.append(Fault(drips=True))
    assert failure(lambda: stage.client(timeout=SLOW).get(1)).code == "forge_unreachable"


def test_an_answer_without_end_is_not_read_to_its_end(client, server):
    server.open(BRANCH, "Fix the door")
    server.faults.append(Fault(raw=b'["' + b"x" * (17 << 20) + b'"]'))
    odd = failure(lambda: client.get(1))
    assert odd.code == "forge_odd_answer"
    assert "16 MiB" in odd.message


def test_a_large_answer_is_read(stage, client, server):
    server.open(BRANCH, "Fix the door")
    body = "größer 🚪" * 60_000
    stage.says("mona", body, "2026-03-01T10:00:00Z")
    assert client.comments(1)[0].body == body


@pytest.mark.parametrize(
    "document",
    [{}, [], None, 7, "words", {**NUMBERED}, {"number": 2, "iid": 2, "html_url": PAGE, "web_url": PAGE},
     {**NUMBERED, "html_url": "javascript:alert(1)", "web_url": "javascript:alert(1)", "state": "open"}],
)  # fmt: skip
def test_an_answer_of_another_form_is_odd(client, server, document):
    server.faults.append(Fault(200, document))
    assert failure(lambda: client.get(1)).code == "forge_odd_answer"


def test_a_link_to_another_host_gives_no_more_than_its_question(stage, client, server):
    server.open(BRANCH, "Fix the door")
    stage.says("mona", "Now", "2026-03-01T10:00:00Z")
    elsewhere = {"Link": '<https://evil.example/steal?per_page=100&page=1>; rel="next"'}
    server.faults.append(Fault(200, [], elsewhere))
    assert [one.body for one in client.comments(1)] == ["Now"]


def test_a_limit_that_is_reached_says_when_it_ends(client, server):
    for headers, when in (
        ({"Retry-After": "60", "RateLimit-Reset": "1772359200"}, "in 60 s"),
        ({"RateLimit-Reset": "1772359200"}, "at 2026-03-01T10:00:00Z"),
        ({"Retry-After": "Wed, 21 Oct", "X-RateLimit-Reset": "9" * 30}, "in a minute or more"),
    ):
        server.faults.append(Fault(429, {"message": "Retry later"}, headers))
        refusal = failure(lambda: client.comments(1), Refused)
        assert refusal.code == "forge_rate_limited"
        assert when in refusal.message
        assert when in refusal.remedy


def test_what_the_login_may_not_do_is_refused_in_the_words_of_the_forge(client, stage, server):
    said = "insufficient \x1b[31mscope\x1b[0m\n\u202e"
    server.faults.append(Fault(403, {"message": said}))
    refusal = failure(lambda: client.get(1), Refused)
    assert refusal.code == "forge_forbidden"
    plain = refusal.message.replace("^[[31m", "").replace("^[[0m", "")  # gh shows them by their names
    assert plain.endswith("insufficient scope")
    assert stage.login in refusal.remedy


def test_what_is_gone_is_not_found(client, server):
    server.faults.append(Fault(410, {"message": "Gone"}))
    assert failure(lambda: client.comments(1), NotFound).code == "forge_not_found"


def test_a_pull_request_that_the_forge_refuses_is_refused_in_its_sentences(client, stage, server):
    refusal = failure(lambda: client.open("not/pushed", "main", "Fix the door", ""), Refused)
    assert refusal.code == "forge_refused"
    assert stage.refused_title in refusal.message
    assert asked(stage) == ["find", "create"]


def test_an_answer_that_ends_in_the_middle_is_none(client, server):
    server.open(BRANCH, "Fix the door")
    for call in (client.get, client.comments):
        server.faults.append(Fault(cut=True))
        assert failure(lambda call=call: call(1)).code in ("forge_unreachable", "forge_odd_answer")


def test_a_list_that_leads_in_a_circle_comes_to_an_end(client, server, monkeypatch):
    monkeypatch.setattr("holdfast.forges.rest.PAGES", 3)
    again = {"Link": f'<https://{server.host}/x?page=2>; rel="next"'}
    server.faults += [Fault(200, [], again)] * 3
    assert failure(lambda: client.comments(1)).code == "forge_odd_answer"
    assert server.faults == []


def test_lists_of_another_form_are_odd(client, server):
    documents: tuple[object, ...] = ({}, None, "", 7)
    for document in documents:
        for call in (lambda: client.find(BRANCH), lambda: client.comments(1)):
            server.faults.append(Fault(200, document))
            assert failure(call).code == "forge_odd_answer"
