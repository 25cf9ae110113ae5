"""A GitHub and a GitLab on loopback, and a client that reaches the GitHub by a token or by the real gh."""

from __future__ import annotations

import os

import pytest

from holdfast.forges import github as hub
from holdfast.forges.github.client import Client
from holdfast.forges.program_transport import program_in
from tests.forges.github.server import HERE, GitHub
from tests.forges.gitlab.server import GitLab


@pytest.fixture
def github(tmp_path, monkeypatch):
    with GitHub(tmp_path / "github") as server:
        server.plant()
        for name in ("GITHUB_TOKEN", "GH_HOST", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server
    assert server.unexpected == []


@pytest.fixture
def gitlab(tmp_path):
    with GitLab(tmp_path / "gitlab") as server:
        server.plant()
        yield server
    assert server.unexpected == []


@pytest.fixture(params=["token", "gh"])
def way(request):
    return request.param


@pytest.fixture
def by_gh(tmp_path):
    """Makes transports that ask by gh, with the environment of that moment."""

    def make(host="github.com", timeout=30.0, top=str(tmp_path)):
        return hub.by_gh(program_in(os.environ, "gh"), top, host, timeout, environ=os.environ)

    return make


@pytest.fixture
def connected(github, way, by_gh):
    """Makes clients of the way that is tested, as patient as the test wants them."""

    def make(repository=HERE, timeout=30.0):
        if way == "gh":
            return Client(by_gh(repository.host, timeout), repository, pauses=(0, 0))
        carried = hub.by_token(repository.host, "a-token-of-the-test", timeout, base_url=github.address)
        return Client(carried, repository, pauses=(0, 0))

    return make


@pytest.fixture
def client(connected):
    return connected()
