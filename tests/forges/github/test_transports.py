"""Where requests go and what they carry: TLS, proxies, redirects, logins."""

from __future__ import annotations

import os
import socket

import pytest

from holdfast.core.remedy import described
from holdfast.errors import HoldfastError
from holdfast.forges.github import by_token, connect
from holdfast.forges.github.client import Client
from holdfast.forges.program_transport import program_in
from tests.forges.github.server import HERE
from tests.forges.loopback import BRANCH, Fault
from tests.processes import ends


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Puts a program of the test in place of gh."""

    def put(script):
        program = tmp_path / "bin" / "gh"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
        return program

    return put


def failure(call):
    with pytest.raises(HoldfastError) as caught:
        call()
    return caught.value


def test_a_token_travels_through_a_proxy_inside_of_tls(github, tmp_path):
    client = connect(HERE, top=str(tmp_path), environ=os.environ)
    assert client.open(BRANCH, "main", "Fix the door", "").number == 1
    assert client.threads(1) == ()


def test_the_login_of_gh_is_used_where_there_is_no_token(github, tmp_path, monkeypatch):
    (tmp_path / "github" / "config" / "hosts.yml").write_text("github.com:\n  oauth_token: a-token-of-the-test\n")
    monkeypatch.delenv("GH_TOKEN")
    client = connect(HERE, top=str(tmp_path), environ=os.environ)
    assert client.find(BRANCH) is None


def test_gh_without_a_login_is_told_to_make_one(github, monkeypatch, by_gh):
    monkeypatch.delenv("GH_TOKEN")
    refusal = failure(lambda: Client(by_gh(), HERE).threads(1))
    assert (refusal.code, refusal.remedy) == ("forge_unauthorized", "gh auth login --hostname github.com")


def test_a_certificate_that_nobody_vouches_for_ends_the_attempt(github, tmp_path, monkeypatch, way, by_gh):
    monkeypatch.setenv("SSL_CERT_FILE", os.devnull)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    proxy = os.environ["HTTPS_PROXY"]
    token = by_token("github.com", "a-token-of-the-test", proxy=proxy)
    refusal = failure(lambda: Client(by_gh() if way == "gh" else token, HERE).threads(1))
    assert refusal.code == "forge_unreachable"
    assert "certificate" in refusal.message
    assert github.operations == []
    github.expected = "SSL"


def test_where_approvals_are_asked_for_the_environment_decides_nothing(github, tmp_path, stand_in, monkeypatch):
    """Neither a certificate that it names is believed, nor a `gh` that it puts first."""
    client = connect(HERE, top=str(tmp_path), environ=os.environ, strict=True)
    assert "certificate" in failure(lambda: client.threads(1)).message
    monkeypatch.delenv("GH_TOKEN")
    seen = tmp_path / "seen"
    stand_in(f"touch {seen}")
    failure(lambda: connect(HERE, top=str(tmp_path), environ=os.environ, strict=True).threads(1))
    assert not seen.exists()
    assert github.operations == []
    github.expected = "SSL"


def test_a_host_that_is_not_there_is_unreachable(github, tmp_path, monkeypatch, way, by_gh):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setenv("HTTPS_PROXY", nobody)
    token = by_token("github.com", "a-token-of-the-test", base_url=nobody)
    refusal = failure(lambda: Client(by_gh() if way == "gh" else token, HERE).threads(1))
    assert refusal.code == "forge_unreachable"
    assert refusal.facts == {"host": "github.com"}


def test_a_name_that_nobody_knows_is_unreachable(github, tmp_path):
    carried = by_token("github.invalid", "a-token-of-the-test")
    assert failure(lambda: Client(carried, HERE).threads(1)).code == "forge_unreachable"


def test_a_redirect_to_another_host_is_not_followed_with_a_token(github):
    client = Client(by_token("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.settimeout(0)
        place = f"127.0.0.1:{other.getsockname()[1]}"
        for target in (f"http://{place}/x", f"//{place}/x", f"https://127.0.0.1:{github.port}/x"):
            github.faults.append(Fault(302, {}, {"Location": target}))
            assert failure(lambda: client.get(1)).code == "forge_odd_answer"
            github.faults.append(Fault(307, {}, {"Location": target}))
            assert failure(lambda: client.threads(1)).code == "forge_odd_answer"
        with pytest.raises(BlockingIOError):
            other.accept()
    assert github.operations == []


def test_gh_follows_no_redirect_to_where_its_proxy_does_not_lead(github, by_gh):
    github.faults.append(Fault(302, {}, {"Location": "https://evil.example/x"}))
    assert failure(lambda: Client(by_gh(), HERE).get(1)).code == "forge_unreachable"
    assert github.objections == ["CONNECT evil.example:443"]
    github.expected = "evil.example"


def test_redirects_without_end_or_aim_are_given_up_on(github):
    client = Client(by_token("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    github.faults += [Fault(301, {}, {"Location": "/again"})] * 5
    assert "without end" in failure(lambda: client.get(1)).message
    for target in ("", "a b", "http://[", "x" * 3000):
        github.faults.append(Fault(301, {}, {"Location": target}))
        assert failure(lambda: client.get(1)).code == "forge_odd_answer"
    assert github.faults == []


def test_a_change_that_is_sent_elsewhere_as_a_look_is_not_followed(github):
    client = Client(by_token("github.com", "a-token-of-the-test", base_url=github.address), HERE)
    github.faults += [Fault(passes=True), Fault(302, {}, {"Location": "/elsewhere"})]
    refusal = failure(lambda: client.open(BRANCH, "main", "Fix the door", ""))
    assert (refusal.code, refusal.remedy) == ("forge_odd_answer", "git remote -v")
    assert github.operations == ["pulls/list", "pulls/list"]


def test_a_token_that_is_sent_back_is_not_passed_on(github):
    carried = by_token("github.com", "a-token-of-the-test", base_url=github.address)
    message = "what is a-token-of-the-test?"
    github.faults.append(Fault(403, {"message": message}, {"X-GitHub-SSO": f"url=https://x.example/{message[8:27]}"}))
    refusal = failure(lambda: Client(carried, HERE).get(1))
    assert refusal.message.endswith("what is ***?")
    assert "a-token" not in repr((described(refusal), carried, vars(refusal)))


@pytest.mark.parametrize("host", ["github.example.com", "other.example.com"])
def test_gh_gets_no_enterprise_token_of_the_environment(tmp_path, monkeypatch, stand_in, host, by_gh):
    """What replaces gh here says whether it was given one, where and with which words it was run."""
    seen = tmp_path / "seen"
    stand_in(f'printf "%s\\n" "$GH_ENTERPRISE_TOKEN" "$PWD" "$@" >{seen}')
    monkeypatch.setenv("GH_ENTERPRISE_TOKEN", "three")
    monkeypatch.setenv("GH_HOST", host)
    there = HERE.replace(host="github.example.com")
    assert failure(lambda: Client(by_gh(there.host), there).threads(1)).code == "forge_unreachable"
    token, folder, *words = seen.read_text().splitlines()
    assert (token, folder) == ("", str(tmp_path))
    assert words[:3] == ["api", "--hostname", "github.example.com"]
    assert "three" not in words


def test_a_gh_that_is_gone_or_has_nowhere_to_run_says_so(tmp_path, stand_in, by_gh):
    assert failure(lambda: Client(by_gh(top=str(tmp_path / "nowhere")), HERE).threads(1)).code == "forge_unreachable"
    program = stand_in("exit 0")
    transport = by_gh()
    program.unlink()
    assert failure(lambda: Client(transport, HERE).threads(1)).code == "forge_unreachable"


def test_gh_is_found_where_the_environment_says_and_not_in_the_folder_one_stands_in(stand_in, tmp_path, monkeypatch):
    program = str(stand_in("exit 0"))
    assert program_in(os.environ, "gh") == program_in({"PATH": f"{tmp_path}:{tmp_path}/bin"}, "gh") == program
    monkeypatch.chdir(tmp_path)
    assert [program_in({"PATH": path}, "gh") for path in (str(tmp_path), "", ":.:bin")] == ["", "", ""]


def test_a_gh_that_hangs_is_ended_with_all_it_started(stand_in, tmp_path, by_gh):
    stand_in(f"sleep 600 & echo $! > '{tmp_path}/sleeper'; wait")
    assert failure(lambda: Client(by_gh(timeout=1), HERE).threads(1)).code == "forge_unreachable"
    assert ends(int((tmp_path / "sleeper").read_text()))


def test_a_gh_that_complains_without_end_is_stopped(stand_in, by_gh):
    stand_in("yes >&2")
    assert failure(lambda: Client(by_gh(), HERE).threads(1)).code == "forge_unreachable"


def test_gh_runs_in_a_session_of_its_own_and_has_nobody_to_ask(stand_in, tmp_path, by_gh):
    stand_in(f"""
cut -d' ' -f6 /proc/$$/stat > '{tmp_path}/session'; echo $$ > '{tmp_path}/pid'
readlink /proc/$$/fd/0 > '{tmp_path}/stdin'
echo "$GH_PROMPT_DISABLED$NO_COLOR$GH_NO_UPDATE_NOTIFIER" > '{tmp_path}/quiet'""")
    failure(lambda: Client(by_gh(), HERE).get(1))
    assert (tmp_path / "session").read_text() == (tmp_path / "pid").read_text()
    assert (tmp_path / "stdin").read_text() == "/dev/null\n"
    assert (tmp_path / "quiet").read_text() == "111\n"
