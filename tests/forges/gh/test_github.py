"""The GitHub of the tests refuses what the real one would refuse: otherwise nothing it accepts would prove anything."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import subprocess

import pytest

from tests.forges.gh.github import GitHub

REPOSITORY = '{ repository(owner: "octo-org", name: "octo-repo") { %s } }'
HEADERS = {"User-Agent": "a test", "Content-Type": "application/json", "Authorization": "bearer a-token-of-the-test"}


@pytest.fixture
def strict(tmp_path):
    with GitHub(tmp_path / "github") as server:
        yield server


def connection(server, host="api.github.com"):
    trust = ssl.create_default_context(cafile=server.environ["SSL_CERT_FILE"])
    proxy = server.environ["HTTPS_PROXY"].rpartition("/")[2]
    made = http.client.HTTPSConnection(proxy, context=trust, timeout=30)
    made.set_tunnel(host, 443)
    return made


def asked(server, body, headers=HEADERS, method="POST", path="/graphql"):
    made = connection(server)
    try:
        made.request(method, path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
        answer = made.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        made.close()


def test_a_query_of_the_published_schema_is_answered(strict):
    status, answer = asked(strict, {"query": REPOSITORY % "name"})
    assert (status, answer) == (200, {"data": {"repository": {"name": "octo-repo"}}})
    assert strict.objections == []


@pytest.mark.parametrize(
    ("query", "variables", "complaint"),
    [
        (REPOSITORY % "nmae", {}, "Cannot query field 'nmae'"),
        (REPOSITORY % "pullRequests(head: 1) { totalCount }", {}, "Unknown argument 'head'"),
        (REPOSITORY % "pullRequests { totalCount }", {}, "a page of None"),
        (REPOSITORY % "pullRequests(first: 101) { totalCount }", {}, "a page of 101"),
        ("query($o: String!) { repository(owner: $o, name: $o) { name } }", {}, "'$o' of required type"),
        ("query($o: String!) { repository(owner: $o, name: $o) { name } }", {"o": 1}, "String cannot represent"),
        (REPOSITORY % "name", {"spare": 1}, "does not declare: ['spare']"),
        (
            "mutation($i: CreatePullRequestInput!) { createPullRequest(input: $i) { clientMutationId } }",
            {"i": {"repositoryId": "1", "baseRefName": "main", "headRefName": "x", "title": "T", "reviewers": []}},
            "Field 'reviewers' is not defined",
        ),
        ("{", {}, "Syntax Error"),
    ],
)
def test_a_query_that_does_not_fit_the_schema_is_noted(strict, query, variables, complaint):
    asked(strict, {"query": query, "variables": variables})
    (noted,) = strict.objections
    assert complaint in noted


@pytest.mark.parametrize(
    ("change", "status", "noted"),
    [
        ({"path": "/repos/octo-org/octo-repo/pulls"}, 404, 1),
        ({"method": "PUT"}, 404, 1),
        ({"headers": {**HEADERS, "User-Agent": ""}}, 403, 1),
        ({"headers": {**HEADERS, "Content-Type": "text/plain"}}, 415, 1),
        ({"headers": {**HEADERS, "Authorization": "bearer another"}}, 401, 0),
        ({"body": b"{"}, 400, 1),
        ({"body": {"query": "{", "extra": 1}}, 400, 1),
    ],
)
def test_a_request_that_is_not_as_published_is_refused(strict, change, status, noted):
    assert asked(strict, **{"body": {"query": REPOSITORY % "name"}, **change})[0] == status
    assert len(strict.objections) == noted


def test_no_other_host_can_be_reached(strict):
    made = connection(strict, "example.com")
    with pytest.raises(OSError, match="403"):
        made.request("GET", "/")
    made.close()
    assert strict.objections == ["CONNECT example.com:443"]


def test_gh_itself_can_view_what_was_opened(strict):
    page = strict.open("fix", "Mend it").url
    viewed = subprocess.run(
        ["gh", "pr", "view", page, "--json", "number,url,title"],
        env={**os.environ, **strict.environ},
        capture_output=True,
        check=True,
    )
    assert json.loads(viewed.stdout) == {"number": 1, "url": page, "title": "Mend it"}
    assert strict.objections == []
