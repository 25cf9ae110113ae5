"""Where a login for a GitLab comes from, and where it may go."""

from __future__ import annotations

import os

import pytest

from holdfast.core.remedy import described
from holdfast.errors import HoldfastError
from holdfast.forges import gitlab as lab
from holdfast.forges.gitlab import glab
from holdfast.forges.gitlab.project import Project
from holdfast.forges.known import Host, hosts
from tests.forges.gitlab import glab_program
from tests.forges.gitlab.server import HERE
from tests.forges.loopback import BRANCH, TOKEN, Fault

THEIRS = Project("gitlab.example.com", "g/p")
FILE = """# a comment
git_protocol: ssh
host: evil.example
check_update: "true"
hosts:
    gitlab.com:
        api_protocol: https
        api_host: gitlab.com
        token: !!null glpat-one
        user: ada
    "gitlab.example.com:8443":
        token: 'glpat two'
        api_host: api.example.com # another one
    oauth.example.com:
        is_oauth2: "true"
        token: !!null short-lived
    keyring.example.com:
        use_keyring: "true"
aliases:
    ci: pipeline ci
    evil.example:
        token: nothing
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config" / "glab-cli" / "config.yml"
    path.parent.mkdir(parents=True)

    def write(text: str) -> str:
        path.write_text(text)
        path.chmod(0o600)
        return str(tmp_path / "config")

    write.path = path  # type: ignore[attr-defined]
    return write


def failure(call):
    with pytest.raises(HoldfastError) as caught:
        call()
    return caught.value


def test_the_file_of_glab_names_hosts_their_tokens_and_addresses(config):
    assert glab.hosts(config(FILE)) == {
        "gitlab.com": Host("gitlab", "https://gitlab.com/api/v4", "glpat-one"),
        "gitlab.example.com:8443": Host("gitlab", "https://api.example.com/api/v4", "glpat two"),
        "oauth.example.com": Host("gitlab", "https://oauth.example.com/api/v4", by_program=True),
        "keyring.example.com": Host("gitlab", "https://keyring.example.com/api/v4", by_program=True),
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hosts:",
        "hosts: {evil.example: {token: x}}",
        "- hosts:\n    evil.example:\n",
        *(f"hosts:\n    {host}:\n        token: x" for host in ("a b", "-x", "evil.example/x", "../x", "x\x00")),
        "hosts:\n\tevil.example:\n\t\ttoken: x",
        "other:\n    evil.example:\n        token: x",
        "\x00" * 100,
    ],
)
def test_what_glab_does_not_write_names_nothing(config, text):
    assert glab.hosts(config(text)) == {}


def test_a_file_that_others_can_write_or_that_is_too_large_names_nothing(config):
    where = config(FILE)
    config.path.chmod(0o666)
    assert glab.hosts(where) == {}
    assert glab.hosts(config(FILE + "#" * (1 << 20))) == {}
    config.path.unlink()
    os.mkfifo(config.path)
    assert glab.hosts(where) == {}


def test_the_users_settings_come_before_glab(config):
    where = config(FILE)
    (config.path.parents[1] / "holdfast").mkdir()
    text = '[forges]\n"gitlab.com" = "https://proxy.example.com/api/v4/"\n"oauth.example.com" = "https://x.example"\n'
    (config.path.parents[1] / "holdfast" / "config.toml").write_text(text)
    found = hosts(where)
    assert found["gitlab.com"] == Host("gitlab", "https://proxy.example.com/api/v4", "glpat-one")
    assert found["oauth.example.com"] == Host("github", "https://x.example")


@pytest.mark.parametrize(
    ("project", "named", "environ", "token"),
    [
        (HERE, None, {"GITLAB_TOKEN": " one\n", "GITLAB_ACCESS_TOKEN": "two"}, "one"),
        (HERE, None, {"GITLAB_ACCESS_TOKEN": "two"}, "two"),
        (HERE, Host("gitlab", "https://gitlab.com/api/v4", "kept"), {}, "kept"),
        (HERE, Host("gitlab", "https://gitlab.com/api/v4", "kept"), {"GITLAB_TOKEN": "one"}, "one"),
        (THEIRS, Host("gitlab", "https://gitlab.example.com/api/v4"), {"GITLAB_TOKEN": "one"}, "one"),
        (THEIRS, None, {"GITLAB_TOKEN": "one"}, None),
        (HERE, None, {"GH_TOKEN": "one", "OAUTH_TOKEN": "x", "CI_JOB_TOKEN": "y"}, None),
    ],
)
def test_a_token_goes_only_to_gitlab_and_to_hosts_that_the_user_named(project, named, environ, token):
    client = lab.connect(project, top="/", environ={"PATH": "", **environ}, named=named)
    if token is None:
        assert client.refusal.code == "forge_no_login"
    else:
        assert client._transport._token == token  # type: ignore[attr-defined]
        assert token not in repr(client._transport)


def test_a_token_that_is_sent_in_the_clear_is_refused(config):
    text = "hosts:\n    gitlab.example.com:\n        api_protocol: http\n        token: x\n"
    named = hosts(config(text))["gitlab.example.com"]
    assert failure(lambda: lab.connect(THEIRS, top="/", environ={}, named=named)).code == "bad_forge_url"


def test_where_approvals_are_asked_for_the_environment_decides_nothing(gitlab, tmp_path, monkeypatch):
    """Neither a certificate that it names is believed, nor a `glab` that it puts first."""
    for name, value in gitlab.through.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITLAB_TOKEN", TOKEN)
    lax = lab.connect(HERE, top="/", environ=os.environ)
    assert lax.find(BRANCH) is None
    strict = lab.connect(HERE, top="/", environ=os.environ, strict=True)
    assert "certificate" in failure(lambda: strict.find(BRANCH)).message
    gitlab.expected = "SSL"
    monkeypatch.delenv("GITLAB_TOKEN")
    glab_program.put(tmp_path / "bin", gitlab.address, TOKEN)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    named = Host("gitlab", "https://gitlab.com/api/v4", by_program=True)
    assert lab.connect(HERE, top="/", environ=os.environ, named=named).find(BRANCH) is None
    strict = lab.connect(HERE, top="/", environ=os.environ, named=named, strict=True)
    assert getattr(strict._transport, "_program", "") != str(tmp_path / "bin" / "glab")


def test_glab_is_run_outside_of_the_repository_and_gets_no_variable_that_names_a_host(tmp_path):
    program = tmp_path / "glab"
    program.write_text(f'#!/bin/sh\nenv >{tmp_path}/env; printf "%s\\n" "$PWD" "$@" >{tmp_path}/words\n')
    program.chmod(0o755)
    environ = {"PATH": os.environ["PATH"], "HOME": "/h", "GITLAB_HOST": "evil.example", "GITLAB_TOKEN": "one",
               "GLAB_CONFIG_DIR": "/evil", "GIT_DIR": "/evil", "CI_SERVER_HOST": "evil.example"}  # fmt: skip
    transport = lab.by_glab(str(program), "gitlab.com", environ=environ)
    assert failure(lambda: transport.send("GET", "user")).code == "forge_unreachable"
    known = (tmp_path / "env").read_text()
    assert "HOME=/h" in known
    assert "evil" not in known
    assert "GITLAB_TOKEN" not in known
    folder, *words = (tmp_path / "words").read_text().splitlines()
    assert (folder, words[:3], words[-1]) == ("/", ["api", "--hostname", "gitlab.com"], "user")


def test_glab_without_a_login_is_told_to_make_one(tmp_path):
    program = tmp_path / "glab"
    program.write_text("#!/bin/sh\necho 'To get started, run: glab auth login' >&2; exit 1\n")
    program.chmod(0o755)
    transport = lab.by_glab(str(program), "gitlab.com", environ={})
    refusal = failure(lambda: transport.send("GET", "user"))
    assert (refusal.code, refusal.remedy) == ("forge_unauthorized", "glab auth login --hostname gitlab.com")


def test_a_token_that_is_sent_back_is_not_passed_on(gitlab):
    carried = lab.by_token("gitlab.com", TOKEN, base_url=gitlab.address)
    gitlab.faults.append(Fault(403, {"error": "insufficient_scope", "error_description": f"what is {TOKEN}?"}))
    answer = carried.send("GET", "user")
    assert TOKEN.encode() not in answer.body
    assert TOKEN not in repr((carried, described(failure(lambda: lab.by_token("gitlab.com", "a b")))))
