"""A GitHub on loopback, and a client that reaches it by a token or by the real gh."""

from __future__ import annotations

import pytest

from holdfast.forges.github import Client, GhTransport, TokenTransport
from tests.forges.github.server import HERE, ReviewedGitHub


@pytest.fixture
def github(tmp_path, monkeypatch):
    with ReviewedGitHub(tmp_path / "github") as server:
        for name in ("GITHUB_TOKEN", "GH_HOST", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "https_proxy"):
            monkeypatch.delenv(name, raising=False)
        for name, value in server.environ.items():
            monkeypatch.setenv(name, value)
        yield server
    assert server.unexpected == []


@pytest.fixture(params=["token", "gh"])
def way(request):
    return request.param


@pytest.fixture
def connected(github, tmp_path, way):
    """Makes clients of the way that is tested, as patient as the test wants them."""

    def make(repository=HERE, timeout=30.0):
        if way == "gh":
            return Client(GhTransport(str(tmp_path), repository.host, timeout), repository, pauses=(0, 0))
        carried = TokenTransport(repository.host, "a-token-of-the-test", timeout, base_url=github.address)
        return Client(carried, repository, pauses=(0, 0))

    return make


@pytest.fixture
def client(connected):
    return connected()
