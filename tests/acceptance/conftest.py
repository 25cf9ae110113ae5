"""Repositories to work in, and a GitHub where pull requests go."""

from __future__ import annotations

import pytest

from tests.acceptance import feature
from tests.acceptance.checkout import UNTESTED_TEXT, Checkout, Gate
from tests.forges.github.server import GitHub


@pytest.fixture
def checkout(tmp_path):
    """Three tasks to be done test first, and a bare remote."""
    return Checkout(tmp_path / "house").publish()


@pytest.fixture
def gate(tmp_path):
    made = Gate(tmp_path / "gate")
    yield made
    made.close()


@pytest.fixture
def github(tmp_path):
    with GitHub(tmp_path / "github") as server:
        yield server
    assert server.unexpected == []


@pytest.fixture
def house(tmp_path, github):
    """A feature whose `origin` is a GitHub."""
    return feature.hosted(feature.House(tmp_path / "house"), github)


@pytest.fixture
def talk(house, github):
    """Its first phase waits on a pull request."""
    house.up_to(feature.FIRST)
    house.ok("feature", "continue")
    return feature.Talk(github, house)


@pytest.fixture
def hosted(tmp_path, github):
    """The same three tasks, and `origin` is a GitHub."""
    return _at(github, Checkout(tmp_path / "house"))


@pytest.fixture
def untested(tmp_path, github):
    """Two tasks without tests, and `origin` is a GitHub."""
    return _at(github, Checkout(tmp_path / "house", UNTESTED_TEXT))


def _at(github: GitHub, made: Checkout) -> Checkout:
    path = made.env["PATH"]
    made.env |= github.environ
    made.env["PATH"] = path
    github.adopt(str(made.root))
    made.git("push", "-q", "origin", "main")
    return made
