"""What holds for every test: nothing of the machine or of the host that runs the tests."""

from __future__ import annotations

import itertools
import os
import signal

import pytest

pytest_plugins = ("tests.tiers",)

pytest.register_assert_rewrite("tests.faults.project", "tests.faults.tracing")

FOREIGN = (
    "COLUMNS",
    "LINES",
    *("CLAUDECODE", "CLAUDE_", "CODEX_", "OPENCODE"),
    *("GIT_", "HOLDFAST_", "MAKEFLAGS", "PYTHONDONTWRITEBYTECODE", "XDG_"),
)


@pytest.fixture(autouse=True, scope="session")
def _clean_environment():
    """Variables of an agent host decide who the actor is, and those of git decide where it looks."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(FOREIGN)]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "Test Person")
            patch.setenv(f"GIT_{role}_EMAIL", "person@example.com")
            patch.setenv(f"GIT_{role}_DATE", "2026-01-01T00:00:00Z")
        yield


@pytest.fixture
def interruptible():
    """An interrupt ends this process and those it starts, also where the tests run in the background and ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    """Names of homes. `mktemp` would look through all that are there, for each test again."""
    folder = str(tmp_path_factory.mktemp("homes"))
    return (f"{folder}/{number}" for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_home(_clean_environment, _homes, monkeypatch):
    """Each test has a home of its own, outside its `tmp_path`."""
    home = next(_homes)
    for folder in ("", "/.local"):
        os.mkdir(home + folder, 0o700)
    monkeypatch.setenv("HOME", home)
    for name, folder in {
        "XDG_CACHE_HOME": ".cache",
        "XDG_CONFIG_HOME": ".config",
        "XDG_DATA_HOME": ".local/share",
        "XDG_RUNTIME_DIR": ".run",
        "XDG_STATE_HOME": ".local/state",
    }.items():
        os.mkdir(f"{home}/{folder}", 0o700)
        monkeypatch.setenv(name, f"{home}/{folder}")
