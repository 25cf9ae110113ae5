"""Where requests go and what they carry: TLS, proxies, redirects, logins."""

from __future__ import annotations

import os
import socket

import pytest

from holdfast.errors import HoldfastError
from holdfast.forges.github import Client, GhTransport, TokenTransport, connect
from tests.forges.github.server import BRANCH, HERE, Fault


def failure(call):
    with pytest.raises(HoldfastError) as caught:
        call()
    return caught.value


def test_a_token_travels_through_a_proxy_inside_of_tls(github, tmp_path):
    client = connect(HERE, top=str(tmp_path), environ=os.environ)
    assert client.create(BRANCH, "main", "Mend the door", "").number == 1
    assert client.viewer() == "mona-the-reviewer"


def test_the_login_of_gh_is_used_where_there_is_no_token(github, tmp_path, monkeypatch):
    (tmp_path / "github" / "config" / "hosts.yml").write_text("github.com:\n  oauth_token: a-token-of-the-test\n")
    monkeypatch.delenv("GH_TOKEN")
    client = connect(HERE, top=str(tmp_path), environ=os.environ)
    assert client.viewer() == "mona-the-reviewer"


def test_gh_without_a_login_is_told_to_make_one(github, tmp_path, monkeypatch):
    monkeypatch.delenv("GH_TOKEN")
    refusal = failure(Client(GhTransport(str(tmp_path)), HERE).viewer)
    assert (refusal.code, refusal.remedy) == ("github_unauthorized", "gh auth login --hostname github.com")


def test_a_certificate_that_nobody_vouches_for_ends_the_attempt(github, tmp_path, monkeypatch, way):
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    proxy = os.environ["HTTPS_PROXY"]
    token = TokenTransport("github.com", "a-token-of-the-test", proxy=proxy)
    refusal = failure(Client(GhTransport(str(tmp_path)) if way == "gh" else token, HERE).viewer)
    assert refusal.code == "github_unreachable"
    assert "certificate" in refusal.message
    assert github.operations == []
    github.expected = "SSL"


def test_a_host_that_is_not_there_is_unreachable(github, tmp_path, monkeypatch, way):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("HTTPS_PROXY", nobody)
    token = TokenTransport("github.com", "a-token-of-the-test", base_url=nobody)
    refusal = failure(Client(GhTransport(str(tmp_path)) if way == "gh" else token, HERE).viewer)
    assert refusal.code == "github_unreachable"
    assert refusal.facts == {"host": "github.com"}


def test_a_name_that_nobody_knows_is_unreachable(github, tmp_path):
    carried = TokenTransport("github.invalid", "a-token-of-the-test")
    assert failure(Client(carried, HERE).viewer).code == "github_unreachable"


def test_a_redirect_to_another_host_is_not_followed_with_a_token(github):
    client = Client(TokenTransport("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0)
        place = f"127.0.0.1:{other.getsockname()[1]}"
        for target in (f"http://{place}/x", f"//{place}/x", f"https://127.0.0.1:{github._server.server_port}/x"):
            github.faults.append(Fault(302, {}, {"Location": target}))
            assert failure(lambda: client.get(1)).code == "github_odd_answer"
            github.faults.append(Fault(307, {}, {"Location": target}))
            assert failure(client.viewer).code == "github_odd_answer"
        with pytest.raises(BlockingIOError):
            other.accept()
    assert github.operations == []


def test_gh_follows_no_redirect_to_where_its_proxy_does_not_lead(github, tmp_path):
    github.faults.append(Fault(302, {}, {"Location": "https://evil.example/x"}))
    assert failure(lambda: Client(GhTransport(str(tmp_path)), HERE).get(1)).code == "github_unreachable"
    assert github.objections == ["CONNECT evil.example:443"]
    github.expected = "evil.example"


def test_redirects_without_end_or_aim_are_given_up_on(github):
    client = Client(TokenTransport("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    github.faults += [Fault(301, {}, {"Location": "/again"})] * 5
    assert "without end" in failure(lambda: client.get(1)).message
    for target in ("", "a b", "http://[", "x" * 3000):
        github.faults.append(Fault(301, {}, {"Location": target}))
        assert failure(lambda: client.get(1)).code == "github_odd_answer"
    assert github.faults == []


def test_a_change_that_is_sent_elsewhere_as_a_look_is_not_followed(github):
    client = Client(TokenTransport("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    github.faults += [Fault(passes=True), Fault(302, {}, {"Location": "/elsewhere"})]
    refusal = failure(lambda: client.create(BRANCH, "main", "Mend the door", ""))
    assert (refusal.code, refusal.remedy) == ("github_odd_answer", "git remote -v")
    assert github.operations == ["pulls/list", "pulls/list"]


def test_a_token_that_is_sent_back_is_not_passed_on(github):
    carried = TokenTransport("github.com", "a-token-of-the-test", base_url=github.address)
    message = "what is a-token-of-the-test?"
    github.faults.append(Fault(403, {"message": message}, {"X-GitHub-SSO": f"url=https://x.example/{message[8:27]}"}))
    refusal = failure(lambda: Client(carried, HERE).get(1))
    assert refusal.message.endswith("what is ***?")
    assert "a-token" not in repr((refusal.as_json(), carried, vars(refusal)))


@pytest.mark.parametrize("named", [False, True])
def test_gh_has_an_enterprise_token_only_for_a_host_that_the_user_named(tmp_path, monkeypatch, named):
    """What stands in for gh here says whether it was given one, where and with which words it was run."""
    seen = tmp_path / "seen"
    stand_in = tmp_path / "bin" / "gh"
    stand_in.parent.mkdir()
    stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$GH_ENTERPRISE_TOKEN" "$PWD" "$@" >{seen}\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(stand_in.parent))
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "three")
    monkeypatch.setenv("GH_HOST", "github.example.com" if named else "other.example.com")
    there = HERE.replace(host="github.example.com")
    assert failure(Client(GhTransport(str(tmp_path), there.host), there).viewer).code == "github_unreachable"
    token, folder, *words = seen.read_text().splitlines()
    assert (token, folder) == ("three" if named else "", str(tmp_path))
    assert words[:3] == ["api", "--hostname", "github.example.com"]
    assert "three" not in words


def test_a_gh_that_is_gone_or_has_nowhere_to_run_says_so(tmp_path, monkeypatch):
    assert failure(Client(GhTransport(str(tmp_path / "nowhere")), HERE).viewer).code == "github_unreachable"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert failure(Client(GhTransport(str(tmp_path)), HERE).viewer).code == "no_gh"
