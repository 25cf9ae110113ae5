"""Which repository a remote names, where its GitHub answers, and which token may go there."""

from __future__ import annotations

import pytest

from holdfast.core.remedy import described
from holdfast.errors import Refused, UsageError
from holdfast.forges.github import by_token, connect
from holdfast.forges.github.repository import Repository, repository_in, roots, token_in
from holdfast.forges.known import Host
from holdfast.forges.token_transport import proxy_in

OURS = Repository("github.com", "octo-org", "octo.repo_1")
THEIRS = Repository("github.example.com", "octo-org", "octo-repo")


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/octo-org/octo.repo_1",
        "https://github.com/octo-org/octo.repo_1.git",
        "https://github.com:443/octo-org/octo.repo_1/",
        "https://mona:secret@GitHub.com/octo-org/octo.repo_1.git",
        "https://www.github.com/octo-org/octo.repo_1",
        "ssh://git@github.com/octo-org/octo.repo_1.git",
        "ssh://git@github.com:22/octo-org/octo.repo_1.git/",
        "ssh://git@ssh.github.com:443/octo-org/octo.repo_1.git",
        "git@github.com:octo-org/octo.repo_1.git",
        "github.com:octo-org/octo.repo_1",
        "git@github.com:/octo-org/octo.repo_1.git",
    ],
)
def test_a_remote_of_github_names_its_repository(url):
    assert repository_in(url) == OURS


def test_an_enterprise_host_is_known_by_its_name_or_because_the_user_named_it():
    assert repository_in("git@github.example.com:octo-org/octo-repo.git") == THEIRS
    assert repository_in("https://octo.ghe.com/octo-org/octo-repo") == THEIRS.replace(host="octo.ghe.com")
    with_port = THEIRS.replace(host="github.example.com:8443")
    assert repository_in("https://github.example.com:8443/octo-org/octo-repo") == with_port
    assert repository_in("git@code.example.com:octo-org/octo-repo.git") is None
    named = repository_in("git@code.example.com:octo-org/octo-repo.git", ("code.example.com",))
    assert named == THEIRS.replace(host="code.example.com")


@pytest.mark.parametrize(
    "url",
    [
        "", "github.com", "/srv/git/octo-org/octo-repo.git", "file:///octo-org/octo-repo", "../octo-repo",
        "https://gitlab.com/octo-org/octo-repo", "git@bitbucket.org:octo-org/octo-repo.git",
        "https://github.com.evil.example/octo-org/octo-repo", "https://notgithub.com/octo-org/octo-repo",
        "https://evil.example/github.com/octo-org", "https://github.com@evil.example/octo-org/octo-repo",
        "https://github.com/octo-org", "https://github.com/octo-org/octo-repo/pulls", "https://github.com//octo-repo",
        "https://github.com/octo-org/..", "https://github.com/octo-org/.git", "https://github.com/../octo-repo",
        "https://github.com/octo-org/octo-repo?x=1", "https://github.com/octo-org/octo%2frepo",
        "https://github.com/octo-org/{owner}", "https://github.com/-octo/octo-repo",
        "https://github.com/octo-org/octo-repo\n", "git@github.com:octo-org/octo repo", "https://gıthub.com/a/b",
        "https://github.com/octo-org/" + "x" * 3000, "ext::sh -c github.com:a/b",
    ],
)  # fmt: skip
def test_what_names_no_repository_of_a_github_gives_none(url):
    assert repository_in(url) is None


def test_each_kind_of_github_answers_at_its_own_address():
    assert roots("github.com") == ("https://api.github.com", "https://api.github.com/graphql")
    assert roots("octo.ghe.com") == ("https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql")
    enterprise = ("https://github.example.com/api/v3", "https://github.example.com/api/graphql")
    assert roots("github.example.com") == roots("github.com", "https://github.example.com/api/v3/") == enterprise
    assert roots("github.com", "http://127.0.0.1:8/") == ("http://127.0.0.1:8", "http://127.0.0.1:8/graphql")


def test_tokens_are_taken_in_the_order_in_which_gh_takes_them():
    both = {"GH_TOKEN": " one\n", "GITHUB_TOKEN": "two"}
    assert token_in(both, "github.com") == token_in(both, "octo.ghe.com") == "one"
    assert token_in({"GITHUB_TOKEN": "two", "GH_TOKEN": ""}, "github.com") == "two"
    assert token_in({"GH_ENTERPRISE_TOKEN": "three"}, "github.com") == ""


def test_an_enterprise_token_goes_only_to_a_host_that_the_user_named():
    environ = {"GITHUB_ENTERPRISE_TOKEN": "four", "GH_ENTERPRISE_TOKEN": "three", "GH_TOKEN": "one"}
    assert token_in(environ, "github.evil.example") == ""
    assert token_in(environ, "github.example.com", ("github.example.com",)) == "three"


def test_without_a_token_and_without_gh_the_refusal_says_what_to_set(tmp_path):
    nothing = {"PATH": str(tmp_path)}
    api = "https://github.example.com/api/v3"
    table = f'write [forges] with "github.example.com" = "{api}" into ~/.config/holdfast/config.toml, then: '
    for where, address, remedy in (
        (OURS, "", "export GH_TOKEN=TOKEN"),
        (THEIRS, "", f"{table}export GH_ENTERPRISE_TOKEN=TOKEN"),
        (THEIRS, api, "export GH_ENTERPRISE_TOKEN=TOKEN"),
    ):
        named = Host("github", address) if address else None
        client = connect(where, top=str(tmp_path), environ=nothing, named=named)
        with pytest.raises(Refused) as caught:
            client.threads(1)
        assert caught.value is client.refusal
        assert (caught.value.code, caught.value.remedy) == ("forge_no_login", remedy)


def test_a_proxy_is_used_unless_the_host_is_excepted():
    environ = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": "localhost, .example.com,*.example.net, octo.ghe.com"}
    assert proxy_in(environ, "api.github.com") == "http://proxy:3128"
    assert proxy_in({**environ, "https_proxy": "http://other"}, "api.github.com") == "http://other"
    excepted = ("github.example.com", "example.com:8443", "a.example.net", "api.octo.ghe.com")
    assert [proxy_in(environ, host) for host in excepted] == [""] * 4
    assert proxy_in(environ, "notexample.com") == "http://proxy:3128"
    assert proxy_in({**environ, "NO_PROXY": "*"}, "api.github.com") == proxy_in({}, "api.github.com") == ""


@pytest.mark.parametrize(
    "base",
    ["http://github.example.com", "http://127.0.0.1.evil.example", "ftp://github.com", "https://a@b.example", "https://",
     "https://github.com/?x", "https://github.com:99999", "//github.com", "https://github.com/\r\nX: y", "http://[::2]"],
)  # fmt: skip
def test_an_address_on_which_a_token_could_be_read_is_refused(base):
    with pytest.raises(UsageError) as caught:
        by_token("github.com", "token", base_url=base)
    assert caught.value.code == "bad_forge_url"


@pytest.mark.parametrize("token", ["", "a b", "secret\r\nX-Evil: 1", "geheim-ä", "x" * 1001])
def test_a_token_that_cannot_be_one_is_refused_without_showing_it(token):
    with pytest.raises(UsageError) as caught:
        by_token("github.com", token)
    assert caught.value.code == "bad_token"
    assert not token or token not in str(described(caught.value))


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:1080", "http://mona:secret@", "https://proxy", "a b", "http://p:99999"]
)
def test_a_proxy_of_another_kind_is_refused_without_showing_it(proxy):
    with pytest.raises(UsageError) as caught:
        by_token("github.com", "token", proxy=proxy)
    assert caught.value.code == "bad_proxy"
    assert proxy not in str(described(caught.value))


@pytest.mark.parametrize("host", ["", "-x", "a b", "github.com/x", "github.com\n", "a@b"])
def test_a_host_that_cannot_be_one_is_refused(host):
    with pytest.raises(UsageError) as caught:
        by_token(host, "token")
    assert caught.value.code == "bad_host"
