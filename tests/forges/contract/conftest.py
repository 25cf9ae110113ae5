"""Every forge that keeps the contract, on loopback, and clients of it."""

from __future__ import annotations

import pytest

from tests.forges.contract.stages import WAYS, OnGitHub, OnGitLab


@pytest.fixture(params=WAYS)
def stage(request):
    if request.param.startswith("gitlab"):
        return OnGitLab(request.getfixturevalue("gitlab"), by_program=request.param.endswith("glab"))
    by_gh = request.getfixturevalue("by_gh") if request.param.endswith("gh") else None
    return OnGitHub(request.getfixturevalue("github"), by_gh)


@pytest.fixture
def server(stage):
    return stage.server


@pytest.fixture
def client(stage):
    return stage.client()
