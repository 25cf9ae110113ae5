"""The GitHub of the tests refuses what the real one would refuse: otherwise nothing it accepts would prove anything."""

from __future__ import annotations

import http.client
import json
import ssl

import pytest

from tests.forges.github.server import GitHub

REPOSITORY = '{ repository(owner: "octo-org", name: "octo-repo") { %s } }'
REQUESTS = "pullRequest(number: 1) { reviewThreads%s { pageInfo { hasNextPage } } }"
PULLS, ISSUES = "/repos/octo-org/octo-repo/pulls", "/repos/octo-org/octo-repo/issues"
HEADERS = {
    "User-Agent": "a test",
    "Accept": "application/vnd.github+json",
    "X-GitHub-Api-Version": "2022-11-28",
    "Content-Type": "application/json",
    "Authorization": "bearer a-token-of-the-test",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with GitHub(tmp_path_factory.mktemp("strict") / "github") as made:
        made.plant()
        made.open("fix", "Fix it")
        yield made


@pytest.fixture
def strict(server):
    server.objections.clear()
    return server


def connection(server, host="api.github.com"):
    trust = ssl.create_default_context(cafile=server.environ["SSL_CERT_FILE"])
    proxy = server.environ["HTTPS_PROXY"].rpartition("/")[2]
    made = http.client.HTTPSConnection(proxy, context=trust, timeout=30)
    made.set_tunnel(host, 443)
    return made


def asked(server, method, path, body=None, **headers):
    made = connection(server)
    try:
        made.request(method, path, None if body is None else json.dumps(body).encode(), {**HEADERS, **headers})
        answer = made.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        made.close()


def test_a_query_of_the_published_schema_is_answered(strict):
    answer = asked(strict, "POST", "/graphql", {"query": "query Q { viewer { login } }", "variables": {}})
    assert (answer, strict.objections) == ((200, {"data": {"viewer": {"login": "mona-the-reviewer"}}}), [])


@pytest.mark.parametrize(
    ("query", "variables", "complaint"),
    [
        (REPOSITORY % "nmae", {}, "Cannot query field 'nmae'"),
        (REPOSITORY % "pullRequest(nr: 1) { id }", {}, "Unknown argument 'nr'"),
        (REPOSITORY % (REQUESTS % ""), {}, "a page of None"),
        (REPOSITORY % (REQUESTS % "(first: 101)"), {}, "a page of 101"),
        ("query Q($o: String!) { repository(owner: $o, name: $o) { id } }", {}, "'$o' of required type"),
        (REPOSITORY % "id", {"spare": 1}, "the query declares no spare"),
        ("{", {}, "Syntax Error"),
    ],
)
def test_a_query_that_does_not_fit_the_schema_is_noted(strict, query, variables, complaint):
    named = query if query.startswith("query") or query == "{" else f"query Q {query}"
    asked(strict, "POST", "/graphql", {"query": named, "variables": variables})
    assert any(complaint in noted for noted in strict.objections), strict.objections


@pytest.mark.parametrize(
    ("request_", "complaint"),
    [
        (("PUT", PULLS, {}), "no operation PUT"),
        (("GET", f"{PULLS}?stat=open"), "pulls/list has no parameter stat"),
        (("GET", f"{PULLS}?state=ajar"), "pulls/list state"),
        (("GET", f"{PULLS}?per_page=101"), "a page of 101"),
        (("POST", ISSUES, {"title": "T", "body": 1}), "the body of issues/create"),
        (("POST", ISSUES, {"title": "T", "body": "", "labour": []}), "'labour' was unexpected"),
        (("POST", "/graphql", {"query": "{", "extra": 1}), "POST of"),
    ],
)
def test_a_request_that_is_not_as_published_is_noted(strict, request_, complaint):
    asked(strict, *request_)
    assert any(complaint in noted for noted in strict.objections), strict.objections


@pytest.mark.parametrize(
    ("header", "status", "noted"),
    [
        ({"User-Agent": ""}, 403, 1),
        ({"Accept": "text/html"}, 406, 1),
        ({"Content-Type": "text/plain"}, 415, 1),
        ({"Authorization": "bearer another"}, 401, 0),
    ],
)
def test_a_request_without_its_headers_is_refused(strict, header, status, noted):
    assert asked(strict, "POST", ISSUES, {"title": "T", "body": ""}, **header)[0] == status
    assert len(strict.objections) == noted


def test_no_other_host_can_be_reached(strict):
    made = connection(strict, "example.com")
    with pytest.raises(OSError, match="403"):
        made.request("GET", "/")
    made.close()
    assert strict.objections == ["CONNECT example.com:443"]
