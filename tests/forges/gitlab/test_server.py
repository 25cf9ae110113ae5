"""The GitLab of the tests refuses what the real one would refuse: otherwise nothing it accepts would prove anything."""

from __future__ import annotations

import http.client
import json

import pytest

from tests.forges.gitlab.server import CONTRACT, GitLab
from tests.forges.loopback import TOKEN

PROJECT = "/api/v4/projects/octo-org%2Focto-repo"
REQUESTS = f"{PROJECT}/merge_requests"
HEADERS = {
    "User-Agent": "a test",
    "Accept": "application/json",
    "Content-Type": "application/json",
    "Authorization": f"Bearer {TOKEN}",
}
GOOD = {"source_branch": "fix/door", "target_branch": "main", "title": "T"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with GitLab(tmp_path_factory.mktemp("strict") / "gitlab") as made:
        made.plant()
        made.open("fix", "Fix it")
        yield made


@pytest.fixture
def strict(server):
    server.objections.clear()
    return server


def asked(server, method, path, body=None, **headers):
    made = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        made.request(method, path, None if body is None else json.dumps(body).encode(), {**HEADERS, **headers})
        return made.getresponse().status
    finally:
        made.close()


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        (("DELETE", REQUESTS), "no operation DELETE"),
        (("GET", "/projects/1"), "no API at"),
        (("GET", f"{PROJECT}/pulls"), "no operation GET"),
        (("GET", "/api/v4/projects/octo-org/octo-repo/merge_requests"), "no operation GET"),
        (("GET", f"{REQUESTS}?stat=opened"), "merge_requests/list has no parameter stat"),
        (("GET", f"{REQUESTS}?state=open"), "merge_requests/list state"),
        (("GET", f"{REQUESTS}?per_page=101"), "merge_requests/list per_page"),
        (("GET", f"{PROJECT}/members/all?user_ids[]=mona"), "members/all user_ids[]"),
        (("GET", REQUESTS, GOOD), "GET with"),
        (("POST", REQUESTS), "POST with 0 bytes"),
        (("POST", REQUESTS, {**GOOD, "title": 1}), "the body of merge_requests/create"),
        (("POST", REQUESTS, {"title": "T"}), "'source_branch' is a required property"),
        (("POST", REQUESTS, {**GOOD, "body": ""}), "'body' was unexpected"),
        (("POST", f"{PROJECT}/issues", {"title": "T", "body": ""}), "'body' was unexpected"),
    ],
)
def test_a_request_that_is_not_as_published_is_noted(strict, request_, complaint):
    try:
        asked(strict, *request_)
    except (KeyError, http.client.HTTPException):
        pass
    assert any(complaint in noted for noted in strict.objections), strict.objections


@pytest.mark.parametrize(
    ("header", "status", "noted"),
    [
        ({"User-Agent": ""}, 400, 1),
        ({"Accept": "text/html"}, 406, 1),
        ({"Content-Type": "text/plain"}, 415, 1),
        ({"Authorization": "Bearer another"}, 401, 0),
        ({"Authorization": "", "PRIVATE-TOKEN": TOKEN}, 401, 0),
    ],
)
def test_a_request_without_its_headers_is_refused(strict, header, status, noted):
    assert asked(strict, "POST", f"{PROJECT}/issues", {"title": "T"}, **header) == status
    assert len(strict.objections) == noted


def test_the_contract_names_where_its_facts_are_from():
    assert all(one.startswith("https://docs.gitlab.com/api/") for one in CONTRACT["sources"])
    assert CONTRACT["read"].startswith("20")
